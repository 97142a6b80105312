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
