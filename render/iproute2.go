package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/bondopt"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/plan"
)

// Where the scripts go.
const (
	iproute2Up   = "/etc/linerate/network-up.sh"
	iproute2Down = "/etc/linerate/network-down.sh"
)

// iproute2Writer turns a plan from a bare host to the wanted one into a
// script, and the way back into another.
type iproute2Writer struct {
	in       Input
	ledger   *ledger
	steps    []plan.Step
	made     map[string]bool // links that the script makes
	up, down []string
	sysctls  map[string]string
}

func writeIproute2(in Input) (Output, error) {
	var out Output
	if len(in.State.Links) == 0 {
		return Output{}, ErrEmpty
	}
	w := &iproute2Writer{in: in, ledger: newLedger(in, &out), made: map[string]bool{}, sysctls: in.sysctls()}
	bare, want := Bare(in.Host, in.State, nil), in.State.Clone()
	bare.Sysctls, want.Sysctls = nil, nil
	for i := range bare.Links {
		// The script keeps the one that is there; the plan only wants one.
		if l := &bare.Links[i]; l.MAC.IsZero() {
			l.MAC = flow.MAC{0x02, 0, 0, 0, byte(i >> 8), byte(i)}
			if w, ok := want.Link(l.Name); ok && w.MAC.IsZero() {
				w.MAC = l.MAC
				want.SetLink(w)
			}
		}
	}
	for _, link := range in.Host.Absent {
		bare.SetLink(netstate.Link{Name: link, Kind: "dummy", MTU: 1500})
	}
	want.Absent = in.Host.Absent
	if in.Host.MPTCP == nil {
		bare.MPTCP, want.MPTCP = nil, nil
	}
	p, err := plan.Between(bare, want)
	if err != nil {
		return Output{}, err
	}
	w.steps = p.Steps
	for _, s := range w.steps {
		w.made[s.Link] = w.made[s.Link] || s.Kind == plan.LinkPresence && s.New == plan.Present
	}
	for _, key := range sortedKeys(w.sysctls) {
		if w.linkOf(key) == "" {
			w.sysctl(key)
		}
	}
	for _, s := range w.steps {
		w.step(s)
	}
	for _, d := range in.devices() {
		w.ledger.byName(d)
	}
	w.said()
	out.add(iproute2Up, 0o755, w.script())
	out.add(iproute2Down, 0o755, w.undo())
	w.ledger.finish(func(x wish) string {
		switch {
		case strings.HasPrefix(x.key, "dhcp"), x.key == "accept-ra":
			return "a script sets addresses and starts no client that asks for them"
		case strings.HasPrefix(x.key, "nameservers"):
			return "ip(8) has no name servers: resolv.conf(5) does"
		}
		return "ip(8), tc(8) and ethtool(8) have no word for it here"
	})
	return out, nil
}

// linkOf is the link that the script makes and a sysctl belongs to; "" of
// another.
func (w *iproute2Writer) linkOf(key string) string {
	parts := strings.Split(key, ".")
	if len(parts) != 5 {
		return ""
	}
	name := strings.ReplaceAll(parts[3], "/", ".")
	if w.made[name] {
		return name
	}
	return ""
}

func (w *iproute2Writer) sysctl(key string) {
	w.up = append(w.up, fmt.Sprintf(`same "$(sysctl_now %s)" %s || { keep sysctl:%s "$(sysctl_now %s)"; sysctl -q -w %s; }`,
		shellWord(key), shellWord(w.sysctls[key]), shellWord(key), shellWord(key), shellWord(key+"="+w.sysctls[key])))
	w.down = append(w.down, fmt.Sprintf(`! was sysctl:%s || sysctl -q -w %s"$old"`, shellWord(key), shellWord(key+"=")))
	w.ledger.say("", "sysctl."+key)
}

// step is one step's lines. What a link had before is kept for the undo unless
// the script makes the link.
func (w *iproute2Writer) step(s plan.Step) {
	link, target, command := shellWord(s.Link), shellWord(s.Target()), s.Command()
	switch s.Kind {
	case plan.LinkPresence:
		if s.New == plan.Absent {
			w.up = append(w.up, fmt.Sprintf("! there %s || %s", link, command))
			return // what it was is not known: the undo cannot bring it back
		}
		w.up = append(w.up, "add "+target+" "+command)
		w.down = append(w.down, "drop "+target+" "+s.Undo().Command())
		for _, key := range sortedKeys(w.sysctls) {
			if w.linkOf(key) == s.Link {
				w.up = append(w.up, "sysctl -q -w "+shellWord(key+"="+w.sysctls[key]))
				w.ledger.say("", "sysctl."+key)
			}
		}
	case plan.Route, plan.Address, plan.Rule, plan.MPTCPEndpoint:
		w.up = append(w.up, "add "+target+" "+command)
		w.down = append(w.down, "drop "+target+" "+w.dropCommand(s))
	case plan.BondOption:
		w.up = append(w.up, fmt.Sprintf("option %s %s %s || %s", link, shellWord(s.Key), shellWord(s.New), command))
	case plan.PortMaster:
		if s.New == plan.NoMaster {
			return
		}
		w.up = append(w.up, "port "+link+" "+shellWord(s.New))
		w.down = append(w.down, "drop "+shellWord("port "+s.Link)+" ip link set "+link+" nomaster")
	case plan.LinkState:
		if s.New == plan.Down {
			return // port takes a link down where it must
		}
		w.kept(s, "state", `"$(state_now `+link+`)"`, command, `! was state:`+link+` || ip link set `+link+` "$old"`)
	case plan.LinkMTU:
		w.kept(s, "mtu", `"$(cat /sys/class/net/`+link+`/mtu)"`, command, `! was mtu:`+link+` || ip link set `+link+` mtu "$old"`)
	case plan.LinkMAC:
		w.kept(s, "mac", `"$(cat /sys/class/net/`+link+`/address)"`, command, `! was mac:`+link+` || ip link set `+link+` address "$old"`)
	case plan.Qdisc:
		w.up = append(w.up, command)
		w.down = append(w.down, "tc qdisc del dev "+link+" root 2>/dev/null || true")
	case plan.Offload, plan.Ring, plan.Channel, plan.Coalesce:
		w.device(s, link, command)
	case plan.MPTCPLimit:
		key := shellWord(s.Key)
		w.up = append(w.up, fmt.Sprintf(`keep mptcp:%s "$(limit_now %s)"`, key, key), command)
		w.down = append(w.down, fmt.Sprintf(`! was mptcp:%s || ip mptcp limits set %s "$old"`, key, key))
	default:
		w.up = append(w.up, command)
	}
}

// dropCommand is what takes a step back, as one command with plain words.
func (w *iproute2Writer) dropCommand(s plan.Step) string {
	if s.Kind == plan.MPTCPEndpoint {
		return "endpoint_gone " + shellWord(s.Endpoint.Addr.String())
	}
	return s.Undo().Command()
}

// kept writes a command after what was there before is kept.
func (w *iproute2Writer) kept(s plan.Step, what, now, command, back string) {
	if !w.made[s.Link] {
		w.up = append(w.up, "keep "+what+":"+shellWord(s.Link)+" "+now)
		w.down = append(w.down, back)
	}
	w.up = append(w.up, command)
}

// device writes a step of ethtool's, which fails where nothing would change.
func (w *iproute2Writer) device(s plan.Step, link, command string) {
	flag := map[plan.Kind]string{plan.Offload: "-K", plan.Ring: "-G", plan.Channel: "-L", plan.Coalesce: "-C"}[s.Kind]
	now := fmt.Sprintf(`"$(%s_now %s %s)"`, s.Kind, link, shellWord(s.Key))
	value := s.New
	if strings.HasPrefix(s.Key, "adaptive-") {
		value = map[string]string{"0": "off", "1": "on"}[s.New]
	}
	name := shellWord(string(s.Kind) + ":" + s.Link + ":" + s.Key)
	w.up = append(w.up, fmt.Sprintf("same %s %s || { keep %s %s; %s; }", now, shellWord(value), name, now, command))
	w.down = append(w.down, fmt.Sprintf(`! was %s || ethtool %s %s %s "$old"`, name, flag, link, shellWord(s.Key)))
}

// said tells the ledger what the steps do.
func (w *iproute2Writer) said() {
	did := func(match func(plan.Step) bool) bool { return slices.ContainsFunc(w.steps, match) }
	for _, x := range w.ledger.wishes {
		names, known := w.in.Host.Interfaces(x.where)
		if !known {
			names = []string{x.where}
		}
		of := func(s plan.Step) bool { return slices.Contains(names, s.Link) }
		key := x.key
		if upper, _, sub := strings.Cut(key, "."); sub && upper != "sysctl" {
			key = upper
		}
		ok := false
		port, ofPort := bondopt.FindKey(x.key)
		switch {
		case (x.key == "id" || x.key == "link") && did(func(s plan.Step) bool { return of(s) && s.Make != nil && s.Make.Parent != "" }):
			ok = true
		case x.key == "source_rules" && len(w.in.State.Rules) > 0:
			ok = true
		case x.key == "interfaces" || key == "parameters" || key == "bonding":
			if b, bond := w.in.Host.Network.Bond(x.where); bond {
				l, there := w.in.State.Link(b.ID)
				ok = there && l.Bond != nil
			}
		case x.key == "dummy-devices":
			ok = did(func(s plan.Step) bool { return of(s) && s.Kind == plan.LinkPresence })
		case x.key == "addresses":
			ok = did(func(s plan.Step) bool { return of(s) && s.Kind == plan.Address && s.Address.String() == x.value })
		case x.key == "mtu":
			ok = did(func(s plan.Step) bool { return of(s) && s.Kind == plan.LinkMTU }) || x.value == "1500" || w.follows(names)
		case x.key == "macaddress":
			ok = did(func(s plan.Step) bool {
				return of(s) && (s.Kind == plan.LinkMAC || s.Kind == plan.LinkPresence && s.Make != nil && !s.Make.MAC.IsZero())
			})
		case x.key == "absent":
			ok = did(func(s plan.Step) bool {
				return s.Kind == plan.LinkPresence && s.New == plan.Absent && s.Link == x.value
			})
		case x.key == "qdisc":
			ok = did(func(s plan.Step) bool { return of(s) && s.Kind == plan.Qdisc }) || x.value == plan.DefaultQdisc
		case ofPort:
			ok = did(func(s plan.Step) bool { return of(s) && s.Kind == plan.PortOption && s.Key == port.Name }) || x.value == port.Default
		case key == "offloads" || key == "rings" || key == "channels" || key == "coalesce":
			ok = did(func(s plan.Step) bool { return of(s) && strings.HasSuffix(x.key, "."+s.Key) && s.Key != "" })
		case key == "mptcp":
			ok = did(func(s plan.Step) bool {
				return s.Kind == plan.MPTCPLimit && x.key == "mptcp."+s.Key || s.Kind == plan.MPTCPEndpoint && s.Endpoint.Addr.String() == x.value
			})
		case strings.HasPrefix(x.key, "multipath"):
			ok = did(func(s plan.Step) bool {
				return s.Kind == plan.Route && len(s.Route.Hops) > 0 && s.Route.Dst.String() == x.value
			})
		case strings.HasPrefix(x.key, "routes["), strings.HasPrefix(x.key, "routing-policy["):
			continue // below, by device
		default:
			ok = w.offloadKey(x, names)
		}
		if ok {
			w.ledger.say(x.where, x.key)
		}
	}
	w.saidRoutes()
}

// follows reports links whose MTU a bond sets.
func (w *iproute2Writer) follows(names []string) bool {
	l, ok := w.in.State.Link(firstOf(names))
	return ok && l.Master != ""
}

// offloadKey reports one of netplan's own keys of offloads that a step sets.
func (w *iproute2Writer) offloadKey(x wish, names []string) bool {
	for _, s := range w.steps {
		if s.Kind == plan.Offload && slices.Contains(names, s.Link) {
			for _, o := range keyfileOffloads {
				if o[0] == x.key && o[1] == s.Key {
					return true
				}
			}
		}
	}
	return false
}
