package storage

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/agent/nats/wire"
	"github.com/linerate/linerate/record"
)

// message is one of a stream, as far as followed looks at it.
type message struct {
	jetstream.Msg
	subject string
	headers nats.Header
	body    []byte
}

func (m message) Subject() string      { return m.subject }
func (m message) Headers() nats.Header { return m.headers }
func (m message) Data() []byte         { return m.body }

// partsOf are the messages that a trial is kept as.
func partsOf(n int, whole []byte, size int) []message {
	id := fmt.Sprintf("%024x", n)
	sum := sha256.Sum256(whole)
	of := (len(whole) + size - 1) / size
	var all []message
	for i := range of {
		part := wire.PartOf{Number: i + 1, Of: of, Size: len(whole), Sum: hex.EncodeToString(sum[:])}
		params := jsonOf(wire.StoreParams{User: "eve", Run: "r", Part: &part})
		all = append(all, message{subject: keptPrefix + "eve.r." + wire.TrialKey(id, i+1), headers: nats.Header{wire.HeaderParams: {string(params)}}, body: whole[i*size : min((i+1)*size, len(whole))]})
	}
	return all
}

func trialOf(n, size int) []byte {
	text := jsonOf(record.Trial{From: "a", Direction: flow.Forward, Streams: 4, Protocol: "tcp", Ports: "chosen", To: fmt.Sprint("h", n), Notes: []string{strings.Repeat("x", size)}})
	return text
}

// consistent fails where the account of what is held is not what is held, or
// above a bound. One trial alone may have more than mostBuffered.
func (f *followed) consistent(t *testing.T) {
	t.Helper()
	held := 0
	for _, w := range f.wholes {
		held += w.Buffered()
	}
	if held != f.held || len(f.order) != len(f.wholes) {
		t.Fatalf("%d bytes are held, accounted as %d; %d trials, in order %d", held, f.held, len(f.wholes), len(f.order))
	}
	if len(f.order) > mostOpen || held > mostBuffered && len(f.order) > 1 {
		t.Fatalf("%d trials are open with %d bytes", len(f.order), held)
	}
}

// Code 4.6b: trials whose parts never are all there do not fill the memory of
// whoever follows them, neither by number, nor by bytes, nor by parts that have
// none.
func TestFollowIsBounded(t *testing.T) {
	var came []string
	f := &followed{each: func(_ string, trial record.Trial) { came = append(came, trial.To) }, wholes: make(map[string]*wire.Assembly)}
	t.Run("many", func(t *testing.T) {
		for n := range 20 * mostOpen {
			f.take(partsOf(n, trialOf(n, 10), 40)[0])
			f.consistent(t)
		}
		if len(f.order) != mostOpen {
			t.Errorf("%d are open, want the newest %d", len(f.order), mostOpen)
		}
	})
	t.Run("long", func(t *testing.T) {
		most := 0
		all := partsOf(1000000, bytes.Repeat([]byte("x"), 15<<20), 1<<20)
		for n := range 8 {
			for i, m := range all[:len(all)-1] {
				m.subject = keptPrefix + "eve.r." + wire.TrialKey(fmt.Sprintf("%024x", 1000000+n), i+1)
				f.take(m)
				f.consistent(t)
			}
			most = max(most, f.held)
		}
		if most < mostBuffered/2 {
			t.Errorf("at most %d bytes were held: the bound was not tried", most)
		}
	})
	t.Run("parts without bytes", func(t *testing.T) {
		for n := range 2 * mostOpen {
			part := wire.PartOf{Number: 1, Of: 4096, Size: wire.MostTrial, Sum: strings.Repeat("a", 64)}
			f.take(message{subject: keptPrefix + "eve.r." + wire.TrialKey(fmt.Sprintf("%024x", 2000000+n), 1), headers: nats.Header{wire.HeaderParams: {string(jsonOf(wire.StoreParams{Part: &part}))}}})
			f.consistent(t)
		}
		if f.held < mostOpen*4096 {
			t.Errorf("the places of %d parts count as %d bytes", mostOpen*4096, f.held)
		}
	})
	// What becomes whole is told, and costs nothing more.
	before := f.held
	for _, m := range slices.Backward(partsOf(3000000, trialOf(7, 100), 40)) {
		f.take(m)
	}
	f.consistent(t)
	if !slices.Equal(came, []string{"h7"}) || f.held > before {
		t.Errorf("%v came, %d bytes are held, before it %d", came, f.held, before)
	}
}

// A trial that no measurement wrote is not told: of millions of empty objects whoever
// follows would make gigabytes.
func TestFollowRefuses(t *testing.T) {
	var came []string
	f := &followed{each: func(_ string, trial record.Trial) { came = append(came, trial.To) }, wholes: make(map[string]*wire.Assembly)}
	for i, text := range []string{
		`{"to":"empty","lanes":[` + strings.Repeat("{},", 1<<20) + `{}]}`,
		`{"to":"fast","goodput_bps":1e308}`, `{"to":"slow","goodput_bps":-1e9}`, `{"to":"good","goodput_bps":1e9}`,
	} {
		for _, m := range partsOf(i, []byte(text), 1<<20) {
			f.take(m)
		}
	}
	if !slices.Equal(came, []string{"good"}) {
		t.Errorf("%v came", came)
	}
	f.consistent(t)
}
