package inspect

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/netstate"
)

// portStates are the bits of an LACP port's state, the lowest first (IEEE
// 802.1AX 6.4.2.3, as bonding's AD_STATE_*).
var portStates = [...]string{"active", "short timeout", "aggregatable", "in sync", "collecting", "distributing", "defaulted", "expired"}

func stateWords(state uint8) string {
	var words []string
	for bit, word := range portStates {
		if state>>bit&1 == 1 {
			words = append(words, word)
		}
	}
	return strings.Join(words, ", ")
}

// partnerText is who answers LACP on a port and whether both ends agree: what
// is as it should be is left out, unless all is asked for.
func partnerText(b netstate.Bond, p netstate.BondPort, all bool) []string {
	var parts []string
	if !p.PartnerMAC.IsZero() && (all || b.AD == nil || p.PartnerMAC != b.AD.PartnerMAC) {
		parts = append(parts, fmt.Sprintf("partner %s key %d", p.PartnerMAC, p.PartnerKey))
	}
	// Zero is a state that was not read: a live port is at least defaulted.
	if p.ActorState != 0 || p.PartnerState != 0 {
		switch {
		case p.ActorState&netstate.LACPDefaulted != 0:
			parts = append(parts, "no partner heard")
		case p.ActorState&netstate.LACPExpired != 0:
			parts = append(parts, "the partner fell silent")
		case p.PartnerState&netstate.LACPSync == 0:
			parts = append(parts, "the partner is not in sync")
		case p.ActorState&netstate.LACPSync == 0:
			parts = append(parts, "not in sync")
		}
	}
	for _, end := range []struct{ name, churn string }{{"this end", p.ActorChurn}, {"the partner", p.PartnerChurn}} {
		if end.churn == "churned" || all && end.churn != "" {
			parts = append(parts, end.name+" churn "+end.churn)
		}
	}
	if all {
		parts = append(parts, "states: "+stateWords(p.ActorState)+" / "+stateWords(p.PartnerState))
	}
	return parts
}

// printOptions prints what no field holds, by the kernel's names.
func printOptions(con *console.Console, options map[string]string) {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(options)) {
		parts = append(parts, name+"="+options[name])
	}
	if len(parts) > 0 {
		fmt.Fprint(con.Stdout, console.Wrapped("  options: ", strings.Join(parts, " "), con.Width()))
	}
}

// printBridges prints bridges and teams: their ports, and of a bridge what
// changes what it carries.
func printBridges(con *console.Console, h netstate.Host, all bool) {
	for _, l := range h.Links {
		if l.Kind != "bridge" && l.Kind != "team" {
			continue
		}
		var ports, parts []string
		for _, p := range h.Links {
			if p.Master == l.Name {
				ports = append(ports, p.Name)
			}
		}
		if !all && len(ports) > 8 {
			parts = append(parts, fmt.Sprintf("%d ports", len(ports)))
		} else {
			parts = append(parts, "ports "+console.OrNone(len(ports) > 0, strings.Join(ports, ", ")))
		}
		if l.Bridge != nil {
			for _, o := range []struct{ option, word string }{{"stp_state", "spanning tree"}, {"vlan_filtering", "VLAN filtering"}, {"nf_call_iptables", "through iptables"}} {
				if v := l.Bridge.Options[o.option]; v != "" && v != "0" {
					parts = append(parts, o.word)
				}
			}
		}
		fmt.Fprintln(con.Stdout)
		fmt.Fprint(con.Stdout, console.Wrapped(l.Kind+" "+l.Name+": ", strings.Join(parts, "; "), con.Width()))
		if all && l.Bridge != nil {
			printOptions(con, l.Bridge.Options)
		}
	}
}
