package probed

import (
	"slices"
	"strings"
	"testing"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// TestA5bMoreLinksAreNoLimitOfAStream: more streams that used more links as well
// are judged by what each link carried.
func TestA5bMoreLinksAreNoLimitOfAStream(t *testing.T) {
	base := record.Trial{From: "a", To: "b", Direction: flow.Forward, Streams: 1, Goodput: 94 * unit.Mbps, Links: []record.LinkUse{
		{Host: "a", Link: "ens1", TxPayload: 94 * unit.Mbps}, {Host: "b", Link: "ens1", TxPayload: 1 * unit.Mbps}}}
	two := base
	two.Streams, two.Goodput, two.Variant = 2, 187*unit.Mbps, record.Decision{Probe: record.ProbeStreams, Value: 2}.Variant(1)
	two.Links = append(slices.Clone(base.Links), record.LinkUse{Host: "a", Link: "ens2", TxPayload: 93 * unit.Mbps})
	got := Outcomes(base, two)
	if len(got) != 1 || got[0].Word != Kept || !strings.Contains(got[0].Says, "each link is capped") {
		t.Errorf("%+v", got)
	}
	same := two
	same.Links = base.Links
	if got := Outcomes(base, same); got[0].Word != Grew {
		t.Errorf("on one link: %+v", got)
	}
	uneven := two
	uneven.Goodput = 400 * unit.Mbps
	if got := Outcomes(base, uneven); got[0].Word != Unclear {
		t.Errorf("four times as much on two links: %+v", got)
	}
}
