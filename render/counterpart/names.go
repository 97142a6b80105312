// Package counterpart has what systems other than Linux call a host's devices
// and tunables.
package counterpart

import (
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strings"

	"github.com/linerate/linerate/internal/bondopt"
	"github.com/linerate/linerate/render"
	"github.com/linerate/linerate/render/device"
	"github.com/linerate/linerate/render/ledger"
)

// Systems other than Linux have names of their own for devices, which the file
// gives under hosts.NAME.names. Nothing is ever written with a name made up
// for a device that is there.

// Names are the names of a host's devices there, by the names here.
type Names map[string]string

// DeviceName is a name that FreeBSD and TrueNAS may have for a device; it
// becomes part of shell text.
var DeviceName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_.]{0,14}$`)

// Named returns the devices that can be written: those whose name is known, and
// whose ports or parent's are. Of the others the ledger says why not. What a
// format makes itself gets a name from made.
func Named(in render.Input, l *ledger.Ledger, pattern *regexp.Regexp, made func(d device.Device, number int) string) ([]device.Device, Names) {
	names := Names{}
	var all []device.Device
	numbers := map[device.Kind]int{}
	for _, d := range device.All(in) {
		// A definition may match several devices, each with a name of its own.
		name := in.Host.Names[d.Handle()]
		if name == "" {
			name = in.Host.Names[d.ID]
		}
		if name == "" && d.Kind == device.Ethernet && bondopt.Foreign(in.Host.System) {
			name = d.Name // the file speaks of that system's own devices
		}
		if name == "" && d.Kind != device.Ethernet {
			name = made(d, numbers[d.Kind])
		}
		numbers[d.Kind]++
		if why := unnamed(d, name, names, pattern); why != "" {
			l.LeaveOut(d.ID, "names."+d.Handle(), why)
			continue
		}
		names[d.Handle()] = name
		all = append(all, d)
	}
	return all, names
}

// unnamed says what keeps a device from being written; "" nothing.
func unnamed(d device.Device, name string, names Names, pattern *regexp.Regexp) string {
	var lower []string
	for _, port := range d.Ports {
		if names[port] == "" {
			lower = append(lower, port)
		}
	}
	if d.Kind == device.VLAN && names[d.Parent] == "" {
		lower = append(lower, d.Parent)
	}
	switch {
	case name == "" && d.Kind == device.Ethernet:
		return fmt.Sprintf("its name there is not known: add it to names (names: {%s: NAME}); left out", d.Handle())
	case name == "":
		return fmt.Sprintf("devices of %s are not written", d.Kind)
	case d.Kind == device.Ethernet && !pattern.MatchString(name), !DeviceName.MatchString(name):
		return fmt.Sprintf("%q is no device's name there; left out", name)
	case names.taken(name):
		return name + " is another device's name already: say its own under names; left out"
	case len(lower) > 0:
		return "left out, since it rides on " + strings.Join(lower, ", ") + ", whose name there is not known"
	}
	return ""
}

// Own is a device's name.
func (n Names) Own(d device.Device) string { return n[d.Handle()] }

func (n Names) taken(name string) bool {
	for _, other := range n {
		if other == name {
			return true
		}
	}
	return false
}

// Of are the names of several devices.
func (n Names) Of(all []string) []string {
	var out []string
	for _, name := range all {
		out = append(out, n[name])
	}
	return out
}

// Netmask is a prefix's mask in dotted form.
func Netmask(p netip.Prefix) string {
	bits := ^uint32(0)
	if p.Bits() < 32 {
		bits <<= 32 - max(p.Bits(), 0)
	}
	return fmt.Sprintf("%d.%d.%d.%d", bits>>24, bits>>16&255, bits>>8&255, bits&255)
}

// MTU is what a device's MTU should be: its own word, or its bond's, which
// has that of its ports.
func MTU(d device.Device, all []device.Device) int {
	if d.MasterKind == device.Bond {
		for _, other := range all {
			if other.ID == d.Master && other.MTU != 0 {
				return other.MTU
			}
		}
	}
	return d.MTU
}

// PortsInOrder puts a bond's primary first: other systems take the first port.
func PortsInOrder(in render.Input, d device.Device, l *ledger.Ledger) []string {
	ports := slices.Clone(d.Ports)
	o, ok := d.Option("primary")
	if !ok {
		return ports
	}
	names := device.Interfaces(in, []string{o.Value})
	if len(names) == 0 {
		return ports
	}
	if i := slices.Index(ports, names[0]); i >= 0 {
		ports = slices.Insert(slices.Delete(ports, i, i+1), 0, names[0])
		l.Say(d.ID, o.Key)
	}
	return ports
}

// Reasons are an output's warnings on one line.
func Reasons(out render.Output) string {
	var all []string
	for _, w := range out.Warnings {
		all = append(all, w.Where+": "+w.Why)
	}
	return strings.Join(all, "; ")
}
