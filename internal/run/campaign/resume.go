package campaign

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/run/measure"
	"github.com/linerate/linerate/record"
)

// ErrOtherMatrix is a record that cannot be gone on with: it asked for
// something else.
var ErrOtherMatrix = errors.New("the record is of another matrix")

// key tells the trials of one run apart.
type key struct {
	phase           record.Phase
	from, to        string
	direction       flow.Direction
	streams         int
	protocol, ports string
	variant         string
}

func keyOfSpec(s measure.Spec) key {
	return key{s.Phase, s.From, s.To, s.Direction, s.Streams, protocol(s.Protocol), ports(s.Ports), s.Variant}
}

func keyOfTrial(t record.Trial) key {
	return key{t.Phase, t.From, t.To, t.Direction, t.Streams, protocol(t.Protocol), ports(t.Ports), t.Variant}
}

func protocol(word string) string {
	if word == "" {
		return "tcp"
	}
	return word
}

func ports(word string) string {
	if word == "" {
		return "chosen"
	}
	return word
}

// unmeasured are batches without the trials that a resumed record has, and
// how many those are. Each trial of the record stands for one.
func (c *Campaign) unmeasured(batches []batch) ([]batch, int) {
	var out []batch
	there := 0
	for _, b := range batches {
		var specs []measure.Spec
		for _, s := range b.specs {
			k := keyOfSpec(s)
			if c.kept[k] > 0 {
				c.kept[k]--
				there++
				continue
			}
			specs = append(specs, s)
		}
		if len(specs) > 0 {
			b.specs = specs
			out = append(out, b)
		}
	}
	return out, there
}

// resume goes on with an interrupted run's record: its trials and latencies
// stand, its failures are tried again.
func (c *Campaign) resume(old record.Record) {
	c.kept = make(map[key]int)
	for _, t := range old.Trials {
		c.kept[keyOfTrial(t)]++
	}
	c.pinged = make(map[[2]string]record.Latency)
	for _, l := range old.Latency {
		if l.Load == nil {
			c.pinged[[2]string{l.From, l.To}] = l
		}
	}
	old.Resumed = append(old.Resumed, c.record.Started)
	old.Failures, old.Asked, old.Ended = nil, nil, ""
	c.record = old
}

// asked notes in the record how much a run measures.
func (c *Campaign) asked(m Matrix, total int) {
	if m.Phase != "" {
		return // of a tuning run: trials come as they are needed
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.record.Asked != nil {
		c.record.Asked.Trials += total
		return
	}
	c.record.Asked = &record.Asked{Trials: total, Streams: m.Streams, Directions: m.Directions}
}

// resumable marks the record as one that the same matrix can go on with.
func (c *Campaign) resumable(m Matrix) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.record.Asked != nil {
		c.record.Asked.Digest = m.digest()
	}
}

// digest stands for everything that the trials of a set are asked for, apart
// from what tells them from each other.
func (m Matrix) digest() string {
	m.Streams, m.Directions = nil, nil
	text, err := json.Marshal(m)
	if err != nil {
		text = fmt.Appendf(nil, "%+v", m)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// Resumable is nil where a run of the matrix on the fabric could go on with
// the record, else ErrOtherMatrix and what differs. Of hosts that were named
// directly the pairs must be the same, of a file its text.
func (m Matrix) Resumable(old record.Record, f fabric.Fabric) error {
	switch {
	case old.Asked == nil:
		return fmt.Errorf("%w: it does not say which", ErrOtherMatrix)
	case len(old.Steps) > 0:
		return fmt.Errorf("%w: hosts were changed in it", ErrOtherMatrix)
	case old.Asked.Digest == "":
		return fmt.Errorf("%w: it is of trials that belong together, such as a sweep", ErrOtherMatrix)
	case fmt.Sprint(old.Asked.Streams) != fmt.Sprint(m.Streams):
		return fmt.Errorf("%w: it has %v streams, asked for are %v", ErrOtherMatrix, old.Asked.Streams, m.Streams)
	case fmt.Sprint(old.Asked.Directions) != fmt.Sprint(m.Directions):
		return fmt.Errorf("%w: it has directions %v, asked for are %v", ErrOtherMatrix, old.Asked.Directions, m.Directions)
	case old.Asked.Digest != m.digest():
		return fmt.Errorf("%w: it was measured with other flags", ErrOtherMatrix)
	case old.Fabric.File != f.File || pairs(old.Fabric.Paths) != pairs(f.Paths):
		return fmt.Errorf("%w: it is of other hosts, or of another file", ErrOtherMatrix)
	case f.File != Discovered && old.Fabric.Text != f.Text:
		return fmt.Errorf("%w: %s reads otherwise now", ErrOtherMatrix, f.File)
	}
	return nil
}

// Discovered is the file name of a fabric that was made from hosts named
// directly: its text holds what was seen at that moment.
const Discovered = "discovered"

// pairs is the ends of paths as text.
func pairs(paths []fabric.Path) string {
	var b strings.Builder
	for _, p := range paths {
		fmt.Fprintf(&b, "%s > %s\n", p.From, p.To)
	}
	return b.String()
}
