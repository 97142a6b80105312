package paths

import (
	"fmt"
	"net/netip"

	"github.com/linerate/linerate/diagnose/pasted/scene"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// boundTest: a test that names its own address, on a host with another interface in the same
// network: the address is no interface, and the route decides which one sends.
func boundTest(v *scene.View) {
	h, both, ok := v.SaidBy("both_plugged")
	if !ok || v.HasFinding(record.AsymmetricRoute) || len(v.Bonds) > 0 {
		return
	}
	for _, r := range v.Case.Runs {
		bind := r.Detail["bind"]
		if at, err := netip.ParseAddr(bind); err != nil || at.Zone() != "" || at.IsUnspecified() || r.Rate <= 0 || r.Rate > unit.Gbps {
			continue
		}
		v.Add(record.AsymmetricRoute, 0.54, h, "the interface that the test leaves by",
			fmt.Sprintf("The test is bound to %s, and two interfaces are in that network by what is said: an address chooses no interface. Linux sends by the route with the better metric, or the first, whatever address the packets have, so that %v may be the other interface's.", bind, r.Rate),
			"`ip route get PEER from "+bind+"` names the interface that sends. Bind to the device (`iperf3 --bind-dev LINK`, or from 3.12 on `-B "+bind+"%LINK`), take the other interface down for the test, or give each a network or a table with a rule of its own; arp_ignore=1 and arp_announce=2 at both.",
			scene.Saw(r.Tool, "--bind "+bind, r.Source), scene.Saw("said", both.Text, both.Source)).Ask = routeAsks
		return
	}
}
