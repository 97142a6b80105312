package cards

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/linerate/linerate/diagnose/pasted/scene"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// cardTotals are cards whose ports together carry less than their sum, by words of
// their names.
var cardTotals = []struct {
	words  []string
	total  unit.BitRate
	remedy string
}{
	{[]string{"E810-C-Q2", "E810-CQDA2"}, 100 * unit.Gbps, "the E810-2CQDA2 (two controllers, a slot that bifurcates)"},
	{[]string{"XL710-Q2", "XL710-QDA2"}, 40 * unit.Gbps, "a card of 100 Gbit/s"},
}

// cardTotal: a card with several ports and one controller that carries one's rate.
func cardTotal(v *scene.View) {
	for _, h := range v.Hosts {
		for _, bdf := range h.Subjects("pci") {
			subsystem, _ := h.Get("pci "+bdf, "subsystem")
			product, _ := h.Get("pci "+bdf, "product")
			for _, c := range cardTotals {
				if !scene.Contains(subsystem.Text+" "+product.Text, strings.ToLower(c.words[0]), strings.ToLower(c.words[1])) || scene.Contains(subsystem.Text+product.Text, "2cqda2") {
					continue
				}
				_, names := portsOf(v, h, bdf)
				for _, rate := range rates(v, h, names) {
					if !scene.Close(rate, c.total, 0.9, 1.03) {
						continue
					}
					v.Add(record.CardSlot, 0.9, h, "the card "+c.words[1]+" of "+scene.NameOf(h),
						fmt.Sprintf("%s is one controller: it carries %v in all, for both ports together, whatever each port's speed is; %v was carried.", c.words[1], c.total, rate),
						fmt.Sprintf("For more take %s, a card of 200 Gbit/s, or two cards with one port each in use.", c.remedy),
						scene.Saw("card", cmp.Or(product.Text, subsystem.Text), cmp.Or(subsystem, product).Source))
					break
				}
			}
		}
	}
}

// rates are what was carried: runs, and what monitors saw of links.
func rates(v *scene.View, h *piece.Host, links []string) []unit.BitRate {
	var out []unit.BitRate
	for _, r := range v.Case.Runs {
		if r.Rate > 0 {
			out = append(out, r.Rate)
		}
	}
	if len(links) == 0 {
		links = h.Subjects("link")
	}
	for _, way := range []string{"seen_tx_bps", "seen_rx_bps"} {
		sum := 0.0
		for _, l := range links {
			if scene.Word(h, l, "kind") == "bond" || scene.Pseudo(l) {
				continue
			}
			n, _, _ := scene.Number(h, "link "+l, way)
			sum += n
		}
		if sum > 0 {
			out = append(out, unit.BitRate(sum))
		}
	}
	return out
}
