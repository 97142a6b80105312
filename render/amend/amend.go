// Package amend puts what steps changed on hosts into the text of their fabric
// file.
package amend

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/plan"
	"github.com/linerate/linerate/render/node"
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

// Fabric puts what steps changed, by host, into the text of the fabric file that
// file was read from. Comments, order and all else stay as they are; kept is
// false for a text in a form that had to be written anew. What the file has no
// place for is returned. The error is fabric's Problems where the outcome does
// not read as a fabric.
func Fabric(file fabric.Fabric, text string, steps map[string][]plan.Step) (amended string, unsaid []Unsaid, kept bool, err error) {
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

// step puts one change in; why says why it cannot.
func (a amendment) step(s plan.Step) (why string) {
	switch s.Kind {
	case plan.Sysctl:
		node.SetKey(node.Within(a.node, "sysctl"), s.Key, node.Quoted(s.New))
		return ""
	case plan.MPTCPLimit:
		node.SetKey(node.Within(a.node, "mptcp"), s.Key, node.Plain(s.New))
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
		node.SetKey(node.Within(a.node, "network", section, id), "mtu", node.Plain(s.New))
	case plan.BondOption:
		a.bondOption(id, s)
	case plan.Offload:
		node.SetKey(node.Within(a.node, "links", id, "offloads"), s.Key, node.Plain(s.New))
	case plan.Ring:
		node.SetKey(node.Within(a.node, "links", id, "rings"), s.Key, node.Plain(s.New))
	case plan.Channel:
		node.SetKey(node.Within(a.node, "links", id, "channels"), s.Key, node.Plain(s.New))
	case plan.Coalesce:
		node.SetKey(node.Within(a.node, "links", id, "coalesce"), s.Key, node.Plain(s.New))
	case plan.Qdisc:
		node.SetKey(node.Within(a.node, "links", id), "qdisc", node.Plain(s.New))
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
	bond := node.Within(a.node, "network", "bonds", id)
	name, value, known := fabric.ParameterOf(bond.Get("parameters"), s.Key, s.New)
	if said := a.node.Get("bonding").Get(id).Get(s.Key); said != nil || !known {
		node.SetKey(node.Within(a.node, "bonding", id), s.Key, node.Quoted(s.New))
		return
	}
	node.SetKey(node.Within(bond, "parameters"), name, value)
}

func (a amendment) address(section, id string, s plan.Step) string {
	if s.New != plan.Present {
		return "an address that is left out of the file stays on the host"
	}
	device := node.Within(a.node, "network", section, id)
	for _, item := range listed(device.Get("addresses")) {
		if item.Text == s.Address.String() {
			return ""
		}
	}
	node.Push(device, "addresses", node.Plain(s.Address.String()))
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
	e := node.FlowMap("address", s.Endpoint.Addr.String(), "dev", s.Endpoint.Link)
	if words := endpointFlags(s.Endpoint.Flags); len(words) > 0 {
		node.SetKey(e, "flags", node.FlowList(words))
	}
	if s.Endpoint.Port != 0 {
		node.SetKey(e, "port", node.PlainInt(int(s.Endpoint.Port)))
	}
	node.Push(node.Within(a.node, "mptcp"), "endpoints", e)
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
	for _, section := range []string{"bonds", "vlans", "bridges"} {
		if a.node.Get("network").Get(section).Get(link) != nil {
			return section, link, true
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
