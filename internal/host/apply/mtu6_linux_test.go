package apply

import (
	"os"
	"strings"
	"testing"

	"github.com/linerate/linerate/internal/kernel/act"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/plan"
)

// TestLowerMTU6: a link's MTU for IPv6 that is below its own is there after a change of
// the link's MTU and state, and after the rollback.
func TestLowerMTU6(t *testing.T) {
	const file, key = "/proc/sys/net/ipv6/conf/v1/mtu", "net.ipv6.conf.v1.mtu"
	inNamespace(t, func(plan.Plan, func()) {
		low := func(when string) {
			t.Helper()
			if text, err := os.ReadFile(file); err != nil || strings.TrimSpace(string(text)) != "1400" {
				t.Errorf("%s: IPv6's MTU is %q, %v", when, text, err)
			}
		}
		up := plan.Step{Kind: plan.LinkState, Link: "v1", Old: plan.Down, New: plan.Up}
		if err := (act.Kernel{}).Do(t.Context(), up); err != nil {
			t.Error(err)
		}
		if err := os.WriteFile(file, []byte("1400"), 0); err != nil {
			t.Error(err)
		}
		host := netstate.Host{Links: []netstate.Link{{Name: "v1", Kind: "veth", MTU: 1500, Up: true}},
			Sysctls: map[string]netstate.Sysctl{key: {Value: "1400", Scope: netstate.ScopeNamespace}}}
		want := host.Clone()
		want.Links[0].MTU = 9000
		p, err := plan.Between(host, want)
		if err != nil {
			t.Error(err)
			return
		}
		a := applier(t, tempDir(t), act.Kernel{})
		r, err := a.Apply(t.Context(), p, Options{})
		if err != nil {
			t.Error(err)
			return
		}
		low("changed")
		if r, err = a.Rollback(t.Context(), r.ID); err != nil || len(r.Left) > 0 {
			t.Errorf("%+v: %v", r, err)
		}
		low("rolled back")
	})
}
