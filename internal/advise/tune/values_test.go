package tune

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/unit"
)

func TestLargestMTU(t *testing.T) {
	tagged := demo
	tagged.vlans = []int{5}
	limit := func(b bonded, link string, most, set int) State {
		h := b.host("beta", 2)
		l, _ := h.Link(link)
		l.MaxMTU, l.MTU = most, set
		h.SetLink(l)
		return state(b.host("alpha", 1), h)
	}
	for _, c := range []struct {
		name  string
		state State
		want  int
	}{
		{"nothing in the way", pairOf(demo), 9000},
		{"a port of the far host", limit(demo, "eth1", 4000, 1500), 4000},
		{"the bond itself", limit(demo, "bond0", 3000, 1500), 3000},
		{"a port below a VLAN", limit(tagged, "eth0", 2000, 1500), 2000},
		{"the VLAN", limit(tagged, "vlan5", 2500, 1500), 2500},
		{"a limit nobody names", limit(demo, "eth0", 0, 1500), 1500},
		{"a limit nobody names, jumbo set", limit(demo, "eth0", 0, 9000), 9000},
		{"neither limit nor MTU known", limit(demo, "eth0", 0, 0), 1500},
		{"no link between them", state(demo.host("alpha", 1), netstate.Host{Name: "beta"}), 0},
	} {
		if got := LargestMTU(c.state.Fabric, "alpha", "beta"); got != c.want {
			t.Errorf("%s: %d, want %d", c.name, got, c.want)
		}
	}
}

// TestMTUWithinLimits: no link is asked for more than it takes, and none is
// lowered.
func TestMTUWithinLimits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := demo
		if rapid.Bool().Draw(t, "tagged") {
			b.vlans = []int{5}
		}
		s := pairOf(b)
		for _, h := range s.Fabric.Hosts {
			for i := range h.Links {
				h.Links[i].MaxMTU = rapid.SampledFrom([]int{0, 1500, 4000, 9000, 65535}).Draw(t, "limit")
				h.Links[i].MTU = rapid.SampledFrom([]int{1500, 4000, 9000}).Draw(t, "mtu")
			}
		}
		all := mtuOptions(s)
		if len(all) == 0 {
			return
		}
		for name, h := range all[0].hosts {
			for i, l := range h.Links {
				was := s.Fabric.Hosts[name].Links[i].MTU
				if l.MTU < was || l.MTU > was && l.MTU > max(l.MaxMTU, was) {
					t.Fatalf("%s of %s from %d to %d, limit %d", l.Name, name, was, l.MTU, l.MaxMTU)
				}
			}
		}
	})
}

func TestWithBuffers(t *testing.T) {
	host := func(rmem, wmem string) netstate.Host {
		h := netstate.Host{Sysctls: map[string]netstate.Sysctl{}}
		if rmem != "" {
			h.Sysctls[rmemKey] = netstate.Sysctl{Value: rmem, Scope: netstate.ScopeNamespace}
		}
		if wmem != "" {
			h.Sysctls[wmemKey] = netstate.Sysctl{Value: wmem}
		}
		return h
	}
	for _, c := range []struct {
		name       string
		rmem, wmem string
		want       unit.Bytes
		r, w       string
		changed    bool
	}{
		{"both lower", "4096 131072 6291456", "4096 16384 4194304", 16 << 20, "4096 131072 16777216", "4096 16384 16777216", true},
		{"one larger already", "4096 131072 33554432", "4096 16384 4194304", 16 << 20, "4096 131072 33554432", "4096 16384 16777216", true},
		{"as large", "4096 131072 16777216", "4096 16384 16777216", 16 << 20, "4096 131072 16777216", "4096 16384 16777216", false},
		{"unknown", "", "", 16 << 20, "", "", false},
		{"unreadable", "4096 131072", "lots of it", 16 << 20, "4096 131072", "lots of it", false},
	} {
		h := host(c.rmem, c.wmem)
		got, changed := withBuffers(h, []string{rmemKey, wmemKey}, c.want)
		if got.Sysctls[rmemKey].Value != c.r || got.Sysctls[wmemKey].Value != c.w || changed != c.changed {
			t.Errorf("%s: %+v, %v; want %q, %q, %v", c.name, got.Sysctls, changed, c.r, c.w, c.changed)
		}
		if h.Sysctls[rmemKey].Value != c.rmem || h.Sysctls[wmemKey].Value != c.wmem {
			t.Errorf("%s: the host itself changed: %+v", c.name, h.Sysctls)
		}
		if got.Sysctls[rmemKey].Scope != h.Sysctls[rmemKey].Scope {
			t.Errorf("%s: scope lost", c.name)
		}
	}
}

// TestBuffersNeverLowered: for any buffers and any evidence.
func TestBuffersNeverLowered(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		most := rapid.Int64Range(4096, 1<<31)
		h := demo.host("alpha", 1)
		values := map[string]int64{rmemKey: most.Draw(t, "rmem"), wmemKey: most.Draw(t, "wmem")}
		for key, v := range values {
			h.Sysctls[key] = netstate.Sysctl{Value: fmt.Sprintf("4096 131072 %d", v)}
		}
		want := bufferFor(unit.BitRate(rapid.Float64Range(0, 1e12).Draw(t, "rate")), time.Duration(rapid.Int64Range(0, int64(time.Hour)).Draw(t, "rtt")))
		got, _ := withBuffers(h, []string{rmemKey, wmemKey}, want)
		for key, v := range values {
			if now := got.SysctlInts(key); len(now) != 3 || now[2] < v || now[2] > max(v, mostBuffer) {
				t.Fatalf("%s from %d to %v", key, v, now)
			}
		}
	})
}

func TestBufferFor(t *testing.T) {
	for _, c := range []struct {
		rate unit.BitRate
		rtt  time.Duration
		want unit.Bytes
	}{
		{0, 0, 0},
		{1e9, 9 * time.Millisecond, 8 << 20},       // 4.5 MB, up to a power of two
		{4e9, 10 * time.Millisecond, 32 << 20},     // 20 MB
		{25e9, 50 * time.Millisecond, 64 << 20},    // 625 MB, bounded
		{400e9, 300 * time.Second, 64 << 20},       // beyond reason
		{-1, 9 * time.Millisecond, 0},              // no rate
		{1e9, -9 * time.Millisecond, 0},            // no time
		{2.7e9, 8900 * time.Microsecond, 16 << 20}, // 12 MB: the published cross-region stream
		{8 << 20 * 8 / 4, time.Second, 8 << 20},    // just that
		{100e6, 25 * time.Millisecond, 2 << 20},    // 1.25 MB
	} {
		if got := bufferFor(c.rate, c.rtt); got != c.want {
			t.Errorf("%v at %v: %v, want %v", c.rate, c.rtt, got, c.want)
		}
	}
}
