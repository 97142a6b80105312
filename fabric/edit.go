package fabric

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/internal/bondopt"
)

// WithBondParameter returns the network with one bond parameter set, under its
// netplan or its kernel name and to a value as either writes it. Order and
// comments stay where the text can be changed in place. An error names a bond
// or parameter that there is not, or is Problems for a value that does not fit.
func (n Network) WithBondParameter(bond, parameter, value string) (Network, error) {
	if _, ok := n.Bond(bond); !ok {
		return Network{}, fmt.Errorf("set %s of %s: the network has no such bond", parameter, bond)
	}
	o, said, ok := netplanParameter(parameter)
	if !ok {
		return Network{}, fmt.Errorf("set %s of %s: netplan has no such parameter", parameter, bond)
	}
	name := said.Name
	if t := yamldoc.Read(&yamldoc.Collector{}, []byte(n.Source)); t != nil {
		for _, alias := range said.Older {
			if t.Root.Get("bonds").Get(bond).Get("parameters").Get(alias) != nil {
				name = alias
			}
		}
	}
	return n.with(netplanValue(o, value), "bonds", bond, "parameters", name)
}

// WithMTU returns the network with the MTU of the definition set, in bytes.
func (n Network) WithMTU(id string, mtu int) (Network, error) {
	found := ""
	n.each(func(section string, d Device) {
		if d.ID == id && found == "" {
			found = section
		}
	})
	if found == "" {
		return Network{}, fmt.Errorf("set MTU of %s: the network defines no such device", id)
	}
	return n.with(&yamldoc.Node{Kind: yamldoc.ScalarNode, Text: strconv.Itoa(mtu)}, found, id, "mtu")
}

// ParameterOf is a bond option, by the kernel's name and word, as netplan
// says it: the key that parameters have for it already, or else netplan's name,
// and the value. False for an option or a word that netplan lacks.
func ParameterOf(parameters *yamldoc.Node, kernel, word string) (name string, value *yamldoc.Node, ok bool) {
	o, said, ok := netplanParameter(kernel)
	if !ok || !said.Has(word) {
		return "", nil, false
	}
	name = said.Name
	for _, alias := range said.Older {
		if parameters != nil && parameters.Get(alias) != nil {
			name = alias
		}
	}
	return name, netplanValue(o, word), true
}

// netplanParameter finds an option by netplan's name or the kernel's, and how
// netplan says it; false for one that it cannot say.
func netplanParameter(name string) (bondopt.Option, bondopt.Saying, bool) {
	o, known := bondopt.Find(name)
	if said, ok := o.Saying(bondopt.Netplan); known && ok {
		return o, said, true
	}
	o, known = bondopt.Named(bondopt.Netplan, name)
	said, _ := o.Saying(bondopt.Netplan)
	return o, said, known
}

// netplanValue is the kernel's value as netplan writes it.
func netplanValue(o bondopt.Option, value string) *yamldoc.Node {
	if o.Listed() {
		list := &yamldoc.Node{Kind: yamldoc.SequenceNode, Flow: true}
		for _, a := range addressWords(value) {
			list.Items = append(list.Items, &yamldoc.Node{Kind: yamldoc.ScalarNode, Text: a})
		}
		return list
	}
	if o.Switch() && (value == "0" || value == "1") {
		value = strconv.FormatBool(value == "1")
	}
	return &yamldoc.Node{Kind: yamldoc.ScalarNode, Text: value}
}

// with sets what path leads to, in the text if that gives what setting it in
// the tree gives, else by writing the tree anew.
func (n Network) with(value *yamldoc.Node, path ...string) (Network, error) {
	ps := &yamldoc.Collector{File: "network"}
	t := yamldoc.Read(ps, []byte(n.Source))
	if t == nil || len(ps.All) > 0 {
		return Network{}, fmt.Errorf("edit network: %w", ps.All.Err())
	}
	wanted := t.Root.Clone()
	setNode(wanted, value, path)
	text, ok := setText(n.Source, t.Root, value, path)
	if !ok || t.TakesAlias(t.Root) || !yamldoc.SameText(text, wanted) {
		text = yamldoc.Write(wanted)
	}
	edited, err := ParseNetwork("network", []byte(text))
	if err != nil {
		return Network{}, fmt.Errorf("set %s to %s: %w", strings.Join(path, "."), yamldoc.OneLine(value), err)
	}
	return edited, nil
}

// setNode sets a path of the tree, making what is missing: first in a {...}
// mapping and last in a block, which is where text is put with ease.
func setNode(n *yamldoc.Node, value *yamldoc.Node, path []string) {
	n.Kind = yamldoc.MappingNode
	for i := range n.Pairs {
		if n.Pairs[i].Key != path[0] {
			continue
		}
		if len(path) == 1 {
			n.Pairs[i].Value = value
			return
		}
		setNode(n.Pairs[i].Value, value, path[1:])
		return
	}
	added := yamldoc.Pair{Key: path[0], Value: nested(value, path[1:])}
	if n.Flow {
		n.Pairs = append([]yamldoc.Pair{added}, n.Pairs...)
		return
	}
	n.Pairs = append(n.Pairs, added)
}

// nested is {a: {b: value}} for the path a, b.
func nested(value *yamldoc.Node, path []string) *yamldoc.Node {
	for i := len(path) - 1; i >= 0; i-- {
		value = &yamldoc.Node{Kind: yamldoc.MappingNode, Flow: true, Pairs: []yamldoc.Pair{{Key: path[i], Value: value}}}
	}
	return value
}

// setText is setNode on the text; false where the text has a form that this
// does not know.
func setText(text string, n *yamldoc.Node, value *yamldoc.Node, path []string) (string, bool) {
	for len(path) > 0 && n.Get(path[0]) != nil {
		n, path = n.Get(path[0]), path[1:]
	}
	lines := strings.Split(text, "\n")
	if n.Line < 1 || n.Line > len(lines) {
		return "", false
	}
	if len(path) == 0 {
		return yamldoc.ReplaceScalar(lines, n, yamldoc.OneLine(value))
	}
	added := yamldoc.QuotedKey(path[0]) + ": " + yamldoc.OneLine(nested(value, path[1:]))
	switch {
	case n.Kind != yamldoc.MappingNode:
		return "", false
	case len(n.Pairs) == 0:
		return yamldoc.ReplaceAt(lines, n.Line, n.Column, "{}", "{"+added+"}")
	case n.Flow:
		p := n.Pairs[0]
		return yamldoc.ReplaceAt(lines, p.Line, p.Column, "", added+", ")
	}
	last := yamldoc.LastLine(n)
	if last > len(lines) {
		return "", false
	}
	line := strings.Repeat(" ", n.Pairs[0].Column-1) + added
	lines = append(lines[:last:last], append([]string{line}, lines[last:]...)...)
	return strings.Join(lines, "\n"), true
}
