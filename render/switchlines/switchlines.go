// Package switchlines has the switch's side of a host's bond in the words of ten
// switch systems: the port channel, the hash that spreads flows by addresses and
// ports, what rolls both back, and the system's own timed rollback where it has one.
// It is text for people to read and paste: nothing here logs in to a switch.
//
// What is not known of the switch is a name in capitals that its command line
// refuses (PORT-ens2f0, CHANNEL). Don't write a line that was not read in the
// maker's documentation or in working configurations; say what to look up instead.
package switchlines

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/linerate/linerate/internal/evidence/switchstate"
)

// Channel is a host's bond as its switch must have it, or a trunk to another switch.
type Channel struct {
	Host, Bond string // of a trunk the other switch and its channel
	Trunk      bool
	// LACP is false for a static channel.
	LACP bool
	// Fast: the host asks for LACP packets every second.
	Fast bool
	// MTU is the largest packet of the host on these ports; zero not known.
	MTU int
	// Name is the channel's on the switch, "" not known, and Number the one in it, zero
	// not known.
	Name   string
	Number int
	Ports  []Port
	VLANs  VLANs
	// several: other channels are written beside it.
	several bool
}

// Port is one cable of a channel.
type Port struct {
	Link string // the host's interface
	Name string // the switch's port; "" not known
}

// VLANs are what the host's frames carry.
type VLANs struct {
	// Known is false where nobody knows: then no line about VLANs is written.
	Known  bool
	Tagged []int
	// Untagged: the host sends frames without a tag. Native is the VLAN that the
	// switch puts them in; zero not known.
	Untagged bool
	Native   int
}

// Hash is how a switch is told to spread flows by addresses and ports.
type Hash struct {
	// Change are the lines, typed in configuration mode; those that go into a
	// channel's own section, without its head, where Scope is one channel.
	Change []string
	// Also says what other models or releases take.
	Also string
	// Scope is what the change holds for, Radius the same for people.
	Scope  switchstate.Scope
	Radius string
	// Show prints the setting; Restore sets what it printed (OLD).
	Show    string
	Restore []string
}

// Words are the lines of the change for a sentence, and what other models take.
func (h Hash) Words() string {
	text := "`" + strings.Join(h.Change, "`, `") + "`"
	if h.Also != "" {
		text += " (" + strings.ToLower(h.Also[:1]) + strings.TrimSuffix(h.Also[1:], ".") + ")"
	}
	return text
}

// System is a switch's operating system.
type System struct {
	Name, Title string
	Hash        Hash
	// Guard says how the system rolls a change back by itself, or what takes
	// its place.
	Guard string

	remark        string   // begins a comment
	begin, end    []string // around every change
	keep          []string // typed once the change was checked
	ports, free   string   // shows where hosts are plugged in; which channels there are
	settings      string   // shows what ports have before the change
	check         string   // shows whether the channel works
	channel, undo func(Channel) []string
	// wide are lines for frames of that size that change the whole switch.
	wide func([]Channel) []string
	// mtu is the largest packet that the system's ports take; zero differs by model.
	mtu   int
	notes func(Channel) []string
}

// Systems are all that there are, in the order of help texts.
func Systems() []System {
	return []System{ios(), nxos(), eos(), junos(), procurve(), aoscx(), cumulus(), sonic(), routeros(), ovs()}
}

// SystemOf returns a system by its name; false for one that is not known.
func SystemOf(name string) (System, bool) {
	all := Systems()
	i := slices.IndexFunc(all, func(s System) bool { return s.Name == name })
	if i < 0 {
		return System{}, false
	}
	return all[i], true
}

// Timer is how many minutes a timed rollback gives.
const Timer = 5

// Channels returns the lines of the channels, in one change: what is typed, with
// comments that say what it is for, what to fill in and how to keep it.
func (s System) Channels(all []Channel) []string {
	all = apart(all)
	var lines []string
	for _, c := range all {
		kind := "a static channel"
		if c.LACP {
			kind = "an LACP channel"
		}
		lines = append(lines, s.comment("%s of %s: %s of %d ports on %s.", c.Bond, c.Host, kind, len(c.Ports), s.Title)...)
		if c.Trunk {
			lines = append(lines, s.comment("The other end has lines of its own (`linerate render --switch %s`). Between the two changes the ports are no channel at one end: shut all but one, or work where nothing depends on it.", c.Host)...)
		}
		if s.mtu > 0 && c.MTU > s.mtu {
			lines = append(lines, s.comment("The host's MTU of %d is more than the %d that this system's ports take.", c.MTU, s.mtu)...)
		}
		if !c.VLANs.Known {
			lines = append(lines, s.comment("The VLANs of its ports are not known here: give the channel what the ports have now.")...)
		}
		if s.notes != nil {
			for _, note := range s.notes(c) {
				lines = append(lines, s.comment("%s", note)...)
			}
		}
	}
	lines = append(lines, s.fill(all, forChannels)...)
	lines = append(lines, s.comment("Before: keep what `%s` prints, for the rollback.", s.settings)...)
	lines = append(lines, s.guarded()...)
	lines = append(lines, s.begin...)
	for _, c := range all {
		lines = append(lines, s.channel(c)...)
	}
	return append(lines, s.finish(s.check)...)
}

// Wide returns the lines that change the whole switch for these channels: the hash
// and, where it is the switch's, the size of frames. None where all is per channel.
func (s System) Wide(all []Channel) []string {
	all = apart(all)
	var change, lines []string
	if s.Hash.Scope != switchstate.OneChannel {
		change = slices.Clone(s.Hash.Change)
	}
	var frames []string
	if s.wide != nil {
		frames = s.wide(all)
	}
	change = append(change, frames...)
	if len(change) == 0 {
		return nil
	}
	if len(s.Hash.Change) > 0 && s.Hash.Scope != switchstate.OneChannel {
		lines = s.comment("Hash: spread flows by addresses and ports. %s", s.Hash.Radius)
		lines = append(lines, s.comment("Flows move between links when it changes: for a moment packets may arrive out of order.")...)
		lines = append(lines, s.comment("Now: `%s`. Keep what it prints, for the rollback.", s.Hash.Show)...)
		if s.Hash.Also != "" {
			lines = append(lines, s.comment("%s", s.Hash.Also)...)
		}
	}
	if s.Name == "procurve" && frames != nil {
		lines = append(lines, s.fill(all, forVLANs)...)
	}
	lines = append(lines, s.guarded()...)
	lines = append(lines, s.begin...)
	lines = append(lines, change...)
	return append(lines, s.finish(s.Hash.Show)...)
}

// Back returns the lines that roll both back, the channels first.
func (s System) Back(all []Channel) []string {
	all = apart(all)
	lines := s.fill(all, forUndo)
	if slices.ContainsFunc(all, func(c Channel) bool { return c.Trunk }) {
		lines = append(lines, s.comment("Both ends of a trunk change together, and until both have, single ports of it may make a loop: shut all but one.")...)
	} else {
		lines = append(lines, s.comment("The host first: its bond must not need the channel any more.")...)
	}
	lines = append(lines, s.guarded()...)
	lines = append(lines, s.begin...)
	for _, c := range all {
		lines = append(lines, s.undo(c)...)
	}
	lines = append(lines, s.finish(s.check)...)
	lines = append(lines, s.comment("Then give the ports back what they had before (`%s`).", s.settings)...)
	if len(s.Hash.Change) > 0 && s.Hash.Scope != switchstate.OneChannel {
		lines = append(lines, s.comment("The hash, only if it was changed. OLD is what `%s` printed before:", s.Hash.Show)...)
		for _, line := range s.Hash.Restore {
			lines = append(lines, s.remark+"   "+line)
		}
	}
	return lines
}

// guarded says what rolls the change back if it cuts somebody off.
func (s System) guarded() []string { return s.comment("%s", s.Guard) }

// finish closes a change and says how to check and keep it.
func (s System) finish(check string) []string {
	lines := slices.Clone(s.end)
	if len(s.keep) == 0 {
		return append(lines, s.comment("Check: `%s`.", check)...)
	}
	lines = append(lines, s.comment("Check: `%s`. Then keep it:", check)...)
	for _, line := range s.keep {
		lines = append(lines, s.remark+"   "+line)
	}
	return lines
}

// apart marks channels that are written beside others.
func apart(all []Channel) []Channel {
	all = slices.Clone(all)
	for i := range all {
		all[i].several = len(all) > 1
	}
	return all
}

// filling is what capitals are told for.
type filling int

const (
	forChannels filling = iota
	forVLANs
	forUndo
)

// fill says what the capitals in the lines stand for.
func (s System) fill(all []Channel, whatFor filling) []string {
	var lines []string
	told := make(map[string]bool)
	say := func(word, what string) {
		if !told[word] {
			lines = append(lines, fmt.Sprintf("%s   %-14s %s", s.remark, word, what))
		}
		told[word] = true
	}
	for _, c := range all {
		switch named := s.Name == "ovs" && c.Name != ""; {
		case named || c.Number > 0:
		case whatFor == forChannels:
			say(c.number(), "a number that no channel has (`"+s.free+"`)")
		case whatFor == forUndo:
			say(c.number(), "the number of the channel of "+c.Bond)
		}
		for _, p := range c.Ports {
			if p.Name == "" && whatFor != forVLANs {
				say(p.name(), fmt.Sprintf("the port of %s of %s (`%s`)", p.Link, c.Host, s.ports))
			}
		}
		if c.VLANs.Known && c.VLANs.Untagged && c.VLANs.Native == 0 && s.Name != "ovs" && (whatFor != forUndo || s.Name == "sonic") {
			say(c.VLANs.native(), "the VLAN of frames without a tag: what the ports have now")
		}
		if s.Name == "routeros" {
			say("BRIDGE", "the bridge that the ports are in (`/interface bridge port print`)")
		}
		if s.Name == "junos" && whatFor == forChannels {
			say("COUNT", "more than the highest number of an ae")
		}
	}
	if lines != nil {
		lines = append(s.comment("Fill in:"), lines...)
	}
	return lines
}

// lineWidth is what a comment is wrapped at.
const lineWidth = 78

// comment wraps text as comments of the system.
func (s System) comment(format string, args ...any) (lines []string) {
	line := s.remark
	for _, word := range strings.Fields(fmt.Sprintf(format, args...)) {
		if len(line)+1+len(word) > lineWidth && line != s.remark {
			lines, line = append(lines, line), s.remark
		}
		line += " " + word
	}
	return append(lines, line)
}

// name is the switch's port, or what stands for it.
func (p Port) name() string { return cmp.Or(p.Name, "PORT-"+p.Link) }

// names joins the switch's ports.
func (c Channel) names(sep string) string {
	names := make([]string, len(c.Ports))
	for i, p := range c.Ports {
		names[i] = p.name()
	}
	return strings.Join(names, sep)
}

// number is the channel's number, or what stands for it.
func (c Channel) number() string {
	switch {
	case c.Number == 0 && c.several:
		return "CHANNEL-" + c.Bond
	case c.Number == 0:
		return "CHANNEL"
	}
	return strconv.Itoa(c.Number)
}

// mode chooses by whether the channel speaks LACP.
func (c Channel) mode(lacp, static string) string {
	if c.LACP {
		return lacp
	}
	return static
}

// fast reports a channel whose members are asked for LACP every second.
func (c Channel) fast() bool { return c.LACP && c.Fast }

// usualMTU is what every port takes.
const usualMTU = 1500

// jumbo reports a host that sends packets larger than every port takes.
func (c Channel) jumbo() bool { return c.MTU > usualMTU }

// list joins the tagged VLANs.
func (v VLANs) list(sep string) string {
	words := make([]string, len(v.Tagged))
	for i, id := range v.Tagged {
		words[i] = strconv.Itoa(id)
	}
	return strings.Join(words, sep)
}

// native is the VLAN of untagged frames, or what stands for it.
func (v VLANs) native() string {
	switch {
	case v.Native > 0:
		return strconv.Itoa(v.Native)
	case len(v.Tagged) > 0:
		return "NATIVE-VLAN"
	}
	return "VLAN"
}

// trunk reports tagged frames.
func (v VLANs) trunk() bool { return len(v.Tagged) > 0 }
