package campaign

import (
	"fmt"
	"net/netip"
	"slices"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/internal/run/rounds"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/unit"
)

// Sampled is how many of a fabric's pairs are measured.
type Sampled struct {
	Pairs, Of int
	// Left is how many hosts and links none of the pairs uses.
	Left int
}

// Text says it: "6 of 28 pairs, every host and link in one at least".
func (s Sampled) Text() string {
	text := fmt.Sprintf("%d of %s", s.Pairs, unit.Counted(s.Of, "pair"))
	if s.Left > 0 {
		return text + fmt.Sprintf("; hosts and links in none: %d", s.Left)
	}
	return text + ", every host and link in one at least"
}

// Sample keeps to some of the fabric's pairs from here on: as few as use every
// host and every link that traffic may take, or, with a number above zero, so many,
// spread evenly. Pairs of hosts that were not reached stay, one for each such host,
// so that the record says so. The same fabric has the same sample.
func (c *Campaign) Sample(most int) Sampled {
	var reachable, lost []fabric.Path
	missed := make(map[string]bool)
	for _, p := range c.state.Paths {
		if c.reached(p) == nil {
			reachable = append(reachable, p)
			continue
		}
		if !missed[p.From] && c.unreached[p.From] != nil || !missed[p.To] && c.unreached[p.To] != nil {
			missed[p.From], missed[p.To] = true, true
			lost = append(lost, p)
		}
	}
	var tests []rounds.Test
	for _, p := range reachable {
		tests = append(tests, rounds.Test{A: p.From, B: p.To, Over: c.linksOf(p)})
	}
	chosen, left := rounds.Cover(tests, most)
	out := Sampled{Pairs: len(chosen) + len(lost), Of: len(c.state.Paths), Left: left}
	kept := make([]fabric.Path, 0, len(chosen)+len(lost))
	for _, i := range chosen {
		kept = append(kept, reachable[i])
	}
	c.state.Paths = append(kept, lost...)
	c.paths = slices.Clone(c.state.Paths)
	return out
}

// linksOf are the devices with the addresses of a path's lanes, at both ends; a
// bond is one, as its flows are spread over its ports.
func (c *Campaign) linksOf(p fabric.Path) (links []string) {
	lanes, err := predict.Lanes(c.state, p.From, p.To, "")
	if err != nil {
		return nil // its trial says why
	}
	add := func(host string, a netip.Addr) {
		for _, l := range c.state.Hosts[host].Links {
			if slices.ContainsFunc(l.Addresses, func(own netip.Prefix) bool { return own.Addr() == a }) {
				if name := host + " " + l.Name; !slices.Contains(links, name) {
					links = append(links, name)
				}
			}
		}
	}
	for _, lane := range lanes {
		add(p.From, lane.Src)
		add(p.To, lane.Dst)
	}
	return links
}
