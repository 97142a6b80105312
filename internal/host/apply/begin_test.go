package apply

import (
	"context"
	"errors"
	"testing"

	"github.com/linerate/linerate/internal/agent/agentapi"
)

// TestBegin: nothing is done before Begin returns, the journal and the guard are
// there by then, and after its error nothing was done.
func TestBegin(t *testing.T) {
	refused := errors.New("the other end is not armed")
	for name, answer := range map[string]error{"begun": nil, "abandoned": refused} {
		t.Run(name, func(t *testing.T) {
			k := &portsKernel{fakeKernel: &fakeKernel{host: testHost()}, looks: map[string]int{}}
			ap := applier(t, tempDir(t), k)
			guarded := ""
			ap.cfg.StartGuard = func(_ context.Context, _ Config, id string) error {
				guarded = id
				return nil
			}
			asked := 0
			r, err := ap.Apply(context.Background(), portsPlan(t), Options{Begin: func(context.Context) error {
				asked++
				entries, _, err := ap.journal.List()
				if err != nil || len(entries) != 1 || entries[0].ID != guarded || k.dos != 0 {
					t.Errorf("asked to begin with %d entries, guard of %q, %d steps done, %v", len(entries), guarded, k.dos, err)
				}
				return answer
			}})
			switch {
			case asked != 1:
				t.Errorf("asked %d times", asked)
			case answer == nil && (err != nil || r.State != agentapi.ChangeApplied || k.dos != 2):
				t.Errorf("%+v, %v, %d steps done", r, err, k.dos)
			case answer != nil && (!errors.Is(err, refused) || r.State != agentapi.ChangeRolledBack || k.dos != 0):
				t.Errorf("%+v, %v, %d steps done; want none", r, err, k.dos)
			}
		})
	}
}
