package channels

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/linerate/linerate/diagnose/pasted/scene"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/steer/team"
)

// teamPorts: a port of a team that its LACP leaves out, or that hears no partner any
// more.
func teamPorts(v *scene.View) {
	for _, h := range v.Hosts {
		for _, name := range h.Subjects("link") {
			x, ok := h.Get("link "+name, "selected")
			state := scene.Word(h, name, "lacp_state")
			switch stale := state == "expired" || state == "defaulted"; {
			case !ok || scene.Word(h, name, "carrier") == "no":
			case x.Text == "no":
				teamPort(v, h, name, x)
			case stale:
				unheard(v, h, name, state, x)
			}
		}
	}
}

func teamPort(v *scene.View, h *piece.Host, name string, selected piece.Value) {
	state, of := scene.Word(h, name, "lacp_state"), scene.Word(h, name, "master")
	whose := cmp.Or(of, "the team")
	summary := fmt.Sprintf("Port %s of %s is not selected: its LACP is %s, so that it carries nothing and one port carries all.", name, whose, cmp.Or(state, "not up"))
	remedy := fmt.Sprintf("Make both ends agree on LACP: active on the switch's port of %s, in the same group.", name)
	evidence := []record.Evidence{scene.Saw(name, "selected: no, state: "+cmp.Or(state, "?"), selected.Source)}
	sure := 0.85
	switch fast, ok := h.Get("link "+of, "lacp_rate"); {
	case state == "current":
		summary = fmt.Sprintf("Port %s of %s hears a partner (its LACP is current) and is not selected: it is in another aggregator than the ports that carry, so that it carries nothing.", name, whose)
		remedy = fmt.Sprintf("All ports of %s must come to one partner: one switch, or two that act as one (MLAG, stack), with the ports in one LACP group of one speed.", whose)
		if e, why, other := otherPartner(h, name, of); other {
			summary += " " + why
			evidence, sure = append(evidence, e), 0.92
		}
	case ok && fast.Text == "fast" && (state == "expired" || state == "defaulted"):
		summary = fmt.Sprintf("Port %s of %s is not selected: its LACP state is %s. The team asks for the fast rate (a frame each second, timeout 3 s), and a switch that sends at its slow rate of 30 s lets it expire.", name, whose, state)
		remedy = fmt.Sprintf("If the switch sends at its slow rate, set the same at both ends: the short timeout on the switch's port of %s, or `fast_rate: false` for the team. If it sends none, put the port into the LACP group (mode active).", name)
		evidence = append(evidence, scene.Saw("LACP rate of "+of, "fast", fast.Source))
	}
	v.Add(record.LACPDown, sure, h, of+" port "+name, summary, remedy, evidence...)
}

// unheard is a port that is still selected and hears no partner any more.
func unheard(v *scene.View, h *piece.Host, name, state string, selected piece.Value) {
	of := scene.Word(h, name, "master")
	summary := fmt.Sprintf("Port %s hears no LACP any more: its state is %s, though it is still selected. What it sends may be lost, for the switch does not take it for a member.", name, state)
	evidence := []record.Evidence{scene.Saw(name, "selected: "+selected.Text+", state: "+state, selected.Source)}
	if x, ok := h.Get("link "+of, "lacp_rate"); ok && x.Text == "fast" {
		summary += " The team asks for the fast rate (a frame each second, timeout 3 s), and a switch that sends at its slow rate of 30 s lets it expire."
		evidence = append(evidence, scene.Saw("LACP rate of "+of, "fast", x.Source))
	}
	v.Add(record.LACPDown, 0.72, h, of+" port "+name, summary,
		fmt.Sprintf("Make both ends agree on LACP: active on the switch's port of %s, in the same group, with the same rate.", name), evidence...)
}

// otherPartner is a port that is selected and has another partner, or another key of the
// same one.
func otherPartner(h *piece.Host, name, of string) (e record.Evidence, why string, other bool) {
	own, at := scene.Word(h, name, "partner_system_mac"), scene.Word(h, name, "partner_key")
	x, told := h.Get("link "+name, "partner_system_mac")
	if !told || own == "00:00:00:00:00:00" {
		return e, "", false
	}
	for _, port := range h.Ports[of] {
		mac, key := scene.Word(h, port, "partner_system_mac"), scene.Word(h, port, "partner_key")
		switch {
		case port == name || scene.Word(h, port, "selected") != "yes" || mac == "":
		case mac != own:
			return scene.Saw("partner of "+name, own+"; of "+port+" "+mac, x.Source),
				fmt.Sprintf("Its partner is %s, that of %s is %s: two switches that are no one LACP system.", own, port, mac), true
		case key != at && key != "" && at != "":
			return scene.Saw("partner's key of "+name, at+"; of "+port+" "+key, x.Source),
				fmt.Sprintf("The partner's key is %s, that of %s is %s: the switch has them in two groups.", at, port, key), true
		}
	}
	return e, "", false
}

// teamWatches: a port whose link is there and whose link watch gets no answer.
func teamWatches(v *scene.View) {
	for _, h := range v.Hosts {
		for _, name := range h.Subjects("link") {
			x, ok := h.Get("link "+name, "watch_failed")
			if !ok || scene.Word(h, name, "carrier") == "no" {
				continue
			}
			of := scene.Word(h, name, "master")
			v.Add(record.SingleLink, 0.7, h, name+" of "+of,
				fmt.Sprintf("teamd leaves %s of %s out: its link watch gets no answer from the address that it asks (arp_ping or nsna_ping), whatever the link does.", name, of),
				"See that the target_host of the link watch is up, in the team's own network (VLAN, source_host) and answers on this port; where only the link matters, watch it with ethtool.",
				scene.Saw("link watch of "+name, "down", x.Source))
		}
	}
}

// teamHashes: a team whose hash has no ports in it, by its configuration or by default.
func teamHashes(v *scene.View) {
	for _, b := range v.Bonds {
		if runner := scene.Word(b.Host, b.Name, "runner"); runner == "loadbalance" || runner == "lacp" {
			teamHash(v, b.Host, b.Name)
		}
	}
}

func teamHash(v *scene.View, h *piece.Host, name string) {
	if scene.Word(h, name, "tx_balancer") != "" {
		return // it moves hashes by load
	}
	x, ok := scene.Fact(h, name, "tx_hash")
	said := x.Text
	if !ok {
		if _, declared := h.Get("config "+name, "runner"); !declared {
			return
		}
		x, _ = scene.Fact(h, name, "runner")
		said = "eth ipv4 ipv6 (the default: tx_hash is not set)"
	}
	if scene.Contains(said, "l4", "tcp", "udp") {
		return
	}
	sure := 0.62
	if v.Said("not_up", "traffic_lost") {
		sure = 0.4 // that is the question
	}
	evidence := []record.Evidence{scene.Saw("tx_hash of "+name, said, x.Source)}
	if e, ok := memberSided(h, name); ok {
		evidence = append(evidence, e)
		sure = 0.9
	}
	v.Add(record.SingleLink, sure, h, name+" of "+scene.NameOf(h),
		fmt.Sprintf("%s hashes addresses and no ports (tx_hash %s): all between two hosts takes one link.", name, said),
		fmt.Sprintf(`Add ports to the runner's tx_hash: ["eth", "ip", "l4"] in the configuration of %s, then bring it down and up.`, name), evidence...)
}

// teamOf is a team that hashes, by what its configuration says; false where the hash
// is not known or moves by load. Which port is which is not known: they count in the
// order in which they came up.
func teamOf(b scene.Bond) (t team.Team, ok bool) {
	if t.Runner.UnmarshalText([]byte(scene.Word(b.Host, b.Name, "runner"))) != nil || !t.Runner.Hashes() || scene.Word(b.Host, b.Name, "tx_balancer") != "" {
		return t, false
	}
	t.Hash = team.DefaultHash
	if x, told := scene.Fact(b.Host, b.Name, "tx_hash"); told {
		t.Hash = 0
		for _, word := range strings.Fields(x.Text) {
			var one team.Hash
			if one.UnmarshalText([]byte(word)) == nil {
				t.Hash |= one
			}
		}
	} else if _, declared := b.Host.Get("config "+b.Name, "runner"); !declared {
		return t, false
	}
	for _, p := range b.Ports {
		if !p.Down {
			t.Ports = append(t.Ports, p.Name)
		}
	}
	return t, len(t.Ports) > 1
}

// teamOnOne reports flows that a team's hash puts on one port, whichever it is.
func teamOnOne(b scene.Bond, frames []flow.Frame) bool {
	t, ok := teamOf(b)
	if !ok {
		return false
	}
	// The addresses of hardware are not here. What all frames have alike changes which
	// of 2, 4 or 8 ports it is, of another number also which frames share one.
	n := uint32(len(t.Ports))
	if t.Hash.Reads(team.Eth) && n&(n-1) != 0 {
		n = 256
	}
	t.Hash &^= team.Eth
	var shared *uint32
	for _, f := range frames {
		p := t.Place(f)
		if !p.Known || p.Hash == nil || shared != nil && *p.Hash%n != *shared%n {
			return false
		}
		shared = p.Hash
	}
	return shared != nil
}
