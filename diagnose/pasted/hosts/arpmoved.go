package hosts

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/linerate/linerate/diagnose/pasted/scene"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/record"
)

// manyMoves is how often an address must move that does not merely fail over.
const manyMoves = 3

// macLength is a MAC as text.
const macLength = len("00:00:00:00:00:00")

// movedAddresses: FreeBSD's log of addresses that move from one MAC to another and
// return: both answer for them.
func movedAddresses(v *scene.View) {
	for _, h := range v.Hosts {
		all := make(map[string][]piece.Event)
		macs := make(map[string]map[string]bool)
		for _, e := range h.Events {
			_, text, ok := strings.Cut(e.Text, "arp: ")
			f := strings.Fields(text)
			if e.Kind != "arp-moved" || !ok || len(f) < 6 || len(f[3]) != macLength || len(f[5]) != macLength {
				continue
			}
			address := f[0]
			if macs[address] == nil {
				macs[address] = make(map[string]bool)
			}
			macs[address][f[3]], macs[address][f[5]] = true, true
			all[address] = append(all[address], e)
		}
		for _, address := range slices.Sorted(maps.Keys(all)) {
			if len(all[address]) < manyMoves || len(macs[address]) != 2 {
				continue
			}
			two := slices.Sorted(maps.Keys(macs[address]))
			sure, who := 0.55, "two interfaces of one host in one subnet (ARP flux), or two hosts that have the same address (a duplicate)"
			if two[0][:macLength-3] == two[1][:macLength-3] {
				sure, who = 0.66, "two interfaces of one host in one subnet (ARP flux: their MACs are neighbours), or a bond that sends by several MACs"
			}
			first := all[address][0]
			found := v.Add(record.AsymmetricRoute, sure, h, address+" (moves between two MACs)",
				fmt.Sprintf("ARP for %s is answered by turns with two MACs (%d moves between %s and %s): %s. What is sent to it changes its link with each move.", address, len(all[address]), two[0], two[1], who),
				"Find both MACs in the switch's table. One host: another subnet for its second interface, or (Linux) `sysctl -w net.ipv4.conf.all.arp_ignore=1 net.ipv4.conf.all.arp_announce=2` with a routing table for each address; balance-alb and balance-tlb answer by several MACs as a rule: use LACP. Two hosts: give one another address.",
				scene.Saw("log", fmt.Sprintf("%d moves, the first: %s", len(all[address]), first.Text), first.Source))
			found.Ask = []scene.Missing{{Command: "show mac address-table", Host: "the switch", Why: "at which ports " + two[0] + " and " + two[1] + " are: one host's or two"}}
		}
	}
}
