package act

import (
	"errors"
	"io/fs"
	"net/netip"
	"slices"
	"testing"

	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/plan"
)

// TestKernelMakesAnother: a route that the kernel makes another one of than was asked
// is an error and is gone again, where undo would look for what was asked.
func TestKernelMakesAnother(t *testing.T) {
	inNewNamespace(t, func() {
		cable(t)
		for _, r := range []netstate.Route{
			{Dst: netip.MustParsePrefix("10.9.0.0/16"), Gateway: netip.MustParseAddr("10.77.0.254"), Link: "v0", MTU: 65536, Protocol: "static"},
			{Dst: netip.MustParsePrefix("10.9.0.0/16"), Gateway: netip.MustParseAddr("10.77.0.254"), Link: "v0", Metrics: map[string]string{"advmss": "65500"}, Protocol: "static"},
			{Dst: netip.MustParsePrefix("fd09::/48"), Gateway: netip.MustParseAddr("fd77::9"), Link: "v0", MTU: 65536, Protocol: "static"},
			{Dst: netip.MustParsePrefix("fd09::/48"), Gateway: netip.MustParseAddr("fd77::9"), Link: "v0", Metrics: map[string]string{"hoplimit": "300"}, Protocol: "static"},
		} {
			err := Kernel{}.Do(t.Context(), present(plan.Step{Kind: plan.Route, Link: "v0", Route: &r}))
			// Others come by themselves meanwhile, such as a link's own IPv6 ones.
			after, err2 := routes()
			must(t, err2)
			if !errors.Is(err, fs.ErrInvalid) || slices.ContainsFunc(after, func(one netstate.Route) bool { return one.Dst == r.Dst }) {
				t.Errorf("%+v: %v; routes after it: %+v", r, err, after)
			}
		}
	})
}
