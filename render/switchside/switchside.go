// Package switchside writes the switch's side of a host's bonds, as lines for people
// to read and paste into a switch: the channels, what changes the whole switch, and
// the rollback, each a file of its own. package switchlines has the systems' words.
package switchside

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/linerate/linerate/internal/bondopt"
	"github.com/linerate/linerate/internal/evidence/switchstate"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/render"
	"github.com/linerate/linerate/render/device"
	"github.com/linerate/linerate/render/switchlines"
)

// Dir is where the files go below the directory of an output.
const Dir = "/switch/"

// Writer writes one switch system's lines for a host.
func Writer(format render.Format) func(render.Input) (render.Output, error) {
	return func(in render.Input) (render.Output, error) { return write(string(format), in) }
}

// write returns the files. The error is render.ErrEmpty for a host without a bond,
// render.ErrText for a switch's port that is no name.
func write(name string, in render.Input) (render.Output, error) {
	var out render.Output
	system, _ := switchlines.SystemOf(name)
	w := &writer{in: in, out: &out, all: device.All(in), names: name == string(render.FormatOVS)}
	bonds := 0
	for _, d := range w.all {
		if d.Kind == device.Bond || d.Kind == device.OVSBond {
			bonds++
			if err := w.bond(d); err != nil {
				return render.Output{}, err
			}
		}
	}
	if bonds == 0 {
		return render.Output{}, fmt.Errorf("%w bond: a switch needs no channel for it", errNone)
	}
	w.files(system, plain(in.Host.Name), in.SwitchHash)
	return out, nil
}

// files adds the channels' files, named after whose they are; hash is what the fabric says
// of the switch's. None where each channel's warning says why.
func (w *writer) files(system switchlines.System, of, hash string) {
	if len(w.channels) == 0 {
		return
	}
	out := w.out
	add := func(what string, lines []string) {
		out.Add(Dir+of+"-"+system.Name+"-"+what+".txt", 0o644, strings.Join(lines, "\n")+"\n")
	}
	add("channel", system.Channels(w.channels))
	if switchstate.HighestLayer(hash) == switchstate.Layer4 {
		out.Warn("", "switch_hash", "the fabric says that the switch hashes ports already ("+hash+"): no line changes its hash")
		system.Hash.Change = nil
	}
	if wide := system.Wide(w.channels); wide != nil {
		add("whole-switch", wide)
	}
	add("rollback", system.Back(w.channels))
	if w.unnamed {
		out.Warn("", "ports", "the names in capitals stand for what the fabric does not know of the switch: fill them in before use")
	}
}

var errNone = fmt.Errorf("%w with a", render.ErrEmpty)

// writer collects the channels of a host.
type writer struct {
	in       render.Input
	out      *render.Output
	all      []device.Device
	channels []switchlines.Channel
	unnamed  bool
	names    bool // the system calls channels as people name them
}

// bond adds the channel of one bond, or warns why it needs none.
func (w *writer) bond(d device.Device) error {
	need, mode := w.need(d)
	switch {
	case need == none:
		w.out.Warn(d.ID, "mode", mode+" needs no channel on the switch, and must have none: leave its ports as they are, single and in the same VLANs")
		return nil
	case len(d.Ports) == 0:
		w.out.Warn(d.ID, "interfaces", "nobody knows its ports: no channel is written")
		return nil
	}
	c := switchlines.Channel{Host: plain(w.in.Host.Name), Bond: plain(d.ID), LACP: need == lacp, Fast: w.fast(d), MTU: w.mtu(d), VLANs: w.vlans(d)}
	for _, link := range d.Ports {
		port := w.in.SwitchPorts[link]
		if port != "" && !portName.MatchString(port) {
			return fmt.Errorf("%w: the switch's port %q", render.ErrText, port)
		}
		w.unnamed = w.unnamed || port == ""
		c.Ports = append(c.Ports, switchlines.Port{Link: plain(link), Name: port})
	}
	w.add(c, w.channel(d.Ports))
	return nil
}

// add puts in a channel that the switch calls so; "" is not known.
func (w *writer) add(c switchlines.Channel, name string) {
	if c.Name = name; !portName.MatchString(c.Name) {
		c.Name = "" // of no use in a line
	}
	c.Number, _ = strconv.Atoi(number.FindString(c.Name))
	w.unnamed = w.unnamed || c.Number == 0 && (c.Name == "" || !w.names)
	w.channels = append(w.channels, c)
}

// channel is the name of the switch's channel that all ports are in; "" not known, or none.
func (w *writer) channel(ports []string) string {
	name := w.in.SwitchChannels[ports[0]]
	for _, p := range ports[1:] {
		if w.in.SwitchChannels[p] != name {
			return ""
		}
	}
	return name
}

// number is a channel's, at the end of its name: zero is taken for none.
var number = regexp.MustCompile(`[0-9]{1,4}$`)

// portName is what a switch calls a port.
var portName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9/.:_-]*( [0-9/.:]+)?$`)

// needed is what a bond needs of its switch.
type needed int

const (
	none needed = iota
	static
	lacp
)

// need is what a bond's mode needs, and the mode. The modes that share a hardware
// address over ports need their ports to be one channel; the others must not have it
// (Documentation/networking/bonding.rst, "Switch Configuration"; ovs-vswitchd.conf.db(5)).
func (w *writer) need(d device.Device) (needed, string) {
	if d.Kind == device.OVSBond {
		b := d.OVS.Runs()
		if b.LACP != netstate.OVSLACPOff {
			return lacp, string(b.Mode)
		}
		return none, string(b.Mode)
	}
	word := d.Mode()
	mode := netstate.ModeUnread
	if system, foreign := bondopt.SystemOf(w.in.Host.System); foreign {
		own, known := system.Mode(word)
		if !known {
			own = system.Modes[0]
		}
		if word = own.Word; own.Static {
			return static, word
		}
		mode = own.LinuxMode()
	} else if err := mode.UnmarshalText([]byte(word)); err != nil {
		return none, word
	}
	switch mode {
	case netstate.LACP:
		return lacp, word
	case netstate.BalanceXOR, netstate.BalanceRR, netstate.Broadcast:
		return static, word
	}
	return none, word
}

// fast reports a bond that asks for LACP every second.
func (w *writer) fast(d device.Device) bool {
	o, _ := d.Option(bondopt.LACPRate)
	return o.Value == "fast"
}

// mtu is the largest packet on a bond's ports; zero where nothing says.
func (w *writer) mtu(bond device.Device) int {
	most := 0
	for _, d := range w.all {
		if d.Name == bond.Name || d.Master == bond.ID || w.rides(d, bond) {
			most = max(most, d.MTU)
		}
	}
	return most
}

// rides reports a VLAN or a bridge above a bond.
func (w *writer) rides(d, bond device.Device) bool {
	for range w.all { // a chain of devices is no longer than all
		switch {
		case d.Kind == device.VLAN:
			parent, ok := w.named(d.Parent)
			if !ok {
				return false
			}
			d = parent
		case slices.Contains(d.Ports, bond.Name) && d.Name != bond.Name:
			return true
		default:
			return d.Name != "" && d.Name == bond.Name
		}
		if d.Name == bond.Name {
			return true
		}
	}
	return false
}

func (w *writer) named(name string) (device.Device, bool) {
	i := slices.IndexFunc(w.all, func(d device.Device) bool { return d.Name == name })
	if i < 0 {
		return device.Device{}, false
	}
	return w.all[i], true
}

// vlans are the tags of the VLANs above a bond, and whether anything speaks without.
func (w *writer) vlans(bond device.Device) switchlines.VLANs {
	v := switchlines.VLANs{Known: true}
	for _, d := range w.all {
		switch {
		case d.Kind == device.VLAN && w.rides(d, bond):
			v.Tagged = append(v.Tagged, d.Tag)
		case d.Name == bond.Name, (d.Kind == device.Bridge || d.Kind == device.OVSBridge) && w.rides(d, bond):
			v.Untagged = v.Untagged || len(d.Addresses) > 0 || d.DHCP4() || d.DHCP6()
			if d.Name != bond.Name {
				w.out.Warn(d.ID, "interfaces", "guests behind the bridge may use VLANs that the fabric does not know: add theirs")
			}
		}
	}
	slices.Sort(v.Tagged)
	v.Tagged = slices.Compact(v.Tagged)
	v.Untagged = v.Untagged || len(v.Tagged) == 0
	return v
}

// plain is a name with nothing in it that a switch's command line would read.
func plain(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-", r) {
			return r
		}
		return '_'
	}, name)
}
