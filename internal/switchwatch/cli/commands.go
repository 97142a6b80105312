// Package cli reads a switch by what its command line prints: the running configuration
// and `show` commands of a fixed list, by the readers that read pastes. Each command only
// reads; none is made of what a file, a user or a switch says. Who runs them is the
// caller's: package fleet does, over ssh.
package cli

import (
	"slices"
	"strings"
)

// Command is one of the commands that are typed on switches. Only this package makes them.
type Command struct{ line string }

// String is the command as it is typed.
func (c Command) String() string { return c.line }

// version tells what system answers, where the fabric file does not say.
var version = Command{"show version"}

// system is how one kind of switch is read.
type system struct {
	name  string
	sign  string    // in what `show version` prints
	told  []Command // all that it says of itself
	count []Command // counters of its ports, and which are in their channels
}

func typed(lines ...string) []Command {
	out := make([]Command, len(lines))
	for i, line := range lines {
		out[i] = Command{line}
	}
	return out
}

// systems are those that carry out a command given to ssh. AOS-S does not: it serves a
// terminal alone. NX-OS and IOS-XE print "IOS" of their own history: the order decides.
var systems = []system{
	{"nxos", "NX-OS", typed("show running-config", "show port-channel summary", "show port-channel load-balance", "show lacp neighbor", "show interface", "show lldp neighbors detail"),
		typed("show interface", "show port-channel summary")},
	{"eos", "Arista", typed("show running-config", "show port-channel summary", "show lacp peer", "show interfaces", "show lldp neighbors detail"),
		typed("show interfaces", "show port-channel summary")},
	{"ios", "Cisco IOS", typed("show running-config", "show etherchannel summary", "show etherchannel load-balance", "show lacp neighbor", "show interfaces", "show lldp neighbors detail"),
		typed("show interfaces", "show etherchannel summary")},
	{"junos", "Junos", typed("show configuration | display set", "show lacp interfaces", "show interfaces extensive", "show lldp neighbors"),
		typed("show interfaces extensive")},
	{"aoscx", "ArubaOS-CX", typed("show running-config", "show lacp aggregates", "show lacp interfaces", "show interface", "show lldp neighbor-info detail"),
		typed("show interface", "show lacp interfaces")},
	{"sonic", "SONiC", typed("show runningconfiguration all", "show interfaces portchannel", "show interfaces status", "show interfaces counters", "show lldp neighbors"),
		typed("show interfaces counters", "show interfaces portchannel")},
}

// Systems are those that can be read so.
func Systems() []string {
	var out []string
	for _, s := range systems {
		out = append(out, s.name)
	}
	slices.Sort(out)
	return out
}

// named is a system by its name.
func named(name string) (system, bool) {
	i := slices.IndexFunc(systems, func(s system) bool { return s.name == name })
	if i < 0 {
		return system{}, false
	}
	return systems[i], true
}

// shown is the system that printed a version.
func shown(text string) (system, bool) {
	i := slices.IndexFunc(systems, func(s system) bool { return strings.Contains(strings.ToLower(text), strings.ToLower(s.sign)) })
	if i < 0 {
		return system{}, false
	}
	return systems[i], true
}
