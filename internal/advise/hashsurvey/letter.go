package hashsurvey

import (
	"fmt"
	"slices"
	"strings"

	"github.com/linerate/linerate/steer/recognise"
)

// letterWidth is what a ticket shows without breaking lines.
const letterWidth = 76

// Letter is the words to send to whoever runs the switch: what was seen, what
// it seems to do, and what to change. Plain text, one ticket; "" where neither
// host has a bond: there is no aggregation to ask for.
func (r Report) Letter() string {
	if !slices.ContainsFunc(r.Trunks, func(t Trunk) bool { return t.Bond != "" }) {
		return ""
	}
	var w letter
	w.line("Link aggregation towards %s and %s", r.A, r.B)
	w.gap()
	w.text("", "%d short TCP flows were sent from %s to %s, and the counters of all links were read at both ends.", r.Probes, r.A, r.B)
	w.gap()
	w.line("What was seen")
	for _, s := range r.Sides {
		r.tellSide(&w, s)
	}
	w.gap()
	w.line("What we ask for")
	n := 0
	for _, ask := range r.asks() {
		n++
		w.text(fmt.Sprintf("%d. ", n), "%s", ask)
	}
	if n == 0 {
		w.text("- ", "nothing: every link is in use and flows spread over all of them")
	}
	r.tellLines(&w)
	w.gap()
	w.line("Which ports")
	r.tellPorts(&w)
	return w.String()
}

// letter is text under construction, wrapped as it comes.
type letter struct{ strings.Builder }

func (w *letter) gap()                         { w.WriteByte('\n') }
func (w *letter) line(format string, a ...any) { fmt.Fprintf(w, format+"\n", a...) }

// text writes a paragraph; its first line begins with lead, the others with
// as many blanks.
func (w *letter) text(lead, format string, a ...any) {
	line, used := lead, 0
	for _, word := range strings.Fields(fmt.Sprintf(format, a...)) {
		if used > 0 && len([]rune(line))+1+len([]rune(word)) > letterWidth {
			w.WriteString(line + "\n")
			line, used = strings.Repeat(" ", len([]rune(lead))), 0
		}
		if used > 0 {
			line += " "
		}
		line += word
		used++
	}
	w.WriteString(line + "\n")
}

// counts names links with the flows seen on each.
func counts(links []string, seen []int) string {
	parts := make([]string, len(links))
	for i, l := range links {
		parts[i] = fmt.Sprintf("%s %d", l, seen[i])
	}
	return strings.Join(parts, ", ")
}

func (r Report) tellSide(w *letter, s SideReport) {
	switch {
	case len(s.Links) < 2:
		w.text("- ", "%s has one link in use", s.Host)
		return
	case s.Side.Out():
		w.text("- ", "%s sends: flows on %s", s.Host, counts(s.Links, s.Seen))
	case s.Separate:
		w.text("- ", "the switch to %s: separate interfaces, nothing hashes: flows on %s", s.Host, counts(s.Links, s.Seen))
		return
	default:
		w.text("- ", "the switch to %s: flows on %s", s.Host, counts(s.Links, s.Seen))
	}
	if s.Ignored != "" {
		w.text("  ", "%s", s.Ignored)
		return
	}
	if len(s.Guesses) > 0 && r.Probes > 0 {
		w.text("  ", "%s", GuessWords(s.Guesses))
	}
	if len(s.Unreached) > 0 {
		w.text("  ", "no flow came by %s", strings.Join(s.Unreached, ", "))
	}
}

// worthNaming is the confidence from which another explanation is named
// beside the likeliest.
const worthNaming = 0.1

// GuessWords says what a device seems to hash, and how sure that is.
func GuessWords(guesses []recognise.Guess) string {
	if len(guesses) == 0 {
		return "no rule that is known explains it"
	}
	first := guesses[0]
	text := fmt.Sprintf("it seems to hash by %s: %s (%.0f %%)", first.Words(), recognise.Sureness(first.Confidence), 100*first.Confidence)
	if first.Policy == "one-link" {
		text = fmt.Sprintf("it seems to use %s: %s (%.0f %%)", first.Words(), recognise.Sureness(first.Confidence), 100*first.Confidence)
	}
	var others []string
	for _, g := range guesses[1:min(4, len(guesses))] {
		if g.Confidence >= worthNaming {
			others = append(others, fmt.Sprintf("%s %.0f %%", g.Words(), 100*g.Confidence))
		}
	}
	if len(others) > 0 {
		text += "; or " + strings.Join(others, ", ")
	}
	return text
}

// A switch that hashes ports with a probability below the first seems not to,
// above the second seems to; between the two it must be asked.
const (
	portsIgnored = 0.1
	portsHashed  = 0.9
)

// asks are the changes to ask for, most useful first.
func (r Report) asks() []string {
	var all []string
	portless, unsure := r.withoutPorts()
	if len(unsure) > 0 {
		all = append(all, fmt.Sprintf("Hash: does the switch hash TCP/UDP ports on the aggregations to %s? What was seen does not tell. If not, please let it (layer 3+4; src-dst-ip-port, L3_L4, 5-tuple).", strings.Join(unsure, " and ")))
	}
	if len(portless) > 0 {
		all = append(all, fmt.Sprintf("Hash: please let the switch hash IP addresses and TCP/UDP ports (layer 3+4; src-dst-ip-port, L3_L4, 5-tuple) on the aggregations to %s. Now flows that differ only in ports share one link.", strings.Join(portless, " and ")))
	}
	for _, t := range r.Trunks {
		all = append(all, t.asks()...)
	}
	if mtu := r.mtuAsk(); mtu != "" {
		all = append(all, mtu)
	}
	return all
}

// withoutPorts are the hosts to which the switch seems not to hash ports, and those of
// which nobody can tell.
func (r Report) withoutPorts() (portless, unsure []string) {
	for _, s := range r.Sides {
		switch {
		case s.Side.Out() || s.Separate || len(s.Links) < 2 || s.Ignored != "" || r.Probes == 0:
		case s.PortsHelp < portsIgnored:
			portless = append(portless, s.Host)
		case s.PortsHelp < portsHashed:
			unsure = append(unsure, s.Host)
		}
	}
	return portless, unsure
}

// asks is what is wrong with a trunk, as far as the switch can mend it.
func (t Trunk) asks() []string {
	if t.Bond == "" {
		return nil
	}
	var out, down []string
	for _, p := range t.Ports {
		switch {
		case !p.Up:
			down = append(down, p.Link)
		case !p.Usable && t.LACP != nil && p.Aggregator != t.LACP.ID:
			out = append(out, p.Link)
		}
	}
	var all []string
	if len(down) > 0 {
		all = append(all, fmt.Sprintf("Cables: %s of %s has no link. Is the switch's port shut?", strings.Join(down, ", "), t.Host))
	}
	switch {
	case t.LACP == nil:
	case t.LACP.PartnerMAC.IsZero():
		all = append(all, fmt.Sprintf("LACP: nobody answers %s of %s. Please make the switch's ports one aggregation with LACP, active.", t.Bond, t.Host))
	case len(out) > 0:
		all = append(all, fmt.Sprintf("LACP: %s of %s is outside the aggregation that the others are in (partner %s, key %d). Please put its switch port into the same channel, with the same speed and VLANs.",
			strings.Join(out, ", "), t.Host, t.LACP.PartnerMAC, t.LACP.PartnerKey))
	}
	if t.LACP == nil && (t.Mode == "balance-xor" || t.Mode == "balance-rr") {
		all = append(all, fmt.Sprintf("LACP: %s of %s is a static aggregation (%s), which does not notice a wrong cable. Please say whether the switch's side is one static channel; LACP on both would be safer.", t.Bond, t.Host, t.Mode))
	}
	return all
}

// ethernetOverhead is the header, one VLAN tag and the FCS.
const ethernetOverhead = 14 + 4 + 4

// usualMTU is what every switch lets through.
const usualMTU = 1500

func (r Report) mtuAsk() string {
	most := 0
	for _, t := range r.Trunks {
		most = max(most, t.MTU)
	}
	var small []string
	for _, n := range r.Neighbors {
		for _, t := range r.Trunks {
			if t.Host == n.Host && n.MaxFrame > 0 && n.MaxFrame < t.MTU+ethernetOverhead-4 {
				small = append(small, fmt.Sprintf("%s (%s of %s takes %d)", n.Link, n.Port, nameOf(n), n.MaxFrame))
			}
		}
	}
	switch {
	case len(small) > 0:
		return fmt.Sprintf("MTU: the hosts send packets of up to %d bytes, frames of %d. Too small by LLDP: %s.", most, most+ethernetOverhead, strings.Join(small, ", "))
	case most > usualMTU:
		return fmt.Sprintf("MTU: please confirm that all ports on the way take frames of %d bytes (MTU %d).", most+ethernetOverhead, most)
	}
	return ""
}

func nameOf(n HostNeighbor) string {
	if n.SystemName != "" {
		return n.SystemName
	}
	return n.Chassis
}

func (r Report) tellPorts(w *letter) {
	for _, t := range r.Trunks {
		trunk := t.Host
		if t.Bond != "" {
			trunk += " " + t.Bond + " (" + strings.TrimSpace(t.Mode+" "+t.Policy) + ")"
		}
		if t.LACP != nil && !t.LACP.PartnerMAC.IsZero() {
			trunk += fmt.Sprintf(", LACP partner %s key %d, own key %d", t.LACP.PartnerMAC, t.LACP.PartnerKey, t.LACP.ActorKey)
		}
		w.text("- ", "%s, MTU %d", trunk, t.MTU)
		for _, p := range t.Ports {
			state := "in use"
			switch {
			case !p.Up:
				state = "no link"
			case !p.Usable:
				state = "not in use"
			}
			w.text("    ", "%s %s, %s%s", p.Link, p.MAC, state, r.neighborWords(t.Host, p.Link))
		}
	}
}

// neighborWords is the switch's port at the other end of a cable, if it said.
func (r Report) neighborWords(host, link string) string {
	for _, n := range r.Neighbors {
		if n.Host != host || n.Link != link {
			continue
		}
		text := fmt.Sprintf(": %s port %s", nameOf(n), n.Port)
		if n.PortDescription != "" && n.PortDescription != n.Port {
			text += " (" + n.PortDescription + ")"
		}
		if a := n.Aggregation; a != nil {
			switch {
			case a.Active:
				text += fmt.Sprintf(", in aggregation %d", a.ID)
			case a.Capable:
				text += ", in no aggregation"
			}
		}
		return text
	}
	return ""
}
