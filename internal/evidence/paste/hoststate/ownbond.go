package hoststate

import (
	"cmp"

	"github.com/linerate/linerate/internal/bondopt"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/netstate"
)

// ownFacts are the facts of a bond of each system that is not Linux, by its kind:
// where its mode and its policy are. What a kind alone says of the mode is fixed.
var ownFacts = map[string]struct{ system, mode, policy, fixed string }{
	"lagg":         {system: bondopt.FreeBSD, mode: "laggproto", policy: "lagghash"},
	"etherchannel": {system: bondopt.AIX, mode: "mode", policy: "hash_mode"},
	"vswitch":      {system: bondopt.ESXi, mode: "load_balance"},
	"lbfo":         {system: bondopt.Windows, mode: "mode", policy: "load_balance"},
	"set":          {system: bondopt.Windows, policy: "load_balance", fixed: "SET"},
}

// ownRule is how a bond of a system that is not Linux spreads what it sends, as far
// as it was read: false where a part that decides was not, or has another word.
func ownRule(h *piece.Host, name string) (netstate.OwnRule, netstate.BondMode, bool) {
	facts, known := ownFacts[fact(h, name, "kind")]
	system, foreign := bondopt.SystemOf(facts.system)
	if !known || !foreign {
		return netstate.OwnRule{}, netstate.ModeUnread, false
	}
	said := netstate.OwnRule{Mode: cmp.Or(facts.fixed, fact(h, name, facts.mode))}
	if facts.policy != "" {
		said.Policy = fact(h, name, facts.policy)
	}
	mode, policy, words := system.Words(said)
	if said.Mode == "" || !words {
		return netstate.OwnRule{}, netstate.ModeUnread, false
	}
	if p, ok := system.Policy(policy); said.Policy == "" || !ok || !p.Counts(mode) {
		policy = ""
		if p.Counts(mode) && facts.policy != "" {
			return netstate.OwnRule{}, netstate.ModeUnread, false // it counts, and was not read
		}
	}
	own, linux, what, _ := system.Settle(netstate.OwnRule{Mode: mode, Policy: policy})
	return own, linux, what == ""
}
