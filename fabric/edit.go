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

// with sets what path leads to.
func (n Network) with(value *yamldoc.Node, path ...string) (Network, error) {
	text, err := yamldoc.Set("network", n.Source, value, path...)
	if err != nil {
		return Network{}, fmt.Errorf("edit network: %w", err)
	}
	edited, err := ParseNetwork("network", []byte(text))
	if err != nil {
		return Network{}, fmt.Errorf("set %s to %s: %w", strings.Join(path, "."), yamldoc.OneLine(value), err)
	}
	return edited, nil
}
