package fabric

import (
	"fmt"
	"slices"

	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/internal/bondopt"
	"github.com/linerate/linerate/netstate"
)

var systemWord = scalar[string]{
	schema: map[string]any{"enum": bondopt.SystemNames()},
	parse: func(s string) (string, error) {
		all := bondopt.SystemNames()
		if word := bondopt.SystemMeant(s); word != "" && !slices.Contains(all, s) {
			return "", fmt.Errorf("%q is %s here", s, word)
		}
		return word(all...).parse(s)
	},
	hint: yamldoc.Choices(bondopt.SystemNames()),
}

// ofSystem reads a host's keys as its system has them, wherever it is named.
func ofSystem(d *decoder, host *yamldoc.Node) *decoder {
	of := *d
	if n := host.Get("system"); n != nil {
		of.system = n.Text
	}
	return &of
}

// withOwnWords is the schema of a parameter with the words that other systems
// have for it.
func withOwnWords(o bondopt.Option, schema map[string]any) map[string]any {
	if own := bondopt.WordsOf(o.Name); own != nil {
		return either(schema, map[string]any{"enum": own})
	}
	return schema
}

// readOwn reads a parameter of a host that is not Linux; true leaves it to be
// read as on Linux.
func readOwn(d *decoder, at place, n *yamldoc.Node, system bondopt.System, o bondopt.Option, into *Bond) bool {
	find, words := system.Mode, bondopt.OwnWords(system.Modes)
	switch {
	case o.Name == bondopt.Mode:
	case o.Name == bondopt.HashPolicy:
		find, words = system.Policy, bondopt.OwnWords(system.Policies)
	case system.Has(o.Name):
		return true
	default:
		d.wrong(at, n, fmt.Sprintf("a %s of %s has no such setting", system.What, system.Title), "leave it out")
		return false
	}
	text, ok := free.decode(d, at, n)
	if !ok {
		return false
	}
	found, known := find(text)
	if !known {
		d.wrong(at, n, fmt.Sprintf("%q is no word of %s%s", text, system.Title, yamldoc.Nearest(text, words)), yamldoc.Choices(words))
		return false
	}
	if into.Options.Own == nil {
		into.Options.Own = &netstate.OwnRule{}
	}
	if o.Name == bondopt.Mode {
		into.Options.Own.Mode = found.Word
	} else {
		into.Options.Own.Policy = found.Word
	}
	if !into.Sets(o.Name) {
		into.Set = append(into.Set, o.Name)
	}
	return false
}

// settleSystem gives the bonds of a host that is not Linux what its system makes
// them with where the file is silent, and complains of what does not go together.
// Network is its node.
func (h *Host) settleSystem(ps *yamldoc.Collector, network *yamldoc.Node) {
	system, foreign := bondopt.SystemOf(h.System)
	if !foreign {
		return
	}
	at := place("hosts").key(h.Name)
	if len(h.Bonding) > 0 {
		ps.At(network, string(at.key("bonding"))+": has options of Linux's bonding driver, and the host runs "+system.Title, "write its bonds under network.bonds")
	}
	for i := range h.Network.Bonds {
		b := &h.Network.Bonds[i]
		if b.Options.Own == nil {
			b.Options.Own = &netstate.OwnRule{}
		}
		own, mode, what, hint := system.Settle(*b.Options.Own)
		if what != "" {
			ps.At(unwrapped(network).Find("bonds", b.ID), string(at)+".network.bonds."+b.ID+".parameters: "+what, hint)
		}
		b.Options.Own, b.Options.Mode, b.Options.HashPolicy = &own, mode, netstate.PolicyUnread
	}
}

// ownParameters are netplan's parameters of a bond in its system's own words.
func ownParameters(own netstate.OwnRule) *yamldoc.Node {
	n := &yamldoc.Node{Kind: yamldoc.MappingNode}
	for _, o := range [...][2]string{{bondopt.Mode, own.Mode}, {bondopt.HashPolicy, own.Policy}} {
		if name, _ := BondParameter(o[0]); o[1] != "" {
			n.Set(name, yamldoc.Text(o[1]))
		}
	}
	return n
}
