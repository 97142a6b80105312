// Package recognise tells by which rule an unknown switch spreads flows from
// the links that some were seen on. It must never send a packet, and never
// call sure what the sightings leave open.
package recognise

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/linerate/linerate/steer"
)

// Guess is one explanation of how a device spreads flows.
type Guess struct {
	// Policy is a word: one of bonding's policies, a switch's documented hash
	// ("src-dst-ip"), "one-link", or "unpublished:" and the inputs of a hash
	// that nobody can compute but that reads them.
	Policy string `json:"policy"`
	// Kernels are the eras that explain it equally well; nil where the policy
	// is not the bonding driver's.
	Kernels []steer.Era `json:"-"`
	// Reads is what decides about a flow's link.
	Reads Reads `json:"reads"`
	// Confidence is the probability that it is this, from 0 to 1, if it is one
	// of all that this program knows, an unpublished hash among them.
	Confidence float64 `json:"confidence_ratio"`
	// Consistent and Contradicted count sightings, under the numbering of the
	// links that suits it best. Those that it says nothing about are neither.
	Consistent   int `json:"consistent_count"`
	Contradicted int `json:"contradicted_count"`
}

// Published reports whether the rule is known, so that flows that were not
// seen can be placed by it.
func (g Guess) Published() bool { return !strings.HasPrefix(g.Policy, wordUnpublished) }

// Words says in plain words what the device seems to do.
func (g Guess) Words() string {
	if inputs, hidden := strings.CutPrefix(g.Policy, wordUnpublished); hidden {
		return "an unpublished hash of " + inputWords(inputs)
	}
	switch g.Policy {
	case wordOneLink:
		return "one link for everything"
	case "layer2", "src-dst-mac", "vlan+srcmac":
		return g.Policy + " (MAC addresses only)"
	case "layer2+3":
		return g.Policy + " (MAC and IP addresses)"
	case "layer3+4":
		return g.Policy + " (IP addresses and ports)"
	}
	return g.Policy + " (" + inputWords(g.Policy) + ")"
}

func inputWords(policy string) string {
	switch policy {
	case "src-ip":
		return "source addresses"
	case "dst-ip":
		return "destination addresses"
	case "src-dst-ip":
		return "both IP addresses"
	case "src-port":
		return "source ports"
	case "dst-port":
		return "destination ports"
	case "src-dst-port":
		return "both ports"
	case "src-dst-ip-port":
		return "IP addresses and ports"
	}
	return policy
}

// Guesses are the belief's explanations, likeliest first.
func (b Belief) Guesses() []Guess {
	var guesses []Guess
	at := make(map[string]int)
	best := make(map[string]lead)
	for _, l := range b.leads {
		if l.placed != nil {
			continue
		}
		i, known := at[l.policy]
		if !known {
			i = len(guesses)
			at[l.policy] = i
			guesses = append(guesses, Guess{Policy: l.policy, Reads: l.reads})
		}
		g := &guesses[i]
		g.Confidence += l.weight
		if before := best[l.policy]; !known || cmp.Or(cmp.Compare(l.agree-l.differ, before.agree-before.differ), cmp.Compare(l.weight, before.weight)) > 0 {
			best[l.policy], g.Consistent, g.Contradicted = l, l.agree, l.differ
		}
		if l.linux && l.differ <= b.slips() && !slices.Contains(g.Kernels, l.era) && l.mute == 0 {
			g.Kernels = append(g.Kernels, l.era)
		}
	}
	slices.SortStableFunc(guesses, func(x, y Guess) int {
		switch {
		case x.Confidence > y.Confidence:
			return -1
		case x.Confidence < y.Confidence:
			return 1
		}
		return 0
	})
	return slices.DeleteFunc(guesses, func(g Guess) bool { return g.Confidence < 0.001 })
}

// slips is how many misread sightings an explanation survives.
func (b Belief) slips() int { return b.counted / 50 }

// Sureness puts a probability into words.
func Sureness(confidence float64) string {
	switch {
	case confidence >= 0.99:
		return "practically sure"
	case confidence >= 0.9:
		return "very likely"
	case confidence >= 0.6:
		return "likely"
	case confidence >= 0.3:
		return "possible"
	}
	return fmt.Sprintf("a chance in %d", max(2, int(1/max(confidence, 0.001))))
}
