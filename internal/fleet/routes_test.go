package fleet

import (
	"net/netip"
	"runtime"
	"strings"
	"testing"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/agentapi"
)

// testRoutes asks where flows to the host itself and to nowhere go.
func testRoutes(t *testing.T, h *Host) {
	if runtime.GOOS != "linux" {
		t.Skip("routes are asked for on Linux only")
	}
	self := netip.MustParseAddr("127.0.0.1")
	flows := []flow.Tuple{{Proto: flow.TCP, Src: self, Dst: self, Sport: 1, Dport: 2}, {Proto: flow.TCP, Src: netip.MustParseAddr("192.0.2.77"), Dst: self}, {}}
	reply, err := h.Routes(t.Context(), agentapi.RoutesRequest{Flows: flows})
	if err != nil || len(reply.Routes) != len(flows) {
		t.Fatalf("%+v, %v", reply, err)
	}
	if r := reply.Routes[0]; r.Link != "lo" || r.Src != self || r.Gateway.IsValid() || r.Why != "" || r.Doubt != "" || r.NextHop(self) != self {
		t.Errorf("to itself: %+v", r)
	}
	for i, r := range reply.Routes[1:] {
		if r.Link != "" || r.Why == "" {
			t.Errorf("flow %d: %+v, want no route and why", i+1, r)
		}
	}
	_, err = h.Routes(t.Context(), agentapi.RoutesRequest{Flows: make([]flow.Tuple, agentapi.MostRoutes+1)})
	if err == nil || !strings.Contains(err.Error(), "at most 65536") {
		t.Errorf("too many flows: %v", err)
	}
}
