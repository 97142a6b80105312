package render

import (
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strings"
)

// Systems other than Linux have names of their own for devices, which the file
// gives under hosts.NAME.names. Nothing is ever written with a name made up
// for a device that is there.

// otherNames are the names of a host's devices there, by the names here.
type otherNames map[string]string

// deviceName is a name that FreeBSD and TrueNAS may have for a device; it
// becomes part of shell text. AIX counts adapters: ent0.
var (
	deviceName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.]{0,14}$`)
	aixAdapter = regexp.MustCompile(`^ent[0-9]{1,4}$`)
)

// named are the devices that can be written: those whose name is known, and
// whose ports or parent's are. Of the others the ledger says why not. What a
// format makes itself gets a name from made.
func namedDevices(in Input, l *ledger, pattern *regexp.Regexp, made func(d device, number int) string) ([]device, otherNames) {
	names := otherNames{}
	var all []device
	numbers := map[kind]int{}
	for _, d := range devicesOf(in) {
		// A definition may match several devices, each with a name of its own.
		name := in.Host.Names[d.handle()]
		if name == "" {
			name = in.Host.Names[d.ID]
		}
		if name == "" && d.kind != kindEthernet {
			name = made(d, numbers[d.kind])
		}
		numbers[d.kind]++
		if why := unnamed(d, name, names, pattern); why != "" {
			l.leaveOut(d.ID, "names."+d.handle(), why)
			continue
		}
		names[d.handle()] = name
		all = append(all, d)
	}
	return all, names
}

// unnamed says what keeps a device from being written; "" nothing.
func unnamed(d device, name string, names otherNames, pattern *regexp.Regexp) string {
	var lower []string
	for _, port := range d.ports {
		if names[port] == "" {
			lower = append(lower, port)
		}
	}
	if d.kind == kindVLAN && names[d.parent] == "" {
		lower = append(lower, d.parent)
	}
	switch {
	case name == "" && d.kind == kindEthernet:
		return fmt.Sprintf("its name there is not known: add it to names (names: {%s: NAME}); left out", d.handle())
	case name == "":
		return fmt.Sprintf("devices of %s are not written", d.kind)
	case d.kind == kindEthernet && !pattern.MatchString(name), !deviceName.MatchString(name):
		return fmt.Sprintf("%q is no device's name there; left out", name)
	case names.taken(name):
		return name + " is another device's name already: say its own under names; left out"
	case len(lower) > 0:
		return "left out, since it rides on " + strings.Join(lower, ", ") + ", whose name there is not known"
	}
	return ""
}

// own is a device's name.
func (n otherNames) own(d device) string { return n[d.handle()] }

func (n otherNames) taken(name string) bool {
	for _, other := range n {
		if other == name {
			return true
		}
	}
	return false
}

// handle tells a device from the others: its name, or where nobody knows it, its
// definition's.
func (d device) handle() string {
	if d.name == "" {
		return d.ID
	}
	return d.name
}

// of are the names of several devices.
func (n otherNames) of(all []string) []string {
	var out []string
	for _, name := range all {
		out = append(out, n[name])
	}
	return out
}

// netmask is a prefix's mask in dotted form.
func netmask(p netip.Prefix) string {
	bits := ^uint32(0)
	if p.Bits() < 32 {
		bits <<= 32 - max(p.Bits(), 0)
	}
	return fmt.Sprintf("%d.%d.%d.%d", bits>>24, bits>>16&255, bits>>8&255, bits&255)
}

// shellWord makes s one word of a POSIX shell.
func shellWord(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-+:/@%,=", r)
	}
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool { return !plain(r) }) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// mtuOf is what a device's MTU should be: its own word, or its bond's, which
// has that of its ports.
func mtuOf(d device, all []device) int {
	if d.masterKind == kindBond {
		for _, other := range all {
			if other.ID == d.master && other.MTU != 0 {
				return other.MTU
			}
		}
	}
	return d.MTU
}

// portsInOrder puts a bond's primary first: other systems take the first port.
func portsInOrder(in Input, d device, l *ledger) []string {
	ports := slices.Clone(d.ports)
	o, ok := d.option("primary")
	if !ok {
		return ports
	}
	names := interfacesOf(in, []string{o.value})
	if i := slices.IndexFunc(ports, func(port string) bool { return slices.Index(names, port) == 0 }); i >= 0 {
		primary := ports[i]
		ports = append([]string{primary}, slices.Delete(ports, i, i+1)...)
		l.say(d.ID, o.key)
	}
	return ports
}
