package channels

import (
	"fmt"
	"strings"

	"github.com/linerate/linerate/diagnose/pasted/scene"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/record"
)

// deadPorts: a bond of which a port has no link while others have: it runs on fewer
// links than there are, whatever its hash.
func deadPorts(v *scene.View) {
	for _, b := range append(aggregations(v), v.Bonds...) {
		var dead []string
		var evidence []record.Evidence
		for _, p := range b.Ports {
			if !p.Down {
				continue
			}
			dead = append(dead, p.Name)
			for _, key := range []string{"mii_status", "carrier", "state"} {
				if x, ok := b.Host.Get("link "+p.Name, key); ok {
					evidence = append(evidence, scene.Saw(strings.ReplaceAll(key, "_", " ")+" of "+p.Name, x.Text, x.Source))
					break
				}
			}
		}
		if len(dead) == 0 || len(dead) == len(b.Ports) || len(evidence) < len(dead) || len(b.Ports) < 2 {
			continue
		}
		names, have := strings.Join(dead, " and "), "has"
		if len(dead) > 1 {
			have = "have"
		}
		live := len(b.Ports) - len(dead)
		cause, sure, what := record.SingleLink, 0.86, fmt.Sprintf("%s runs on %d of its %d links: %s %s no link, and carries nothing.", b.Name, live, len(b.Ports), names, have)
		switch {
		case b.Mode == "balance-rr" && scene.Word(b.Host, b.Name, "kind") == "team":
			turnsLost(v, b, names, dead, live, evidence)
			continue
		case b.Mode == "active-backup":
			sure, what = 0.6, fmt.Sprintf("%s is active-backup, and %s %s no link: what is left is one port without a standby, and the next failure cuts the host off.", b.Name, names, have)
		case b.Mode == "802.3ad":
			cause = record.LACPDown
		case live > 1:
			sure = 0.75
		}
		v.Add(cause, sure, b.Host, fmt.Sprintf("%s of %s of %s", names, b.Name, scene.NameOf(b.Host)), what,
			fmt.Sprintf("Look at the cable, the module and the switch's port of %s: is it plugged in, up there (`no shutdown`, not err-disabled) and set to the same speed? `%s` says whether there is a link; if it is down on purpose, take it out of the bond.", names, linkCommand(b.Host, dead[0])), evidence...)
	}
}

// aggregations are those of Solaris, as bonds of which the ports count.
func aggregations(v *scene.View) (out []scene.Bond) {
	for _, h := range v.Hosts {
		for name, ports := range h.Ports {
			if scene.Word(h, name, "kind") != "aggr" {
				continue
			}
			b := scene.Bond{Host: h, Name: name, Mode: "balance-xor"}
			for _, p := range ports {
				if _, lacp := h.Get("link "+p, "aggr_sync"); lacp {
					b.Mode = "802.3ad"
				}
				b.Ports = append(b.Ports, scene.Port{Name: p, Down: scene.Word(h, p, "state") == "down"})
			}
			out = append(out, b)
		}
	}
	return out
}

// turnsLost: a round robin team gives each port its turn, and what it sends to one
// without a link is lost where no link watch takes that port out.
func turnsLost(v *scene.View, b scene.Bond, names string, dead []string, live int, evidence []record.Evidence) {
	sure := 0.75
	for _, r := range v.Case.Runs {
		if r.Retransmits > manyAgain {
			evidence = append(evidence, scene.Saw(r.Tool, fmt.Sprintf("%v with %d retransmits", r.Rate, r.Retransmits), r.Source))
			sure = 0.87
		}
	}
	v.Add(record.Congestion, sure, b.Host, fmt.Sprintf("%s of %s of %s", names, b.Name, scene.NameOf(b.Host)),
		fmt.Sprintf("%s is round robin over %d ports, and %s: down, no link. Each port has its turn; what is sent to a port without a link is lost, unless a link watch takes that port out, and TCP sends it again.", b.Name, len(b.Ports), names),
		fmt.Sprintf("Remove %s from %s first (`teamdctl %s port remove %s`) or give every port a link watch (\"link_watch\": {\"name\": \"ethtool\"}); then %d of its links carry. What is left, segments out of order, is round robin's own: the runner lacp or loadbalance keeps each flow on one link.", names, b.Name, b.Name, dead[0], live), evidence...)
}

// manyAgain is how many retransmits of a test are no chance.
const manyAgain = 200

// linkCommand shows whether a link is there, in the words of the host's system.
func linkCommand(h *piece.Host, link string) string {
	os, _ := h.Get("host", "os")
	switch os.Text {
	case "freebsd":
		return "ifconfig " + link
	case "routeros":
		return "/interface ethernet monitor " + link + " once"
	case "windows":
		return "Get-NetAdapter \"" + link + "\""
	case "solaris":
		return "dladm show-phys " + link
	}
	return "ethtool " + link
}
