package hoststate

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict/pcie"
)

var pciFunction = regexp.MustCompile(`^[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]$`)

// cards groups the PCI functions of links by bus and device, as a host's own are:
// ports that share a slot. Which function a link is, its driver's information says.
func cards(h *piece.Host, out *netstate.Host) {
	known := make(map[string]bool)
	for i := range out.Links {
		l := &out.Links[i]
		if !pciFunction.MatchString(l.PCI) {
			l.PCI = ""
			continue
		}
		subject := "pci " + l.PCI
		c := netstate.Card{Name: l.PCI[:len(l.PCI)-2], Generation: generation(h, subject, "sta_speed"), Lanes: count(h, subject, "sta_width"),
			MaxGeneration: generation(h, subject, "cap_speed"), MaxLanes: count(h, subject, "cap_width"), MaxPayload: count(h, subject, "payload")}
		if c.Lanes == 0 && c.Generation == 0 {
			continue
		}
		l.Card = c.Name
		if !known[c.Name] {
			known[c.Name] = true
			out.Cards = append(out.Cards, c)
		}
	}
}

func generation(h *piece.Host, subject, key string) int {
	v, _ := h.Get(subject, key)
	transfers, err := strconv.ParseFloat(strings.TrimSpace(v.Text), 64)
	if err != nil {
		return 0
	}
	return pcie.Generation(transfers)
}
