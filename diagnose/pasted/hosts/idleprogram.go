package hosts

import (
	"fmt"

	"github.com/linerate/linerate/diagnose/pasted/scene"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// idleProgram: a path that carries far more than a program asks of it, and sockets
// that wait for the program.
func idleProgram(v *scene.View) {
	for _, h := range v.Hosts {
		var waits *piece.Socket
		for i := range h.Sockets {
			if s := &h.Sockets[i]; s.Info["app_limited"] != "" && percent(*s, "rwnd_limited") < waitedLong && percent(*s, "sndbuf_limited") < waitedLong {
				waits = s
			}
		}
		if waits == nil {
			continue
		}
		for _, r := range v.Case.Runs {
			seen := 0.0
			var at piece.Source
			for _, name := range h.Subjects("link") {
				for _, way := range []string{"seen_tx_bps", "seen_rx_bps"} {
					if n, from, ok := scene.Number(h, "link "+name, way); ok && n > seen {
						seen, at = n, from
					}
				}
			}
			if seen == 0 || float64(r.Rate) < 3*seen {
				continue
			}
			v.Add(record.Application, 0.82, h, "the program on "+scene.NameOf(h),
				fmt.Sprintf("The network is not the limit: it carries %v in a test, and the program asks for %v of it; TCP waits for the program (app_limited).", r.Rate, unit.BitRate(seen)),
				"Look at the program: its disks, its own limit or concurrency, a lock, one request at a time.",
				scene.Saw(r.Tool, r.Rate.String(), r.Source), scene.Saw("traffic of the program", unit.BitRate(seen).String(), at), scene.Saw("ss", "app_limited", waits.Source))
		}
	}
}
