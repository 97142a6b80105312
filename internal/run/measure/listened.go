package measure

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// conclude fetches what servers counted, of all trials at the same time.
func (r *round) conclude(ctx context.Context) error {
	errs := make(chan error, len(r.trials))
	for _, t := range r.trials {
		go func() {
			if t.feed == nil {
				errs <- nil
				return
			}
			errs <- t.feed.end(ctx)
		}()
	}
	var all []error
	for range r.trials {
		all = append(all, <-errs)
	}
	return errors.Join(all...)
}

// serverAgrees is how far the two ends' counts of a whole test may lie apart.
const serverAgrees = 0.02

// addServer lays what the server counted over what this host knows of it.
func (t *trial) addServer(out *record.Trial) {
	if t.feed == nil {
		return
	}
	out.Tool = "iperf3"
	for i, c := range out.CPU {
		if c.Host == t.spec.To {
			out.CPU = append(out.CPU[:i:i], out.CPU[i+1:]...)
			break
		}
	}
	e := t.feed.ended
	if e == nil || e.Why != "" || len(e.Streams) < len(out.Lanes) {
		why := "they did not come"
		if e != nil && e.Why != "" {
			why = e.Why
		}
		out.Notes = append(out.Notes, "without the server's own figures ("+why+"): "+t.own())
		return
	}
	if out.Congest == "" {
		out.Congest = e.Congestion
	}
	if e.CPU > 0 {
		out.CPU = append(out.CPU, record.CPUUse{Host: t.spec.To, Busy: e.CPU})
	}
	t.layOver(out, e.Streams)
}

// own says what this host's count of what it sent is worth.
func (t *trial) own() string {
	if t.spec.protocol() == protocolUDP {
		return "what was sent is counted, not what arrived"
	}
	return "what the receiver's TCP acknowledged is counted"
}

// layOver corrects what this host sent by what the server received of it, and
// says where the two contradict each other. Lanes stand in the order of the
// streams.
func (t *trial) layOver(out *record.Trial, counts []agentapi.IPerf3Count) {
	var own, server, longest float64
	index := 0
	for i := range out.Lanes {
		l, c := &out.Lanes[i], counts[index]
		index++
		if l.Way == flow.Reverse {
			l.Retransmits = max(l.Retransmits, c.Retransmits)
			continue
		}
		own += float64(c.Own)
		server += float64(c.Server)
		longest = max(longest, c.ServerSeconds)
		if t.spec.protocol() == protocolUDP {
			l.UDP = &record.UDP{
				Payload: payloadOf(c), Sent: c.Packets, Lost: min(c.Lost, c.Packets), Received: c.Packets - min(c.Lost, c.Packets),
				JitterMS: unit.Milliseconds(c.Jitter),
			}
			l.UDP.LossRatio = lossRatio(*l.UDP)
		}
	}
	for i := range out.Lanes { // of a host of which nothing but an address is known
		if l := &out.Lanes[i]; l.Way == flow.Forward {
			l.IngressLink = ""
		} else {
			l.EgressLink = ""
		}
	}
	if own <= 0 || longest <= 0 {
		return
	}
	share := server / own
	out.Notes = append(out.Notes, fmt.Sprintf("the server counted %v over its whole test of %.1f s, warm-up included", unit.FromBytes(server, longest), longest))
	lost := t.spec.protocol() == protocolUDP
	if share > 1+serverAgrees || share < 1-serverAgrees && !lost {
		out.Notes = append(out.Notes, fmt.Sprintf("the server counted %.3f of what its TCP acknowledged: the lesser of the two is used", share))
	}
	if share < 1-serverAgrees || lost && share < 1 {
		for i := range out.Lanes {
			if l := &out.Lanes[i]; l.Way == flow.Forward {
				l.Goodput *= unit.BitRate(share)
				l.Goodput = max(l.Goodput, 0)
			}
		}
	}
	if lost {
		for i := range out.Lanes {
			if l := &out.Lanes[i]; l.Way == flow.Forward && l.UDP != nil {
				*l.UDP = inWindow(*l.UDP, l.Goodput, out.Window)
			}
		}
		t.addDatagrams(out)
	}
}

// inWindow is the part of a whole test's datagrams that the window's goodput
// is: which of them were lost in it nobody says, so the share is the test's.
func inWindow(u record.UDP, goodput unit.BitRate, window float64) record.UDP {
	if u.Payload == 0 || u.Received == 0 {
		return u
	}
	part := float64(goodput) * window / 8 / float64(u.Payload) / float64(u.Received)
	u.Received = uint64(math.Round(float64(u.Received) * part))
	u.Lost = uint64(math.Round(float64(u.Lost) * part))
	u.Reordered = uint64(math.Round(float64(u.Reordered) * part))
	u.Sent = u.Received + u.Lost
	return u
}

func payloadOf(c agentapi.IPerf3Count) int {
	received := c.Packets - min(c.Lost, c.Packets)
	if received == 0 {
		return 0
	}
	return int((c.Server + received/2) / received)
}
