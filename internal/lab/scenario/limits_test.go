package scenario

import (
	"strings"
	"testing"

	"github.com/linerate/linerate/record"
)

// TestLimits: each step ends with what held it, each cause once with the numbers
// of streams; what nobody judged says nothing.
func TestLimits(t *testing.T) {
	row := func(step string, streams int, limit record.Cause) Row {
		return Row{Step: step, Streams: streams, Limit: limit, Direction: "forward", Tool: "iperf3"}
	}
	rows := []Row{
		row("first", 0, ""), row("first", 1, record.ReceiveWindow), row("first", 8, record.Shaper), row("first", 2, record.ReceiveWindow), row("first", 1, record.ReceiveWindow),
		row("second", 0, ""), row("third", 4, record.LineRate),
	}
	for name, text := range map[string]string{"table": Text(rows), "page": Page([]Outcome{{Scenario: "x", Rows: rows}})} {
		if n := strings.Count(text, "limited by"); n != 2 || !strings.Contains(text, "  limited by, streams: receive-window (1 2), shaper (8)\n") || !strings.Contains(text, "line-rate (4)\n") {
			t.Errorf("%s:\n%s", name, text)
		}
		for line := range strings.Lines(text) {
			if len([]rune(strings.TrimSuffix(line, "\n"))) > tableWidth {
				t.Errorf("%s: too wide: %q", name, line)
			}
		}
	}
}

// A lab's kernels are Linux: a host of another system is none of its.
func TestOtherSystemIsNotBuilt(t *testing.T) {
	_, err := Parse("f.yaml", []byte(`linerate: v1
hosts:
  a: {system: aix, network: {ethernets: {ent0: {addresses: [10.0.0.1/24]}}}, hardware: {links: {ent0: {speed: 1G}}}}
  b: {network: {ethernets: {eth0: {addresses: [10.0.0.2/24]}}}, hardware: {links: {eth0: {speed: 1G}}}}
`))
	if err == nil || !strings.Contains(err.Error(), "hosts.a runs AIX: a lab's hosts run Linux") {
		t.Errorf("%v", err)
	}
}
