package channels

import (
	"fmt"
	"slices"
	"strings"

	"github.com/linerate/linerate/diagnose/pasted/scene"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/record"
)

// noCarrier: a bundle that has no carrier itself above ports that all have theirs. Of
// 802.3ad the kernel takes it off where fewer ports than min_links are in the active
// aggregator (bond_3ad_set_carrier, Linux 6.12); a team's LACP runner and lagg where none
// has agreed.
func noCarrier(v *scene.View) {
	for _, h := range v.Hosts {
		for _, name := range h.Subjects("link") {
			down, ok := scene.Fact(h, name, "carrier")
			flags := scene.Word(h, name, "flags")
			mode := scene.Word(h, name, "mode")
			if !ok || down.Text != "no" || !strings.Contains(flags, "master") && scene.Word(h, name, "kind") != "team" && !bundleName.MatchString(name) || mode != "" && mode != "802.3ad" {
				continue
			}
			up, dead, evidence := portsUp(h, name)
			if len(up) == 0 || len(dead) > 0 && !bundleName.MatchString(name) {
				continue
			}
			sure, least := 0.6, ""
			if mode == "802.3ad" {
				sure = 0.72
			}
			evidence = append([]record.Evidence{scene.Saw("flags of "+name, strings.Trim(flags, "<>"), down.Source)}, evidence...)
			if x, ok := scene.Fact(h, name, "min_links"); ok && x.Text != "0" && x.Text != "1" {
				least = " It wants min_links " + x.Text + " of them."
				evidence = append(evidence, scene.Saw("min_links of "+name, x.Text, x.Source))
			}
			have := "its ports " + strings.Join(up, " and ") + " have theirs"
			if len(up) == 1 {
				have = "its port " + up[0] + " has it"
			}
			if len(dead) > 0 {
				least += " " + strings.Join(dead, " and ") + " without carrier may be too many: of fewer ports than min_links it takes none (min_ports of SONiC's teams: three quarters)."
			}
			f := v.Add(record.LACPDown, sure, h, name+" of "+scene.NameOf(h),
				fmt.Sprintf("%s has no carrier though %s: it takes none of them into use.%s LACP has not agreed on enough of them; with arp_interval no target answers instead.", name, have, least),
				"Look at `cat /proc/net/bonding/"+name+"` as root (teamdctl "+name+" state): a partner MAC of zeroes says that the switch does not speak LACP on these ports. Make just them one LACP group there (`channel-group N mode active`), and min_links no more than ports that may be left; without a switch that can, use active-backup or balance-alb.", evidence...)
			f.Ask = []scene.Missing{
				{Command: "cat /proc/net/bonding/" + name, Host: scene.NameOf(h), Why: "as root: its mode, min_links, each port's aggregator and partner"},
				{Command: "show lacp neighbor; show etherchannel summary", Host: "the switch", Why: "whether these ports are one LACP group, and whom they hear"}}
		}
	}
}

// bundleName is how a switch's Linux or a tool names a team, which has no flag of its own.
var bundleName = piece.Compile(`(?i)^(?:port-?channel|team|lag)\d+$`)

// portsUp are a bundle's ports with carrier and those without; none where one is not known,
// or nobody says whose ports they are. A list without masters (`ip -br link`) shows whose
// they are where the host has one bundle.
func portsUp(h *piece.Host, bundle string) (up, dead []string, evidence []record.Evidence) {
	bundles := 0
	for _, name := range h.Subjects("link") {
		if strings.Contains(scene.Word(h, name, "flags"), "master") {
			bundles++
		}
	}
	for _, name := range h.Subjects("link") {
		master := scene.Word(h, name, "master")
		slave := strings.Contains(scene.Word(h, name, "flags"), "slave")
		if name == bundle || !(strings.EqualFold(master, bundle) || slices.Contains(h.Ports[bundle], name) || master == "" && slave && bundles == 1) {
			continue
		}
		x, ok := scene.Fact(h, name, "carrier")
		switch {
		case !ok:
			return nil, nil, nil
		case x.Text == "yes":
			up = append(up, name)
		default:
			dead = append(dead, name)
		}
		evidence = append(evidence, scene.Saw("carrier of "+name, x.Text, x.Source))
	}
	return up, dead, evidence
}
