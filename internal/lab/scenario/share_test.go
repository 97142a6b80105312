package scenario

import (
	"strings"
	"testing"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/unit"
)

func share(measured, predicted []unit.BitRate) Share {
	s := Share{Host: "store", Receives: true}
	for i := range measured {
		s.Links = append(s.Links, LinkShare{Link: "eth" + string(rune('0'+i)), Measured: measured[i], Predicted: predicted[i]})
	}
	s.Settle()
	return s
}

// TestShares: each link's part of the sum, the rate itself apart, and what a
// table says of it.
func TestShares(t *testing.T) {
	rates := func(r ...unit.BitRate) []unit.BitRate { return r }
	lucky := share(rates(9, 0), rates(4, 4))
	lucky.Chance = true
	for name, c := range map[string]struct {
		share Share
		pairs int
		want  string // in a table; "" nothing
	}{
		"slower, as spread":   {share(rates(0, 28, 29, 27), rates(0, 33, 33, 33)), 4, "    store receives 0 33 35 32 % over eth0 eth1 eth2 eth3; as predicted\n"},
		"another link":        {share(rates(9, 0), rates(0, 9)), 1, "    store receives 100 0 % over eth0 eth1; predicted 0 100\n"},
		"one link, one pair":  {share(rates(9, 0), rates(9, 0)), 1, "    store receives 100 0 % over eth0 eth1; as predicted\n"},
		"even, one pair":      {share(rates(9, 9), rates(9, 9)), 1, ""},
		"even, several pairs": {share(rates(9, 9), rates(9, 9)), 2, "    store receives 50 50 % over eth0 eth1; as predicted\n"},
		"by chance":           {lucky, 2, "    store receives 100 0 % over eth0 eth1; by chance, in the mean 50 50\n"},
		"one pair's chance":   {lucky, 1, ""},
		"nothing came":        {share(rates(0, 0), rates(9, 9)), 1, "    store receives 0 0 % over eth0 eth1; predicted 50 50\n"},
	} {
		row := Row{Step: "s", From: "a", To: "b", Direction: flow.Forward, Streams: 1, Tool: "linerate", Pairs: c.pairs, Shares: []Share{c.share}}
		for what, text := range map[string]string{"text": Text([]Row{row}), "page": Page([]Outcome{{Scenario: "x", Rows: []Row{row}}})} {
			if c.want == "" && strings.Contains(text, "receives") || !strings.Contains(text, c.want) {
				t.Errorf("%s: no %q in %s\n%s", name, c.want, what, text)
			}
		}
	}
}

// TestSharesFit: a table with shares of many links and long names keeps to its
// width, and a row of several pairs says how many.
func TestSharesFit(t *testing.T) {
	s := share(make([]unit.BitRate, 9), make([]unit.BitRate, 9))
	s.Host = strings.Repeat("x", 40)
	s.Links[8].Measured, s.Links[0].Predicted = 1, 1
	s.Settle()
	text := Text([]Row{{Step: "s", From: "a,b,c", To: "d", Direction: flow.Forward, Streams: 2, Tool: "linerate", Pairs: 3, Shares: []Share{s}}})
	for line := range strings.Lines(text) {
		if n := len([]rune(strings.TrimSuffix(line, "\n"))); n > tableWidth {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	if !strings.Contains(text, "  3 hosts > d 3 x 2 linerate ") {
		t.Errorf("the pairs are not told:\n%s", text)
	}
}
