package hosts

import (
	"fmt"

	"github.com/linerate/linerate/diagnose/pasted/scene"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// How far below what a test carried the traffic of the work is, from which the path is
// not what limits: with sockets that wait for the program, and by itself. A monitor of
// an idle link is no evidence of work.
const (
	waitsBelow = 1.0 / 3
	alone      = 0.4
	leastWork  = 50e6 // bits a second
	leastPart  = 0.02 // of what the test carried
)

// idleProgram: a path that carries far more than a program asks of it.
func idleProgram(v *scene.View) {
	for _, h := range v.Hosts {
		work, at := workOf(h)
		if work == 0 {
			continue
		}
		for _, r := range v.Case.Runs {
			if r.UDP || !r.OfNetwork() || r.Rate == 0 {
				continue
			}
			seen := scene.Saw("traffic of the program", unit.BitRate(work).String(), at)
			if s := waitingSocket(h); s != nil && work < waitsBelow*float64(r.Rate) {
				v.Add(record.Application, 0.82, h, "the program on "+scene.NameOf(h),
					fmt.Sprintf("The network is not the limit: it carries %v in a test, and the program asks for %v of it; TCP waits for the program (app_limited).", r.Rate, unit.BitRate(work)),
					"Look at the program: its disks, its own limit or concurrency, a lock, one request at a time.",
					scene.Saw(r.Tool, r.Rate.String(), r.Source), seen, scene.Saw("ss", "app_limited", s.Source))
				continue
			}
			if work > alone*float64(r.Rate) || work < leastWork || work < leastPart*float64(r.Rate) || r.Rate < unit.Gbps || v.Faulty() || limitedElse(v, h, r, work) {
				continue
			}
			v.Add(record.Application, 0.55, h, "the program on "+scene.NameOf(h),
				fmt.Sprintf("The network is not the limit, as far as this shows: a test carries %v over it, and while the program works the links carry %v. Nothing that was read is full.", r.Rate, unit.BitRate(work)),
				"While it works run `ss -tin` on the sender (app_limited: TCP waits for the program) and `iostat -x 1` on both ends. Look at the program: its disks, its own limit or concurrency, a lock, one request at a time; several at once show whether it is that.",
				scene.Saw(r.Tool, r.Rate.String(), r.Source), seen)
			return
		}
	}
}

// workOf is what a monitor saw on a host's links, the busier way, and where.
func workOf(h *piece.Host) (most float64, at piece.Source) {
	for _, way := range []string{"seen_tx_bps", "seen_rx_bps"} {
		sum, largest := 0.0, 0.0
		var from piece.Source
		for _, name := range h.Subjects("link") {
			n, source, ok := scene.Number(h, "link "+name, way)
			if !ok || scene.Pseudo(name) || scene.Word(h, name, "kind") == "bond" && len(h.Ports[name]) > 0 {
				continue
			}
			sum += n
			if n > largest {
				largest, from = n, source
			}
		}
		if sum > most {
			most, at = sum, from
		}
	}
	return most, at
}

// waitingSocket is a socket that waits for its program; nil none.
func waitingSocket(h *piece.Host) *piece.Socket {
	var waits *piece.Socket
	for i := range h.Sockets {
		if s := &h.Sockets[i]; s.Info["app_limited"] != "" && percent(*s, "rwnd_limited") < waitedLong && percent(*s, "sndbuf_limited") < waitedLong {
			waits = s
		}
	}
	return waits
}

// limitedElse reports what else explains that the work is slow, or that it is none: a
// test that the monitor saw, a slow test beside the fast one, a link that is full, a
// core, a path that loses.
func limitedElse(v *scene.View, h *piece.Host, r piece.Run, work float64) bool {
	for _, other := range v.Case.Runs {
		if other.Rate > 0 && (float64(other.Rate) < alone*float64(r.Rate) || scene.Close(unit.BitRate(work), other.Rate, 0.75, 1.35)) {
			return true
		}
	}
	for _, name := range h.Subjects("link") {
		for _, way := range []string{"seen_tx_bps", "seen_rx_bps"} {
			n, _, ok := scene.Number(h, "link "+name, way)
			speed, _ := scene.SpeedNow(h, name)
			switch {
			case !ok || n < leastWork:
			case speed > 0 && n > 0.8*float64(speed):
				return true
			case speed == 0 && fillsLink(v, piece.Run{Rate: unit.BitRate(n)}):
				return true
			}
		}
	}
	for _, other := range v.Hosts {
		for _, c := range other.Cores {
			if c.ID != "all" && c.Idle <= fullCore {
				return true
			}
		}
		for _, p := range other.Processes {
			if p.CPU >= fullTask && !scene.Contains(p.Name, "idle") {
				return true
			}
		}
	}
	sent := float64(r.Rate) / 8 * r.Seconds
	return r.Retransmits > 0 && sent > 0 && float64(r.Retransmits)*1448 > lossyShare*sent
}
