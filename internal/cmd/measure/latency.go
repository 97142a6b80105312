package measure

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/run/campaign"
	"github.com/linerate/linerate/internal/run/measure"
	"github.com/linerate/linerate/unit"
)

// latencyFlags are how measure takes round trips.
type latencyFlags struct {
	count, port int
	interval    string
	noLoaded    bool
}

func (l *latencyFlags) add(c *cobra.Command) {
	c.Flags().IntVar(&l.count, "ping-count", 0, "echoes of each idle latency series, 1 to 10000 (default 50;\np99 needs 100)")
	c.Flags().StringVar(&l.interval, "ping-interval", "", "time between two echoes, 5ms to 10s (default 10ms)")
	c.Flags().IntVar(&l.port, "ping-tcp", 0, "time connections to this port of the peer instead of ICMP\nechoes: a refusal answers too")
	c.Flags().BoolVar(&l.noLoaded, "no-loaded-latency", false, "no echoes while traffic runs (default: while that of most\nstreams does)")
}

// The bounds of --ping-interval and --ping-count.
const (
	leastPingInterval = 5 * time.Millisecond
	mostPingInterval  = 10 * time.Second
	mostPings         = 10_000
)

// over lays the flags over a matrix.
func (l *latencyFlags) over(m *campaign.Matrix, given func(flag string) bool) error {
	p := measure.Pings{Count: l.count, TCP: l.port}
	if l.count < 0 || l.count > mostPings || given("ping-count") && l.count == 0 {
		return console.BadUsage(fmt.Sprintf("--ping-count: want 1 to %d, not %d", mostPings, l.count), "leave it out for 50; --no-loaded-latency leaves out those under load")
	}
	if l.port < 0 || l.port > 65535 {
		return console.BadUsage(fmt.Sprintf("--ping-tcp: want a port from 1 to 65535, not %d", l.port), "")
	}
	if l.interval != "" {
		d, err := unit.ParseDuration(l.interval)
		if err != nil {
			return console.BadUsage("--ping-interval: "+err.Error(), "")
		}
		if d < leastPingInterval || d > mostPingInterval {
			return console.BadUsage(fmt.Sprintf("--ping-interval: want %v to %v, not %s", leastPingInterval, mostPingInterval, l.interval), "")
		}
		p.Interval = d
	}
	m.Pings = p
	if !l.noLoaded {
		m.Loaded = &p
	}
	return nil
}
