package profile

// scope says which settings of links a hardening needs, by how the kernel
// joins conf/all with a link's own.
type scope int

const (
	hostWide scope = iota
	// allAlone: conf/all decides (both must allow, or either demands); the
	// default is set so that the file reads as it acts.
	allAlone
	// everyLink: either allows, or conf/all counts for nothing, so that each
	// link's own is set too.
	everyLink
)

// hardening is one key of the list, or one name under conf/all, conf/default
// and the links' own.
type hardening struct {
	family string // of a link's setting
	name   string // key, or the setting's name
	scope  scope
	value  int64
	// strict reports a value that is as strict already.
	strict func(int64) bool
	// spare are the roles that must not have it, only the one that it is for.
	spare []string
	only  string
	// why is what it does; twin what IPv6 has in its place, or why nothing.
	why, twin string
	// instead is what a role keeps by not having it.
	instead string
}

func exactly(want int64) func(int64) bool { return func(v int64) bool { return v == want } }
func atLeast(want int64) func(int64) bool { return func(v int64) bool { return v >= want } }
func atMost(want int64) func(int64) bool  { return func(v int64) bool { return v <= want } }
func anyBut(bad int64) func(int64) bool   { return func(v int64) bool { return v != bad } }

// hardenings is the list of the cross-region article ("Security"), with what
// it lacks for IPv6. rp_filter has a function of its own. How conf/all and a
// link's own are joined: include/linux/inetdevice.h, IN_DEV_*.
func hardenings() []hardening {
	return []hardening{
		{name: "net.ipv4.tcp_syncookies", value: 1, strict: atLeast(1),
			why:  "a flood of SYNs does not fill the queue of half-open connections",
			twin: "IPv6 connections follow the same key"},
		{family: "ipv4", name: "accept_source_route", scope: allAlone, value: 0, strict: atMost(0),
			why:  "a sender does not choose the way of its packets past filters",
			twin: "conf.all of IPv6 is set too"},
		{family: "ipv6", name: "accept_source_route", scope: allAlone, value: 0, strict: atMost(0),
			why: "the twin of IPv4's: routing headers of type 0 are never followed (RFC 5095), and 0 takes those of mobile nodes only"},
		{family: "ipv4", name: "accept_redirects", scope: everyLink, value: 0, strict: atMost(0),
			why:  "nobody on the network moves the host's routes by ICMP; on a host that does not forward, conf/all or the link's own is enough to allow it, so that both are 0",
			twin: "IPv6's is set too"},
		{family: "ipv6", name: "accept_redirects", scope: everyLink, value: 0, strict: atMost(0),
			why: "the twin of IPv4's; conf/all counts for nothing here, each link's own does"},
		{family: "ipv4", name: "secure_redirects", scope: allAlone, value: 1, strict: atLeast(1),
			why:  "where redirects are taken at all, only those that name a known gateway are",
			twin: "IPv6 takes redirects from the first hop's router alone (RFC 4861, 8.1)"},
		{name: "net.ipv4.ip_forward", value: 0, strict: exactly(0), spare: []string{"router", "kubernetes"},
			why: "the host passes nothing from one network to another", twin: "net.ipv6.conf.all.forwarding is its twin",
			instead: "its traffic would stop"},
		{name: "net.ipv6.conf.all.forwarding", value: 0, strict: exactly(0), spare: []string{"router", "kubernetes"},
			why: "the twin of ip_forward", instead: "its traffic would stop"},
		{family: "ipv4", name: "send_redirects", scope: everyLink, value: 0, strict: exactly(0), spare: []string{"router", "kubernetes"},
			why:  "the host tells others no way, as only a router does; either of conf/all and the link's own is enough to allow it",
			twin: "IPv6 sends redirects only while it forwards, and has no key for it", instead: "hosts behind it would never learn a shorter way"},
		{name: "net.ipv4.icmp_echo_ignore_broadcasts", value: 1, strict: atLeast(1),
			why:  "a ping to a broadcast address with a forged sender is answered by nobody (Smurf)",
			twin: "net.ipv6.icmp.echo_ignore_multicast is its twin"},
		{name: "net.ipv6.icmp.echo_ignore_multicast", value: 1, strict: atLeast(1),
			why: "the twin of icmp_echo_ignore_broadcasts; neighbour discovery goes on"},
		{name: "net.ipv4.icmp_ignore_bogus_error_responses", value: 1, strict: atLeast(1),
			why:  "broken routers' answers to broadcasts do not fill the log",
			twin: "IPv6 has no broadcast"},
		{family: "ipv4", name: "log_martians", scope: allAlone, value: 1, strict: atLeast(1), spare: []string{"router", "kubernetes", "multihomed"},
			why:  "packets with impossible addresses leave a line in the kernel's log",
			twin: "IPv6 has no such key", instead: "traffic that rightly comes in by another link would fill the log"},
		{name: "kernel.randomize_va_space", value: 2, strict: atLeast(2),
			why: "addresses of stack, heap and libraries are not foreseeable", twin: "it is no matter of a protocol"},
		{name: "kernel.panic", value: 30, strict: anyBut(0),
			why: "a host that panics is back after 30 s instead of hanging until somebody comes", twin: "it is no matter of a protocol"},
		{name: "net.bridge.bridge-nf-call-iptables", value: 1, strict: atLeast(1), only: "kubernetes",
			why: "bridged packets pass iptables, which network plug-ins of Kubernetes rest on", twin: "bridge-nf-call-ip6tables is its twin"},
		{name: "net.bridge.bridge-nf-call-ip6tables", value: 1, strict: atLeast(1), only: "kubernetes",
			why: "the twin of bridge-nf-call-iptables"},
	}
}
