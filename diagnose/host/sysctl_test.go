package host

import (
	"strings"
	"testing"

	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/unit"
)

func kernel(release string) func(*netstate.Host) {
	return func(h *netstate.Host) { h.Kernel.Release = release }
}

// sysctlCases are a value of each row that is wrong and one nearly like it
// that is right.
var sysctlCases = []struct {
	key, wrong, right string
	kind              string
	severity          Severity
	host              func(*netstate.Host)
	// nearHost, where set, makes the wrong value right on another host.
	nearHost func(*netstate.Host)
}{
	{key: "net.ipv4.tcp_mem", wrong: "16777216 33554432 67108864", right: "760000 1010000 1520000", kind: SysctlUnit, severity: Warning,
		nearHost: func(h *netstate.Host) { h.Memory = unit.Bytes(1 << 40) }},
	{key: "net.ipv4.udp_mem", wrong: "16777216 33554432 67108864", right: "760000 1010000 1520000", kind: SysctlUnit, severity: Warning,
		nearHost: func(h *netstate.Host) { h.Memory = 0 }},
	{key: "net.ipv4.tcp_mem", wrong: "16384 32768 65536", right: "760000 1010000 1520000", kind: SysctlDanger, severity: Warning,
		nearHost: func(h *netstate.Host) { h.Memory = 4 * unit.GiB }},
	{key: "net.ipv4.tcp_mem", wrong: "1520000 1010000 760000", right: "1010000 1010000 1520000", kind: SysctlUnit, severity: Warning},
	{key: "net.ipv4.tcp_rmem", wrong: "4096 131072 4294967296", right: "4096 131072 2147483647", kind: SysctlUnit, severity: Fault},
	{key: "net.ipv4.tcp_wmem", wrong: "4096 16384 4294967296", right: "4096 16384 2147483647", kind: SysctlUnit, severity: Fault},
	{key: "net.ipv4.tcp_rmem", wrong: "4096 131072 65536", right: "4096 6291456 6291456", kind: SysctlClashes, severity: Warning},
	{key: "net.ipv4.tcp_wmem", wrong: "4096 131072 65536", right: "4096 6291456 6291456", kind: SysctlClashes, severity: Warning},
	{key: "net.ipv4.tcp_rmem", wrong: "4096 87380 2097152", right: "4096 131072 6291456", kind: SysctlSlow, severity: Warning},
	{key: "net.ipv4.tcp_wmem", wrong: "4096 65536 1048576", right: "4096 16384 4194304", kind: SysctlSlow, severity: Warning},
	{key: "net.ipv4.tcp_rmem", wrong: "4096 33554432 67108864", right: "4096 131072 67108864", kind: SysctlDanger, severity: Warning},
	{key: "net.core.rmem_max", wrong: "4294967295", right: "2147483647", kind: SysctlUnit, severity: Fault},
	{key: "net.core.wmem_max", wrong: "4294967295", right: "67108864", kind: SysctlUnit, severity: Fault},
	{key: "net.core.rmem_default", wrong: "134217728", right: "1048576", kind: SysctlDanger, severity: Warning},
	{key: "net.core.wmem_default", wrong: "134217728", right: "1048576", kind: SysctlDanger, severity: Warning},
	{key: "net.ipv4.tcp_tw_recycle", wrong: "1", right: "0", kind: SysctlDanger, severity: Fault},
	{key: "net.ipv4.tcp_low_latency", wrong: "1", right: "0", kind: SysctlGone, severity: Info, nearHost: kernel("4.9.0")},
	{key: "net.ipv4.tcp_fack", wrong: "1", right: "0", kind: SysctlGone, severity: Info, nearHost: kernel("4.9.0")},
	{key: "net.ipv4.tcp_adv_win_scale", wrong: "-2", right: "1", kind: SysctlGone, severity: Info, host: kernel("6.12.0"), nearHost: kernel("6.1.0")},
	{key: "net.ipv4.udp_wmem_min", wrong: "131072", right: "4096", kind: SysctlGone, severity: Info},
	{key: "net.ipv4.ipfrag_low_thresh", wrong: "4194304", right: "3145728", kind: SysctlGone, severity: Info},
	{key: "net.ipv4.tcp_window_scaling", wrong: "0", right: "1", kind: SysctlSlow, severity: Warning},
	{key: "net.ipv4.tcp_sack", wrong: "0", right: "1", kind: SysctlSlow, severity: Warning},
	{key: "net.ipv4.tcp_dsack", wrong: "0", right: "1", kind: SysctlSlow, severity: Info},
	{key: "net.ipv4.tcp_timestamps", wrong: "0", right: "2", kind: SysctlSlow, severity: Warning},
	{key: "net.ipv4.tcp_timestamps", wrong: "0", right: "1", kind: SysctlSlow, severity: Info, host: func(h *netstate.Host) {
		for _, i := range []int{port0, port1} {
			h.Links[i].Speed, h.Links[i].Device = 1e9, nil
		}
	}},
	{key: "net.ipv4.tcp_moderate_rcvbuf", wrong: "0", right: "1", kind: SysctlSlow, severity: Warning},
	{key: "net.ipv4.tcp_recovery", wrong: "0", right: "3", kind: SysctlSlow, severity: Info},
	{key: "net.ipv4.tcp_tso_rtt_log", wrong: "0", right: "8", kind: SysctlSlow, severity: Info},
	{key: "net.ipv4.tcp_notsent_lowat", wrong: "4096", right: "131072", kind: SysctlSlow, severity: Info},
	{key: "net.ipv4.tcp_limit_output_bytes", wrong: "65536", right: "262144", kind: SysctlSlow, severity: Info},
	{key: "net.ipv4.tcp_no_metrics_save", wrong: "1", right: "0", kind: SysctlSlow, severity: Info},
	{key: "net.ipv4.tcp_mtu_probing", wrong: "2", right: "1", kind: SysctlSlow, severity: Info},
	{key: "net.core.high_order_alloc_disable", wrong: "1", right: "0", kind: SysctlSlow, severity: Info},
	{key: "net.core.netdev_budget", wrong: "64", right: "600", kind: SysctlSlow, severity: Info},
	{key: "net.core.netdev_max_backlog", wrong: "250000", right: "5000", kind: SysctlSlow, severity: Info},
	{key: "net.ipv4.tcp_max_tw_buckets", wrong: "5000", right: "65536", kind: SysctlDanger, severity: Warning, nearHost: func(h *netstate.Host) {
		h.Memory = unit.GiB
		set("net.ipv4.tcp_mem", "9000 12000 18000")(h)
		set("net.ipv4.udp_mem", "9000 12000 18000")(h)
	}},
	{key: "net.ipv4.tcp_max_orphans", wrong: "4096", right: "65536", kind: SysctlDanger, severity: Warning},
	{key: "net.core.somaxconn", wrong: "1024", right: "65535", kind: SysctlDanger, severity: Info, nearHost: kernel("4.19.0")},
	{key: "net.ipv4.ip_local_port_range", wrong: "1024 65535", right: "20000 65535", kind: SysctlDanger, severity: Info, nearHost: set("net.ipv4.ip_local_reserved_ports", "2049,3260,5201")},
	{key: "net.ipv4.ip_no_pmtu_disc", wrong: "1", right: "3", kind: SysctlDanger, severity: Warning},
	{key: "net.ipv4.conf.all.arp_ignore", wrong: "8", right: "1", kind: SysctlDanger, severity: Warning},
	{key: "net.netfilter.nf_conntrack_count", wrong: "250000", right: "200000", kind: SysctlDanger, severity: Warning, nearHost: set("net.netfilter.nf_conntrack_max", "1048576")},
}

func TestSysctls(t *testing.T) {
	tried := map[string]bool{}
	of := func(h netstate.Host, key, kind string) (Finding, bool) {
		for _, f := range Judge(h) {
			if f.Kind == kind && strings.HasPrefix(f.What, key+" = ") {
				return f, true
			}
		}
		return Finding{}, false
	}
	for _, c := range sysctlCases {
		name := c.key + "=" + c.wrong
		build := func(value string, changes ...func(*netstate.Host)) netstate.Host {
			h := busyHost()
			for _, change := range append([]func(*netstate.Host){c.host}, changes...) {
				if change != nil {
					change(&h)
				}
			}
			set(c.key, value)(&h)
			return h
		}
		f, ok := of(build(c.wrong), c.key, c.kind)
		if !ok || f.Severity != c.severity || strings.Contains(f.Remedy, "KEY") {
			t.Errorf("%s: %v %+v", name, ok, f)
		}
		for _, found := range Judge(build(c.right)) {
			if found.Severity != Info || strings.HasPrefix(found.What, c.key) {
				t.Errorf("%s: near miss %s gives %s %s", name, c.right, found.Severity, found.What)
			}
		}
		if c.nearHost != nil {
			if f, ok := of(build(c.wrong, c.nearHost), c.key, c.kind); ok {
				t.Errorf("%s: on another host %+v", name, f)
			}
		}
		for _, row := range sysctlTable {
			h := build(c.wrong)
			if row.Key == c.key && row.Kind == c.kind && row.bad(sysctlView{h, c.wrong, h.SysctlInts(c.key)}) {
				tried[row.Key+row.Kind+row.Wrong] = true
			}
		}
	}
	for _, row := range sysctlTable {
		if !tried[row.Key+row.Kind+row.Wrong] {
			t.Errorf("no case tries the row %s, %s", row.Key, row.Wrong)
		}
		if row.Source == "" || row.Why == "" || row.Remedy == "" {
			t.Errorf("row %s lacks something: %+v", row.Key, row)
		}
	}
}

// What does not bound autotuning is no finding, however small beside tcp_rmem.
func TestReceiveMaximumBelowTCP(t *testing.T) {
	h := busyHost()
	set("net.core.rmem_max", "212992")(&h)
	set("net.ipv4.tcp_rmem", "4096 131072 67108864")(&h)
	if found := Judge(h); len(found) > 0 {
		t.Errorf("findings: %+v", found)
	}
}

// Values that cannot be read as they should are no finding, and no panic.
func TestSysctlsOdd(t *testing.T) {
	for _, value := range []string{"", "-", "1 2", "1 2 3 4", "99999999999999999999", "cubic", "-1", "0x10"} {
		h := busyHost()
		for _, row := range sysctlTable {
			set(row.Key, value)(&h)
		}
		Judge(h)
	}
}
