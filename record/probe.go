package record

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/linerate/linerate/flow"
)

// ProbeSame is the trial as it was, again: what a probe is set beside, since
// the network may have changed meanwhile.
const ProbeSame ProbeKind = "same"

// ProbeSetting is what a probe's trial carries in Variant before its kind.
const ProbeSetting = "probe"

// of joins a probe to the stream count of the trial that it was made for.
const of = " of "

// Variant is how the trial of a probe is told from others, and which trial it
// was made for: "probe=streams:8 of 2" is eight streams, for a trial of two.
func (d Decision) Variant(streams int) string {
	v := ProbeSetting + "=" + string(d.Probe)
	if d.Value > 0 {
		v += ":" + strconv.FormatFloat(d.Value, 'f', -1, 64)
	}
	return fmt.Sprint(v, of, streams)
}

// Probe is the kind and the value of the probe that a trial is; false where it
// is none. A value of zero is the kind's usual one.
func (t Trial) Probe() (kind ProbeKind, value float64, ok bool) {
	rest, ok := strings.CutPrefix(t.Variant, ProbeSetting+"=")
	if !ok {
		return "", 0, false
	}
	rest, _, _ = strings.Cut(rest, of)
	word, number, _ := strings.Cut(rest, ":")
	value, _ = strconv.ParseFloat(number, 64)
	return ProbeKind(word), value, word != ""
}

// ProbesOf are the probes in a record that were made for one of its trials.
func (r Record) ProbesOf(t Trial) []Trial {
	type pair struct {
		from, to  string
		direction flow.Direction
	}
	var out []Trial
	for _, p := range r.Trials {
		_, _, ok := p.Probe()
		_, streams, _ := strings.Cut(p.Variant, of)
		same := pair{p.From, p.To, p.Direction} == pair{t.From, t.To, t.Direction}
		if ok && same && streams == strconv.Itoa(t.Streams) {
			out = append(out, p)
		}
	}
	return out
}
