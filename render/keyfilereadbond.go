package render

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/linerate/linerate/fabric"
)

// bond reads [bond]: what netplan has a name for into the network, the rest
// under the kernel's names beside it.
func (r *connectionReader) bond() {
	mode := "balance-rr"
	if l, ok := r.file.find("bond", "mode"); ok {
		mode = l.value
	}
	parameters := mapping()
	if number, err := strconv.Atoi(mode); err == nil {
		if modes := strings.Fields(bondModeWords); number >= 0 && number < len(modes) {
			mode = modes[number]
		}
	}
	put(parameters, "mode", plain(mode))
	if !goodParameters(parameters) {
		l, _ := r.file.find("bond", "mode")
		r.refuse(l, "is no bonding mode: balance-rr is put in its place")
		put(parameters, "mode", plain("balance-rr"))
	}
	r.take("bond", "mode")
	if _, said := r.file.find("bond", "miimon"); !said {
		put(parameters, "mii-monitor-interval", plain("100")) // NetworkManager's own default
		if _, arp := r.file.find("bond", "arp_interval"); arp {
			parameters.Pairs = parameters.Pairs[:1]
		}
	}
	for _, l := range r.file.lines {
		if l.group != "bond" || l.key == "" || l.key == "mode" {
			continue
		}
		r.used[l.number] = true
		switch _, known := keyfileBondOptionOf(l.key); {
		case l.key == "interface-name" || l.key == "num_unsol_na" && r.file.value("bond", "num_grat_arp") != "":
		case !known:
			r.refuse(l, "NetworkManager has no such bond option, and a fabric neither")
		case !r.parameter(parameters, l):
			r.refuse(l, "is no value of this option")
		}
	}
	put(r.entry, "parameters", parameters)
}

const bondModeWords = "balance-rr active-backup balance-xor broadcast 802.3ad balance-tlb balance-alb"

// parameter puts an option where a fabric has it.
func (r *connectionReader) parameter(parameters *fabric.Node, l keyLine) bool {
	if strings.ContainsFunc(l.value, func(c rune) bool { return c < ' ' || c > '~' }) || l.value == "" {
		return false
	}
	name, value := l.key, plain(l.value)
	if name == "num_unsol_na" {
		name = "num_grat_arp"
	}
	if parameter, ok := fabric.BondParameter(name); ok {
		switch {
		case name == "arp_ip_target":
			value = sequence()
			value.Flow = true
			for _, a := range strings.FieldsFunc(l.value, func(c rune) bool { return c == ',' || c == ' ' }) {
				value.Items = append(value.Items, plain(a))
			}
		case name == "all_slaves_active":
			value = plain(strconv.FormatBool(l.value == "1"))
		case name == "primary" && !plainName(l.value):
			return false
		}
		alone := mapping()
		put(alone, "mode", parameters.Get("mode"))
		put(alone, parameter, value)
		if goodParameters(alone) {
			put(parameters, parameter, value)
			return true
		}
	}
	put(within(r.beside, "bonding", r.name), name, quoted(l.value))
	return true
}

// goodParameters reports whether a fabric takes the parameters of a bond.
func goodParameters(parameters *fabric.Node) bool {
	n := mapping()
	put(n, "version", plain("2"))
	bond := within(n, "bonds", "b")
	put(bond, "parameters", parameters)
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
