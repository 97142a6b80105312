// Package resultfile reads the results that iperf3 and iperf2 wrote into records,
// so that old measurements can be reported, explained and compared. It keeps
// what the file says, says in notes what the file cannot know, and makes
// nothing up; it must never open a file. Don't take what was sent for what
// arrived.
package resultfile

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"time"
	"unicode/utf16"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/analysis/series"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// Format is a kind of file that Read knows.
type Format string

// The formats: iperf3 -J, iperf3 --json-stream, iperf -y C.
const (
	IPerf3JSON   Format = "iperf3 JSON"
	IPerf3Stream Format = "iperf3 JSON stream"
	IPerf2CSV    Format = "iperf2 CSV"
)

// Errors of Read.
var (
	// ErrFormat is text that no tool known here wrote.
	ErrFormat = errors.New("not a result of iperf3 or iperf2")
	// ErrNothing is a result that holds no measurement and no error either.
	ErrNothing = errors.New("no measurement in it")
)

// Bounds on what one file may hold: more is refused, not cut off.
const (
	mostTrials  = 10_000
	mostStreams = 1024
	mostRows    = 1_000_000
)

// headLength is how much of a text Detect looks at.
const headLength = 64 << 10

// Detect says which format a text has; ok is false for any other. It looks at
// the beginning only, so that a file cut off later is known too.
func Detect(text []byte) (f Format, ok bool) {
	head := bytes.TrimLeft(asUTF8(text[:min(len(text), headLength)]), "\xef\xbb\xbf \t\r\n")
	if len(head) > 0 && (head[0] == '{' || head[0] == '[') {
		switch {
		case bytes.Contains(head, []byte(`"schema"`)) && bytes.Contains(head, []byte("linerate.record")):
			return "", false
		case bytes.Contains(head, []byte(`"event"`)) && bytes.Contains(head, []byte(`"data"`)):
			return IPerf3Stream, true
		case bytes.Contains(head, []byte(`"intervals"`)), bytes.Contains(head, []byte(`"iperf 3`)):
			return IPerf3JSON, true
		}
		return "", false
	}
	for line := range bytes.Lines(head) {
		if _, ok := parseRow(string(line), nil); ok || isHeader(string(line)) {
			return IPerf2CSV, true
		}
	}
	return "", false
}

// Read turns a text of any of the formats into a record: a trial for each
// test in it, a failure for each that did not come about. The record's notes
// say what such a file cannot. Errors: ErrFormat, ErrNothing, or what is wrong
// where.
func Read(text []byte) (record.Record, error) {
	text = bytes.TrimPrefix(asUTF8(text), []byte("\xef\xbb\xbf"))
	format, ok := Detect(text)
	if !ok {
		return record.Record{}, ErrFormat
	}
	out := record.Record{Schema: record.Schema, Latency: []record.Latency{}, Trials: []record.Trial{}}
	out.Environment.Hosts = []netstate.Host{}
	sum := sha256.Sum256(text)
	out.ID = hex.EncodeToString(sum[:8])
	var err error
	switch format {
	case IPerf3JSON:
		text = noNumbers.ReplaceAll(text, []byte(": null"))
		err = readDocuments(text, &out)
	case IPerf3Stream:
		text = noNumbers.ReplaceAll(text, []byte(": null"))
		err = readStream(text, &out)
	case IPerf2CSV:
		err = readCSV(text, &out)
	}
	if err == nil && format != IPerf2CSV {
		err = plausible(text)
	}
	if err == nil {
		err = record.CheckRates(out)
	}
	if err != nil {
		return record.Record{}, fmt.Errorf("read %s: %w", format, err)
	}
	if len(out.Trials) == 0 && len(out.Failures) == 0 {
		return record.Record{}, fmt.Errorf("read %s: %w", format, ErrNothing)
	}
	for _, t := range out.Trials {
		if !t.Started.IsZero() && (out.Started.IsZero() || t.Started.Before(out.Started)) {
			out.Started = t.Started
		}
	}
	return out, nil
}

// noNumbers are what C prints of a quotient by zero, which JSON has no word for.
var noNumbers = regexp.MustCompile(`:\s*-?(?:nan|inf)\b`)

// asUTF8 is a text as UTF-8: PowerShell's ">" writes UTF-16.
func asUTF8(text []byte) []byte {
	var order binary.ByteOrder
	switch {
	case bytes.HasPrefix(text, []byte{0xff, 0xfe}):
		order = binary.LittleEndian
	case bytes.HasPrefix(text, []byte{0xfe, 0xff}):
		order = binary.BigEndian
	default:
		return text
	}
	text = text[2:]
	units := make([]uint16, len(text)/2)
	for i := range units {
		units[i] = order.Uint16(text[2*i:])
	}
	return []byte(string(utf16.Decode(units)))
}

// settle computes what follows from a trial's lanes and blocks.
func settle(t *record.Trial) {
	var forward, reverse unit.BitRate
	for _, l := range t.Lanes {
		if l.Way == flow.Reverse {
			reverse += l.Goodput
		} else {
			forward += l.Goodput
		}
	}
	t.Goodput = forward + reverse
	if t.Direction == flow.Both {
		t.Forward, t.Reverse = forward, reverse
	}
	t.GoodputLow, t.GoodputHigh = t.Goodput, t.Goodput
	if e := blockSeries(*t).Estimate(); e.Known {
		t.GoodputLow, t.GoodputHigh = max(t.Goodput-e.Half, 0), t.Goodput+e.Half
	}
	if t.Notes == nil {
		t.Notes = []string{}
	}
	if t.Links == nil {
		t.Links = []record.LinkUse{}
	}
	if t.CPU == nil {
		t.CPU = []record.CPUUse{}
	}
}

func blockSeries(t record.Trial) series.Series {
	var s series.Series
	for i, r := range t.Blocks {
		s = append(s, series.Point{From: seconds(float64(i) * t.BlockLength), To: seconds(float64(i+1) * t.BlockLength), Rate: r})
	}
	return s
}

// seconds is a number of them as a duration, bounded to a year: a file may
// say anything.
func seconds(s float64) time.Duration {
	const year = 365 * 24 * 3600
	if !(s > 0) { // also not a number
		return 0
	}
	return time.Duration(min(s, year) * float64(time.Second))
}

// blocksOf are the rates of rows of one length, the last one left out where it
// is shorter; nil where they are too few or too uneven to be blocks.
func blocksOf(rates []unit.BitRate, lengths []float64) (blocks []unit.BitRate, length float64) {
	n := min(len(rates), len(lengths))
	if n > 1 && lengths[n-1] < 0.9*lengths[0] {
		n--
	}
	if n < 2 {
		return nil, 0
	}
	for _, l := range lengths[:n] {
		if l < 0.8*lengths[0] || l > 1.25*lengths[0] {
			return nil, 0
		}
		length += l / float64(n)
	}
	return slices.Clone(rates[:n]), length
}

// rate is bits per second as a file says them, bounded to what a number of a
// record can be.
func rate(bps float64) unit.BitRate {
	if !(bps > 0) {
		return 0
	}
	return unit.BitRate(min(bps, 1e18))
}

// count is a counter as a file says it.
func count(v float64) uint64 {
	if !(v > 0) {
		return 0
	}
	return uint64(min(v, 1<<62))
}

func port(v float64) uint16 {
	if v < 1 || v > 65535 {
		return 0
	}
	return uint16(v)
}
