package channels

import (
	"fmt"
	"strings"

	"github.com/linerate/linerate/diagnose/pasted/scene"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/record"
)

// emptyChannel: a switch's channel that is down though nobody shut it, of which no table
// says what its members do.
func emptyChannel(v *scene.View) {
	for _, s := range v.Switches {
		members := byChannel(s)
		for _, name := range s.Subjects("channel") {
			state, down := s.Get("channel "+name, "state")
			if admin, _ := s.Get("channel "+name, "admin"); !down || state.Text != "down" || admin.Text == "down" || seenMembers(s, members[name]) {
				continue
			}
			f, ok := noneActive(s, name)
			if !ok {
				continue
			}
			evidence := []record.Evidence{scene.Saw("channel "+name+" of "+scene.NameOf(s), "down", state.Source), f}
			least := ""
			if x, ok := s.Get("channel "+name, "min_links"); ok && x.Text != "0" && x.Text != "1" {
				least = fmt.Sprintf(" It wants %s members at least: with fewer it stays down as a whole.", x.Text)
				evidence = append(evidence, scene.Saw("min-links of "+name, x.Text, x.Source))
			}
			found := v.Add(record.LACPDown, 0.6, s, scene.NameOf(s)+" "+name,
				fmt.Sprintf("%s is down and no member of it is active: the ports have no link, or LACP has not agreed on them (the other end is static, passive, another group, or silent).%s", name, least),
				"`show interfaces status` says which members have a link; on those that have, `show lacp neighbor` (peer) whom they hear. Make just these ports one LACP group at the other end, one side active, and min-links no more than ports that may be left.", evidence...)
			found.Ask = []scene.Missing{{Command: "show interfaces status; show port-channel summary; show lacp neighbor (EOS: show lacp peer)", Host: scene.NameOf(s), Why: "which members have a link, and whom each hears"}}
		}
	}
}

// heldDown: a switch's channel that is down though nobody shut it, and though its members
// are bundled.
func heldDown(v *scene.View) {
	for _, s := range v.Switches {
		members := byChannel(s)
		for _, name := range s.Subjects("channel") {
			state, _ := s.Get("channel "+name, "state")
			admin, _ := s.Get("channel "+name, "admin")
			bundled := 0
			for _, p := range members[name] {
				if x, ok := s.Get("port "+p, "bundled"); ok && x.Text == "yes" {
					bundled++
				}
			}
			if state.Text != "down" || admin.Text == "down" || bundled == 0 || bundled < len(members[name]) {
				continue
			}
			v.Add(record.LACPDown, 0.62, s, scene.NameOf(s)+" "+name,
				fmt.Sprintf("%s of %s is down though LACP has selected its members (%s): mostly it wants more members than it has (min-links), or MLAG or the operator holds it down.", name, scene.NameOf(s), strings.Join(members[name], ", ")),
				"See how many members it wants (SONiC: `show runningconfiguration all | grep -A9 "+name+"`, min_links; others: `show running-config interface "+name+"`), and set min-links to what may be left; then whether MLAG agrees (`show mclag brief`, `show vpc`).",
				scene.Saw("channel "+name+" of "+scene.NameOf(s), "down", state.Source), scene.Saw("members of "+name, fmt.Sprintf("%d, all bundled", bundled), state.Source))
		}
	}
}

// seenMembers reports members of which something was read: other rules know more.
func seenMembers(s *piece.Host, members []string) bool {
	for _, p := range members {
		for _, key := range []string{"bundled", "flag", "state", "carrier"} {
			if _, ok := s.Get("port "+p, key); ok {
				return true
			}
		}
	}
	return false
}

// noneActive is the evidence that no member of a channel carries, in the switch's words.
func noneActive(s *piece.Host, name string) (record.Evidence, bool) {
	if x, ok := s.Get("channel "+name, "active_members"); ok && x.Text == "0" {
		return scene.Saw("active members of "+name, "0", x.Source), true
	}
	x, ok := s.Get("channel "+name, "status")
	if word := strings.ToLower(x.Text); ok && (strings.Contains(word, "no operational members") || word == "notconnect") {
		return scene.Saw("status of "+name, x.Text, x.Source), true
	}
	return record.Evidence{}, false
}
