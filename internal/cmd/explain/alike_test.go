package explain

import (
	"strings"
	"testing"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// User A12: twelve results that are explained alike are one block, not 3,679 words.
func TestAlike(t *testing.T) {
	finding := func(streams int, d flow.Direction, cause record.Cause, summary string, rate unit.BitRate) record.Finding {
		f := record.Finding{From: "a", To: "b", Direction: d, Streams: streams}
		f.Cause, f.Summary, f.Remedy, f.Rate = cause, summary, "look for a rate limit", rate
		return f
	}
	var all []record.Finding
	for _, d := range []flow.Direction{flow.Forward, flow.Reverse, flow.Both} {
		all = append(all, finding(1, d, record.Shaper, "Something lets through 95.5 Mbit/s a link.", 95.5*unit.Mbps), finding(8, d, record.Shaper, "Something lets through 287 Mbit/s a link.", 287*unit.Mbps))
	}
	all = append(all, finding(16, flow.Forward, record.SenderCPU, "A core of a is full.", 287*unit.Mbps))
	groups := alike(all)
	if len(groups) != 2 || len(groups[0]) != 6 {
		t.Fatalf("%d groups", len(groups))
	}
	lines := headlines(groups[0])
	if len(lines) != 3 || lines[0] != "a to b, forward: 1 stream 95.5 Mbit/s, 8 streams 287 Mbit/s" || !strings.HasPrefix(lines[2], "a to b, both") {
		t.Errorf("%q", lines)
	}
}
