package scenario

import (
	"fmt"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/unit"
)

// CPUShares are what a program took of one thread of a processor at each end, as it
// says itself: shares, of which the lab's are of its own processor at the lab's own
// rates.
type CPUShares struct {
	Sender   float64 `json:"sender_ratio"`
	Receiver float64 `json:"receiver_ratio"`
	// Published are somebody's of the sender and the receiver; nil where nobody
	// published them.
	Published []float64 `json:"published_ratios,omitempty"`
}

// text is the shares in lines below a row that carried so much, where something of it
// was published: what each Gbit/s took is what compares.
func (u CPUShares) text(measured unit.BitRate, published *unit.BitRate) string {
	if len(u.Published) != ends {
		return ""
	}
	return fmt.Sprintf("    of a thread, sender and receiver: %s\n      published: %s\n",
		taken(u.Sender, u.Receiver, &measured), taken(u.Published[0], u.Published[1], published))
}

// taken are the shares of both ends, and of each Gbit/s where the rate is known.
func taken(sender, receiver float64, rate *unit.BitRate) string {
	both := fmt.Sprintf("%.3g and %.3g %%", 100*sender, 100*receiver)
	if rate == nil || *rate <= 0 {
		return both
	}
	each := 100 * float64(unit.Gbps / *rate)
	return fmt.Sprintf("%s, %.3g and %.3g %% a Gbit/s", both, each*sender, each*receiver)
}

// ends are the sender and the receiver.
const ends = 2

// cpuShares checks what was published of processors.
func (c checker) cpuShares(at func(...any) []any, m *Measurement) {
	switch {
	case len(m.CPU) == 0:
	case m.Tool != IPerf3:
		c.wrong("published_cpu is of iperf3, which says what its threads take", "tool: iperf3", at("published_cpu")...)
	case m.Direction == flow.Both:
		c.wrong("published_cpu: both ends send and receive", "direction: forward", at("published_cpu")...)
	case len(m.CPU) != ends:
		c.wrong(fmt.Sprintf("published_cpu: %d numbers for the two ends", len(m.CPU)), "published_cpu: [7%, 12%]", at("published_cpu")...)
	}
}
