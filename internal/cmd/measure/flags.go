package measure

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/internal/agent/agentapi"
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

// Headings are the titles in the list of flags.
var Headings = []console.FlagHeading{
	{Title: "What to measure", Flags: "streams directions protocol tool pairs together sweep repeats aliases alias-subnet resume"},
	{Title: "How each measurement ends", Flags: "duration precision"},
	{Title: "Streams and sockets", Flags: "ports socket-buffer congestion mss no-delay dscp pacing device zerocopy pin datagram no-gso"},
	{Title: "iperf3 servers and listeners", Flags: "busy-wait token-file"},
	{Title: "Latency", Flags: "ping-count ping-interval ping-tcp no-loaded-latency"},
	{Title: "A network in use", Flags: "rate-limit max-bytes max-seconds watch watch-factor wait no-route-check"},
	{Title: "Changing hosts", Flags: "yes dry-run journal fail-link"},
	{Title: "Output", Flags: "output force store"},
}

// protocolFlags are how measure's traffic travels.
type protocolFlags struct {
	protocol string
	datagram int
	noGSO    bool
	pin      string
}

func (p *protocolFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&p.protocol, "protocol", "", "tcp, udp or mptcp (default: the file's, else tcp); udp without\n--rate-limit keeps to what the path can carry by prediction")
	c.Flags().IntVar(&p.datagram, "datagram", 0, "payload of each UDP datagram in bytes (default: what fits the MTU)")
	c.Flags().BoolVar(&p.noGSO, "no-gso", false, "send and receive each UDP datagram by itself")
	c.Flags().StringVar(&p.pin, "pin", "auto", "auto keeps the streams' threads on cores near the link's\ninterrupts where those are known, none leaves them alone")
}

// The least and the most that a datagram may carry: the header by which it is
// counted, and what one IPv4 packet holds.
const (
	leastDatagram = 24
	mostDatagram  = 65507
)

// over lays the flags over a matrix.
func (p *protocolFlags) over(m *campaign.Matrix, f fabric.Measure) error {
	protocol := cmp.Or(p.protocol, f.Protocol, "tcp")
	switch protocol {
	case "tcp", "udp", "mptcp":
	default:
		return console.BadUsage("--protocol: want tcp, udp or mptcp, not "+protocol, "")
	}
	if protocol != "udp" {
		switch {
		case p.datagram != 0:
			return console.BadUsage("--datagram: is for UDP, not "+protocol, "add --protocol udp")
		case p.noGSO:
			return console.BadUsage("--no-gso: is for UDP, not "+protocol, "add --protocol udp")
		}
	}
	if p.datagram != 0 && (p.datagram < leastDatagram || p.datagram > mostDatagram) {
		return console.BadUsage(fmt.Sprintf("--datagram: want %d to %d bytes, not %d", leastDatagram, mostDatagram, p.datagram), "")
	}
	if p.pin != "auto" && p.pin != "none" {
		return console.BadUsage("--pin: want auto or none, not "+p.pin, "")
	}
	m.Base.Protocol, m.Base.Unpinned = protocol, p.pin == "none"
	if protocol == "udp" {
		m.Base.Datagrams = &agentapi.Datagrams{Payload: p.datagram, Single: p.noGSO}
	}
	return nil
}

// Tunable refuses a protocol that tune cannot prove a gain with.
func Tunable(protocol string) error {
	if protocol != "" && protocol != "tcp" {
		return console.BadUsage("tune: proves what it changes with tcp, not "+protocol, "set measure.protocol to tcp")
	}
	return nil
}

// The words of --tool.
const (
	toolLinerate = "linerate"
	toolIPerf2   = "iperf2"
	toolIPerf3   = "iperf3"
)

// chooseTool lays --tool over a matrix, and refuses what the targets cannot do.
func chooseTool(m *campaign.Matrix, tool string, listens bool) error {
	switch {
	case tool == "", tool == toolLinerate, tool == toolIPerf3 && listens:
		return nil
	case tool == toolIPerf2 && (m.Base.MaxBytes > 0 || m.Care.MaxBytes > 0 || m.Care.MaxTime > 0 || len(m.Care.Watch) > 0 || m.Base.Fail != nil):
		return console.BadUsage("--tool iperf2: cannot be stopped in the middle, so no cap, no --watch and no --fail-link", "leave --tool out for those")
	case tool == toolIPerf2 && !listens:
		m.Base.Tool = toolIPerf2
		return nil
	case tool == toolIPerf2:
		return console.BadUsage("--tool iperf2: of a HOST:PORT only its iperf3 server can be asked", "name hosts that have iperf and that can be reached: ssh://user@host")
	case tool == toolIPerf3:
		return console.BadUsage("--tool iperf3: speaks to an iperf3 server, and these hosts are reached otherwise", "name the server as HOST:PORT; between these hosts leave --tool out, or --tool iperf2")
	}
	return console.BadUsage("--tool: want linerate, iperf2 or iperf3, not "+tool, "")
}

// windowFlags are how sure a measurement has to be before it ends by itself.
type windowFlags struct{ precision string }

func (w *windowFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&w.precision, "precision", "", "end when the 95 % interval is within this share of the mean\n(default 2%); not with --duration")
}

// The bounds of --precision: a tighter interval is narrower than the clocks
// are sure, a wider one says nothing.
const (
	leastPrecision = 0.001
	mostPrecision  = 0.5
)

// over lays the flags over a matrix.
func (w *windowFlags) over(m *campaign.Matrix) error {
	if w.precision == "" {
		return nil
	}
	if m.Duration > 0 {
		return console.BadUsage("--precision: --duration gives the exact length, there is nothing to decide", "leave one of them out")
	}
	number, percent := strings.CutSuffix(strings.TrimSpace(w.precision), "%")
	v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if percent {
		v /= 100
	}
	if err != nil || !(v >= leastPrecision && v <= mostPrecision) {
		return console.BadUsage("--precision: want 0.1% to 50%, such as 2%, not "+w.precision, "")
	}
	m.Base.Precision = v
	return nil
}
