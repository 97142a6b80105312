package trial

import (
	"fmt"

	"github.com/linerate/linerate/diagnose"
	"github.com/linerate/linerate/record"
)

// slowWriter: the sending program offers no more: nothing waits to be sent
// for a good part of the time, and its processor has time left.
func (v *wayView) slowWriter() (hypothesis, bool) {
	w := v.waits
	share := max(w.idle(), w.starved)
	if share < limitedShare || !v.room() || v.goodput <= 0 {
		return hypothesis{}, false
	}
	h := hypothesis{
		cause: record.Application, sure: min(0.65+0.3*(share-limitedShare)/(1-limitedShare), 0.93), mended: "With a program that offers more",
		summary: fmt.Sprintf("The program on %s offers no more: %s of the time it had given TCP nothing to send, and neither its processor nor the network limited it.", v.from, diagnose.Percent(share)),
		evidence: append(append([]record.Evidence{
			{What: "samples in which nothing waited to be sent", Value: diagnose.Percent(w.starved), Source: fromTCP},
		}, v.tcpEvidence()...), v.loads()...),
		remedy: record.ByHand(fmt.Sprintf("look at what the program on %s waits for: its disk, its peer's answers, a limit of its own, a single thread", v.from)),
	}
	if w.rwnd >= limitedShare {
		h.sure *= 0.4
		h.against = append(h.against, record.Evidence{What: "time limited by the receive window", Value: diagnose.Percent(w.rwnd), Source: fromTCP})
	}
	if use, ok := v.processorOf(v.from); ok {
		busy, waited := v.threads(use, true)
		h.evidence = append(h.evidence, record.Evidence{What: "busiest stream thread of " + v.from, Value: diagnose.Percent(busy), Source: fromThread})
		if use.Throttled >= stoppedShare || busy+waited >= wantsHalf && waited >= crowdedShare && !coreToSpare(use) || crowdedOut(use) {
			h.sure *= 0.4
			h.against = append(h.against, record.Evidence{What: "its threads had no processor", Value: diagnose.Percent(max(use.Throttled, waited)), Source: fromCgroup})
		}
	}
	return h, true
}

// unreadMost is the share of the samples in which bytes wait unread that takes
// a late reader: he leaves them nearly always, while samples that fall on the
// tick in which packets arrive find what is about to be read, in a small window
// half of it.
const unreadMost = 0.5

// slowReader: the receiver's program does not read what has arrived, and its
// processor has time left.
func (v *wayView) slowReader() (hypothesis, bool) {
	w := v.waits
	if !v.room() || v.goodput <= 0 {
		return hypothesis{}, false
	}
	if w.unheeded < unreadMost {
		return v.windowsShut()
	}
	h := hypothesis{
		cause: record.Application, sure: min(0.65+0.3*(w.unheeded-unreadMost)/(1-unreadMost), 0.93), mended: "With a program that reads at once",
		summary: fmt.Sprintf("The program on %s reads too slowly: %s of the time more than half of its window was filled with bytes that nobody had read, and the window shut.", v.to, diagnose.Percent(w.unheeded)),
		evidence: append(append([]record.Evidence{
			v.unreadEvidence(),
		}, v.tcpEvidence()...), v.loads()...),
		remedy: record.ByHand(fmt.Sprintf("look at what the program on %s waits for before it reads again: its disk, a lock, a limit of its own; a larger window would only fill up too", v.to)),
	}
	if use, ok := v.processorOf(v.to); ok {
		busy, waited := v.threads(use, false)
		h.evidence = append(h.evidence, record.Evidence{What: "busiest stream thread of " + v.to, Value: diagnose.Percent(busy), Source: fromThread})
		if busy+waited >= wantsHalf || use.Throttled >= stoppedShare || crowdedOut(use) {
			h.sure *= 0.4
			h.against = append(h.against, record.Evidence{What: "its thread had no processor left", Value: diagnose.Percent(max(use.Throttled, busy+waited)), Source: fromThread})
		}
	}
	return h, true
}

func (v *wayView) unreadEvidence() record.Evidence {
	return record.Evidence{What: "bytes that had arrived at " + v.to + " filled more than half of the window", Value: diagnose.Percent(v.waits.unheeded) + " of the samples", Source: "inet_diag idiag_rqueue of the receiving sockets"}
}
