// Package history is what one path carried in many runs: which results belong
// together, and whether the newest lost more than the others vary. That decides
// what a regression is: Against in regression.go. It must never read a store or a
// clock. Don't put into a key what a host was: that is what a history is to show.
// Don't judge by a mean: one bad run would hide the next.
package history

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// Key is what results of different runs must have in common to be held against
// each other: the path and everything that the traffic was asked to be. What
// the hosts were is no part of it, for that is what a history is to show.
type Key struct {
	From      string         `json:"from"`
	To        string         `json:"to"`
	Direction flow.Direction `json:"direction"`
	Streams   int            `json:"streams"`
	Protocol  string         `json:"protocol"`
	Tool      string         `json:"tool"`
	// Setting is what else the traffic was asked to be, in words: "at most 100
	// Mbit/s, kernel's ports"; "" is nothing.
	Setting string       `json:"setting,omitempty"`
	Phase   record.Phase `json:"phase,omitempty"`
}

// Turned is the same traffic with the hosts named the other way round.
func (k Key) Turned() Key {
	k.From, k.To, k.Direction = k.To, k.From, k.Direction.Turned()
	return k
}

// Compare puts keys in the order that tables print them.
func (k Key) Compare(o Key) int {
	order := func(d flow.Direction) int { return slices.Index(flow.Directions(), d) }
	return cmp.Or(strings.Compare(k.From, o.From), strings.Compare(k.To, o.To), strings.Compare(k.Protocol, o.Protocol), strings.Compare(k.Tool, o.Tool),
		strings.Compare(k.Setting, o.Setting), strings.Compare(string(k.Phase), string(o.Phase)), cmp.Compare(order(k.Direction), order(o.Direction)), cmp.Compare(k.Streams, o.Streams))
}

// Point is one result of one run.
type Point struct {
	// Run is the name of the run it is from.
	Run     string    `json:"run"`
	Started time.Time `json:"started"`
	// Goodput is zero where nothing came through; Low and High are its 95 %
	// interval, zero where it is not known. Ceiling likewise.
	Goodput unit.BitRate `json:"goodput_bps"`
	Low     unit.BitRate `json:"goodput_low_bps"`
	High    unit.BitRate `json:"goodput_high_bps"`
	Ceiling unit.BitRate `json:"ceiling_bps"`
	// Cause is what limited it; "" where no finding was made.
	Cause record.Cause `json:"cause,omitempty"`
}

// Line is the results of one key, the oldest first.
type Line struct {
	Key
	Points []Point `json:"points"`
}

// Result is one trial of a record as histories keep it.
type Result struct {
	Key
	Point
}

// Of is the trials of a record. One that is in it twice, as a message that was
// delivered twice, is there once.
func Of(r record.Record) []Result {
	type once struct {
		Key
		started time.Time
		goodput unit.BitRate
	}
	seen := make(map[once]bool)
	out := make([]Result, 0, len(r.Trials))
	for _, t := range r.Trials {
		result := Result{keyOf(t), pointOf(r, t)}
		this := once{result.Key, t.Started, t.Goodput}
		if !t.Started.IsZero() && seen[this] {
			continue
		}
		seen[this] = true
		out = append(out, result)
	}
	return out
}

func keyOf(t record.Trial) Key {
	return Key{
		From: t.From, To: t.To, Direction: t.Direction, Streams: t.Streams, Protocol: cmp.Or(t.Protocol, "tcp"), Tool: cmp.Or(t.Tool, "linerate"),
		Setting: strings.Join(setting(t), ", "), Phase: t.Phase,
	}
}

func pointOf(r record.Record, t record.Trial) Point {
	p := Point{Run: r.ID, Started: t.Started, Goodput: t.Goodput, Low: t.GoodputLow, High: t.GoodputHigh, Ceiling: t.Ceiling}
	if p.Started.IsZero() {
		p.Started = r.Started
	}
	if t.Finding != nil {
		p.Cause = t.Finding.Cause
	}
	return p
}

// setting is what a trial's traffic was asked to be besides its path, streams
// and protocol, in words.
func setting(t record.Trial) []string {
	var words []string
	add := func(there bool, word string) {
		if there && !slices.Contains(words, word) {
			words = append(words, word)
		}
	}
	add(t.Variant != "", t.Variant)
	add(t.Phase == record.PhaseStep && t.Step != "", t.Step)
	add(t.Group != "", "with others")
	add(t.Ports == "kernel", "kernel's ports")
	add(t.RateLimit > 0, "at most "+t.RateLimit.String())
	for _, l := range t.Lanes {
		if a := l.Asked; a != nil {
			add(a.SndBuf > 0, fmt.Sprintf("sndbuf=%d", int64(a.SndBuf)))
			add(a.RcvBuf > 0, fmt.Sprintf("rcvbuf=%d", int64(a.RcvBuf)))
			add(a.Congestion != "", "congestion="+a.Congestion)
			add(a.MSS > 0, fmt.Sprintf("mss=%d", a.MSS))
			add(a.NoDelay, "no-delay")
			add(a.Pacing > 0, "pacing="+a.Pacing.String())
			add(a.DSCP > 0, fmt.Sprintf("dscp=%d", a.DSCP))
			add(a.Device != "", "device="+a.Device)
		}
	}
	return words
}
