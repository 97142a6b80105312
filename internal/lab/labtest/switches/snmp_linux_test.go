package switches

import (
	stdcontext "context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/linerate/linerate/internal/evidence/switchcount"
	"github.com/linerate/linerate/internal/evidence/switchstate"
	"github.com/linerate/linerate/internal/lab/labtest/floor"
	"github.com/linerate/linerate/internal/switchwatch/snmp"
)

func context() stdcontext.Context { return stdcontext.Background() }

// ported is a switch's namespace with two ports, and a host at the first.
func ported(t *testing.T) (sw, host floor.Space) {
	t.Helper()
	sw, host = floor.NewSpace(t, "watch-sw"), floor.NewSpace(t, "watch-host")
	floor.Must(t, sw.Builder.Veth("p1", host.Builder, "eth0"))
	floor.Must(t, sw.Builder.Veth("p2", host.Builder, "eth1"))
	for _, link := range []string{"p1", "p2"} {
		floor.Must(t, sw.Builder.Up(link))
	}
	for _, link := range []string{"eth0", "eth1"} {
		floor.Must(t, host.Builder.Up(link))
	}
	floor.Must(t, sw.Builder.Address("p1", netip.MustParsePrefix("10.77.0.1/24")))
	floor.Must(t, host.Builder.Address("eth0", netip.MustParsePrefix("10.77.0.2/24")))
	return sw, host
}

// TestKernelSNMP: what snmpd says of the ports' bytes is what the kernel does, by version
// 2c and 3, and two readings give what was sent between them.
func TestKernelSNMP(t *testing.T) {
	needRoot(t)
	sw, host := ported(t)
	agent(t, sw)
	for name, access := range map[string]snmp.Access{
		"2c": {Community: community},
		"3":  {User: "watcher", Auth: "sha256", AuthPassword: "auth-passw0rd", Privacy: "aes", PrivacyPassword: "priv-passw0rd"},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := dial(sw.NS, access)
			floor.Must(t, err)
			defer c.Close()
			missing, have, err := c.Find(t.Context(), []string{"P1", "p2", "swp9"})
			floor.Must(t, err)
			if !slices.Equal(missing, []string{"swp9"}) || !slices.Contains(have, "p1") {
				t.Errorf("missing %v of %v", missing, have)
			}
			before := read(t, c)
			send(t, host.NS, "10.77.0.1", 2000, 1000)
			after := read(t, c)
			for _, link := range []string{"P1", "p2"} {
				rx, tx := kernelCounters(t, sw.NS, strings.ToLower(link))
				p := after.Ports[link]
				if !p.Bytes || !p.Drops || !p.Errors || p.Width != switchcount.NarrowErrors {
					t.Errorf("%s: read as %+v", link, p)
				}
				// A frame of the kernel's own may pass between the two.
				if near(p.Counters.RxBytes, rx) || near(p.Counters.TxBytes, tx) {
					t.Errorf("%s: SNMP has %d in and %d out, the kernel %d and %d", link, p.Counters.RxBytes, p.Counters.TxBytes, rx, tx)
				}
			}
			grown := after.Ports["P1"].Counters.Sub32(before.Ports["P1"].Counters, false)
			if want := uint64(2000 * (1000 + 42)); near(grown.RxBytes, want) {
				t.Errorf("counted %d bytes, sent %d", grown.RxBytes, want)
			}
			if after.Up <= before.Up {
				t.Errorf("up %v, then %v", before.Up, after.Up)
			}
		})
	}
}

// near reports two counts that a few frames do not explain.
func near(a, b uint64) bool { return max(a, b)-min(a, b) > 2000 }

// TestKernelSNMPRefused: a wrong community is silence, a wrong password is said to be
// refused, and neither is in the error.
func TestKernelSNMPRefused(t *testing.T) {
	needRoot(t)
	sw, _ := ported(t)
	agent(t, sw)
	for name, a := range map[string]snmp.Access{
		"community": {Community: "wr0ng-c0mmunity"},
		"user":      {User: "nobody", Auth: "sha256", AuthPassword: "wr0ng-passw0rd"},
		"password":  {User: "watcher", Auth: "sha256", AuthPassword: "wr0ng-passw0rd", Privacy: "aes", PrivacyPassword: "wr0ng-passw0rd"},
	} {
		c, err := dial(sw.NS, a)
		floor.Must(t, err)
		began := time.Now()
		_, _, err = c.Find(t.Context(), []string{"p1"})
		if err == nil || strings.Contains(err.Error(), "wr0ng") || time.Since(began) > 10*time.Second {
			t.Errorf("%s: %v after %v", name, err, time.Since(began))
		}
		if refused := errors.Is(err, snmp.ErrRefused); refused != (name != "community") {
			t.Errorf("%s: refused is %v: %v", name, refused, err)
		}
		if text := fmt.Sprintf("%v %+v %#v", a, a, a); strings.Contains(text, "wr0ng") {
			t.Errorf("%s is printed: %s", name, text)
		}
		_ = c.Close()
	}
}

// TestKernelSNMPDescribed: ports, a channel by LACP's table, and neighbours by LLDP's. Rows of
// the two are the test's, which the agent answers with.
func TestKernelSNMPDescribed(t *testing.T) {
	needRoot(t)
	sw, _ := ported(t)
	index := map[string]int{}
	floor.Must(t, sw.NS.Do(func() error {
		for _, name := range []string{"lo", "p1", "p2"} {
			link, err := netInterface(name)
			if err != nil {
				return err
			}
			index[name] = link
		}
		return nil
	}))
	row := func(oid, kind, value string) string { return fmt.Sprintf("override .%s %s %s", oid, kind, value) }
	var lines []string
	for _, port := range []string{"p1", "p2"} {
		n := index[port]
		lines = append(lines,
			row(fmt.Sprintf("1.2.840.10006.300.43.1.2.1.1.12.%d", n), "integer", fmt.Sprint(index["lo"])),
			row(fmt.Sprintf("1.2.840.10006.300.43.1.2.1.1.13.%d", n), "integer", fmt.Sprint(index["lo"])),
		)
	}
	state := map[string]string{"p1": "0xbc", "p2": "0x80"} // p2 neither collects nor distributes
	for port, bits := range state {
		lines = append(lines, row(fmt.Sprintf("1.2.840.10006.300.43.1.2.1.1.21.%d", index[port]), "octet_str", bits))
	}
	lines = append(lines,
		row("1.0.8802.1.1.2.1.3.7.1.2.7", "integer", "5"), row("1.0.8802.1.1.2.1.3.7.1.3.7", "octet_str", `"p1"`), row("1.0.8802.1.1.2.1.3.7.1.4.7", "octet_str", `"uplink"`),
		row("1.0.8802.1.1.2.1.4.1.1.4.0.7.1", "integer", "4"), row("1.0.8802.1.1.2.1.4.1.1.5.0.7.1", "octet_str", "0x020000000001"),
		row("1.0.8802.1.1.2.1.4.1.1.6.0.7.1", "integer", "3"), row("1.0.8802.1.1.2.1.4.1.1.7.0.7.1", "octet_str", "0x020000000002"),
		row("1.0.8802.1.1.2.1.4.1.1.8.0.7.1", "octet_str", `"eth0"`), row("1.0.8802.1.1.2.1.4.1.1.9.0.7.1", "octet_str", `"storage1"`),
	)
	agent(t, sw, lines...)
	c, err := dial(sw.NS, snmp.Access{Community: community})
	floor.Must(t, err)
	defer c.Close()
	d, err := c.Describe(t.Context())
	floor.Must(t, err)
	if d.Name != "leaf" || len(d.Ports) != 3 || d.Ports[1].MAC.IsZero() {
		t.Errorf("described as %+v", d)
	}
	if len(d.Channels) != 1 || d.Channels[0].Protocol != switchstate.LACP || len(d.Channels[0].Members) != 2 {
		t.Errorf("channels %+v", d.Channels)
	}
	if len(d.Neighbors) != 1 || d.Neighbors[0].Link != "p1" || d.Neighbors[0].SystemName != "storage1" || d.Neighbors[0].Port != "02:00:00:00:00:02" || d.Neighbors[0].Chassis != "02:00:00:00:00:01" || d.Neighbors[0].PortDescription != "eth0" {
		t.Errorf("neighbours %+v", d.Neighbors)
	}
	_, _, err = c.Find(t.Context(), []string{"p1", "p2"})
	floor.Must(t, err)
	r, err := c.Read(t.Context())
	floor.Must(t, err)
	for port, want := range map[string]bool{"p1": true, "p2": false} {
		if got := r.Ports[port].Attached; got == nil || *got != want {
			t.Errorf("%s is attached: %v, want %v", port, got, want)
		}
	}
}
