// Package iproute2 writes a host's network as a script of ip(8), tc(8) and
// ethtool(8) lines, and one that rolls it back.
package iproute2

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/bondopt"
	"github.com/linerate/linerate/internal/plaintext"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/plan"
	"github.com/linerate/linerate/render"
	"github.com/linerate/linerate/render/barehost"
	"github.com/linerate/linerate/render/device"
	"github.com/linerate/linerate/render/ledger"
)

// Where the scripts go.
const (
	upPath   = "/etc/linerate/network-up.sh"
	downPath = "/etc/linerate/network-down.sh"
)

// writer turns a plan from a bare host to the wanted one into a
// script, and the way back into another.
type writer struct {
	in       render.Input
	ledger   *ledger.Ledger
	steps    []plan.Step
	made     map[string]bool // links that the script makes
	up, down []string
	sysctls  map[string]string
}

// Write returns the host's network as two scripts, one that undoes the other. The error is
// render.ErrEmpty for a host that has nothing to write.
func Write(in render.Input) (render.Output, error) {
	var out render.Output
	if len(in.State.Links) == 0 {
		return render.Output{}, render.ErrEmpty
	}
	w := &writer{in: in, ledger: ledger.New(in, &out), made: map[string]bool{}, sysctls: in.AllSysctls()}
	bare, want := barehost.Of(in.Host, in.State, nil), in.State.Clone()
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
		return render.Output{}, err
	}
	w.steps = p.Steps
	for _, s := range w.steps {
		w.made[s.Link] = w.made[s.Link] || s.Kind == plan.LinkPresence && s.New == plan.Present
	}
	for _, key := range slices.Sorted(maps.Keys(w.sysctls)) {
		if w.linkOf(key) == "" {
			w.sysctl(key)
		}
	}
	for _, s := range w.steps {
		w.step(s)
	}
	for _, d := range device.All(in) {
		w.ledger.ByName(d)
	}
	w.said()
	out.Add(upPath, 0o755, w.script())
	out.Add(downPath, 0o755, w.rollback())
	w.ledger.Finish("ip(8), tc(8) and ethtool(8) have no word for it here",
		ledger.Reason{Keys: "dhcp accept-ra", Why: "a script sets addresses and starts no client that asks for them"},
		ledger.Reason{Keys: "nameservers", Why: "ip(8) has no name servers: resolv.conf(5) does"},
	)
	return out, nil
}

// linkOf is the link that the script makes and a sysctl belongs to; "" of
// another.
func (w *writer) linkOf(key string) string {
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

func (w *writer) sysctl(key string) {
	w.up = append(w.up, fmt.Sprintf(`same "$(sysctl_now %s)" %s || { keep sysctl:%s "$(sysctl_now %s)"; sysctl -q -w %s; }`,
		plaintext.ShellWord(key), plaintext.ShellWord(w.sysctls[key]), plaintext.ShellWord(key), plaintext.ShellWord(key), plaintext.ShellWord(key+"="+w.sysctls[key])))
	w.down = append(w.down, fmt.Sprintf(`! was sysctl:%s || sysctl -q -w %s"$old"`, plaintext.ShellWord(key), plaintext.ShellWord(key+"=")))
	w.ledger.Say("", "sysctl."+key)
}

// step is one step's lines. What a link had before is kept for the undo unless
// the script makes the link.
func (w *writer) step(s plan.Step) {
	link, target, command := plaintext.ShellWord(s.Link), plaintext.ShellWord(s.Target()), s.Command()
	switch s.Kind {
	case plan.LinkPresence:
		if s.New == plan.Absent {
			w.up = append(w.up, fmt.Sprintf("! there %s || %s", link, command))
			return // what it was is not known: the undo cannot bring it back
		}
		w.up = append(w.up, "add "+target+" "+command)
		w.down = append(w.down, "drop "+target+" "+s.Rollback().Command())
		for _, key := range slices.Sorted(maps.Keys(w.sysctls)) {
			if w.linkOf(key) == s.Link {
				w.up = append(w.up, "sysctl -q -w "+plaintext.ShellWord(key+"="+w.sysctls[key]))
				w.ledger.Say("", "sysctl."+key)
			}
		}
	case plan.Route, plan.Address, plan.Rule, plan.MPTCPEndpoint:
		w.up = append(w.up, "add "+target+" "+command)
		w.down = append(w.down, "drop "+target+" "+w.dropCommand(s))
	case plan.BondOption:
		w.up = append(w.up, fmt.Sprintf("option %s %s %s || %s", link, plaintext.ShellWord(s.Key), plaintext.ShellWord(s.New), command))
	case plan.PortMaster:
		if s.New == plan.NoMaster {
			return
		}
		w.up = append(w.up, "port "+link+" "+plaintext.ShellWord(s.New))
		w.down = append(w.down, "drop "+plaintext.ShellWord("port "+s.Link)+" ip link set "+link+" nomaster")
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
		key := plaintext.ShellWord(s.Key)
		w.up = append(w.up, fmt.Sprintf(`keep mptcp:%s "$(limit_now %s)"`, key, key), command)
		w.down = append(w.down, fmt.Sprintf(`! was mptcp:%s || ip mptcp limits set %s "$old"`, key, key))
	default:
		w.up = append(w.up, command)
	}
}

// dropCommand is what takes a step back, as one command with plain words.
func (w *writer) dropCommand(s plan.Step) string {
	if s.Kind == plan.MPTCPEndpoint {
		return "endpoint_gone " + plaintext.ShellWord(s.Endpoint.Addr.String())
	}
	return s.Rollback().Command()
}

// kept writes a command after what was there before is kept.
func (w *writer) kept(s plan.Step, what, now, command, back string) {
	if !w.made[s.Link] {
		w.up = append(w.up, "keep "+what+":"+plaintext.ShellWord(s.Link)+" "+now)
		w.down = append(w.down, back)
	}
	w.up = append(w.up, command)
}

// device writes a step of ethtool's, which fails where nothing would change.
func (w *writer) device(s plan.Step, link, command string) {
	flag := map[plan.Kind]string{plan.Offload: "-K", plan.Ring: "-G", plan.Channel: "-L", plan.Coalesce: "-C"}[s.Kind]
	now := fmt.Sprintf(`"$(%s_now %s %s)"`, s.Kind, link, plaintext.ShellWord(s.Key))
	value := s.New
	if strings.HasPrefix(s.Key, "adaptive-") {
		value = map[string]string{"0": "off", "1": "on"}[s.New]
	}
	name := plaintext.ShellWord(string(s.Kind) + ":" + s.Link + ":" + s.Key)
	w.up = append(w.up, fmt.Sprintf("same %s %s || { keep %s %s; %s; }", now, plaintext.ShellWord(value), name, now, command))
	w.down = append(w.down, fmt.Sprintf(`! was %s || ethtool %s %s %s "$old"`, name, flag, link, plaintext.ShellWord(s.Key)))
}

// said tells the ledger what the steps do.
func (w *writer) said() {
	did := func(match func(plan.Step) bool) bool { return slices.ContainsFunc(w.steps, match) }
	for _, x := range w.ledger.Entries {
		names, known := w.in.Host.Interfaces(x.Where)
		if !known {
			names = []string{x.Where}
		}
		of := func(s plan.Step) bool { return slices.Contains(names, s.Link) }
		key := x.Key
		if upper, _, sub := strings.Cut(key, "."); sub && upper != "sysctl" {
			key = upper
		}
		ok := false
		port, ofPort := bondopt.FindKey(x.Key)
		switch {
		case (x.Key == "id" || x.Key == "link") && did(func(s plan.Step) bool { return of(s) && s.Make != nil && s.Make.Parent != "" }):
			ok = true
		case x.Key == "source_rules" && len(w.in.State.Rules) > 0:
			ok = true
		case x.Key == "interfaces" || key == "parameters" || key == "bonding":
			if b, bond := w.in.Host.Network.Bond(x.Where); bond {
				l, there := w.in.State.Link(b.ID)
				ok = there && l.Bond != nil
			}
		case x.Key == "dummy-devices":
			ok = did(func(s plan.Step) bool { return of(s) && s.Kind == plan.LinkPresence })
		case x.Key == "addresses":
			ok = did(func(s plan.Step) bool { return of(s) && s.Kind == plan.Address && s.Address.String() == x.Value })
		case x.Key == "mtu":
			ok = did(func(s plan.Step) bool { return of(s) && s.Kind == plan.LinkMTU }) || x.Value == "1500" || w.follows(names)
		case x.Key == "macaddress":
			ok = did(func(s plan.Step) bool {
				return of(s) && (s.Kind == plan.LinkMAC || s.Kind == plan.LinkPresence && s.Make != nil && !s.Make.MAC.IsZero())
			})
		case x.Key == "absent":
			ok = did(func(s plan.Step) bool {
				return s.Kind == plan.LinkPresence && s.New == plan.Absent && s.Link == x.Value
			})
		case x.Key == "qdisc":
			ok = did(func(s plan.Step) bool { return of(s) && s.Kind == plan.Qdisc }) || x.Value == plan.DefaultQdisc
		case ofPort:
			ok = did(func(s plan.Step) bool { return of(s) && s.Kind == plan.PortOption && s.Key == port.Name }) || x.Value == port.Default
		case key == "offloads" || key == "rings" || key == "channels" || key == "coalesce":
			ok = did(func(s plan.Step) bool { return of(s) && strings.HasSuffix(x.Key, "."+s.Key) && s.Key != "" })
		case key == "mptcp":
			ok = did(func(s plan.Step) bool {
				return s.Kind == plan.MPTCPLimit && x.Key == "mptcp."+s.Key || s.Kind == plan.MPTCPEndpoint && s.Endpoint.Addr.String() == x.Value
			})
		case strings.HasPrefix(x.Key, "multipath"):
			ok = did(func(s plan.Step) bool {
				return s.Kind == plan.Route && len(s.Route.Hops) > 0 && s.Route.Dst.String() == x.Value
			})
		case strings.HasPrefix(x.Key, "routes["), strings.HasPrefix(x.Key, "routing-policy["):
			continue // below, by device
		default:
			ok = w.offloadKey(x, names)
		}
		if ok {
			w.ledger.Say(x.Where, x.Key)
		}
	}
	w.saidRoutes()
}

// follows reports links whose MTU a bond sets.
func (w *writer) follows(names []string) bool {
	if len(names) == 0 {
		return false
	}
	l, ok := w.in.State.Link(names[0])
	return ok && l.Master != ""
}

// offloadKey reports one of netplan's own keys of offloads that a step sets.
func (w *writer) offloadKey(x ledger.Entry, names []string) bool {
	for _, s := range w.steps {
		if s.Kind == plan.Offload && slices.Contains(names, s.Link) {
			if device.OffloadOf(x.Key) == s.Key {
				return true
			}
		}
	}
	return false
}

// saidRoutes tells the ledger which of the file's routes and rules the steps
// make, and with which of their parts.
func (w *writer) saidRoutes() {
	for _, d := range device.All(w.in) {
		for i, r := range d.Routes {
			for _, s := range w.steps {
				if s.Kind != plan.Route || s.Route.Dst != r.To || device.Table(s.Route.Table) != device.Table(r.Table) || s.Route.Metric != r.Metric || len(s.Route.Hops) > 0 {
					continue
				}
				key := fmt.Sprintf("routes[%d]", i)
				w.ledger.Say(d.ID, key, key+".metric", key+".table", key+".from")
				text := " " + s.Command() + " "
				parts := map[string]bool{
					"on-link": s.Route.OnLink, "mtu": s.Route.MTU != 0, "type": s.Route.Type != "",
					"scope":             !s.Route.Gateway.IsValid() && r.Scope == "link" || strings.Contains(text, " scope "),
					"congestion-window": strings.Contains(text, " cwnd "), "advertised-mss": strings.Contains(text, " advmss "),
					"advertised-receive-window": strings.Contains(text, " initrwnd ") || strings.Contains(text, " window "),
				}
				for part, there := range parts {
					if there {
						w.ledger.Say(d.ID, key+"."+part)
					}
				}
			}
		}
		for i, r := range d.Rules {
			for _, s := range w.steps {
				if s.Kind != plan.Rule || s.Rule.From != r.From || s.Rule.To != r.To || device.Table(s.Rule.Table) != device.Table(r.Table) || r.Priority != 0 && s.Rule.Priority != r.Priority {
					continue
				}
				key := fmt.Sprintf("routing-policy[%d]", i)
				w.ledger.Say(d.ID, key, key+".priority")
				text := " " + s.Command() + " "
				if strings.Contains(text, " fwmark ") {
					w.ledger.Say(d.ID, key+".mark")
				}
				if strings.Contains(text, " tos ") || strings.Contains(text, " dsfield ") {
					w.ledger.Say(d.ID, key+".type-of-service")
				}
			}
		}
	}
}
