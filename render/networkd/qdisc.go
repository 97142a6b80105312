package networkd

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/linerate/linerate/render/readback"
	"github.com/linerate/linerate/render/unitfile"
)

// qdiscKind is a queueing discipline in networkd's words: the section, and by
// tc's word the key with the kind of value it takes.
type qdiscKind struct {
	tc, section string
	keys        []qdiscKey
}

// qdiscKey is one parameter: "n" a number, "rate", "bytes", "span", and
// "on"/"off" for words that stand alone.
type qdiscKey struct{ tc, networkd, kind string }

// qdiscKinds is the one table of queueing disciplines (tc-fq(8) and its like
// of iproute2 6.1; systemd.network(5) of systemd 252, all since 245).
var qdiscKinds = []qdiscKind{
	{"fq", "FairQueueing", []qdiscKey{
		{"limit", "PacketLimit", "n"}, {"flow_limit", "FlowLimit", "n"}, {"quantum", "QuantumBytes", "bytes"},
		{"initial_quantum", "InitialQuantumBytes", "bytes"}, {"maxrate", "MaximumRate", "rate"}, {"buckets", "Buckets", "n"},
		{"orphan_mask", "OrphanMask", "n"}, {"ce_threshold", "CEThresholdSec", "span"}, {"pacing", "Pacing", "on"}, {"nopacing", "Pacing", "off"},
	}},
	{"fq_codel", "FairQueueingControlledDelay", []qdiscKey{
		{"limit", "PacketLimit", "n"}, {"flows", "Flows", "n"}, {"quantum", "QuantumBytes", "bytes"}, {"target", "TargetSec", "span"},
		{"interval", "IntervalSec", "span"}, {"memory_limit", "MemoryLimitBytes", "bytes"}, {"ce_threshold", "CEThresholdSec", "span"},
		{"ecn", "ECN", "on"}, {"noecn", "ECN", "off"},
	}},
	{"codel", "ControlledDelay", []qdiscKey{
		{"limit", "PacketLimit", "n"}, {"target", "TargetSec", "span"}, {"interval", "IntervalSec", "span"},
		{"ce_threshold", "CEThresholdSec", "span"}, {"ecn", "ECN", "on"}, {"noecn", "ECN", "off"},
	}},
	{"tbf", "TokenBucketFilter", []qdiscKey{
		{"rate", "Rate", "rate"}, {"burst", "BurstBytes", "bytes"}, {"buffer", "BurstBytes", "bytes"}, {"maxburst", "BurstBytes", "bytes"},
		{"limit", "LimitBytes", "bytes"}, {"latency", "LatencySec", "span"}, {"peakrate", "PeakRate", "rate"},
		{"mtu", "MTUBytes", "bytes"}, {"mpu", "MPUBytes", "bytes"},
	}},
	{"pfifo", "PFIFO", []qdiscKey{{"limit", "PacketLimit", "n"}}},
	{"bfifo", "BFIFO", []qdiscKey{{"limit", "LimitBytes", "bytes"}}},
	{"pfifo_fast", "PFIFOFast", nil},
	{"sfq", "StochasticFairnessQueueing", []qdiscKey{{"perturb", "PerturbPeriodSec", "n"}}},
}

// qdiscSection is tc's words for a root queueing discipline as networkd has
// them. The error says what networkd has no word for.
func qdiscSection(words string) (unitfile.Section, error) {
	fields := strings.Fields(words)
	if len(fields) == 0 {
		return unitfile.Section{}, fmt.Errorf("no queueing discipline")
	}
	for _, kind := range qdiscKinds {
		if kind.tc != fields[0] {
			continue
		}
		s := unitfile.Section{Name: kind.section}
		s.Put("Parent", "root")
		for i := 1; i < len(fields); i++ {
			row, ok := kind.key(fields[i])
			if !ok {
				return s, fmt.Errorf("systemd-networkd cannot represent %q of %s", fields[i], kind.tc)
			}
			value, ok := map[string]string{"on": "yes", "off": "no"}[row.kind]
			if !ok {
				if i++; i == len(fields) {
					return s, fmt.Errorf("%s of %s has no value", row.tc, kind.tc)
				}
				if value, ok = qdiscValue(row.kind, fields[i]); !ok {
					return s, fmt.Errorf("%q is no value for %s of %s", fields[i], row.tc, kind.tc)
				}
			}
			s.Put(row.networkd, value)
		}
		return s, nil
	}
	return unitfile.Section{}, fmt.Errorf("systemd-networkd is not told of %s here", fields[0])
}

func (k qdiscKind) key(word string) (qdiscKey, bool) {
	for _, row := range k.keys {
		if row.tc == word {
			return row, true
		}
	}
	return qdiscKey{}, false
}

// qdiscValue is a value of tc's as networkd takes it.
func qdiscValue(kind, s string) (string, bool) {
	switch kind {
	case "rate":
		bits, ok := tcRate(s)
		return strconv.FormatUint(bits, 10), ok
	case "bytes":
		bytes, ok := tcSize(s)
		return strconv.FormatUint(bytes, 10), ok
	case "span":
		if n, err := strconv.Atoi(s); err == nil {
			return strconv.Itoa(n) + "us", n >= 0 // tc's bare number
		}
		d, ok := parseSpan(s)
		return strconv.FormatInt(int64(d/time.Microsecond), 10) + "us", ok
	}
	_, err := strconv.ParseUint(s, 0, 32)
	return strings.TrimSuffix(s, "p"), err == nil
}

// tcRate is a rate in tc(8)'s words in bits a second: a bare number is bits,
// "bps" bytes.
func tcRate(s string) (uint64, bool) {
	s = strings.ToLower(s)
	for _, u := range []struct {
		word  string
		scale float64
	}{
		{"kibit", 1 << 10}, {"mibit", 1 << 20}, {"gibit", 1 << 30}, {"kbit", 1e3}, {"mbit", 1e6}, {"gbit", 1e9}, {"tbit", 1e12}, {"bit", 1},
		{"kbps", 8e3}, {"mbps", 8e6}, {"gbps", 8e9}, {"bps", 8}, {"", 1},
	} {
		if number, ok := strings.CutSuffix(s, u.word); ok {
			return readback.ScaledNumber(number, u.scale)
		}
	}
	return 0, false
}

// tcSize is a size in tc(8)'s words in bytes.
func tcSize(s string) (uint64, bool) {
	s = strings.ToLower(s)
	for _, u := range []struct {
		word  string
		scale float64
	}{{"kb", 1 << 10}, {"k", 1 << 10}, {"mb", 1 << 20}, {"m", 1 << 20}, {"gb", 1 << 30}, {"g", 1 << 30}, {"b", 1}, {"", 1}} {
		if number, ok := strings.CutSuffix(s, u.word); ok {
			return readback.ScaledNumber(number, u.scale)
		}
	}
	return 0, false
}

// tcWords is a section of networkd's as tc's words; false for a section that
// is no root queueing discipline of the table, with the keys that it lacks.
func tcWords(s unitfile.Section) (words string, unread []unitfile.Assignment, ok bool) {
	for _, kind := range qdiscKinds {
		if kind.section != s.Name {
			continue
		}
		words = kind.tc
		for _, a := range s.Keys {
			row, known := kind.byNetworkd(a)
			switch {
			case a.Key == "Parent" && a.Value == "root":
			case !known:
				unread = append(unread, a)
			case row.kind == "on" || row.kind == "off":
				words += " " + row.tc
			default:
				value := a.Value
				if row.kind == "rate" {
					value = readback.SizeText(value, 1000) + "bit"
				} else if row.kind == "bytes" {
					value = readback.SizeText(value, 1024)
				}
				words += " " + row.tc + " " + strings.ReplaceAll(value, " ", "")
			}
		}
		return words, unread, true
	}
	return "", nil, false
}

func (k qdiscKind) byNetworkd(a unitfile.Assignment) (qdiscKey, bool) {
	for _, row := range k.keys {
		if row.networkd != a.Key {
			continue
		}
		on, isBool := readback.ZeroOne(a.Value)
		if row.kind == "on" && (!isBool || on != "1") || row.kind == "off" && (!isBool || on != "0") {
			continue
		}
		return row, true
	}
	return qdiscKey{}, false
}

// spanUnits are the units of systemd.time(7) as far as networks need them.
var spanUnits = []struct {
	words []string
	unit  time.Duration
}{
	{[]string{"usec", "us", "µs"}, time.Microsecond},
	{[]string{"msec", "ms"}, time.Millisecond},
	{[]string{"seconds", "second", "sec", "s", ""}, time.Second},
	{[]string{"minutes", "minute", "min", "m"}, time.Minute},
	{[]string{"hours", "hour", "hr", "h"}, time.Hour},
}

// parseSpan reads a time span of systemd.time(7), "1min 30s"; a bare number is
// seconds. False for what is none, or longer than a century.
func parseSpan(s string) (time.Duration, bool) {
	const most = 100 * 365 * 24 * time.Hour
	s = strings.TrimSpace(s)
	var sum time.Duration
	for n := 0; s != ""; n++ {
		i := 0
		for i < len(s) && (s[i] >= '0' && s[i] <= '9' || s[i] == '.') {
			i++
		}
		value, err := strconv.ParseFloat(s[:i], 64)
		if err != nil || n > 8 {
			return 0, false
		}
		s = strings.TrimLeft(s[i:], " ")
		i = 0
		for i < len(s) && (s[i] < '0' || s[i] > '9') && s[i] != ' ' {
			i++
		}
		unit, ok := spanUnit(s[:i])
		if !ok || value*float64(unit) > float64(most) {
			return 0, false
		}
		sum += time.Duration(value * float64(unit))
		s = strings.TrimLeft(s[i:], " ")
		if sum > most {
			return 0, false
		}
		if s == "" {
			return sum, true
		}
	}
	return 0, false
}

func spanUnit(word string) (time.Duration, bool) {
	for _, u := range spanUnits {
		if slices.Contains(u.words, word) {
			return u.unit, true
		}
	}
	return 0, false
}

// fromSpan is a time span as the kernel's milliseconds.
func fromSpan(s string) (string, bool) {
	d, ok := parseSpan(s)
	return strconv.FormatInt(d.Milliseconds(), 10), ok
}

// wholeSeconds is a time span as the kernel's seconds.
func wholeSeconds(s string) (string, bool) {
	d, ok := parseSpan(s)
	return strconv.FormatInt(int64(d/time.Second), 10), ok && d%time.Second == 0
}

// microseconds is a time span as ethtool's microseconds.
func microseconds(s string) (int, bool) {
	d, ok := parseSpan(s)
	return int(d.Microseconds()), ok
}
