// Package profile computes sets of sysctls for a host: what its links, paths
// and memory ask for, and what keeps it from being abused. Every value has its
// arithmetic or its danger as the reason. It must never read or set one. Don't
// copy a value from a list, and don't lower what somebody raised.
package profile

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/unit"
)

// Input is what a profile is computed from. Unknown is zero.
type Input struct {
	// Host is the host as it is to be, with its present sysctls: a key that is
	// missing among them is one that this kernel has not.
	Host netstate.Host
	// Leased are links that get an address from a server, given yet or not.
	Leased []string
	// Paths are those that begin or end at the host.
	Paths []Path
	// Streams is how many streams it carries at once; zero unknown.
	Streams int
	// SocketBuffer is what its sockets ask for with SO_RCVBUF and SO_SNDBUF;
	// zero leaves buffers to the kernel.
	SocketBuffer unit.Bytes
	// Roles are what the host is by its owner's word: "router", "kubernetes",
	// "multihomed", "benchmark". The first three are also seen by themselves.
	Roles []string
	// Own are the keys that somebody else sets, which a profile leaves alone.
	Own map[string]bool
	// InNamespace: the host is a network namespace and cannot set what is the
	// whole machine's.
	InNamespace bool
}

// Path is the way to another host: its round trip, and a shaper's rate.
type Path struct {
	To   string
	RTT  time.Duration
	Rate unit.BitRate
}

// Setting is one sysctl, its value as the kernel prints it, and why.
type Setting struct {
	Key   string
	Value string
	Why   string
}

// Result is what a profile would change, and what it leaves and why.
type Result struct {
	Settings []Setting
	Left     []string
}

// ByName returns a profile; false for a name that is none.
func ByName(name string) (func(Input) Result, bool) {
	switch name {
	case "throughput":
		return Throughput, true
	case "security":
		return Security, true
	}
	return nil, false
}

// Keys are the sysctls that the profiles look at, for a host with these links.
func Keys(links []netstate.Link) []string {
	return append(throughputKeys(), securityKeys(links)...)
}

// obsolete are keys of lists that are still copied and what became of them
// (Documentation/networking/ip-sysctl.rst).
var obsolete = []struct{ key, why string }{
	{"net.ipv4.tcp_tw_recycle", "it broke clients behind NAT and was removed in Linux 4.12"},
	{"net.ipv4.tcp_fack", "it has no effect since Linux 4.15"},
	{"net.ipv4.tcp_low_latency", "it has no effect since Linux 4.14"},
	{"net.ipv4.tcp_adv_win_scale", "it has no effect since Linux 6.6"},
	{"net.ipv4.tcp_frto_response", "it was removed in Linux 3.10"},
	{"net.ipv4.tcp_thin_dupack", "it was removed in Linux 4.11"},
	{"net.ipv4.tcp_max_ssthresh", "it was removed in Linux 3.9"},
	{"net.ipv4.route.max_size", "it has no effect since Linux 3.6"},
}

// Obsolete says why a key should not be set any more; "" for others.
func Obsolete(key string) string {
	for _, o := range obsolete {
		if o.key == key {
			return o.why
		}
	}
	return ""
}

// maker collects a profile's result.
type maker struct {
	Input
	result Result
}

// value is a sysctl's one number; false where the kernel has no such key, or
// it holds something else.
func (m *maker) value(key string) (int64, bool) {
	v := m.Host.SysctlInts(key)
	if len(v) != 1 {
		return 0, false
	}
	return v[0], true
}

// settable reports a key that this kernel has, that nobody else sets and that
// can be set here; what it cannot, for another reason than an owner, it names.
func (m *maker) settable(key string) bool {
	s, there := m.Host.Sysctls[key]
	switch {
	case m.Own[key]:
		return false
	case !there:
		m.leave("%s: this kernel has none", key)
		return false
	case m.InNamespace && s.Scope == netstate.ScopeGlobal:
		m.leave("%s: it is the whole machine's, and this host is a network namespace", key)
		return false
	}
	return true
}

func (m *maker) set(key, value, format string, args ...any) {
	if strings.Join(strings.Fields(m.Host.Sysctls[key].Value), " ") == value {
		return
	}
	m.result.Settings = append(m.result.Settings, Setting{key, value, fmt.Sprintf(format, args...)})
}

func (m *maker) setNumber(key string, value int64, format string, args ...any) {
	m.set(key, strconv.FormatInt(value, 10), format, args...)
}

func (m *maker) leave(format string, args ...any) {
	m.result.Left = append(m.result.Left, fmt.Sprintf(format, args...))
}
