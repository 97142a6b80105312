package profile

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/unit"
)

// host has one link at a rate and a kernel's defaults, with changes "key=value",
// and "-key" for one that the kernel lacks.
func host(release string, rate unit.BitRate, changes ...string) netstate.Host {
	h := netstate.Host{
		Kernel: netstate.Kernel{OS: "linux", Release: release}, Memory: 64 * unit.GiB,
		Links: []netstate.Link{
			{Name: "lo", Kind: "loopback", Addresses: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/8")}},
			{Name: "eth0", Speed: rate, MTU: 1500, Addresses: []netip.Prefix{netip.MustParsePrefix("10.0.0.1/24"), netip.MustParsePrefix("fd00::1/64")}},
		},
		Sysctls: map[string]netstate.Sysctl{},
	}
	for _, key := range Keys(h.Links) {
		value := "0"
		switch {
		case key == keyRmem:
			value = "4096 131072 6291456"
		case key == keyWmem:
			value = "4096 16384 4194304"
		case key == "net.ipv4.tcp_mem":
			value = "760000 1013000 1520000"
		case key == "net.core.rmem_max", key == "net.core.wmem_max":
			value = "212992"
		case key == "net.core.netdev_budget":
			value = "300"
		case key == "net.core.netdev_budget_usecs":
			value = "8000"
		case key == "net.core.netdev_max_backlog":
			value = "1000"
		case strings.HasSuffix(key, "redirects"), strings.HasPrefix(key, "net.ipv4.tcp_") && !strings.HasSuffix(key, "no_metrics_save"), strings.HasPrefix(key, "net.ipv4.icmp"):
			value = "1"
		case key == "kernel.randomize_va_space":
			value = "2"
		}
		scope := netstate.ScopeNamespace
		if strings.HasPrefix(key, "kernel.") || strings.HasPrefix(key, "net.core.") {
			scope = netstate.ScopeGlobal
		}
		h.Sysctls[key] = netstate.Sysctl{Value: value, Scope: scope}
	}
	for _, c := range changes {
		if key, gone := strings.CutPrefix(c, "-"); gone {
			delete(h.Sysctls, key)
			continue
		}
		key, value, _ := strings.Cut(c, "=")
		s := h.Sysctls[key]
		s.Value = value
		h.Sysctls[key] = s
	}
	return h
}

// values are a result's settings.
func values(r Result) map[string]string {
	all := map[string]string{}
	for _, s := range r.Settings {
		all[s.Key] = s.Value
	}
	return all
}

func mentions(lines []string, want string) bool {
	return slices.ContainsFunc(lines, func(l string) bool { return strings.Contains(l, want) })
}

func TestThroughput(t *testing.T) {
	far := []Path{{To: "b", RTT: 10600 * time.Microsecond}, {To: "c", RTT: 20 * time.Millisecond, Rate: 1e9}}
	for name, tt := range map[string]struct {
		in   Input
		want map[string]string
		left string
	}{
		// 25 Gbit/s x 10.6 ms = 33.1 MB; x 1.25 / 0.5 = 82.8 MB and / 0.96 = 43.1 MB, in whole MiB.
		"region": {Input{Host: host("5.15", 25e9), Paths: far, Streams: 64}, map[string]string{
			keyRmem: "4096 131072 82837504", keyWmem: "4096 16384 44040192", "net.ipv4.tcp_slow_start_after_idle": "0",
		}, "tcp_mem: net.ipv4.tcp_rmem of all 64 streams could be 4.9 GiB, and TCP is pressed from 3.9 GiB on"},
		"newer kernel": {Input{Host: host("6.12", 25e9), Paths: far}, map[string]string{
			keyRmem: "4096 131072 82837504", keyWmem: "4096 16384 44040192", "net.ipv4.tcp_slow_start_after_idle": "0",
		}, ""},
		// A window of 7/8: 33.1 MB x 1.25 / 0.875 = 47.3 MB.
		"wide scale": {Input{Host: host("5.15", 25e9, "net.ipv4.tcp_adv_win_scale=3", "net.ipv4.tcp_slow_start_after_idle=0"), Paths: far}, map[string]string{
			keyRmem: "4096 131072 48234496", keyWmem: "4096 16384 44040192",
		}, ""},
		"higher stays":   {Input{Host: host("5.15", 25e9, keyRmem+"=8192 1048576 268435456", keyWmem+"=8192 1048576 268435456", "net.ipv4.tcp_slow_start_after_idle=0"), Paths: far}, map[string]string{}, "enough as they are"},
		"LAN":            {Input{Host: host("6.1", 25e9), Paths: []Path{{To: "b", RTT: 200 * time.Microsecond}}}, map[string]string{}, "TCP's buffers are enough as they are (6 MiB, 4 MiB): 25.0 Gbit/s (eth0) x 200µs to b"},
		"unknown":        {Input{Host: host("6.1", 25e9), Paths: []Path{{To: "b"}}}, map[string]string{}, "no path has a known rate and round trip"},
		"the host's cap": {Input{Host: withRate(host("6.1", 25e9), 100e6), Paths: far}, map[string]string{"net.ipv4.tcp_slow_start_after_idle": "0"}, "100 Mbit/s (the host's cap)"},
		"asked buffers":  {Input{Host: host("6.1", 1e9), SocketBuffer: 8 * unit.MiB}, map[string]string{"net.core.rmem_max": "8388608", "net.core.wmem_max": "8388608"}, ""},
		"in a namespace": {Input{Host: host("6.1", 1e9), SocketBuffer: 8 * unit.MiB, InNamespace: true}, map[string]string{}, "net.core.rmem_max: it is the whole machine's"},
		"somebody's own": {Input{Host: host("5.15", 25e9), Paths: far, Own: map[string]bool{keyRmem: true, "net.ipv4.tcp_slow_start_after_idle": true}}, map[string]string{keyWmem: "4096 16384 44040192"}, ""},
		"switched off": {Input{Host: host("5.15", 1e9, "net.ipv4.tcp_window_scaling=0", "net.ipv4.tcp_sack=0", "net.ipv4.tcp_timestamps=0", "net.ipv4.tcp_moderate_rcvbuf=0"), Paths: []Path{{To: "b", RTT: 900 * time.Microsecond}}}, map[string]string{
			"net.ipv4.tcp_window_scaling": "1", "net.ipv4.tcp_sack": "1", "net.ipv4.tcp_timestamps": "1", "net.ipv4.tcp_moderate_rcvbuf": "1",
		}, ""},
		"slow link needs no timestamps": {Input{Host: host("5.15", 100e6, "net.ipv4.tcp_timestamps=0")}, map[string]string{}, ""},
		"benchmark":                     {Input{Host: host("6.1", 1e9), Roles: []string{"benchmark"}}, map[string]string{"net.ipv4.tcp_no_metrics_save": "1"}, ""},
		"no such key":                   {Input{Host: host("5.15", 25e9, "-"+keyWmem), Paths: far}, map[string]string{keyRmem: "4096 131072 82837504", "net.ipv4.tcp_slow_start_after_idle": "0"}, keyWmem},
		"more than the kernel takes":    {Input{Host: host("5.15", 400e9, "net.ipv4.tcp_slow_start_after_idle=0"), Paths: []Path{{To: "moon", RTT: time.Second}}, Streams: 64}, map[string]string{keyRmem: "4096 131072 2147483647", keyWmem: "4096 16384 2147483647"}, "memory: "},
		"another system":                {Input{Host: netstate.Host{Kernel: netstate.Kernel{OS: "freebsd"}}, Paths: far}, map[string]string{}, "freebsd"},
		"squeezed": {Input{Host: softnet(host("6.1", 1e9), netstate.Softnet{Processed: 1e6, Squeezed: 500})}, map[string]string{
			"net.core.netdev_budget": "600",
		}, ""},
		"hardly squeezed": {Input{Host: softnet(host("6.1", 1e9), netstate.Softnet{Processed: 1e9, Squeezed: 500})}, map[string]string{}, ""},
		// 25 Gbit/s / 8 / 1538 bytes x 2 ms = 4064 packets.
		"backlog full": {Input{Host: softnet(host("6.1", 25e9), netstate.Softnet{Processed: 1e6, Dropped: 5000})}, map[string]string{"net.core.netdev_max_backlog": "4064"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := Throughput(tt.in)
			if diff := cmp.Diff(tt.want, values(r)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if tt.left != "" && !mentions(r.Left, tt.left) {
				t.Errorf("%q is not in %q", tt.left, r.Left)
			}
			for _, s := range r.Settings {
				if s.Why == "" {
					t.Errorf("%s has no reason", s.Key)
				}
			}
			settled(t, Throughput, tt.in, r)
		})
	}
}

func withRate(h netstate.Host, rate unit.BitRate) netstate.Host {
	h.Rate = rate
	return h
}

func softnet(h netstate.Host, rows ...netstate.Softnet) netstate.Host {
	h.Softnet = rows
	return h
}

// settled sets what a profile wants and expects it to want nothing more, and
// nothing that lowers a number of the same tunable.
func settled(t *testing.T, profile func(Input) Result, in Input, r Result) {
	t.Helper()
	h := in.Host.Clone()
	for _, s := range r.Settings {
		v := h.Sysctls[s.Key]
		v.Value = s.Value
		h.Sysctls[s.Key] = v
	}
	in.Host = h
	if more := profile(in).Settings; len(more) > 0 {
		t.Errorf("it wants more afterwards: %+v", more)
	}
}

// TestBondTotal counts all ports of the bond below a VLAN.
func TestBondTotal(t *testing.T) {
	h := host("6.1", 0)
	h.Links = append(h.Links,
		netstate.Link{Name: "p0", Speed: 10e9}, netstate.Link{Name: "p1", Speed: 10e9},
		netstate.Link{Name: "bond0", Kind: "bond", Bond: &netstate.Bond{Ports: []string{"p0", "p1"}}},
		netstate.Link{Name: "lan", Kind: "vlan", VLAN: &netstate.VLAN{ID: 3, Parent: "bond0"}, Addresses: []netip.Prefix{netip.MustParsePrefix("10.3.0.1/24")}},
	)
	r := Throughput(Input{Host: h, Paths: []Path{{To: "b", RTT: 10 * time.Millisecond}}, Streams: 4})
	rmem := strings.Fields(values(r)[keyRmem])
	if len(rmem) != 3 {
		t.Fatalf("settings %+v", r)
	}
	// 20 Gbit/s x 10 ms x 1.25 / 0.5 = 62.5 MB.
	if got, _ := strconv.Atoi(rmem[2]); got != 60<<20 {
		t.Errorf("tcp_rmem %d", got)
	}
	if why := r.Settings[0].Why; !strings.Contains(why, "20.0 Gbit/s (lan) x 10ms to b = 23.8 MiB in flight") || !strings.Contains(why, "at 4 streams up to 240 MiB of memory") {
		t.Errorf("why: %s", why)
	}
}
