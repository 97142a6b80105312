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
