package hashsurvey

import (
	"slices"
	"strings"

	"github.com/linerate/linerate/render/switchlines"
)

// tellLines adds what to type on the switches that said by LLDP what they run: a
// channel where nobody answers LACP, and the hash.
func (r Report) tellLines(w *letter) {
	portless, unsure := r.withoutPorts()
	told := make(map[string]bool)
	for _, t := range r.Trunks {
		switchName, system, known := r.systemOf(t)
		if !known || t.Bond == "" {
			continue
		}
		var lines []string
		if t.LACP != nil && t.LACP.PartnerMAC.IsZero() {
			lines = append(lines, system.Channels([]switchlines.Channel{r.channel(t)})...)
		}
		if (slices.Contains(portless, t.Host) || slices.Contains(unsure, t.Host)) && !told[switchName] {
			told[switchName] = true
			hash := system.Wide(nil)
			if hash == nil {
				hash = []string{"in the section of the channel of " + t.Host + ": " + strings.Join(system.Hash.Change, "; "), "before: " + system.Hash.Show}
			}
			lines = append(lines, hash...)
			lines = append(lines, "rollback, where OLD is what was there before:")
			lines = append(lines, system.Hash.Restore...)
		}
		if lines == nil {
			continue
		}
		w.gap()
		w.text("", "Lines for %s, which runs %s; please read them before use", switchName, system.Title)
		for _, line := range lines {
			w.line("    %s", line)
		}
	}
}

// systemOf is the switch that a trunk's ports lead to, and what it runs; false where
// LLDP does not tell, or tells of several systems.
func (r Report) systemOf(t Trunk) (name string, system switchlines.System, known bool) {
	for _, n := range r.Neighbors {
		if n.Host != t.Host {
			continue
		}
		s, ok := switchlines.Described(n.SystemText)
		if !ok || known && s.Name != system.Name {
			return "", switchlines.System{}, false
		}
		if !known {
			name = nameOf(n)
		}
		system, known = s, true
	}
	return name, system, known
}

// channel is a trunk as its switch must have it. What VLANs its ports are in nobody
// said: they keep them.
func (r Report) channel(t Trunk) switchlines.Channel {
	c := switchlines.Channel{Host: t.Host, Bond: t.Bond, LACP: true, MTU: t.MTU, Fast: t.Fast}
	for _, p := range t.Ports {
		port := switchlines.Port{Link: p.Link}
		for _, n := range r.Neighbors {
			if n.Host == t.Host && n.Link == p.Link && !strings.ContainsAny(n.Port, " :\n") { // an address is no name
				port.Name = n.Port
			}
		}
		c.Ports = append(c.Ports, port)
	}
	return c
}
