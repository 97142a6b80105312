package remedy

import (
	"fmt"
	"strconv"

	"github.com/linerate/linerate/record"
)

// Traffic is what was measured, as far as a remedy may change it.
type Traffic struct {
	// Ours is traffic of this program, which its options change. Another's program has to
	// be told in its own words.
	Ours bool
	// Chosen: its source ports were chosen for different links already.
	Chosen  bool
	Streams int
}

// Of is a trial's traffic.
func Of(t record.Trial) Traffic {
	return Traffic{Ours: t.Tool == "linerate", Chosen: t.Ports == "chosen", Streams: t.Streams}
}

// More is so many streams.
func (t Traffic) More(n int) record.Way {
	if !t.Ours {
		return record.Way{record.Ask(fmt.Sprintf("use %d streams", n))}
	}
	return record.Way{record.Option("--streams", strconv.Itoa(n))}
}

// Spread is at least so many streams, with source ports for different links.
func (t Traffic) Spread(n int) record.Way {
	if !t.Ours {
		return record.Way{record.Ask(fmt.Sprintf("use at least %d streams with ports chosen for different links (`linerate steer pick`)", n))}
	}
	return t.ChosenToo(record.Option("--streams", strconv.Itoa(max(n, t.Streams))))
}

// ChosenToo are steps with which flows spread by their ports, and ports that do.
func (t Traffic) ChosenToo(first ...record.Action) record.Way {
	switch {
	case t.Chosen:
		return first
	case t.Ours:
		return append(first, record.Option("--ports", "chosen"))
	}
	return append(first, record.Ask("choose source ports for different links (`linerate steer pick`), or use more streams"))
}

// Without leaves an option of the run out; another's program is told otherwise.
func (t Traffic) Without(option, otherwise string) record.Remedy {
	if t.Ours {
		return record.Do(record.Option(option, ""))
	}
	return record.ByHand(otherwise)
}
