package hosts

import (
	"fmt"

	"github.com/linerate/linerate/diagnose/pasted/scene"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/record"
)

// twoAnswers: arping of one address that several MACs answer.
func twoAnswers(v *scene.View) {
	for _, h := range v.Hosts {
		for _, address := range h.Subjects("arping") {
			macs := h.Keys("arping " + address)
			if len(macs) < 2 {
				continue
			}
			sure, who := 0.6, "two interfaces of one host in one subnet (ARP flux), or two hosts that both have the address"
			if macs[0][:macLength-3] == macs[1][:macLength-3] {
				sure, who = 0.74, "two interfaces of one host in one subnet (ARP flux: their MACs are neighbours)"
			}
			x, _ := h.Get("arping "+address, macs[0])
			found := v.Add(record.AsymmetricRoute, sure, h, address+" (answered by "+fmt.Sprint(len(macs))+" MACs)",
				fmt.Sprintf("ARP for %s is answered with %d MACs (%s and %s): %s. Whoever asks takes the first answer, so traffic goes to one link or the other by chance, and is lost where that one does not take it.", address, len(macs), macs[0], macs[1], who),
				"One host: `sysctl -w net.ipv4.conf.all.arp_ignore=1 net.ipv4.conf.all.arp_announce=2` (an address that a load balancer announces by itself: tell it which interface), or one interface only in that subnet, or a bond of both. Two hosts: give one another address.",
				scene.Saw("arping "+address, macs[0]+" and "+macs[1], x.Source))
			found.Ask = []scene.Missing{{Command: "show mac address-table", Host: "the switch", Why: "at which ports " + macs[0] + " and " + macs[1] + " are: one host's or two"},
				{Command: "ip -br addr; sysctl -a | grep -E '\\.arp_(ignore|announce|filter)'", Host: "the host that answers", Why: "which interfaces are in that subnet, and for which addresses each answers ARP"}}
		}
	}
}

// missingPaths: a disk with fewer paths than the host has sessions to its target.
func missingPaths(v *scene.View) {
	for _, h := range v.Hosts {
		sessions := make(map[string]map[string]bool) // portals by target
		most, target := 0, ""
		paths := make(map[string]int)
		at := make(map[string]piece.Source)
		for _, p := range h.Paths {
			switch {
			case p.Kind == "multipath":
				paths[p.Device]++
				at[p.Device] = p.Source
			case p.Kind == "iscsi" && p.Device != "":
				if sessions[p.Device] == nil {
					sessions[p.Device] = make(map[string]bool)
				}
				sessions[p.Device][p.Remote] = true
				if n := len(sessions[p.Device]); n > most {
					most, target = n, p.Device
				}
			}
		}
		if most < 2 || len(sessions) != 1 {
			continue
		}
		for _, disk := range h.Subjects("multipath") {
			if n := paths[disk]; n != 1 {
				continue
			}
			v.Add(record.SingleLink, 0.72, h, "multipath "+disk+" of "+scene.NameOf(h),
				fmt.Sprintf("The disk %s has one path although the host has %d sessions to its target: the others lead to no disk, so one link carries all, and nothing is left when it fails.", disk, most),
				"Look for the disk on the other sessions (`iscsiadm -m session -P 3` lists what each attached), rescan (`iscsiadm -m session --rescan`, `multipath -r`); where it stays away, the array does not show the LUN at that portal (its mapping, portal group or node).",
				scene.Saw("multipath "+disk, "1 path", at[disk]), scene.Saw("sessions to "+target, fmt.Sprint(most), h.Paths[0].Source))
		}
	}
}
