package keyfile

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/render/node"
)

// bond reads [bond]: what netplan has a name for into the network, the rest
// under the kernel's names beside it.
func (r *connectionReader) bond() {
	mode := "balance-rr"
	if l, ok := r.file.find("bond", "mode"); ok {
		mode = l.value
	}
	parameters := node.Mapping()
	if number, err := strconv.Atoi(mode); err == nil {
		if modes := strings.Fields(bondModeWords); number >= 0 && number < len(modes) {
			mode = modes[number]
		}
	}
	node.Put(parameters, "mode", node.Plain(mode))
	if !goodParameters(parameters) {
		l, _ := r.file.find("bond", "mode")
		r.refuse(l, "is no bonding mode: balance-rr is put in its place")
		node.Put(parameters, "mode", node.Plain("balance-rr"))
	}
	r.take("bond", "mode")
	if _, said := r.file.find("bond", "miimon"); !said {
		node.Put(parameters, "mii-monitor-interval", node.Plain("100")) // NetworkManager's own default
		if _, arp := r.file.find("bond", "arp_interval"); arp {
			parameters.Pairs = parameters.Pairs[:1]
		}
	}
	for _, l := range r.file.lines {
		if l.group != "bond" || l.key == "" || l.key == "mode" {
			continue
		}
		r.used[l.number] = true
		switch _, known := BondOptionOf(l.key); {
		case l.key == "interface-name" || l.key == "num_unsol_na" && r.file.value("bond", "num_grat_arp") != "":
		case !known:
			r.refuse(l, "NetworkManager has no such bond option, and a fabric neither")
		case !r.parameter(parameters, l):
			r.refuse(l, "is no value of this option")
		}
	}
	node.Put(r.entry, "parameters", parameters)
}

const bondModeWords = "balance-rr active-backup balance-xor broadcast 802.3ad balance-tlb balance-alb"

// parameter puts an option where a fabric has it.
func (r *connectionReader) parameter(parameters *fabric.Node, l keyLine) bool {
	if strings.ContainsFunc(l.value, func(c rune) bool { return c < ' ' || c > '~' }) || l.value == "" {
		return false
	}
	name, value := l.key, node.Plain(l.value)
	if name == "num_unsol_na" {
		name = "num_grat_arp"
	}
	if parameter, ok := fabric.BondParameter(name); ok {
		switch {
		case name == "arp_ip_target":
			value = node.Sequence()
			value.Flow = true
			for _, a := range strings.FieldsFunc(l.value, func(c rune) bool { return c == ',' || c == ' ' }) {
				value.Items = append(value.Items, node.Plain(a))
			}
		case name == "all_slaves_active":
			value = node.Plain(strconv.FormatBool(l.value == "1"))
		case name == "primary" && !plainName(l.value):
			return false
		}
		alone := node.Mapping()
		node.Put(alone, "mode", parameters.Get("mode"))
		node.Put(alone, parameter, value)
		if goodParameters(alone) {
			node.Put(parameters, parameter, value)
			return true
		}
	}
	node.Put(node.Within(r.beside, "bonding", r.name), name, node.Quoted(l.value))
	return true
}

// goodParameters reports whether a fabric takes the parameters of a bond.
func goodParameters(parameters *fabric.Node) bool {
	n := node.Mapping()
	node.Put(n, "version", node.Plain("2"))
	bond := node.Within(n, "bonds", "b")
	node.Put(bond, "parameters", parameters)
	_, err := fabric.ParseNetwork("", []byte(fabric.Write(n)))
	var problems fabric.Problems
	if !errors.As(err, &problems) {
		return err == nil
	}
	for _, p := range problems {
		// A primary must be a port, and a bond alone has none.
		if strings.Contains(fmt.Sprint(p), "parameters") && !strings.Contains(fmt.Sprint(p), "primary") {
			return false
		}
	}
	return true
}
