package campaign

import (
	"slices"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/run/measure"
	"github.com/linerate/linerate/record"
)

// denials are the reasons for which a target that listens is not asked again
// in the same run: nothing here changes its mind. One that is busy is.
var denials = [...]agentapi.Code{agentapi.CodeRefused, agentapi.CodePermission, agentapi.CodeSilent, agentapi.CodeBlocked}

// Denied reports a trial that its hosts did not let begin: unreachable, or not
// permitted.
func Denied(f record.Failure) bool {
	return f.Reason == Unreachable || slices.Contains(denials[:], agentapi.Code(f.Reason))
}

// deny remembers that a target that listens denied a trial.
func (r *run) deny(f record.Failure) {
	if _, listens := r.c.cfg.Listeners[f.To]; !listens || !Denied(f) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.denied == nil {
		r.denied = make(map[string]record.Failure)
	}
	if _, there := r.denied[f.To]; !there {
		r.denied[f.To] = f
	}
}

// untried leaves out the trials whose targets have denied one before, whose
// failures are kept and nobody is told again, and puts off those of hosts that
// do not answer any more.
func (r *run) untried(specs []measure.Spec) (left []measure.Spec, err error) {
	for _, s := range specs {
		if r.c.downEnd(s) != nil {
			r.put(s)
			continue
		}
		r.mu.Lock()
		before, denied := r.denied[s.To]
		r.mu.Unlock()
		if !denied {
			left = append(left, s)
			continue
		}
		f := record.Failure{From: s.From, To: s.To, Direction: s.Direction, Streams: s.Streams, Error: before.Error, Reason: before.Reason}
		if err := r.c.keep(func(rec *record.Record) { rec.Failures = append(rec.Failures, f) }); err != nil {
			return nil, err
		}
		r.count()
	}
	return left, nil
}
