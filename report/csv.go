package report

import (
	"bytes"
	"encoding/csv"
	"strconv"
	"strings"
	"time"

	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// csvColumns is the one table of CSV columns: the record's own key names.
var csvColumns = [...]struct {
	key   string
	value func(record.Record, record.Trial) string
}{
	{"id", func(r record.Record, _ record.Trial) string { return csvText(r.ID) }},
	{"phase", func(_ record.Record, t record.Trial) string { return csvText(string(t.Phase)) }},
	{"step", func(_ record.Record, t record.Trial) string { return csvText(t.Step) }},
	{"from", func(_ record.Record, t record.Trial) string { return csvText(t.From) }},
	{"to", func(_ record.Record, t record.Trial) string { return csvText(t.To) }},
	{"direction", func(_ record.Record, t record.Trial) string { return csvText(string(t.Direction)) }},
	{"streams", func(_ record.Record, t record.Trial) string { return strconv.Itoa(t.Streams) }},
	{"protocol", func(_ record.Record, t record.Trial) string { return csvText(t.Protocol) }},
	{"tool", func(_ record.Record, t record.Trial) string { return csvText(t.Tool) }},
	{"ports", func(_ record.Record, t record.Trial) string { return csvText(t.Ports) }},
	{"congestion_control", func(_ record.Record, t record.Trial) string { return csvText(t.Congest) }},
	{"mtu_bytes", func(_ record.Record, t record.Trial) string { return csvCount(t.MTU) }},
	{"started", func(_ record.Record, t record.Trial) string { return csvTime(t.Started) }},
	{"goodput_bps", func(_ record.Record, t record.Trial) string {
		if goodput(&t) == unknown {
			return ""
		}
		return csvNumber(float64(t.Goodput), 0)
	}},
	{"goodput_low_bps", func(_ record.Record, t record.Trial) string { return csvRate(t.GoodputLow) }},
	{"goodput_high_bps", func(_ record.Record, t record.Trial) string { return csvRate(t.GoodputHigh) }},
	{"forward_bps", func(_ record.Record, t record.Trial) string { return csvRate(t.Forward) }},
	{"reverse_bps", func(_ record.Record, t record.Trial) string { return csvRate(t.Reverse) }},
	{"wire_bps", func(_ record.Record, t record.Trial) string { return csvRate(t.Wire) }},
	{"ceiling_bps", func(_ record.Record, t record.Trial) string { return csvRate(t.Ceiling) }},
	{"ceiling_mtu_bytes", func(_ record.Record, t record.Trial) string { return csvCount(t.CeilingMTU) }},
	{"ceiling_ratio", func(_ record.Record, t record.Trial) string {
		v, ok := fraction(t.Goodput, t.Ceiling)
		if !ok || goodput(&t) == unknown {
			return ""
		}
		return csvNumber(v, 4)
	}},
	{"predicted_bps", func(_ record.Record, t record.Trial) string { return csvRate(t.Predicted) }},
	{"predicted_limit", func(_ record.Record, t record.Trial) string { return csvText(string(t.Limit)) }},
	{"cause", func(_ record.Record, t record.Trial) string { return csvText(string(cause(&t))) }},
	{"confidence_ratio", func(_ record.Record, t record.Trial) string {
		if t.Finding == nil || !positive(t.Finding.Confidence) {
			return ""
		}
		return csvNumber(t.Finding.Confidence, 2)
	}},
	{"expected_bps", func(_ record.Record, t record.Trial) string {
		if t.Finding == nil {
			return ""
		}
		return csvRate(t.Finding.Expected)
	}},
	{"retransmits_count", func(_ record.Record, t record.Trial) string {
		if len(t.Lanes) == 0 {
			return ""
		}
		return strconv.FormatUint(retransmits(t), 10)
	}},
	{"window_s", func(_ record.Record, t record.Trial) string { return csvSeconds(t.Window) }},
	{"warm_up_s", func(_ record.Record, t record.Trial) string { return csvSeconds(t.WarmUp) }},
	{"stop", func(_ record.Record, t record.Trial) string { return csvText(t.Stop) }},
}

// CSV is one row a trial, in the order before, steps, after. The header names
// the columns as the record's JSON keys do, units included; rates are bits per
// second without decimals. An empty field is unknown. Text that a spreadsheet
// would take for a formula gets a leading apostrophe.
func CSV(r record.Record) []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	row := make([]string, len(csvColumns))
	for i, c := range csvColumns {
		row[i] = c.key
	}
	_ = w.Write(row) // a bytes.Buffer takes every write
	for _, t := range ordered(r) {
		for i, c := range csvColumns {
			row[i] = c.value(r, t)
		}
		_ = w.Write(row)
	}
	w.Flush()
	return b.Bytes()
}

func csvText(s string) string {
	s = printable(s)
	if s != "" && strings.ContainsRune("=+-@", rune(s[0])) {
		return "'" + s
	}
	return s
}

func csvRate(v unit.BitRate) string {
	if !positive(float64(v)) {
		return ""
	}
	return csvNumber(float64(v), 0)
}

func csvNumber(v float64, decimals int) string {
	if !finite(v) {
		return ""
	}
	return strconv.FormatFloat(v, 'f', decimals, 64)
}

func csvSeconds(v float64) string {
	if !positive(v) {
		return ""
	}
	return csvNumber(v, 3)
}

func csvCount(n int) string {
	if n <= 0 {
		return ""
	}
	return strconv.Itoa(n)
}

func csvTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

func retransmits(t record.Trial) uint64 {
	var n uint64
	for _, l := range t.Lanes {
		n += l.Retransmits
	}
	return n
}
