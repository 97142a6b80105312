package observe

import (
	"context"
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/linerate/linerate/internal/kernel/feature"
	"github.com/linerate/linerate/internal/kernel/mptcp"
	"github.com/linerate/linerate/netstate"
)

func TestKernelObserveMPTCP(t *testing.T) {
	if err := feature.Need(feature.MPTCP); err != nil {
		t.Skip(err)
	}
	inNewNamespace(t, true, func() error {
		h, err := mptcp.Open()
		if err != nil {
			return err
		}
		defer h.Close()
		const loopback = 1
		want := netstate.MPTCP{Subflows: 5, AddAddrAccepted: 1, Endpoints: []netstate.MPTCPEndpoint{
			{ID: 1, Addr: netip.MustParseAddr("10.9.0.7"), Flags: netstate.MPTCPSubflow, Index: loopback, Link: "lo"},
		}}
		if err := h.SetLimits(5, 1); err != nil {
			return err
		}
		if err := h.Add(want.Endpoints[0]); err != nil {
			return err
		}
		got, err := Observe(context.Background(), Config{})
		if err != nil {
			return err
		}
		if got.MPTCP == nil {
			t.Fatalf("no MPTCP in the observed host; missing: %v", got.Missing)
		}
		if diff := cmp.Diff(want, *got.MPTCP, cmp.Comparer(func(a, b netip.Addr) bool { return a == b })); diff != "" {
			t.Errorf("MPTCP (-set +observed):\n%s", diff)
		}
		return nil
	})
}
