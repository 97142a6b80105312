package plan

import (
	"fmt"
	"strings"

	"github.com/linerate/linerate/internal/bondopt"
	"github.com/linerate/linerate/internal/plaintext"
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
	case PortOrder:
		return s.Link + " ports"
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
	target := s.Target()
	if s.Kind == LinkPresence {
		target = fmt.Sprintf("%s (%s)", s.Link, s.Make.words())
	}
	return fmt.Sprintf("%s: %s -> %s", target, s.Old, s.New)
}

// Command is what a person would type to do the same. It is shown, never run.
func (s Step) Command() string {
	link := plaintext.ShellWord(s.Link)
	switch s.Kind {
	case BondOption:
		return s.optionCommand()
	case LinkMTU:
		return fmt.Sprintf("ip link set %s mtu %s", link, plaintext.ShellWord(s.New))
	case Sysctl:
		return fmt.Sprintf("sysctl -w %s=%s", plaintext.ShellWord(s.Key), plaintext.ShellWord(s.New))
	case LinkState:
		return fmt.Sprintf("ip link set %s %s", link, plaintext.ShellWord(s.New))
	case PortMaster:
		if s.New == NoMaster {
			return fmt.Sprintf("ip link set %s nomaster", link)
		}
		return fmt.Sprintf("ip link set %s master %s", link, plaintext.ShellWord(s.New))
	case PortOrder:
		return s.orderCommand()
	case Route:
		line := "ip route " + s.verb("add", "del") + " " + routeWords(s.Route, true)
		if s.Route != nil && s.Route.Protocol != "" && s.New != Absent {
			line += " proto " + plaintext.ShellWord(s.Route.Protocol)
		}
		return line
	case Address:
		return fmt.Sprintf("ip address %s %s dev %s", s.verb("add", "del"), s.Address, link)
	case LinkPresence:
		return s.makeCommand()
	case LinkMAC:
		return fmt.Sprintf("ip link set %s address %s", link, plaintext.ShellWord(s.New))
	case PortOption:
		return fmt.Sprintf("ip link set %s type bond_slave %s %s", link, plaintext.ShellWord(s.Key), plaintext.ShellWord(s.New))
	case Rule:
		ip := "ip"
		if s.Rule != nil && ipv6Rule(s.Rule) {
			ip = "ip -6"
		}
		return fmt.Sprintf("%s rule %s %s", ip, s.verb("add", "del"), quoteAll(ruleWords(s.Rule)))
	}
	return s.deviceCommand()
}

func (s Step) verb(present, absent string) string {
	if s.New == Absent {
		return absent
	}
	return present
}

func (s Step) optionCommand() string {
	key, value := s.Key, s.New
	r, ok := bondopt.Find(s.Key)
	if said, otherwise := r.Saying(bondopt.Iproute2); otherwise {
		key = said.Name
	}
	if ok && r.Kind != bondopt.Number && value == NoValue {
		switch s.Key {
		case bondopt.Active:
			return fmt.Sprintf("ip link set %s type bond clear_active_slave", plaintext.ShellWord(s.Link))
		case bondopt.Primary:
			// ip-link(8) cannot represent it.
			return fmt.Sprintf("echo > /sys/class/net/%s/bonding/primary", plaintext.ShellWord(s.Link))
		}
		value = ""
	}
	return fmt.Sprintf("ip link set %s type bond %s %s", plaintext.ShellWord(s.Link), plaintext.ShellWord(key), plaintext.ShellWord(value))
}

func (s Step) orderCommand() string {
	var lines []string
	for _, port := range movedPorts(splitPorts(s.Old), splitPorts(s.New)) {
		p := plaintext.ShellWord(port)
		lines = append(lines, fmt.Sprintf("ip link set %s nomaster && ip link set %s down && ip link set %s master %s", p, p, p, plaintext.ShellWord(s.Link)))
	}
	return strings.Join(lines, " && ")
}

func (s Step) makeCommand() string {
	if s.New == Absent {
		return "ip link delete " + plaintext.ShellWord(s.Link)
	}
	m := s.Make
	if m == nil {
		return "# a link of no kind"
	}
	line := "ip link add"
	if m.Kind == kindVLAN {
		line += " link " + plaintext.ShellWord(m.Parent)
	}
	line += " " + plaintext.ShellWord(s.Link)
	if !m.MAC.IsZero() {
		line += " address " + m.MAC.String()
	}
	line += " type " + plaintext.ShellWord(m.Kind)
	if m.Kind == kindVLAN {
		if m.Protocol != "" {
			line += " protocol " + plaintext.ShellWord(m.Protocol)
		}
		line += fmt.Sprintf(" id %d", m.ID)
	}
	return line
}

func (s Step) deviceCommand() string {
	link := plaintext.ShellWord(s.Link)
	switch s.Kind {
	case Qdisc:
		if s.New == DefaultQdisc {
			return fmt.Sprintf("tc qdisc del dev %s root", link)
		}
		return fmt.Sprintf("tc qdisc replace dev %s root %s", link, quoteAll(s.New))
	case Offload:
		return fmt.Sprintf("ethtool -K %s %s %s", link, plaintext.ShellWord(s.Key), plaintext.ShellWord(s.New))
	case Ring:
		return fmt.Sprintf("ethtool -G %s %s %s", link, plaintext.ShellWord(s.Key), plaintext.ShellWord(s.New))
	case Channel:
		return fmt.Sprintf("ethtool -L %s %s %s", link, plaintext.ShellWord(s.Key), plaintext.ShellWord(s.New))
	case Coalesce:
		value := s.New
		if isSwitch(s.Key) {
			value = map[string]string{"0": "off", "1": "on"}[s.New]
		}
		return fmt.Sprintf("ethtool -C %s %s %s", link, plaintext.ShellWord(s.Key), plaintext.ShellWord(value))
	case MPTCPLimit:
		return fmt.Sprintf("ip mptcp limits set %s %s", plaintext.ShellWord(s.Key), plaintext.ShellWord(s.New))
	case MPTCPEndpoint:
		return s.endpointCommand()
	}
	return "# unknown kind of step " + plaintext.ShellWord(string(s.Kind))
}

func (s Step) endpointCommand() string {
	e := s.Endpoint
	switch {
	case e == nil:
		return "# no endpoint"
	case s.New != Absent && e.ID != 0:
		return fmt.Sprintf("ip mptcp endpoint add %s id %d", quoteAll(endpointWords(e)), e.ID)
	case s.New != Absent:
		return "ip mptcp endpoint add " + quoteAll(endpointWords(e))
	case e.ID != 0:
		return fmt.Sprintf("ip mptcp endpoint delete id %d", e.ID)
	}
	// ip-mptcp(8) deletes by number only.
	return fmt.Sprintf(`ip mptcp endpoint delete id $(ip mptcp endpoint | awk '$1=="%s"{print $3}')`, e.Addr)
}
