// Package ledger holds what a fabric file wants of a host, key by key, until a
// format has said it.
package ledger

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/internal/bondopt"
	"github.com/linerate/linerate/render"
	"github.com/linerate/linerate/render/device"
)

// Entry is one thing that the file wants of a host: a key with a value. Where
// is the device's netplan ID, "" the host.
type Entry struct{ Where, Key, Value string }

// Ledger holds every entry and which of them a format has said. What is left
// at the end becomes a warning, so that nothing is lost in silence.
type Ledger struct {
	Entries []Entry
	// done is true for what was said, false for what was refused.
	done map[[2]string]bool
	Out  *render.Output
}

// New returns what the host's file wants, of which nothing is said yet; warnings
// go to out.
func New(in render.Input, out *render.Output) *Ledger {
	return &Ledger{Entries: Entries(in), done: map[[2]string]bool{}, Out: out}
}

// Say notes that the file written says the keys of a device.
func (l *Ledger) Say(where string, keys ...string) {
	for _, key := range keys {
		l.done[[2]string{where, key}] = true
	}
}

// Cannot warns that the key is not written, or not as meant.
func (l *Ledger) Cannot(where, key, why string) {
	l.Out.Warn(where, key, why)
	l.done[[2]string{where, key}] = false
}

// LeaveOut warns once, by the key that keeps a device from being written,
// and takes all else that is wanted of the device as said by that.
func (l *Ledger) LeaveOut(where, key, why string) {
	var with []string
	for _, w := range l.Entries {
		if w.Where == where {
			if w.Key != key && !slices.Contains(with, w.Key) {
				with = append(with, w.Key)
			}
			l.Say(where, w.Key)
		}
	}
	if with != nil {
		why += "; with it " + strings.Join(with, ", ")
	}
	l.Out.Warn(where, key, why)
}

// ByName warns where a match tells more of a device than the name that the
// format goes by.
func (l *Ledger) ByName(d device.Device) {
	if m := d.Match; m != nil && d.Name != "" && (!m.MAC.IsZero() || len(m.Drivers) > 0) {
		l.Cannot(d.ID, "match", "the device is chosen by its name "+d.Name+" alone, not by "+m.String())
		return
	}
	l.Say(d.ID, "match")
}

// Reason is why a format does not say keys that begin with one of Keys, which
// have blanks between them.
type Reason struct{ Keys, Why string }

// Finish warns of every entry that was not said. One below another that is
// not said either needs no warning of its own. The first of the
// reasons that fits a key is given, otherwise the one of all other keys.
func (l *Ledger) Finish(otherwise string, reasons ...Reason) {
	for _, w := range l.Entries {
		// A definition may stand for several devices, a key for several values.
		if _, done := l.done[[2]string{w.Where, w.Key}]; done || l.below(w) {
			continue
		}
		why := otherwise
		if i := slices.IndexFunc(reasons, func(r Reason) bool {
			return slices.ContainsFunc(strings.Fields(r.Keys), func(key string) bool { return strings.HasPrefix(w.Key, key) })
		}); i >= 0 {
			why = reasons[i].Why
		}
		l.Cannot(w.Where, w.Key, why)
	}
}

// below reports a part of something that was refused as a whole.
func (l *Ledger) below(w Entry) bool {
	upper, _, found := strings.Cut(w.Key, "].")
	said, done := l.done[[2]string{w.Where, upper + "]"}]
	return found && done && !said
}

// SourceRulesWhy is why a link's source rules are not written.
const SourceRulesWhy = "its rules and table are computed from the host's wanted state, which is not given here"

// Entries lists what the file wants of a host, in the order of the file's
// sections.
func Entries(in render.Input) []Entry {
	w := &lister{}
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
		for _, o := range device.BondOptions(in, b) {
			if o.Name != "mode" || b.Sets("mode") || o.Key != "parameters.mode" {
				w.add(b.ID, o.Key, o.Value)
			}
		}
	}
	for _, b := range n.OVSBonds {
		w.device(b.Device)
		w.add(b.ID, "interfaces", strings.Join(b.Interfaces, " "))
		w.node(b.ID, "parameters", b.Parameters)
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
	tree := device.NetworkTree(in)
	for _, d := range n.Devices() {
		options := device.AddressOptionsIn(tree, d.ID)
		for _, a := range d.Addresses {
			w.node(d.ID, "addresses", options[a])
		}
	}
	for _, p := range n.Unread {
		w.node("", p.Key, p.Value)
	}
	w.settings(in)
	for _, key := range slices.Sorted(maps.Keys(in.AllSysctls())) {
		w.add("", "sysctl."+key, in.AllSysctls()[key])
	}
	return w.all
}

type lister struct{ all []Entry }

func (w *lister) add(where, key, value string) {
	if value != "" {
		w.all = append(w.all, Entry{where, key, value})
	}
}

func (w *lister) number(where, key string, n int) {
	if n != 0 {
		w.add(where, key, strconv.Itoa(n))
	}
}

func (w *lister) device(d fabric.Device) {
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

func (w *lister) route(where, key string, r fabric.Route) {
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
func (w *lister) node(where, key string, n *yamldoc.Node) {
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
		w.all = append(w.all, Entry{where, key, strings.Join(words, " ")})
	default:
		w.add(where, key, n.Text)
	}
}

func (w *lister) settings(in render.Input) {
	s := in.Host.Settings
	for _, bond := range slices.Sorted(maps.Keys(s.Bonding)) {
		if _, ok := in.Host.Network.Bond(bond); !ok {
			for _, name := range slices.Sorted(maps.Keys(s.Bonding[bond])) {
				w.add(bond, "bonding."+name, s.Bonding[bond][name])
			}
		}
	}
	for _, id := range slices.Sorted(maps.Keys(s.Links)) {
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

func (w *lister) link(id string, l fabric.LinkSettings) {
	for _, k := range slices.Sorted(maps.Keys(l.Offloads)) {
		w.add(id, "offloads."+k, device.OnOff(l.Offloads[k]))
	}
	for _, n := range device.Numbers(l) {
		w.add(id, n.Key(), strconv.Itoa(n.Value))
	}
	w.add(id, "qdisc", l.Qdisc)
	for _, o := range bondopt.Ports() {
		w.add(id, o.Key, l.Port[o.Name])
	}
}
