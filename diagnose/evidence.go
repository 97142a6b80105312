// Package diagnose holds what its judgements share: how evidence is written and
// where it was read. A finding is a cause or a fault, the evidence with its
// source, and the remedy. Package trial judges a measurement, host the state of
// hosts and what is between them, live the traffic that a host has already.
//
// They must never measure, and never guess: what the evidence does not decide is
// unknown, with the measurement that would decide it.
package diagnose

import (
	"fmt"
	"math"
	"slices"

	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// Where evidence was read, for those sources that several judgements use.
const (
	FromBond  = "IFLA_BOND_XMIT_HASH_POLICY"
	FromQdisc = "RTM_GETQDISC"
	FromSlot  = "current_link_speed and current_link_width of the PCI device"
	FromProbe = "ICMP echoes with don't-fragment set (IP_PMTUDISC_PROBE)"
)

// Fact is one piece of evidence: what was read, its value, and from where.
func Fact(what, value, source string) record.Evidence {
	return record.Evidence{What: what, Value: value, Source: source}
}

// Once is evidence without what is there already.
func Once(all []record.Evidence) (out []record.Evidence) {
	for _, e := range all {
		if !slices.Contains(out, e) {
			out = append(out, e)
		}
	}
	return out
}

// Fraction is a part of a whole; zero where either is unknown or no number.
func Fraction(part, whole unit.BitRate) float64 {
	share := float64(part / whole)
	if whole <= 0 || math.IsNaN(share) || math.IsInf(share, 0) {
		return 0
	}
	return share
}

// Percent writes a share of one as a percentage with one decimal.
func Percent(share float64) string { return fmt.Sprintf("%.1f %%", 100*share) }

// FewPercent is a share that may be small, with two digits.
func FewPercent(share float64) string {
	if share >= 0.01 || share == 0 {
		return Percent(share)
	}
	return fmt.Sprintf("%.2g %%", 100*share)
}
