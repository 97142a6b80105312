package trial

import (
	"fmt"

	"github.com/linerate/linerate/record"
)

// A socket may leave so many bytes in its own host's queues (TCP small queues,
// tcp_small_queue_check of net/ipv4/tcp_output.c); below two large segments it
// waits for the card after each.
const (
	outputBytes     = "net.ipv4.tcp_limit_output_bytes"
	fewOutputBytes  = 128 << 10
	leastQueueDoubt = 0.6
)

// smallQueue: congestion control and the window would let more go, and what a
// socket may queue on its own host was made small.
func (v *wayView) smallQueue() (hypothesis, bool) {
	w := v.waits
	limit := v.fabric.Hosts[v.from].SysctlInts(outputBytes)
	if !w.heldAtHome() || !v.room() || len(limit) != 1 || limit[0] >= fewOutputBytes || limit[0] < 0 || v.heldByFlow() {
		return hypothesis{}, false
	}
	h := hypothesis{
		cause: record.SendBuffer, sure: leastQueueDoubt, mended: "With the usual limit",
		summary: fmt.Sprintf("A socket on %s may leave %d bytes in its own host's queues (%s), and sends far less than its window: it waits for the card after each segment.", v.from, limit[0], outputBytes),
		remedy:  record.Do(record.Sysctl(v.from, outputBytes, "1048576")),
		evidence: append([]record.Evidence{
			{What: outputBytes + " of " + v.from, Value: fmt.Sprint(limit[0]), Source: "/proc/sys/net/ipv4/tcp_limit_output_bytes"},
			{What: "segments on the way, and the congestion window", Value: fmt.Sprintf("%.0f of %.0f", w.flight, w.cwnd), Source: fromTCP},
		}, append(v.tcpEvidence(), v.loads()...)...),
	}
	return h, true
}
