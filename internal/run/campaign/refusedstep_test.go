package campaign

import (
	"fmt"
	"testing"

	"github.com/linerate/linerate/internal/advise/tune"
	"github.com/linerate/linerate/internal/agent/agentapi"
)

// TestRefusedStep: what a host did not take is not asked for again in a bundle; of a
// bundle nobody knows which part it was, and a busy host may take it later.
func TestRefusedStep(t *testing.T) {
	for _, c := range []struct {
		name string
		p    tune.Proposal
		err  error
		want []tune.Name
	}{
		{"not permitted", tune.Proposal{Name: tune.Congestion, Moves: []tune.Name{tune.Congestion}, Key: "congestion=cubic"}, &agentapi.Error{Code: agentapi.CodePermission}, []tune.Name{tune.Congestion, "congestion=cubic"}},
		{"did not hold", tune.Proposal{Name: tune.HashPolicy, Moves: []tune.Name{tune.HashPolicy}, Key: "hash=vlan"}, fmt.Errorf("a: %w: no such word", ErrRolledBack), []tune.Name{"hash=vlan"}},
		{"busy", tune.Proposal{Name: tune.MTU, Moves: []tune.Name{tune.MTU}, Key: "mtu"}, &agentapi.Error{Code: agentapi.CodeBusy}, nil},
		{"bundle", tune.Proposal{Name: tune.MTU, Moves: []tune.Name{tune.MTU, tune.Congestion}, Key: "mtu+bbr"}, &agentapi.Error{Code: agentapi.CodePermission}, nil},
	} {
		u := &tuning{s: tune.State{Refused: map[tune.Name]bool{}}}
		u.refused(c.p, c.err)
		if len(u.s.Refused) != len(c.want) {
			t.Errorf("%s: refused %v, want %v", c.name, u.s.Refused, c.want)
		}
		for _, name := range c.want {
			if !u.s.Refused[name] {
				t.Errorf("%s: %s is not refused", c.name, name)
			}
		}
	}
}
