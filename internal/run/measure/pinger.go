package measure

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"time"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/ask"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// Pings is how a round trip is measured.
type Pings struct {
	Count    int           // zero is 50
	Interval time.Duration // zero is 10 ms
	TCP      int           // time connections to this port; zero is ICMP echo
}

// The usual series is short, for a matrix has many: half a second.
const (
	usualPings    = 50
	usualInterval = 10 * time.Millisecond
	// replyTime is how long the last answer may take.
	replyTime = time.Second
)

func (p Pings) usual() Pings {
	if p.Count == 0 {
		p.Count = usualPings
	}
	if p.Interval == 0 {
		p.Interval = usualInterval
	}
	return p
}

// unprivilegedPort is where a host that may not send echoes connects to
// instead, unless told otherwise: iperf3's and linerate's own, which a firewall
// may let through. Nobody need listen, a refusal answers.
const unprivilegedPort = 5201

// The words of record.Latency.Protocol.
const (
	pingICMP = "icmp"
	pingTCP  = "tcp"
)

// pinger sends series from one host down one lane.
type pinger struct {
	host string
	at   ask.Host
	req  agentapi.PingRequest
	note string // why it is not as asked for
}

func newPinger(at ask.Host, host string, lane flow.Lane, p Pings) *pinger {
	return &pinger{host: host, at: at, req: agentapi.PingRequest{Dst: lane.Dst, Src: lane.Src, Interval: p.Interval, Timeout: replyTime, TCP: p.TCP}}
}

// send sends one series. Where the host may not send echoes, this and every
// later one times connections.
func (p *pinger) send(ctx context.Context, count int) (agentapi.PingReply, error) {
	p.req.Count = count
	reply, err := ask.Call(ctx, p.at, agentapi.Ping, p.req)
	if errors.Is(err, fs.ErrPermission) && p.req.TCP == 0 {
		p.note = fmt.Sprintf("%s may not send ICMP echoes: connections to port %d are timed instead", p.host, unprivilegedPort)
		p.req.TCP, p.req.Interval = unprivilegedPort, max(p.req.Interval, usualInterval)
		reply, err = ask.Call(ctx, p.at, agentapi.Ping, p.req)
	}
	return reply, err
}

// summary is what the series say.
func (p *pinger) summary(reply agentapi.PingReply) record.Latency {
	out := summary(reply)
	out.Protocol = pingICMP
	if p.req.TCP != 0 {
		out.Protocol = pingTCP
	}
	if p.note != "" {
		out.Notes = append([]string{p.note}, out.Notes...)
	}
	return out
}

// certainP99 is how many answers it takes for the 99th percentile to be another
// than the largest.
const certainP99 = 100

// summary is a series as ping(8) sums it up: mdev is the standard deviation of
// all round trips, not an estimate from a sample (ping.c, finish).
func summary(reply agentapi.PingReply) record.Latency {
	out := record.Latency{Sent: reply.Sent, LossRatio: 1}
	if reply.Sent > 0 {
		out.LossRatio = max(1-float64(len(reply.RTTs))/float64(reply.Sent), 0) // a network may duplicate
	}
	if len(reply.RTTs) == 0 {
		return out
	}
	ms := make([]float64, len(reply.RTTs))
	for i, r := range slices.Sorted(slices.Values(reply.RTTs)) {
		ms[i] = unit.Milliseconds(r)
	}
	at := func(share float64) float64 { // the nearest rank
		return ms[min(int(math.Ceil(share*float64(len(ms)))), len(ms))-1]
	}
	out.MinMS, out.MaxMS, out.P50MS, out.P99MS = ms[0], ms[len(ms)-1], at(0.5), at(0.99)
	mean, square := 0.0, 0.0
	for _, v := range ms {
		mean += v / float64(len(ms))
	}
	for _, v := range ms {
		square += (v - mean) * (v - mean) / float64(len(ms))
	}
	out.AvgMS, out.MdevMS = mean, math.Sqrt(square)
	if len(ms) < certainP99 {
		out.Notes = append(out.Notes, "p99 of "+answers(len(ms))+" largest")
	}
	if out.MaxMS > 2*out.MinMS && out.MaxMS-out.MinMS > leastSpreadMS {
		out.Notes = append(out.Notes, fmt.Sprintf("the slowest answer took %.1f times as long as the fastest", out.MaxMS/out.MinMS))
	}
	return out
}

// leastSpreadMS is the spread of answers below which it is the hosts', not the
// network's, and of no consequence.
const leastSpreadMS = 1

func answers(n int) string {
	if n == 1 {
		return "1 answer is its"
	}
	return fmt.Sprintf("%d answers is their", n)
}
