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

// deviceName is a name that FreeBSD, TrueNAS and AIX may have for a device; it
// becomes part of shell text.
var deviceName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.]{0,14}$`)

// named are the devices that can be written: those whose name is known, and
// whose ports or parent's are. Of the others the ledger says why not. What a
// format makes itself gets a name from made.
func (in Input) named(l *ledger, made func(d device, number int) string) ([]device, otherNames) {
	names := otherNames{}
	var all []device
	numbers := map[kind]int{}
	for _, d := range in.devices() {
		name := in.Host.Names[d.ID]
		if name == "" {
			name = in.Host.Names[d.name]
		}
		if name == "" && d.kind != kindEthernet {
			name = made(d, numbers[d.kind])
		}
		numbers[d.kind]++
		if why := unnamed(d, name, names); why != "" {
			l.leaveOut(d.ID, "names."+d.ID, why)
			continue
		}
		names[d.ID], names[d.name] = name, name
		all = append(all, d)
	}
	return all, names
}

// unnamed says what keeps a device from being written; "" nothing.
func unnamed(d device, name string, names otherNames) string {
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
		return fmt.Sprintf("its name there is not known: add it to names (names: {%s: NAME}); left out", d.ID)
	case name == "":
		return fmt.Sprintf("devices of %s are not written", d.kind)
	case !deviceName.MatchString(name):
		return fmt.Sprintf("%q is no device's name; left out", name)
	case len(lower) > 0:
		return "left out, since it rides on " + strings.Join(lower, ", ") + ", whose name there is not known"
	}
	return ""
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
func (in Input) portsInOrder(d device, l *ledger) []string {
	ports := slices.Clone(d.ports)
	o, ok := d.option("primary")
	if !ok {
		return ports
	}
	names := in.interfaces([]string{o.value})
	if i := slices.Index(ports, firstOf(names)); i >= 0 {
		primary := ports[i]
		ports = append([]string{primary}, slices.Delete(ports, i, i+1)...)
		l.say(d.ID, o.key)
	}
	return ports
}

func firstOf(all []string) string {
	if len(all) == 0 {
		return ""
	}
	return all[0]
}
