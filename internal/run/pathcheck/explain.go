package pathcheck

import (
	"fmt"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/record"
)

// enough is the share of its ceiling from which a trial lost nothing by the
// way its packets took.
const enough = 0.97

// explained reports a cause that a wrong link explains better: it names what
// the links that were used did, and not why those were used. A queue or losses
// on the way stand: diagnose knows the routes and weighed them already.
func explained(c record.Cause) bool {
	switch c {
	case record.Unknown, record.SingleLink, record.HashImbalance, record.LineRate, record.AsymmetricRoute:
		return true
	}
	return false
}

// Explain is a trial's finding with what the kernels said of its routes: a
// trial that stayed below its ceiling while its senders' traffic left by the
// wrong link is an asymmetric route's. A finding of another kind, such as a
// full processor, stands.
func Explain(f record.Finding, t record.Trial, problems []Problem) record.Finding {
	if !explained(f.Cause) || t.Ceiling <= 0 || float64(t.Goodput) >= enough*float64(t.Ceiling) {
		return f
	}
	var evidence []record.Evidence
	var steps record.Way
	for _, p := range problems {
		if !p.Misleads() || !sends(t, p.Host) {
			continue
		}
		evidence = append(evidence, record.Evidence{
			What: p.Host + " sends from " + some(p.Own) + " by", Value: p.Out + " and not " + p.Link, Source: "the kernel's own answer (RTM_GETROUTE)",
		})
		steps = append(steps, p.Remedy...)
		if len(evidence) == 1 {
			f.Summary = fmt.Sprintf("Traffic leaves by the wrong link. %s: %s.", p.Host, p.Summary)
		}
	}
	if len(evidence) == 0 {
		return f
	}
	f.Cause, f.Confidence, f.Expected = record.AsymmetricRoute, max(f.Confidence, 0.9), t.Ceiling
	f.Do(record.Do(steps...))
	f.Evidence = append(evidence, f.Evidence...)
	return f
}

func sends(t record.Trial, host string) bool {
	for _, way := range t.Direction.Ways() {
		if way == flow.Forward && host == t.From || way == flow.Reverse && host == t.To {
			return true
		}
	}
	return false
}
