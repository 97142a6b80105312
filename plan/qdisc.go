package plan

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/unit"
)

// ErrQdisc is a queueing discipline that no step can make, or put back.
var ErrQdisc = errors.New("no step can make this queueing discipline")

// qdiscRule is one discipline that a step can set: the parameters it takes, in
// the order they are spelled. What the table lacks is classful, or has
// settings that are not read, and could not be put back.
type qdiscRule struct {
	kind   string
	params []string
	// limit is the kernel's own, which is not spelled.
	limit int64
}

// qdisc parameters as tc(8) names them.
const (
	paramRate      = "rate"
	paramBurst     = "burst"
	paramLimit     = "limit"
	paramMaxRate   = "maxrate"
	paramBandwidth = "bandwidth"
)

// qdiscRules is the one table of disciplines (tc-fq(8), tc-fq_codel(8),
// tc-tbf(8), tc-pfifo(8)). The limits are those of fq_init and fq_codel_init.
var qdiscRules = [...]qdiscRule{
	{kind: DefaultQdisc},
	{kind: "fq", params: []string{paramMaxRate, paramLimit}, limit: 10_000},
	{kind: "fq_codel", params: []string{paramLimit}, limit: 10_240},
	{kind: "tbf", params: []string{paramRate, paramBurst, paramLimit}},
	{kind: "pfifo", params: []string{paramLimit}},
	{kind: "bfifo", params: []string{paramLimit}},
	{kind: "pfifo_fast"},
	{kind: "noqueue"},
	{kind: "mq"},
	{kind: "cake", params: []string{paramBandwidth}},
}

func qdiscRuleOf(kind string) (qdiscRule, bool) {
	for _, r := range qdiscRules {
		if r.kind == kind {
			return r, true
		}
	}
	return qdiscRule{}, false
}

// RootQdisc is the link's root discipline in words. One that the kernel put
// there itself (handle "0:") is "default", as is none at all. ErrQdisc with a
// discipline that a step could not put back.
func RootQdisc(l netstate.Link) (string, error) {
	for _, q := range l.Qdiscs {
		if q.Parent == "root" {
			if q.Handle == "0:" || q.Kind == "noqueue" {
				return DefaultQdisc, nil
			}
			if q.Kind == "cake" {
				return "", fmt.Errorf("%w: cake has settings that are not read", ErrQdisc)
			}
			return QdiscWords(q)
		}
	}
	return DefaultQdisc, nil
}

// QdiscWords is the one spelling of a discipline: its kind and the parameters
// that are not the kernel's own, rates in bit, sizes in bytes ("b"), queue
// lengths in packets. ErrQdisc for what the table lacks.
func QdiscWords(q netstate.Qdisc) (string, error) {
	rule, ok := qdiscRuleOf(q.Kind)
	if !ok {
		return "", fmt.Errorf("%w: %s", ErrQdisc, q.Kind)
	}
	words := []string{q.Kind}
	for _, p := range rule.params {
		var value string
		switch p {
		case paramRate, paramBandwidth:
			value = bits(q.Rate)
		case paramMaxRate:
			value = bits(q.FlowRate)
		case paramBurst:
			value = size(q.Burst)
		case paramLimit:
			if inBytes(q.Kind) {
				value = size(q.Limit)
			} else if q.LimitPackets > 0 && int64(q.LimitPackets) != rule.limit {
				value = strconv.Itoa(q.LimitPackets)
			}
		}
		if value != "" {
			words = append(words, p, value)
		}
	}
	return strings.Join(words, " "), nil
}

// inBytes reports disciplines whose limit is a size.
func inBytes(kind string) bool { return kind == "tbf" || kind == "bfifo" }

func bits(r unit.BitRate) string {
	if r <= 0 {
		return ""
	}
	return strconv.FormatInt(int64(r), 10) + "bit"
}

func size(b unit.Bytes) string {
	if b <= 0 {
		return ""
	}
	return strconv.FormatInt(int64(b), 10) + "b"
}

// ParseQdisc reads a discipline in tc(8)'s words, with tc's units ("10gbit",
// "128kb") too, and rounds it to what the kernel keeps: rates to whole bytes a
// second, a bucket's size to ticks of 64 ns. "default" is a Qdisc of that
// kind. ErrQdisc for what the table lacks.
func ParseQdisc(words string) (netstate.Qdisc, error) {
	q := netstate.Qdisc{Parent: "root"}
	f := strings.Fields(words)
	if len(f) == 0 {
		return q, fmt.Errorf("%w: %q", ErrQdisc, words)
	}
	q.Kind = f[0]
	rule, ok := qdiscRuleOf(q.Kind)
	if !ok {
		return q, fmt.Errorf("%w: %s", ErrQdisc, q.Kind)
	}
	seen := make(map[string]bool)
	for f = f[1:]; len(f) > 0; f = f[2:] {
		if len(f) == 1 {
			return q, fmt.Errorf("parse qdisc %q: %s has no value", words, f[0])
		}
		if !takes(rule, f[0]) || seen[f[0]] {
			return q, fmt.Errorf("%w: %s with %s", ErrQdisc, q.Kind, f[0])
		}
		seen[f[0]] = true
		if err := setParam(&q, f[0], f[1]); err != nil {
			return q, fmt.Errorf("parse qdisc %q: %w", words, err)
		}
	}
	if int64(q.LimitPackets) == rule.limit {
		q.LimitPackets = 0
	}
	if q.Kind == "tbf" {
		if q.Rate == 0 || q.Burst == 0 || q.Limit == 0 {
			return q, fmt.Errorf("parse qdisc %q: tbf needs rate, burst and limit", words)
		}
		q.Burst = kept(q.Rate, q.Burst)
	}
	return q, nil
}

func takes(r qdiscRule, param string) bool {
	return slices.Contains(r.params, param)
}

// setParam sets one parameter.
func setParam(q *netstate.Qdisc, param, value string) error {
	switch param {
	case paramRate, paramBandwidth, paramMaxRate:
		r, err := tcRate(value)
		if err != nil {
			return err
		}
		if param == paramMaxRate {
			// fq keeps bytes a second in 32 bits, all ones being no cap.
			if r/8 >= math.MaxUint32 {
				return fmt.Errorf("maxrate %s is more than fq can, %dbit", value, int64(math.MaxUint32-1)*8)
			}
			q.FlowRate = r
		} else {
			q.Rate = r
		}
	case paramBurst:
		n, err := tcSize(value)
		q.Burst = n
		return err
	case paramLimit:
		if inBytes(q.Kind) {
			n, err := tcSize(value)
			q.Limit = n
			return err
		}
		n, err := strconv.ParseUint(strings.TrimSuffix(value, "p"), 10, 31)
		if err != nil || n == 0 {
			return fmt.Errorf("%q is no number of packets", value)
		}
		q.LimitPackets = int(n)
	}
	return nil
}

// tcRates are the units of a rate in tc(8), longest first; a bare number is
// bits a second.
var tcRates = [...]struct {
	suffix string
	bits   float64
}{
	{"gibit", 1 << 30}, {"mibit", 1 << 20}, {"kibit", 1 << 10},
	{"gbit", 1e9}, {"mbit", 1e6}, {"kbit", 1e3}, {"bit", 1},
	{"gbps", 8e9}, {"mbps", 8e6}, {"kbps", 8e3}, {"bps", 8}, {"", 1},
}

func tcRate(s string) (unit.BitRate, error) {
	lower := strings.ToLower(s)
	for _, u := range tcRates {
		number, ok := strings.CutSuffix(lower, u.suffix)
		if !ok {
			continue
		}
		v, err := strconv.ParseFloat(number, 64)
		v *= u.bits
		if err != nil || !(v >= 8) || v > 1e15 {
			break
		}
		return unit.BitRate(math.Floor(v/8) * 8), nil
	}
	return 0, fmt.Errorf("%q is no rate of tc(8)", s)
}

// tcSizes are the units of a size in tc(8): all of them powers of 1024, a bare
// number bytes.
var tcSizes = [...]struct {
	suffix string
	bytes  float64
}{{"gb", 1 << 30}, {"mb", 1 << 20}, {"kb", 1 << 10}, {"g", 1 << 30}, {"m", 1 << 20}, {"k", 1 << 10}, {"b", 1}, {"", 1}}

func tcSize(s string) (unit.Bytes, error) {
	lower := strings.ToLower(s)
	for _, u := range tcSizes {
		number, ok := strings.CutSuffix(lower, u.suffix)
		if !ok {
			continue
		}
		v, err := strconv.ParseFloat(number, 64)
		v *= u.bytes
		if err != nil || !(v >= 1) || v > math.MaxUint32 {
			break
		}
		return unit.Bytes(v), nil
	}
	return 0, fmt.Errorf("%q is no size of tc(8)", s)
}

// BucketTicks is how long a bucket of that size takes to fill, in the kernel's
// ticks of 64 ns (PSCHED_SHIFT, include/net/pkt_sched.h), at least one.
func BucketTicks(rate unit.BitRate, burst unit.Bytes) uint32 {
	t := math.Round(float64(burst) * 8 / float64(rate) * float64(time.Second) / 64)
	return uint32(min(max(t, 1), math.MaxUint32))
}

// kept is the bucket that the kernel shows for one.
func kept(rate unit.BitRate, burst unit.Bytes) unit.Bytes {
	fill := time.Duration(BucketTicks(rate, burst)) * 64
	return unit.Bytes(math.Round(float64(rate) / 8 * fill.Seconds()))
}
