package render

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/internal/bondopt"
)

// wish is one thing that the file wants of a host: a key with a value. Where
// is the device's netplan ID, "" the host.
type wish struct{ where, key, value string }

// ledger holds every wish and which of them a format has said. What is left
// at the end becomes a warning, so that nothing is lost in silence.
type ledger struct {
	wishes []wish
	// done is true for what was said, false for what was refused.
	done map[[2]string]bool
	out  *Output
}

func newLedger(in Input, out *Output) *ledger {
	return &ledger{wishes: wishes(in), done: map[[2]string]bool{}, out: out}
}

// say notes that the file written says the keys of a device.
func (l *ledger) say(where string, keys ...string) {
	for _, key := range keys {
		l.done[[2]string{where, key}] = true
	}
}

// cannot warns that the key is not written, or not as meant.
func (l *ledger) cannot(where, key, why string) {
	l.out.warn(where, key, why)
	l.done[[2]string{where, key}] = false
}

// leaveOut warns once, by the key that keeps a device from being written,
// and takes all else that is wanted of the device as said by that.
func (l *ledger) leaveOut(where, key, why string) {
	var with []string
	for _, w := range l.wishes {
		if w.where == where {
			if w.key != key && !slices.Contains(with, w.key) {
				with = append(with, w.key)
			}
			l.say(where, w.key)
		}
	}
	if with != nil {
		why += "; with it " + strings.Join(with, ", ")
	}
	l.out.warn(where, key, why)
}

// byName warns where a match tells more of a device than the name that the
// format goes by.
func (l *ledger) byName(d device) {
	if m := d.match; m != nil && d.name != "" && (!m.MAC.IsZero() || len(m.Drivers) > 0) {
		l.cannot(d.ID, "match", "the device is chosen by its name "+d.name+" alone, not by "+m.String())
		return
	}
	l.say(d.ID, "match")
}

// finish warns of every wish that was not said. A wish below another that is
// not said either needs no warning of its own.
func (l *ledger) finish(why func(wish) string) {
	for _, w := range l.wishes {
		// A definition may stand for several devices, a key for several values.
		if _, done := l.done[[2]string{w.where, w.key}]; done || l.below(w) {
			continue
		}
		l.cannot(w.where, w.key, why(w))
	}
}

// below reports a part of something that was refused as a whole.
func (l *ledger) below(w wish) bool {
	upper, _, found := strings.Cut(w.key, "].")
	said, done := l.done[[2]string{w.where, upper + "]"}]
	return found && done && !said
}

// wishes lists what the file wants of a host, in the order of the file's
// sections.
func wishes(in Input) []wish {
	w := &wisher{}
	n := in.Host.Network
	for _, e := range n.Ethernets {
		w.device(e.Device)
		if m := e.Match; m != nil {
			w.add(e.ID, "match", m.String())
		}
		w.add(e.ID, "set-name", e.SetName)
	}
	for _, o := range n.Others {
		w.add(o.ID, o.Section, o.ID)
		w.device(o.Device)
	}
	for _, b := range n.Bonds {
		w.device(b.Device)
		w.add(b.ID, "interfaces", strings.Join(b.Interfaces, " "))
		for _, o := range in.bondOptions(b) {
			if o.name != "mode" || b.Sets("mode") || o.key != "parameters.mode" {
				w.add(b.ID, o.key, o.value)
			}
		}
	}
	for _, v := range n.VLANs {
		w.device(v.Device)
		w.add(v.ID, "id", strconv.Itoa(v.Tag))
		w.add(v.ID, "link", v.Link)
	}
	for _, b := range n.Bridges {
		w.device(b.Device)
		w.add(b.ID, "interfaces", strings.Join(b.Interfaces, " "))
		w.node(b.ID, "parameters", b.Parameters)
	}
	tree := in.networkTree()
	for _, d := range n.Devices() {
		options := addressOptions(tree, d.ID)
		for _, a := range d.Addresses {
			w.node(d.ID, "addresses", options[a])
		}
	}
	for _, p := range n.Unread {
		w.node("", p.Key, p.Value)
	}
	w.settings(in)
	for _, key := range sortedKeys(in.sysctls()) {
		w.add("", "sysctl."+key, in.sysctls()[key])
	}
	return w.all
}

// sysctls are the tunables to set: those that were given, over the file's own.
func (in Input) sysctls() map[string]string {
	all := map[string]string{}
	for k, v := range in.Host.Sysctl {
		all[k] = v
	}
	for k, v := range in.Sysctls {
		all[k] = v
	}
	return all
}

type wisher struct{ all []wish }

func (w *wisher) add(where, key, value string) {
	if value != "" {
		w.all = append(w.all, wish{where, key, value})
	}
}

func (w *wisher) number(where, key string, n int) {
	if n != 0 {
		w.add(where, key, strconv.Itoa(n))
	}
}

func (w *wisher) device(d fabric.Device) {
	w.number(d.ID, "mtu", d.MTU)
	if !d.MAC.IsZero() {
		w.add(d.ID, "macaddress", d.MAC.String())
	}
	for _, a := range d.Addresses {
		w.add(d.ID, "addresses", a.String())
	}
	for i, r := range d.Routes {
		w.route(d.ID, fmt.Sprintf("routes[%d]", i), r)
	}
	for i, r := range d.Rules {
		key := fmt.Sprintf("routing-policy[%d]", i)
		w.add(d.ID, key, r.From.String())
		w.number(d.ID, key+".priority", r.Priority)
		w.number(d.ID, key+".mark", r.Mark)
		w.number(d.ID, key+".type-of-service", r.TOS)
	}
	for _, p := range d.Unread {
		if p.Key != "renderer" { // the format that is asked for stands in its place
			w.node(d.ID, p.Key, p.Value)
		}
	}
}

func (w *wisher) route(where, key string, r fabric.Route) {
	w.add(where, key, r.To.String())
	if r.From.IsValid() {
		w.add(where, key+".from", r.From.String())
	}
	if r.OnLink {
		w.add(where, key+".on-link", "true")
	}
	w.number(where, key+".metric", r.Metric)
	w.number(where, key+".table", r.Table)
	if r.Type != "unicast" {
		w.add(where, key+".type", r.Type)
	}
	w.add(where, key+".scope", r.Scope)
	w.number(where, key+".mtu", r.MTU)
	for _, p := range r.Unread {
		w.node(where, key+"."+p.Key, p.Value)
	}
}

// node lists the values of a part of the file that is kept unread.
func (w *wisher) node(where, key string, n *yamldoc.Node) {
	switch {
	case n == nil:
	case n.Kind == yamldoc.MappingNode:
		for _, p := range n.Pairs {
			w.node(where, key+"."+p.Key, p.Value)
		}
	case n.Kind == yamldoc.SequenceNode:
		var words []string
		for _, item := range n.Items {
			words = append(words, strings.TrimSpace(yamldoc.Write(item)))
		}
		w.all = append(w.all, wish{where, key, strings.Join(words, " ")})
	default:
		w.add(where, key, n.Text)
	}
}

func (w *wisher) settings(in Input) {
	s := in.Host.Settings
	for _, bond := range sortedKeys(s.Bonding) {
		if _, ok := in.Host.Network.Bond(bond); !ok {
			for _, name := range sortedKeys(s.Bonding[bond]) {
				w.add(bond, "bonding."+name, s.Bonding[bond][name])
			}
		}
	}
	for _, id := range sortedKeys(s.Links) {
		w.link(id, s.Links[id])
	}
	for i, m := range s.Multipath {
		w.add("", fmt.Sprintf("multipath[%d]", i), m.To.String())
	}
	if m := s.MPTCP; m != nil {
		w.number("", "mptcp.subflows", m.Subflows)
		w.number("", "mptcp.add_addr_accepted", m.AddAddrAccepted)
		for i, e := range m.Endpoints {
			w.add("", fmt.Sprintf("mptcp.endpoints[%d]", i), e.Addr.String())
		}
	}
	for _, id := range s.SourceRules {
		w.add(id, "source_rules", id)
	}
	for _, name := range s.Absent {
		w.add(name, "absent", name)
	}
}

func (w *wisher) link(id string, l fabric.LinkSettings) {
	for _, k := range sortedKeys(l.Offloads) {
		w.add(id, "offloads."+k, onOff(l.Offloads[k]))
	}
	w.number(id, "rings.rx", l.RingRx)
	w.number(id, "rings.tx", l.RingTx)
	for _, k := range sortedKeys(l.Channels) {
		w.add(id, "channels."+k, strconv.Itoa(l.Channels[k]))
	}
	for _, k := range sortedKeys(l.Coalescing) {
		w.add(id, "coalesce."+k, strconv.Itoa(l.Coalescing[k]))
	}
	w.add(id, "qdisc", l.Qdisc)
	for _, o := range bondopt.Ports() {
		w.add(id, o.Key, l.Port[o.Name])
	}
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}
