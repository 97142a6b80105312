package plan

import (
	"fmt"
	"strings"

	"github.com/linerate/linerate/netstate"
)

// Target names what a step changes: two steps with the same target change the
// same thing.
func (s Step) Target() string {
	switch s.Kind {
	case BondOption:
		return s.Link + " " + s.Key
	case LinkMTU:
		return s.Link + " mtu"
	case Sysctl:
		return s.Key
	case LinkState:
		return s.Link + " state"
	case PortMaster:
		return s.Link + " master"
	case Route:
		return "route " + routeWords(s.Route, false)
	case Address:
		return s.Link + " address " + s.Address.String()
	case LinkPresence:
		return s.Link
	case LinkMAC:
		return s.Link + " mac"
	case PortOption:
		return s.Link + " port " + s.Key
	case Rule:
		return "rule " + ruleWords(s.Rule)
	case Qdisc:
		return s.Link + " qdisc"
	case Offload, Ring, Channel, Coalesce:
		return fmt.Sprintf("%s %s %s", s.Link, s.Kind, s.Key)
	case MPTCPLimit:
		return "mptcp limit " + s.Key
	case MPTCPEndpoint:
		return "mptcp endpoint " + endpointWords(s.Endpoint)
	}
	return fmt.Sprintf("%s %s %s", s.Kind, s.Link, s.Key)
}

// Change is the step in one line: "bond0 xmit_hash_policy: layer2 -> layer3+4".
func (s Step) Change() string {
	return fmt.Sprintf("%s: %s -> %s", s.Target(), s.Old, s.New)
}

// iproute2Words are the options that ip-link(8) names otherwise than sysfs.
var iproute2Words = [...][2]string{{"peer_notif_delay", "peer_notify_delay"}}

// Command is what a person would type to do the same. It is shown, never run.
func (s Step) Command() string {
	switch s.Kind {
	case BondOption:
		key := s.Key
		for _, w := range iproute2Words {
			if w[0] == key {
				key = w[1]
			}
		}
		return fmt.Sprintf("ip link set %s type bond %s %s", quote(s.Link), quote(key), quote(s.New))
	case LinkMTU:
		return fmt.Sprintf("ip link set %s mtu %s", quote(s.Link), quote(s.New))
	case Sysctl:
		return fmt.Sprintf("sysctl -w %s=%s", quote(s.Key), quote(s.New))
	case LinkState:
		return fmt.Sprintf("ip link set %s %s", quote(s.Link), quote(s.New))
	case PortMaster:
		if s.New == NoMaster {
			return fmt.Sprintf("ip link set %s nomaster", quote(s.Link))
		}
		return fmt.Sprintf("ip link set %s master %s", quote(s.Link), quote(s.New))
	case Route:
		verb := "add"
		if s.New == Absent {
			verb = "del"
		}
		return "ip route " + verb + " " + routeWords(s.Route, true)
	case Address:
		verb := "add"
		if s.New == Absent {
			verb = "del"
		}
		return fmt.Sprintf("ip address %s %s dev %s", verb, s.Address, quote(s.Link))
	}
	return "# unknown kind of step " + quote(string(s.Kind))
}

// routeWords spells a route as ip-route(8) does; shell quotes the names in it.
func routeWords(r *netstate.Route, shell bool) string {
	if r == nil {
		return "?"
	}
	name := func(s string) string { return s }
	if shell {
		name = quote
	}
	var b strings.Builder
	b.WriteString(r.Dst.String())
	if r.Gateway.IsValid() {
		fmt.Fprintf(&b, " via %s", r.Gateway)
	}
	if r.Link != "" {
		fmt.Fprintf(&b, " dev %s", name(r.Link))
	}
	if r.Source.IsValid() {
		fmt.Fprintf(&b, " src %s", r.Source)
	}
	if r.Table != 0 {
		fmt.Fprintf(&b, " table %d", r.Table)
	}
	if r.Metric != 0 {
		fmt.Fprintf(&b, " metric %d", r.Metric)
	}
	for _, hop := range r.Hops {
		b.WriteString(" nexthop")
		if hop.Gateway.IsValid() {
			fmt.Fprintf(&b, " via %s", hop.Gateway)
		}
		fmt.Fprintf(&b, " dev %s weight %d", name(hop.Link), max(hop.Weight, 1))
	}
	return b.String()
}

// ruleWords spells a rule as ip-rule(8) does.
func ruleWords(r *netstate.Rule) string {
	if r == nil {
		return "?"
	}
	var words []string
	if r.Priority != 0 {
		words = append(words, fmt.Sprintf("priority %d", r.Priority))
	}
	from := "all"
	if r.From.IsValid() {
		from = r.From.String()
	}
	words = append(words, "from "+from)
	if r.To.IsValid() {
		words = append(words, "to "+r.To.String())
	}
	if r.Selectors != "" {
		words = append(words, r.Selectors)
	}
	if r.Action != "" {
		words = append(words, r.Action)
	} else {
		words = append(words, fmt.Sprintf("table %d", r.Table))
	}
	return strings.Join(words, " ")
}

// endpointWords spells an MPTCP endpoint as ip-mptcp(8) does, without its
// number, which the kernel chooses.
func endpointWords(e *netstate.MPTCPEndpoint) string {
	if e == nil {
		return "?"
	}
	words := e.Addr.String()
	if e.Port != 0 {
		words += fmt.Sprintf(" port %d", e.Port)
	}
	if e.Link != "" {
		words += " dev " + e.Link
	}
	if e.Flags != 0 {
		words += " " + e.Flags.String()
	}
	return words
}

// quote makes s one word of a POSIX shell. A link's name may hold almost any
// byte, and these lines are pasted into root shells.
func quote(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-+:/@%,", r)
	}
	if s != "" && strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// Text is the plan for a person to read before it is carried out: every step
// with what traffic feels of it and the command that would do the same.
func (p Plan) Text() string {
	var b strings.Builder
	host := p.Host
	if host == "" {
		host = "this host"
	}
	if len(p.Steps) == 0 {
		return host + ": nothing to change\n"
	}
	unit := "steps"
	if len(p.Steps) == 1 {
		unit = "step"
	}
	worst := p.Worst()
	fmt.Fprintf(&b, "%s: %d %s, at worst %s: %s\n", host, len(p.Steps), unit, worst, worst.Meaning())
	for i, s := range p.Steps {
		fmt.Fprintf(&b, "%3d. %-9s  %s\n", i+1, s.Disruption, s.Change())
		if s.Why != "" {
			fmt.Fprintf(&b, "%16swhy: %s\n", "", s.Why)
		}
		fmt.Fprintf(&b, "%16s%s\n", "", s.Command())
	}
	return b.String()
}
