package render

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/plan"
)

// Unsaid is what steps changed on a host and a fabric file does not say.
type Unsaid struct {
	Host   string `json:"host"`
	Change string `json:"change"`
	Why    string `json:"why"`
}

// Net is what steps changed in all: one step a thing, from what it was before
// the first of them to what it is after the last, in their order. What ends as
// it began is left out, and so are links that were down for a moment.
func Net(steps []plan.Step) []plan.Step {
	var out []plan.Step
	at := map[string]int{}
	for _, s := range steps {
		i, seen := at[s.Target()]
		if !seen {
			at[s.Target()] = len(out)
			out = append(out, s)
			continue
		}
		out[i].New = s.New
	}
	return slices.DeleteFunc(out, func(s plan.Step) bool { return s.Old == s.New })
}

// Amend puts what steps changed, by host, into the text of the fabric file that
// file was read from. Comments, order and all else stay as they are; kept is
// false for a text in a form that had to be written anew. What the file has no
// place for is returned. The error is fabric's Problems where the outcome does
// not read as a fabric.
func Amend(file fabric.Fabric, text string, steps map[string][]plan.Step) (amended string, unsaid []Unsaid, kept bool, err error) {
	root, err := yamldoc.Parse(file.File, []byte(text))
	if err != nil {
		return "", nil, false, err
	}
	wanted := root.Clone()
	for _, h := range file.Hosts {
		node := wanted.Get("hosts").Get(h.Name)
		if node == nil {
			continue
		}
		a := amendment{host: h, node: node}
		for _, s := range Net(steps[h.Name]) {
			if why := a.step(s); why != "" {
				unsaid = append(unsaid, Unsaid{h.Name, s.Change(), why})
			}
		}
	}
	amended, kept, err = yamldoc.Revise(text, wanted)
	if err == nil {
		_, err = fabric.Parse(file.File, []byte(amended))
	}
	return amended, unsaid, kept, err
}

// amendment is one host of the file that is being changed.
type amendment struct {
	host fabric.Host
	node *yamldoc.Node
}

// below is the mapping at a path under a node, made where there is none.
func below(n *yamldoc.Node, keys ...string) *yamldoc.Node {
	for _, key := range keys {
		next := n.Get(key)
		if next == nil || next.Kind != yamldoc.MappingNode {
			next = mapping()
			setKey(n, key, next)
		}
		n = next
	}
	return n
}

// step puts one change in; why says why it cannot.
func (a amendment) step(s plan.Step) (why string) {
	switch s.Kind {
	case plan.Sysctl:
		setKey(below(a.node, "sysctl"), s.Key, quoted(s.New))
		return ""
	case plan.MPTCPLimit:
		setKey(below(a.node, "mptcp"), s.Key, plain(s.New))
		return ""
	case plan.MPTCPEndpoint:
		return a.endpoint(s)
	}
	section, id, ok := a.definition(s.Link)
	if !ok {
		return "the file defines no " + s.Link
	}
	switch s.Kind {
	case plan.LinkMTU:
		setKey(below(a.node, "network", section, id), "mtu", plain(s.New))
	case plan.BondOption:
		a.bondOption(id, s)
	case plan.Offload:
		setKey(below(a.node, "links", id, "offloads"), s.Key, plain(s.New))
	case plan.Ring:
		setKey(below(a.node, "links", id, "rings"), s.Key, plain(s.New))
	case plan.Channel:
		setKey(below(a.node, "links", id, "channels"), s.Key, plain(s.New))
	case plan.Coalesce:
		setKey(below(a.node, "links", id, "coalesce"), s.Key, plain(s.New))
	case plan.Qdisc:
		setKey(below(a.node, "links", id), "qdisc", plain(s.New))
	case plan.Address:
		return a.address(section, id, s)
	default:
		return "there is no key for it"
	}
	return ""
}

// bondOption goes to netplan's parameters, or to `bonding` where the file has
// it there, or netplan has no such parameter.
func (a amendment) bondOption(id string, s plan.Step) {
	bond := below(a.node, "network", "bonds", id)
	name, value, known := fabric.ParameterOf(bond.Get("parameters"), s.Key, s.New)
	if said := a.node.Get("bonding").Get(id).Get(s.Key); said != nil || !known {
		setKey(below(a.node, "bonding", id), s.Key, quoted(s.New))
		return
	}
	setKey(below(bond, "parameters"), name, value)
}

func (a amendment) address(section, id string, s plan.Step) string {
	if s.New != plan.Present {
		return "an address that is left out of the file stays on the host"
	}
	node := below(a.node, "network", section, id)
	for _, item := range listed(node.Get("addresses")) {
		if item.Text == s.Address.String() {
			return ""
		}
	}
	appendItem(node, "addresses", plain(s.Address.String()))
	return ""
}

func (a amendment) endpoint(s plan.Step) string {
	if s.New != plan.Present || s.Endpoint == nil {
		return "an endpoint that is left out of the file stays on the host"
	}
	for _, item := range listed(a.node.Get("mptcp").Get("endpoints")) {
		if at := item.Get("address"); at != nil && at.Text == s.Endpoint.Addr.String() {
			return "the file has an endpoint of that address"
		}
	}
	e := flowMap("address", s.Endpoint.Addr.String(), "dev", s.Endpoint.Link)
	if words := endpointFlags(s.Endpoint.Flags); len(words) > 0 {
		setKey(e, "flags", flowList(words))
	}
	if s.Endpoint.Port != 0 {
		setKey(e, "port", plainInt(int(s.Endpoint.Port)))
	}
	appendItem(below(a.node, "mptcp"), "endpoints", e)
	return ""
}

func endpointFlags(f netstate.MPTCPFlags) []string {
	return strings.FieldsFunc(f.String(), func(r rune) bool { return r == ',' || r == ' ' })
}

// definition is the netplan definition that a link of the host is of.
func (a amendment) definition(link string) (section, id string, ok bool) {
	n := a.host.Network
	for _, e := range n.Ethernets {
		named := e.Match == nil && e.ID == link || e.SetName == link
		if e.Match != nil && e.Match.Name != "" {
			matches, _ := path.Match(e.Match.Name, link)
			named = named || matches
		}
		if named {
			return "ethernets", e.ID, true
		}
	}
	for _, d := range n.Bonds {
		if d.ID == link {
			return "bonds", link, true
		}
	}
	for _, d := range n.VLANs {
		if d.ID == link {
			return "vlans", link, true
		}
	}
	for _, d := range n.Bridges {
		if d.ID == link {
			return "bridges", link, true
		}
	}
	return "", "", false
}

// Words says an unsaid change on one line.
func (u Unsaid) Words() string { return fmt.Sprintf("%s: %s: %s", u.Host, u.Change, u.Why) }

func listed(n *yamldoc.Node) []*yamldoc.Node {
	if n == nil {
		return nil
	}
	return n.Items
}
