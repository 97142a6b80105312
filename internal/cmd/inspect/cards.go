package inspect

import (
	"fmt"
	"strings"

	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict"
)

// printCards says what each card's slot moves and which ports share it.
func printCards(con *console.Console, h netstate.Host) {
	for _, c := range h.Cards {
		text := "slot not known"
		if c.Generation > 0 && c.Lanes > 0 {
			text = fmt.Sprintf("PCIe generation %d x%d", c.Generation, c.Lanes)
			if c.MaxPayload > 0 {
				text += fmt.Sprintf(", payload %d", c.MaxPayload)
			}
		}
		var ports []string
		mtu := 0
		for _, l := range h.Links {
			if l.Card == c.Name {
				ports = append(ports, l.Name)
				mtu = max(mtu, l.MTU)
			}
		}
		if rate, low, high := predict.CardRate(c, mtu+14, false); rate > 0 {
			text += fmt.Sprintf(": takes in about %s of frames at MTU %d (%s to %s)", rate, mtu, low, high)
		}
		if len(ports) > 0 {
			text += ", shared by " + strings.Join(ports, ", ")
		}
		if better := predict.BetterSlot(c); better != "" {
			text += "; " + better
		}
		fmt.Fprint(con.Stdout, console.Wrapped("card "+c.Name+": ", text, con.Width()))
	}
}
