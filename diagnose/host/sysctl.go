package host

import (
	"fmt"
	"slices"
	"strings"

	"github.com/linerate/linerate/diagnose"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// SysctlRow is one judged tunable: what about its value is wrong on a host,
// why, what to set, and where that is written.
type SysctlRow struct {
	Key  string
	Kind string
	// Wrong says in plain words which values are meant.
	Wrong string
	// Why is what such a value does; Remedy what to do, with KEY for the key.
	Why, Remedy string
	Severity    Severity
	// Source is where it is documented, with the kernel's version where it
	// matters.
	Source string

	bad func(sysctlView) bool
	// sized says that the severity above holds from 10 Gb/s on, and Info
	// below.
	sized bool
}

// SysctlRows lists the judged tunables, in the table's order.
func SysctlRows() []SysctlRow { return slices.Clone(sysctlTable[:]) }

// sysctlView is a tunable's value on a host.
type sysctlView struct {
	host  netstate.Host
	value string
	n     []int64 // nil where the value is no list of numbers
}

// one is the value as one number; -1 where it is none.
func (v sysctlView) one() int64 {
	if len(v.n) != 1 {
		return -1
	}
	return v.n[0]
}

// since reports a kernel that is known to be of that release or newer.
func (v sysctlView) since(major, minor int) bool {
	newer, known := v.host.Kernel.AtLeast(major, minor)
	return known && newer
}

// large reports a machine with at least that much memory; false unknown.
func (v sysctlView) large(least unit.Bytes) bool { return v.host.Memory >= least }

// judgeSysctls finds tunables with values that the table calls wrong.
func judgeSysctls(h netstate.Host) []Finding {
	var found []Finding
	if h.Kernel.OS != "" && h.Kernel.OS != "linux" {
		return nil
	}
	quick := fastest(h).Speed >= fast
	for _, row := range sysctlTable {
		s, ok := h.Sysctls[row.Key]
		if !ok || !row.bad(sysctlView{h, s.Value, h.SysctlInts(row.Key)}) {
			continue
		}
		f := Finding{
			Kind:     row.Kind,
			What:     fmt.Sprintf("%s = %s: %s", row.Key, s.Value, row.Why),
			Severity: row.Severity,
			Evidence: []record.Evidence{diagnose.Fact(row.Key, orUnset(s.Value), sysctlFile(row.Key)), diagnose.Fact("documented", row.Wrong, row.Source)},
			Remedy:   strings.ReplaceAll(row.Remedy, "KEY", row.Key),
		}
		if row.sized && !quick {
			f.Severity = Info
		}
		found = append(found, f)
	}
	return found
}

// is reports one of the numbers.
func is(numbers ...int64) func(sysctlView) bool {
	return func(v sysctlView) bool { return slices.Contains(numbers, v.one()) }
}

func above(most int64) func(sysctlView) bool {
	return func(v sysctlView) bool { return len(v.n) > 0 && slices.Max(v.n) > most }
}

// under reports a number that was set, and lower; zero and unknown are not.
func under(least int64) func(sysctlView) bool {
	return func(v sysctlView) bool { n := v.one(); return n >= 0 && n < least }
}

func notZero(v sysctlView) bool { return v.one() > 0 }

// both reports that all of the conditions hold.
func both(all ...func(sysctlView) bool) func(sysctlView) bool {
	return func(v sysctlView) bool {
		return !slices.ContainsFunc(all, func(f func(sysctlView) bool) bool { return !f(v) })
	}
}

func onKernel(major, minor int) func(sysctlView) bool {
	return func(v sysctlView) bool { return v.since(major, minor) }
}

func withMemory(least unit.Bytes) func(sysctlView) bool {
	return func(v sysctlView) bool { return v.large(least) }
}

// pageSize is taken for the kernel's; a larger one only makes counts of pages
// mean more.
const pageSize = 4096

// inBytes reports three numbers of pages of which the last is more than the
// whole memory: bytes, most likely.
func inBytes(v sysctlView) bool {
	return len(v.n) == 3 && v.host.Memory > 0 && float64(v.n[2])*pageSize > float64(v.host.Memory)
}

// tooFewPages reports less than a hundredth of the memory; the kernel's own
// choice is an eleventh of what is free (tcp_init_mem: a sixteenth, and half
// of it more).
func tooFewPages(v sysctlView) bool {
	return len(v.n) == 3 && v.host.Memory > 0 && v.n[2] > 0 && float64(v.n[2])*pageSize < 0.01*float64(v.host.Memory)
}

// falling reports three numbers that do not rise.
func falling(v sysctlView) bool { return len(v.n) == 3 && (v.n[0] > v.n[1] || v.n[1] > v.n[2]) }

// overflowing reports a size that does not fit an int.
func overflowing(v sysctlView) bool {
	return len(v.n) > 0 && (slices.Max(v.n) > 1<<31-1 || slices.Min(v.n) < 0)
}

// lowered reports three numbers of which the last is below the kernel's own.
func lowered(own int64) func(sysctlView) bool {
	return func(v sysctlView) bool { return len(v.n) == 3 && v.n[2] >= v.n[1] && v.n[2] < own }
}

// startsHuge reports a first buffer above a size.
func startsHuge(v sysctlView) bool { return len(v.n) == 3 && v.n[1] > 8<<20 && v.n[1] <= v.n[2] }

// wideRange reports ephemeral ports from among those that servers use, none of
// which is reserved.
func wideRange(v sysctlView) bool {
	reserved, read := v.host.Sysctls["net.ipv4.ip_local_reserved_ports"]
	return len(v.n) == 2 && v.n[0] < 10000 && read && strings.TrimSpace(reserved.Value) == ""
}

// nearlyFull reports a table that holds nine tenths of what it may.
func nearlyFull(v sysctlView) bool {
	most := oneValue(v.host, "net.netfilter.nf_conntrack_max")
	return most > 0 && v.one()*10 >= most*9
}

// sysctlTable is the one place where tunables are judged. What is documented
// is Documentation/networking/ip-sysctl.rst (ip-sysctl) and
// Documentation/admin-guide/sysctl/net.rst (net.rst) of the kernel's tree.
//
// Not judged, because it is right: net.core.rmem_max below tcp_rmem's maximum.
// It bounds SO_RCVBUF only; autotuning goes up to tcp_rmem's.
var sysctlTable = [...]SysctlRow{
	// Units.
	{Key: "net.ipv4.tcp_mem", Kind: SysctlUnit, Severity: Warning, bad: inBytes,
		Wrong: "more pages than the machine has", Why: "the unit is pages, and this is more than all memory: written in bytes, it is no limit, and sockets may take all",
		Remedy: "take KEY out of the configuration: the kernel's own value fits the memory", Source: "ip-sysctl, tcp_mem: number of pages"},
	{Key: "net.ipv4.udp_mem", Kind: SysctlUnit, Severity: Warning, bad: inBytes,
		Wrong: "more pages than the machine has", Why: "the unit is pages, and this is more than all memory: written in bytes, it is no limit",
		Remedy: "take KEY out of the configuration: the kernel's own value fits the memory", Source: "ip-sysctl, udp_mem: number of pages"},
	{Key: "net.ipv4.tcp_mem", Kind: SysctlDanger, Severity: Warning, bad: tooFewPages,
		Wrong: "less than 1 % of memory", Why: "all sockets together get so little that a few busy ones stall the others",
		Remedy: "take KEY out of the configuration: the kernel's own value fits the memory", Source: "ip-sysctl, tcp_mem: pages allowed for queueing by all TCP sockets"},
	{Key: "net.ipv4.tcp_mem", Kind: SysctlUnit, Severity: Warning, bad: falling,
		Wrong: "min, pressure, max that do not rise", Why: "the three numbers must rise: min, pressure, max",
		Remedy: "take KEY out of the configuration", Source: "ip-sysctl, tcp_mem: min, pressure, max"},
	{Key: "net.ipv4.tcp_rmem", Kind: SysctlUnit, Severity: Fault, bad: overflowing,
		Wrong: "above 2147483647", Why: "the size does not fit 31 bits: it overflows, and buffers become tiny",
		Remedy: "sysctl -w KEY=\"4096 131072 67108864\"", Source: "struct netns_ipv4 sysctl_tcp_rmem is int[3], include/net/netns/ipv4.h"},
	{Key: "net.ipv4.tcp_wmem", Kind: SysctlUnit, Severity: Fault, bad: overflowing,
		Wrong: "above 2147483647", Why: "the size does not fit 31 bits: it overflows, and buffers become tiny",
		Remedy: "sysctl -w KEY=\"4096 16384 67108864\"", Source: "struct netns_ipv4 sysctl_tcp_wmem is int[3], include/net/netns/ipv4.h"},
	{Key: "net.ipv4.tcp_rmem", Kind: SysctlClashes, Severity: Warning, bad: falling,
		Wrong: "min, default, max that do not rise", Why: "a buffer starts above its most and never grows: the three numbers must rise",
		Remedy: "sysctl -w KEY=\"4096 131072 6291456\"", Source: "ip-sysctl, tcp_rmem: min, default, max"},
	{Key: "net.ipv4.tcp_wmem", Kind: SysctlClashes, Severity: Warning, bad: falling,
		Wrong: "min, default, max that do not rise", Why: "a buffer starts above its most: the three numbers must rise",
		Remedy: "sysctl -w KEY=\"4096 16384 4194304\"", Source: "ip-sysctl, tcp_wmem: min, default, max"},
	{Key: "net.ipv4.tcp_rmem", Kind: SysctlSlow, Severity: Warning, bad: both(withMemory(2*unit.GiB), lowered(6<<20)),
		Wrong: "a largest size below 6291456 with 2 GiB of memory or more", Why: "it was lowered: a stream's receive window ends below what the kernel allows by itself",
		Remedy: "remove the line that sets it, or sysctl -w KEY=\"4096 131072 6291456\"", Source: "tcp_init, net/ipv4/tcp.c: 6 MiB, or a 128th of a smaller memory"},
	{Key: "net.ipv4.tcp_wmem", Kind: SysctlSlow, Severity: Warning, bad: both(withMemory(2*unit.GiB), lowered(4<<20)),
		Wrong: "a largest size below 4194304 with 2 GiB of memory or more", Why: "it was lowered: a stream's send buffer ends below what the kernel allows by itself",
		Remedy: "remove the line that sets it, or sysctl -w KEY=\"4096 16384 4194304\"", Source: "tcp_init, net/ipv4/tcp.c: 4 MiB, or a 128th of a smaller memory"},
	{Key: "net.ipv4.tcp_rmem", Kind: SysctlDanger, Severity: Warning, bad: startsHuge,
		Wrong: "a default above 8 MiB", Why: "every socket starts with that much, idle ones too: raise the maximum, not the default",
		Remedy: "sysctl -w KEY with 131072 as the middle number", Source: "ip-sysctl, tcp_rmem: default is the initial size"},
	{Key: "net.core.rmem_max", Kind: SysctlUnit, Severity: Fault, bad: overflowing,
		Wrong: "above 2147483647", Why: "the size does not fit 31 bits", Remedy: "sysctl -w KEY=2147483647 or less", Source: "sysctl_rmem_max is __u32 and SO_RCVBUF int, net/core/sock.c"},
	{Key: "net.core.wmem_max", Kind: SysctlUnit, Severity: Fault, bad: overflowing,
		Wrong: "above 2147483647", Why: "the size does not fit 31 bits", Remedy: "sysctl -w KEY=2147483647 or less", Source: "sysctl_wmem_max is __u32 and SO_SNDBUF int, net/core/sock.c"},
	{Key: "net.core.rmem_default", Kind: SysctlDanger, Severity: Warning, bad: above(16 << 20),
		Wrong: "above 16 MiB", Why: "every UDP and other socket that is no TCP may hold that much; TCP does not use it",
		Remedy: "sysctl -w KEY=212992, and let the programs that need more ask for it (net.core.rmem_max)", Source: "ip-sysctl, tcp_rmem: overrides net.core.rmem_default used by other protocols"},
	{Key: "net.core.wmem_default", Kind: SysctlDanger, Severity: Warning, bad: above(16 << 20),
		Wrong: "above 16 MiB", Why: "every UDP and other socket that is no TCP may hold that much; TCP does not use it",
		Remedy: "sysctl -w KEY=212992, and let the programs that need more ask for it (net.core.wmem_max)", Source: "ip-sysctl, tcp_wmem: overrides net.core.wmem_default used by other protocols"},

	// Gone or without effect.
	{Key: "net.ipv4.tcp_tw_recycle", Kind: SysctlDanger, Severity: Fault, bad: notZero,
		Wrong: "1", Why: "it drops connections of clients that share one address (NAT)", Remedy: "sysctl -w KEY=0", Source: "removed in Linux 4.12 (commit 4396e46187ca)"},
	{Key: "net.ipv4.tcp_low_latency", Kind: SysctlGone, Severity: Info, bad: both(notZero, onKernel(4, 14)),
		Wrong: "not 0", Why: "it has no effect any more", Remedy: "take KEY out of the configuration", Source: "ip-sysctl, tcp_low_latency: legacy, no effect (since 4.14)"},
	{Key: "net.ipv4.tcp_fack", Kind: SysctlGone, Severity: Info, bad: both(notZero, onKernel(4, 15)),
		Wrong: "not 0", Why: "it has no effect any more: RACK took its place", Remedy: "take KEY out of the configuration", Source: "ip-sysctl, tcp_fack: legacy, no effect (since 4.15)"},
	{Key: "net.ipv4.tcp_adv_win_scale", Kind: SysctlGone, Severity: Info, bad: both(func(v sysctlView) bool { return len(v.n) == 1 && v.n[0] != 1 }, onKernel(6, 6)),
		Wrong: "not 1", Why: "it has no effect any more: the kernel measures what part of a buffer is payload", Remedy: "take KEY out of the configuration", Source: "ip-sysctl, tcp_adv_win_scale: obsolete since linux-6.6 (commit dfa2f0483360)"},
	{Key: "net.ipv4.udp_wmem_min", Kind: SysctlGone, Severity: Info, bad: func(v sysctlView) bool { return v.one() >= 0 && v.one() != 4096 },
		Wrong: "not 4096", Why: "UDP does not account for what it sends: it has no effect", Remedy: "take KEY out of the configuration", Source: "ip-sysctl, udp_wmem_min: this tunable has no effect"},
	{Key: "net.ipv4.ipfrag_low_thresh", Kind: SysctlGone, Severity: Info, bad: both(func(v sysctlView) bool { return v.one() >= 0 && v.one() != 3<<20 }, onKernel(4, 17)),
		Wrong: "not 3145728", Why: "it has no effect any more", Remedy: "take KEY out of the configuration", Source: "ip-sysctl, ipfrag_low_thresh: obsolete since linux-4.17"},

	// Slower than need be.
	{Key: "net.ipv4.tcp_window_scaling", Kind: SysctlSlow, Severity: Warning, bad: is(0),
		Wrong: "0", Why: "no connection of this host has more than 64 KiB in flight: 64 KiB a round trip", Remedy: "sysctl -w KEY=1", Source: "ip-sysctl, tcp_window_scaling; RFC 7323 section 2"},
	{Key: "net.ipv4.tcp_sack", Kind: SysctlSlow, Severity: Warning, bad: is(0),
		Wrong: "0", Why: "after two losses in one window a connection waits for round trips or for a timeout", Remedy: "sysctl -w KEY=1", Source: "ip-sysctl, tcp_sack; RFC 2018"},
	{Key: "net.ipv4.tcp_dsack", Kind: SysctlSlow, Severity: Info, bad: is(0),
		Wrong: "0", Why: "peers cannot tell reordering from loss", Remedy: "sysctl -w KEY=1", Source: "ip-sysctl, tcp_dsack; RFC 2883"},
	{Key: "net.ipv4.tcp_timestamps", Kind: SysctlSlow, Severity: Warning, sized: true, bad: is(0),
		Wrong: "0", Why: "sequence numbers wrap within seconds at 10 Gb/s and nothing tells an old segment from a new one (PAWS); round trips are measured less often", Remedy: "sysctl -w KEY=1", Source: "ip-sysctl, tcp_timestamps; RFC 7323 section 5"},
	{Key: "net.ipv4.tcp_moderate_rcvbuf", Kind: SysctlSlow, Severity: Warning, bad: is(0),
		Wrong: "0", Why: "receive buffers stay as they start and do not grow with the path", Remedy: "sysctl -w KEY=1", Source: "ip-sysctl, tcp_moderate_rcvbuf"},
	{Key: "net.ipv4.tcp_recovery", Kind: SysctlSlow, Severity: Info, bad: func(v sysctlView) bool { return v.one() >= 0 && v.one()&1 == 0 },
		Wrong: "without bit 0x1", Why: "RACK is off: lost retransmissions and reordering cost timeouts", Remedy: "sysctl -w KEY=1", Source: "ip-sysctl, tcp_recovery; RFC 8985"},
	{Key: "net.ipv4.tcp_tso_rtt_log", Kind: SysctlSlow, Severity: Info, bad: both(is(0), onKernel(5, 18)),
		Wrong: "0", Why: "segments to near hosts are cut as small as those to far ones, which costs cores", Remedy: "sysctl -w KEY=9", Source: "ip-sysctl, tcp_tso_rtt_log: since linux-5.18, default 9"},
	{Key: "net.ipv4.tcp_notsent_lowat", Kind: SysctlSlow, Severity: Info, bad: both(under(16384), func(v sysctlView) bool { return v.one() > 0 }),
		Wrong: "below 16384", Why: "senders are woken for every few segments", Remedy: "sysctl -w KEY=131072, or take it out of the configuration", Source: "ip-sysctl, tcp_notsent_lowat: unsent bytes in the write queue"},
	{Key: "net.ipv4.tcp_limit_output_bytes", Kind: SysctlSlow, Severity: Info, bad: both(under(131072), func(v sysctlView) bool { return v.one() > 0 }),
		Wrong: "below 131072", Why: "a socket hands the card fewer than two large segments at a time", Remedy: "sysctl -w KEY=1048576", Source: "ip-sysctl, tcp_limit_output_bytes: default 1048576"},
	{Key: "net.ipv4.tcp_no_metrics_save", Kind: SysctlSlow, Severity: Info, bad: is(1),
		Wrong: "1", Why: "connections do not learn from those before: right for benchmarks, not for work", Remedy: "sysctl -w KEY=0", Source: "ip-sysctl, tcp_no_metrics_save: usually, this increases overall performance (0)"},
	{Key: "net.ipv4.tcp_mtu_probing", Kind: SysctlSlow, Severity: Info, bad: is(2),
		Wrong: "2", Why: "every connection starts with small segments and feels its way up", Remedy: "sysctl -w KEY=1 (only where a black hole is found)", Source: "ip-sysctl, tcp_mtu_probing: always enabled, use initial MSS of tcp_base_mss"},
	{Key: "net.core.high_order_alloc_disable", Kind: SysctlSlow, Severity: Info, bad: is(1),
		Wrong: "1", Why: "the kernel takes single pages for what it sends: a switch for debugging", Remedy: "sysctl -w KEY=0", Source: "net.rst, high_order_alloc_disable"},
	{Key: "net.core.netdev_budget", Kind: SysctlSlow, Severity: Info, bad: both(under(300), func(v sysctlView) bool { return v.one() > 0 }),
		Wrong: "below 300", Why: "a poll takes fewer packets than the kernel's default", Remedy: "sysctl -w KEY=300", Source: "net.rst, netdev_budget"},
	{Key: "net.core.netdev_max_backlog", Kind: SysctlSlow, Severity: Info, bad: above(99_999),
		Wrong: "100000 or more", Why: "cards do not use that queue; where it is used, so long a one is delay", Remedy: "sysctl -w KEY=4000, unless /proc/net/softnet_stat counts drops", Source: "net.rst, netdev_max_backlog; fasterdata.es.net no longer names it"},

	// Dangerous.
	{Key: "net.ipv4.tcp_max_tw_buckets", Kind: SysctlDanger, Severity: Warning, bad: both(under(16384), withMemory(8*unit.GiB)),
		Wrong: "lowered below 16384", Why: "connections in TIME-WAIT are destroyed early: old segments may reach new ones", Remedy: "take KEY out of the configuration", Source: "ip-sysctl, tcp_max_tw_buckets: you must not lower the limit artificially"},
	{Key: "net.ipv4.tcp_max_orphans", Kind: SysctlDanger, Severity: Warning, bad: both(under(8192), withMemory(8*unit.GiB)),
		Wrong: "lowered below 8192", Why: "connections that are closing are reset", Remedy: "take KEY out of the configuration", Source: "ip-sysctl, tcp_max_orphans: you must not lower the limit artificially"},
	{Key: "net.core.somaxconn", Kind: SysctlDanger, Severity: Info, bad: both(under(4096), onKernel(5, 4)),
		Wrong: "below 4096", Why: "servers turn bursts of connections away that the kernel's default would take", Remedy: "sysctl -w KEY=4096", Source: "ip-sysctl, somaxconn: defaults to 4096, was 128 before linux-5.4"},
	{Key: "net.ipv4.ip_local_port_range", Kind: SysctlDanger, Severity: Info, bad: wideRange,
		Wrong: "from below 10000, and ip_local_reserved_ports empty", Why: "outgoing connections may take the port of a server that is about to start", Remedy: "name the servers' ports in net.ipv4.ip_local_reserved_ports", Source: "ip-sysctl, ip_local_port_range and ip_local_reserved_ports"},
	{Key: "net.ipv4.ip_no_pmtu_disc", Kind: SysctlDanger, Severity: Warning, bad: is(1, 2),
		Wrong: "1 or 2", Why: "this host does not find out how large packets to a peer may be: they are fragmented, or lost", Remedy: "sysctl -w KEY=0", Source: "ip-sysctl, ip_no_pmtu_disc; RFC 1191"},
	{Key: "net.ipv4.conf.all.arp_ignore", Kind: SysctlDanger, Severity: Warning, bad: is(8),
		Wrong: "8", Why: "this host answers ARP for none of its addresses", Remedy: "sysctl -w KEY=1", Source: "ip-sysctl, arp_ignore: 8, do not reply for all local addresses"},
	{Key: "net.netfilter.nf_conntrack_count", Kind: SysctlDanger, Severity: Warning, bad: nearlyFull,
		Wrong: "nine tenths of nf_conntrack_max", Why: "the table of tracked connections is nearly full: new connections will be dropped", Remedy: "sysctl -w net.netfilter.nf_conntrack_max to twice what it is, or do not track bulk traffic", Source: "Documentation/networking/nf_conntrack-sysctl.rst, nf_conntrack_max"},
}
