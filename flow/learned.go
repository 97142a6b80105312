package flow

import (
	"errors"
	"fmt"
	"math/bits"
	"net/netip"
	"slices"
)

// LearnedHash is a switch's hash towards one host, as observed TCP flows fixed
// it: a flow's link is number Start XOR the bits that Masks make of one of its
// ports.
type LearnedHash struct {
	// To is the host whose links the switch chooses among.
	To string `json:"to"`
	// Links are its links by number: 2, 4 or 8.
	Links []string `json:"links"`
	// Field is the port that the masks are of: LearnedSport or LearnedDport.
	Field string `json:"field"`
	// Masks are one a bit of a link's number, the lowest first: the bit is set
	// where the port has an odd number of the mask's bits.
	Masks []uint16 `json:"masks"`
	// Ports are the ports that it was learned for.
	Ports PortRange `json:"ports"`
	// Flows are the other parts of the flows that it was learned from.
	Flows []LearnedFlow `json:"flows"`
	// Observed is how many flows it took to know the links of all, Checked how
	// many more were where they had to be; zero not said.
	Observed int `json:"observed_count,omitempty"`
	Checked  int `json:"checked_count,omitempty"`
	// Date is the day on which it was learned, "2026-11-26"; "" not said.
	Date string `json:"date,omitempty"`
}

// The ports that masks may be of.
const (
	LearnedSport = "sport"
	LearnedDport = "dport"
)

// LearnedFlow is what flows have in common beside the port that varies.
type LearnedFlow struct {
	Src netip.Addr `json:"src"`
	Dst netip.Addr `json:"dst"`
	// Port is the port that does not vary.
	Port uint16 `json:"port"`
	// Start is the number of the link of a flow whose masked bits are all even.
	Start int `json:"start"`
}

// Number is what the masks make of a port.
func (l LearnedHash) Number(port uint16) (number int) {
	for j, mask := range l.Masks {
		number |= bits.OnesCount16(port&mask) & 1 << j
	}
	return number
}

// mostLearned bounds the flows of one learned hash.
const mostLearned = 4096

// Check says what does not fit together, nil for nothing.
func (l LearnedHash) Check() error {
	links := len(l.Links)
	if links != 2 && links != 4 && links != 8 {
		return fmt.Errorf("%d links, want 2, 4 or 8", links)
	}
	for i, name := range l.Links {
		if slices.Contains(l.Links[:i], name) {
			return fmt.Errorf("link %s is listed twice", name)
		}
	}
	if width := bits.Len(uint(links - 1)); len(l.Masks) != width {
		return fmt.Errorf("%d masks, want %d for %d links", len(l.Masks), width, links)
	}
	if len(l.Flows) == 0 || len(l.Flows) > mostLearned {
		return fmt.Errorf("%d flows, want 1 to %d", len(l.Flows), mostLearned)
	}
	for _, f := range l.Flows {
		switch {
		case f.Start >= links || f.Start < 0:
			return fmt.Errorf("start %d, want one below %d, the number of links", f.Start, links)
		case f.Src.Is4() != f.Dst.Is4():
			return fmt.Errorf("%s and %s are of different families", f.Src, f.Dst)
		}
	}
	if l.Ports.Count() == 0 {
		return errors.New("no ports")
	}
	return nil
}
