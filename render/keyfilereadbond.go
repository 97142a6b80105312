package render

import (
	"errors"
	"fmt"
	"strings"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/internal/bondopt"
)

// bond reads [bond]: what netplan has a name for into the network, the rest
// under the kernel's names beside it.
func (r *connectionReader) bond() {
	mode := "balance-rr"
	if l, ok := r.file.find("bond", "mode"); ok {
		mode = l.value
	}
	parameters := mapping()
	row, _ := bondopt.Find("mode")
	if word, err := row.Word(mode); err == nil {
		mode = word // it may be a number
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
		twin, _ := bondopt.ByTwin(l.key)
		switch _, known := keyfileOptionOf(l.key); {
		case l.key == "interface-name" || twin.Name != "" && r.file.value("bond", twin.Name) != "":
		case !known:
			r.refuse(l, "NetworkManager has no such bond option, and a fabric neither")
		case !r.parameter(parameters, l):
			r.refuse(l, "is no value of this option")
		}
	}
	put(r.entry, "parameters", parameters)
}

// parameter puts an option where a fabric has it.
func (r *connectionReader) parameter(parameters *yamldoc.Node, l keyLine) bool {
	if strings.ContainsFunc(l.value, func(c rune) bool { return c < ' ' || c > '~' }) || l.value == "" {
		return false
	}
	name := l.key
	if twin, ok := bondopt.ByTwin(name); ok {
		name = twin.Name
	}
	if parameter, value, ok := fabric.ParameterOf(nil, name, l.value); ok {
		if name == bondopt.Primary && !plainName(l.value) {
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
func goodParameters(parameters *yamldoc.Node) bool {
	n := mapping()
	put(n, "version", plain("2"))
	bond := within(n, "bonds", "b")
	put(bond, "parameters", parameters)
	_, err := fabric.ParseNetwork("", []byte(yamldoc.Write(n)))
	var problems yamldoc.Problems
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
