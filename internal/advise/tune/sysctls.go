package tune

import (
	"fmt"
	"slices"
	"strings"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
)

const (
	congestionKey  = "net.ipv4.tcp_congestion_control"
	availableKey   = "net.ipv4.tcp_available_congestion_control"
	reorderingKey  = "net.ipv4.tcp_reordering"
	reorderTo      = 127 // of at most tcp_max_reordering, 300 by default: a round of packets on some links
	reorderAlready = 100
)

// controls are the congestion controls that are tried, the first first: bbr
// does not take a stray loss for a full queue, cubic yields to it.
var controls = [...]string{"bbr", "cubic"}

// senders are the hosts that send.
func senders(s State) []string {
	switch s.Traffic.Direction {
	case flow.Forward:
		return []string{s.Traffic.From}
	case flow.Reverse:
		return []string{s.Traffic.To}
	}
	return []string{s.Traffic.From, s.Traffic.To}
}

// congestionOptions: another congestion control that every sender's kernel has.
func congestionOptions(s State) []option {
	if s.Traffic.Congestion != "" { // sockets that ask for one do not look at the host's
		return nil
	}
	var out []option
	for _, control := range controls {
		hosts := make(map[string]netstate.Host)
		from := ""
		for _, name := range senders(s) {
			h := s.Fabric.Hosts[name]
			if !available(h, control) {
				hosts = nil
				break
			}
			if now := strings.TrimSpace(h.Sysctls[congestionKey].Value); now != "" && now != control {
				hosts[name], from = withSysctl(h, congestionKey, control), now
			}
		}
		if len(hosts) == 0 {
			continue
		}
		out = append(out, option{
			key: Name(fmt.Sprintf("%s=%s", Congestion, control)), hosts: hosts, load: s.Load,
			change: fmt.Sprintf("congestion control %s instead of %s on %s", control, from, strings.Join(namesOf(s, hosts), " and ")),
			why:    controlReason(control),
		})
	}
	return out
}

// available reports a congestion control that the host's kernel has at hand.
func available(h netstate.Host, control string) bool {
	return slices.Contains(strings.Fields(h.Sysctls[availableKey].Value), control)
}

// controlReason is what a congestion control is tried for.
func controlReason(control string) string {
	if control == "bbr" {
		return "bbr keeps the rate it has seen delivered, and does not slow down for a stray loss or a packet out of turn"
	}
	return "cubic fills the queue before it yields"
}

// socketControlOptions: sockets that ask for another congestion control, which
// changes no host and no other traffic.
func socketControlOptions(s State) []option {
	control := controls[0]
	if s.Traffic.Congestion != "" {
		return nil
	}
	for _, name := range senders(s) {
		h := s.Fabric.Hosts[name]
		if now := strings.TrimSpace(h.Sysctls[congestionKey].Value); now == "" || now == control ||
			!available(h, control) {
			return nil
		}
	}
	load := s.Load
	load.Traffic.Congestion = control
	return []option{{load: load, change: fmt.Sprintf("sockets that ask for %s (TCP_CONGESTION)", control), why: controlReason(control)}}
}

// reorderingOptions: more packets out of turn before one counts as lost.
func reorderingOptions(s State) []option {
	hosts := make(map[string]netstate.Host)
	for _, name := range senders(s) {
		if v := s.Fabric.Hosts[name].SysctlInts(reorderingKey); len(v) == 1 && v[0] < reorderAlready {
			hosts[name] = withSysctl(s.Fabric.Hosts[name], reorderingKey, fmt.Sprint(reorderTo))
		}
	}
	if len(hosts) == 0 {
		return nil
	}
	return []option{{hosts: hosts, load: s.Load,
		change: fmt.Sprintf("tcp_reordering %d on %s", reorderTo, strings.Join(namesOf(s, hosts), " and ")),
		why:    "packets change places on the way; TCP then waits longer before it takes one for lost",
	}}
}

func withSysctl(h netstate.Host, key, value string) netstate.Host {
	desired := h.Clone()
	s := desired.Sysctls[key]
	s.Value = value
	desired.Sysctls[key] = s
	return desired
}
