package predict

import (
	"bytes"
	"strings"
	"testing"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/record"
)

// TestReasonsOfACause: where one cause binds for two reasons both are told, with the
// numbers of streams; the same reason with other figures, or the other way, is one.
func TestReasonsOfACause(t *testing.T) {
	row := func(d flow.Direction, streams int, where, why string) predict.Prediction {
		return predict.Prediction{Direction: d, Streams: streams, Rate: 1e9, Limit: record.SingleLink, Limits: []predict.Limit{{Cause: record.SingleLink, Rate: 1e9, Where: where, Why: why}}}
	}
	const near, far = "each flow takes one link; 1 of 2 links x 1.00 Gbit/s", "the switch: layer2 hashes only MAC addresses; 1 of 2 links x 1.00 Gbit/s"
	var out bytes.Buffer
	printLimits(&out, []predict.Prediction{
		row(flow.Forward, 1, "a: bond0", "bond0: "+near), row(flow.Reverse, 1, "b: bond1", "reverse: bond1: "+strings.Replace(near, "1 of 2", "1 of 4", 1)),
		row(flow.Forward, 2, "b: bond1", "bond1: "+far), row(flow.Forward, 4, "b: bond1", "bond1: "+far),
	}, 200)
	want := "  single-link, a: bond0, with 1 stream: " + near + "\n  single-link, b: bond1, with 2,4 streams: " + far + "\n"
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
}
