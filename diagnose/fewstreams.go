package diagnose

import (
	"fmt"

	"github.com/linerate/linerate/record"
)

// How much more the other links must promise than the end of what holds each
// stream, for them to be the first thing to mend. A window that is too small is
// one setting, and known by its own counter: it goes first unless far less is
// to be won by it.
const (
	worthMoreStreams = 1.1
	worthMoreWindows = 1.5
)

// fewStreams: fewer streams than links, each held by itself below its link. A
// stream more brings as much again over an idle link, while the end of what
// holds it brings no more than its own link's rest.
func (v *wayView) fewStreams() (hypothesis, bool) {
	n, links := len(v.lanes), len(v.egress)
	if n == 0 || n >= links || len(v.ingress) < links || !v.room() || !v.eachByItself() {
		return hypothesis{}, false
	}
	if least(v.egress) > idleLink && least(v.ingress) > idleLink { // single packets are dealt out over all
		return hypothesis{}, false
	}
	used := total(v.egress) / rateOf(float64(links)) * rateOf(float64(n))
	share := fraction(v.goodput, used)
	worth := worthMoreStreams
	if max(v.waits.rwnd, v.waits.sndbuf) >= limitedShare {
		worth = worthMoreWindows
	}
	if share*float64(links)/float64(n) < worth {
		return hypothesis{}, false
	}
	h := hypothesis{
		cause: record.SingleLink, seen: true, sure: 0.85, mended: fmt.Sprintf("With %d streams on as many links", links),
		summary: fmt.Sprintf("%s from %s can use no more than %d of %d links, whose part is %s used: streams over the idle ones bring more than the end of what limits %s.",
			flows(n), v.from, n, links, percent(share), theStreams(n)),
		evidence: append(append(v.placements(), v.loads()...), v.tcpEvidence()...),
		remedy:   fmt.Sprintf("use at least %d streams with ports chosen for different links (`linerate steer pick`)", links),
	}
	return h, true
}

// eachByItself: what holds the streams is each one's own, a window, a buffer,
// losses, and not something that they share.
func (v *wayView) eachByItself() bool {
	w := v.waits
	if !w.known || w.idle() >= limitedShare || w.starved >= limitedShare {
		return false
	}
	return w.queued() <= 1 && max(w.rwnd, w.sndbuf) >= limitedShare && w.unheeded < unreadMost ||
		w.queued() <= deepQueue && w.loss() >= lossShare && v.bursty() < 0.5 ||
		v.disorder() >= 0.5
}
