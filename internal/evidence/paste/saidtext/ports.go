package saidtext

import (
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// manyPorts is a number of equal ports with the speed of each: 2x10G, four 1 gigabit NICs.
var manyPorts = piece.Compile(`(?i)\b(\d|two|three|four|six|eight|dual)(?:(?: ?- ?ports?)? ?[x×*] ?|(?:-port)? (?:port )?)(1|2[.,]5|5|10|25|40|50|100|1000)?[- ]?(g(?:b(?:ase-?t|it|ps|e|/s)?|ig(?:abit|e)?|bits?/s)?|mb(?:it|ps|/s)?)\b(?:[- ](ethernet )?(?:nics?|ports?|links?|interfaces?|cards?|lines?|cables?|adapters?|uplinks?|connections?|lacp|lag+|bond\w*|team\w*|trunk))?`)

// things are words behind a number of speeds that are no ports.
var things = piece.Compile(`(?i)^[- ]?(?:\w+ )?(?:switch\w*|servers?|hosts?|machines?|nodes?|files?|clients?|disks?|drives?|vms?|ssds?|images?|backups?|ram|sticks?|modules?|memory|volumes?|datasets?|chunks?|streams?|flows?|seconds?|minutes?|vlans?|networks?|lans?|clouds?|instances?|pcs?|nas)\b`)

// ports notes how many equal ports a text tells of, and the speed of each in bits a second
// (port_bps; 0 where several kinds are told), and returns the text without them: no rate
// that was carried is among those words.
func (t *teller) ports(text string) string {
	var out strings.Builder
	from := 0
	for _, m := range manyPorts.FindAllStringSubmatchIndex(text, mostRates) {
		group := func(i int) string {
			if m[2*i] < 0 {
				return ""
			}
			return text[m[2*i]:m[2*i+1]]
		}
		end := m[6]
		if m[4] >= 0 {
			end = m[4]
		}
		times := strings.ContainsAny(text[m[3]:end], "x×*X")
		named := m[1] > m[7] || !things.MatchString(text[m[1]:]) && group(2) != "" // by what they are
		speed, word := piece.Float(strings.Replace(group(2), ",", ".", 1)), strings.ToLower(group(3))
		switch {
		case !times && !named, group(1) == "1", group(1) == "0":
			continue
		case !times && m[1] == m[7] && strings.HasSuffix(group(3), "B"):
			continue // bytes
		case word[0] == 'm' && speed < 100:
			continue // no Ethernet
		case speed == 0 && !strings.HasPrefix(word, "gig"):
			continue // "two gb"
		case speed == 0:
			speed = 1
		}
		bits := speed * 1e9
		if word[0] == 'm' {
			bits = speed * 1e6
		}
		if was := t.told("port_bps"); was != "" && was != whole(bits) {
			bits = 0
		}
		t.set("port_bps", whole(bits))
		t.set("ports", strings.TrimSpace(text[m[0]:m[1]]))
		out.WriteString(text[from:m[0]])
		out.WriteString("ports")
		from = m[1]
	}
	out.WriteString(text[from:])
	return out.String()
}
