package trial

import (
	"strings"
	"testing"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// TestFullReturnPath: acknowledgements that fill what the receiver may send hold the sender;
// payload of others there, or a link that is not full, does not say so.
func TestFullReturnPath(t *testing.T) {
	shaped := netstate.Link{Name: "eth0", Up: true, Carrier: true, Speed: 60 * unit.Mbps, MTU: 1500, Qdiscs: []netstate.Qdisc{{Kind: "tbf", Parent: "root", Rate: 150e3}}}
	plain := shaped
	plain.Qdiscs = nil
	for name, c := range map[string]struct {
		link         netstate.Link
		sent         unit.BitRate // by the receiver
		others, data unit.BitRate // payload that it sent, payload of the trial
		way          flow.Direction
		want         bool
	}{
		"a shaper of its own is full":       {shaped, 149e3, 1e3, 6e6, flow.Forward, true},
		"its link is full":                  {plain, 58e6, 1e3, 6e6, flow.Forward, true},
		"half of the shaper":                {shaped, 80e3, 1e3, 6e6, flow.Forward, false},
		"other traffic fills it":            {plain, 58e6, 55e6, 6e6, flow.Forward, false},
		"both ways at once":                 {shaped, 149e3, 1e3, 6e6, flow.Both, false},
		"the sender's own way is full":      {shaped, 149e3, 1e3, 57e6, flow.Forward, false},
		"the link's speed is not known":     {netstate.Link{Name: "eth0"}, 149e3, 1e3, 6e6, flow.Forward, false},
		"nothing is sent back, nor arrives": {shaped, 0, 0, 0, flow.Forward, false},
	} {
		f := predict.Fabric{Hosts: map[string]netstate.Host{"a": {Name: "a", Links: []netstate.Link{plain}}, "b": {Name: "b", Links: []netstate.Link{c.link}}}}
		v := view(f, record.Trial{From: "a", To: "b", Direction: c.way, Goodput: c.data, Lanes: []record.Lane{{Way: flow.Forward, Goodput: c.data}}, Links: []record.LinkUse{
			{Host: "a", Link: "eth0", TxPayload: c.data, Ceiling: 57e6},
			{Host: "b", Link: "eth0", RxPayload: c.data, Tx: c.sent, TxPayload: c.others, Ceiling: 57e6},
		}}, flow.Forward)
		h, got := v.fullReturnPath()
		if got != c.want || got && (h.cause != record.Shaper || !strings.Contains(h.summary, "return path is full")) {
			t.Errorf("%s: %v, %+v", name, got, h)
		}
	}
}
