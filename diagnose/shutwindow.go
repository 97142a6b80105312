package diagnose

import (
	"fmt"

	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

const (
	// shutBefore is how much more than the streams carry their windows must
	// allow while they are open, for them to have been shut most of the time.
	shutBefore = 3
	// shutOften is how often in a second; a start-up shuts one or two.
	shutOften = 2
	fromExt   = "TcpExt of /proc/net/netstat"
)

// shut reports windows that are large while they are open, and that the
// receiver shut again and again: nobody reads what has arrived. A host that is
// out of memory for TCP shuts them too.
func (v *wayView) shut() (times uint64, ok bool) {
	w := v.waits
	use, read := v.processorOf(v.to)
	if !read || w.rwnd < limitedShare || use.TCPExt["PruneCalled"] > 0 || use.TCPExt["TCPMemoryPressures"] > 0 {
		return 0, false
	}
	allowed := w.windowRate(func(l record.Lane) unit.Bytes { return l.TCP.SndWnd })
	times = use.TCPExt["TCPToZeroWindowAdv"]
	return times, float64(times) >= shutOften*max(v.trial.Window, 1) && allowed > w.goodput*shutBefore
}

// windowsShut is the slow reader as his host's counters show him, where nobody
// looked at what waited unread.
func (v *wayView) windowsShut() (hypothesis, bool) {
	times, ok := v.shut()
	if !ok {
		return hypothesis{}, false
	}
	return hypothesis{
		cause: record.Application, sure: 0.75, mended: "With a program that reads at once",
		summary:  fmt.Sprintf("The program on %s reads too slowly: its window shut %d times, and while it is open it allows far more than arrives.", v.to, times),
		evidence: append(append([]record.Evidence{v.shutEvidence(times)}, v.tcpEvidence()...), v.loads()...),
		remedy:   fmt.Sprintf("look at what the program on %s waits for before it reads again: its disk, a lock, a limit of its own; a larger window would only fill up too", v.to),
	}, true
}

func (v *wayView) shutEvidence(times uint64) record.Evidence {
	return record.Evidence{What: "windows that " + v.to + " shut", Value: fmt.Sprintf("+%d (TCPToZeroWindowAdv)", times), Source: fromExt}
}
