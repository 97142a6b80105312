package measure

import (
	"context"
	"errors"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/ask"
	"github.com/linerate/linerate/record"
)

func TestSummary(t *testing.T) {
	const ms = time.Millisecond
	var many []time.Duration
	for i := 200; i > 0; i-- {
		many = append(many, time.Duration(i)*ms)
	}
	for _, c := range []struct {
		name string
		in   agentapi.PingReply
		want record.Latency
	}{
		{"none sent", agentapi.PingReply{}, record.Latency{LossRatio: 1}},
		{"none came back", agentapi.PingReply{Sent: 5}, record.Latency{Sent: 5, LossRatio: 1}},
		{"one", agentapi.PingReply{Sent: 1, RTTs: []time.Duration{9 * ms}},
			record.Latency{Sent: 1, MinMS: 9, AvgMS: 9, MaxMS: 9, P50MS: 9, P99MS: 9, Notes: []string{"p99 of 1 answer is its largest"}}},
		// ping(8) gives rtt min/avg/max/mdev = 1.000/2.000/3.000/0.816 ms.
		{"one lost", agentapi.PingReply{Sent: 4, RTTs: []time.Duration{3 * ms, 1 * ms, 2 * ms}},
			record.Latency{Sent: 4, MinMS: 1, AvgMS: 2, MaxMS: 3, P50MS: 2, P99MS: 3, MdevMS: math.Sqrt(2.0 / 3), LossRatio: 0.25,
				Notes: []string{"p99 of 3 answers is their largest", "the slowest answer took 3.0 times as long as the fastest"}}},
		{"two hundred", agentapi.PingReply{Sent: 200, RTTs: many},
			record.Latency{Sent: 200, MinMS: 1, AvgMS: 100.5, MaxMS: 200, P50MS: 100, P99MS: 198, MdevMS: math.Sqrt((200*200 - 1) / 12.0),
				Notes: []string{"the slowest answer took 200.0 times as long as the fastest"}}},
		{"one came twice", agentapi.PingReply{Sent: 1, RTTs: []time.Duration{ms, ms}},
			record.Latency{Sent: 1, MinMS: 1, AvgMS: 1, MaxMS: 1, P50MS: 1, P99MS: 1, Notes: []string{"p99 of 2 answers is their largest"}}},
		{"exactly twice", agentapi.PingReply{Sent: 2, RTTs: []time.Duration{ms, 2 * ms}},
			record.Latency{Sent: 2, MinMS: 1, AvgMS: 1.5, MaxMS: 2, P50MS: 1, P99MS: 2, MdevMS: 0.5, Notes: []string{"p99 of 2 answers is their largest"}}},
	} {
		if diff := cmp.Diff(c.want, summary(c.in), cmpopts.EquateApprox(1e-9, 0)); diff != "" {
			t.Errorf("%s (-want +got)\n%s", c.name, diff)
		}
	}
}

// link is an endpoint whose network lets packets up to a size through and
// loses every so many-th.
type link struct {
	most  int
	names bool // says that a packet was too big
	loses int
	sent  int
}

var errDown = errors.New("down")

func (l *link) Ask(_ context.Context, _ agentapi.AnyMethod, request, reply any) (err error) {
	r, ok := request.(agentapi.PingRequest)
	if !ok {
		return errors.ErrUnsupported
	}
	*reply.(*agentapi.PingReply), err = l.ping(r)
	return err
}

func (l *link) ping(req agentapi.PingRequest) (agentapi.PingReply, error) {
	if l.most < 0 {
		return agentapi.PingReply{}, errDown
	}
	l.sent++
	size := max(req.Packet, 84)
	reply := agentapi.PingReply{Sent: req.Count}
	switch {
	case req.DontFragment && size > l.most:
		if l.names {
			reply.TooBig = l.most
		}
	case l.loses > 0 && l.sent%l.loses == 0:
	default:
		for range req.Count {
			reply.RTTs = append(reply.RTTs, time.Millisecond)
		}
	}
	return reply, nil
}

func TestPathMTU(t *testing.T) {
	n := networkOf(bonded("alpha", 2, 1, 1), bonded("beta", 2, 1, 101), "")
	host := n.Fabric.Hosts["alpha"]
	host.Links[2].MTU = 9000
	for _, c := range []struct {
		name string
		link *link
		want int
		most int // pings
	}{
		{"all of it", &link{most: 9000}, 9000, 2},
		{"a smaller link in the way", &link{most: 1500, names: true}, 1500, 20},
		{"the same, and it says nothing", &link{most: 1500}, 1500, 60},
		{"an odd size", &link{most: 8999, names: true}, 8999, 20},
		{"a lossy path", &link{most: 9000, loses: 2}, 9000, 4},
	} {
		n.Endpoints = map[string]ask.Host{"alpha": c.link}
		got, err := Latency(t.Context(), n, "alpha", "beta", Pings{})
		if err != nil || got.PathMTU != c.want || got.From != "alpha" || got.To != "beta" || c.link.sent > c.most {
			t.Errorf("%s: %d after %d pings, %v; want %d after at most %d", c.name, got.PathMTU, c.link.sent, err, c.want, c.most)
		}
	}
}

func TestProbeMTU(t *testing.T) {
	n := networkOf(bonded("alpha", 2, 1, 1), bonded("beta", 2, 1, 101), "")
	for _, c := range []struct {
		name      string
		out, back int
		want      bool
		err       error
	}{
		{"both ways", 9000, 9000, true, nil},
		{"not there", 1500, 9000, false, nil},
		{"not back", 9000, 1500, false, nil},
		{"a host that is down", 9000, -1, false, errDown},
	} {
		n.Endpoints = map[string]ask.Host{"alpha": &link{most: c.out}, "beta": &link{most: c.back}}
		if got, err := ProbeMTU(t.Context(), n, "alpha", "beta", 9000); got != c.want || !errors.Is(err, c.err) {
			t.Errorf("%s: %v, %v", c.name, got, err)
		}
	}
}
