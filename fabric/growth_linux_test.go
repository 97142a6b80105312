package fabric

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"
)

// manyLinks is a file of one host with n ports: half of them are a bond's, a tenth is
// a bridge's, the others are known by MAC addresses and have an address, a VLAN and a
// bridge of that alone.
func manyLinks(n int) []byte {
	ethernets, vlans, bridges, hardware := &strings.Builder{}, &strings.Builder{}, &strings.Builder{}, &strings.Builder{}
	var bonded, bridged []string
	for i := range n {
		port := fmt.Sprintf("p%d", i)
		fmt.Fprintf(hardware, "        %s: {speed: 25G}\n", port)
		switch {
		case i < n/2:
			bonded = append(bonded, port)
			fmt.Fprintf(ethernets, "        %s: {}\n", port)
		case i < n*6/10:
			bridged = append(bridged, port)
			fmt.Fprintf(ethernets, "        %s: {}\n", port)
		default:
			fmt.Fprintf(ethernets, "        e%d: {match: {macaddress: '02:00:00:00:%02x:%02x'}, set-name: %s, addresses: [10.%d.%d.1/24]}\n", i, i/256, i%256, port, i/250, i%250)
			fmt.Fprintf(vlans, "        v%d: {id: %d, link: e%d}\n", i, i%4000+1, i)
			fmt.Fprintf(bridges, "        b%d: {interfaces: [v%d], addresses: [11.%d.%d.1/24]}\n", i, i, i/250, i%250)
		}
	}
	return fmt.Appendf(nil, `linerate: v1
hosts:
  a:
    reach: ssh://10.0.0.1
    network:
      version: 2
      ethernets:
%s      bonds:
        bond0: {interfaces: [%s], addresses: [12.0.0.1/24], parameters: {mode: 802.3ad}}
      bridges:
        br0: {interfaces: [%s], addresses: [12.0.1.1/24]}
%s      vlans:
%s    hardware:
      links:
%s`, ethernets, strings.Join(bonded, ", "), strings.Join(bridged, ", "), bridges, vlans, hardware)
}

// used is the processor time that this program has had: others that run beside it do
// not count.
func used(t *testing.T) time.Duration {
	t.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		t.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// TestGrowth: four times the links of a host take about four times as long to read
// and to make a state of, and never the sixteen times of a loop within a loop.
func TestGrowth(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: seconds of reading")
	}
	took := func(n int) (parse, state time.Duration) {
		parse, state = 1<<63-1, 1<<63-1
		text := manyLinks(n)
		for range 3 {
			start := used(t)
			f, err := Parse("many.yaml", text)
			if err != nil {
				t.Fatal(err)
			}
			if err := f.ResolveAlone(); err != nil {
				t.Fatal(err)
			}
			parse = min(parse, used(t)-start)
			start = used(t)
			s, err := f.State("a")
			if err != nil {
				t.Fatal(err)
			}
			if state = min(state, used(t)-start); len(s.Links) != n+2+2*(n*4/10) {
				t.Fatalf("%d links of %d ports", len(s.Links), n)
			}
		}
		return parse, state
	}
	fewParse, fewState := took(1000)
	manyParse, manyState := took(4000)
	for _, c := range []struct {
		name      string
		few, many time.Duration
	}{{"reading", fewParse, manyParse}, {"the state", fewState, manyState}} {
		t.Logf("%s of 1,000 ports takes %v, of 4,000 %v: %.1f times", c.name, c.few, c.many, float64(c.many)/float64(c.few))
		// Up to 8 is seen where the collector of garbage has more to do.
		if c.many > 12*c.few {
			t.Errorf("%s of 4,000 ports takes %.1f times as long as of 1,000: %v and %v", c.name, float64(c.many)/float64(c.few), c.many, c.few)
		}
	}
}
