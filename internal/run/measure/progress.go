package measure

import (
	"time"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict/framing"
	"github.com/linerate/linerate/predict/tunnel"
	"github.com/linerate/linerate/unit"
)

// Progress is a running trial's state.
type Progress struct {
	Spec    Spec
	Stage   string // "connecting", "warming up", "measuring"
	Rate    unit.BitRate
	Elapsed time.Duration
	// Ceiling is the trial's, zero unknown; Left at most how long its window
	// stays open, zero before it opens.
	Ceiling unit.BitRate
	Left    time.Duration
	// RTT is the longest round trip that a sender's TCP has measured lately,
	// zero where none was.
	RTT time.Duration
	// Links and Streams are what each carried in the last moments; empty
	// before something was counted.
	Links   []LinkLoad
	Streams []StreamLoad
}

// LinkLoad is what one link carries now, payload, against its ceiling in one
// direction; a ceiling of zero is unknown.
type LinkLoad struct {
	Host, Link       string
	Out, In, Ceiling unit.BitRate
}

// StreamLoad is what one stream delivers now. Number counts from 1 in each
// way; Link is where the sender's kernel places it, "" unknown.
type StreamLoad struct {
	Way    flow.Direction
	Number int
	Host   string // the sender
	Link   string
	Rate   unit.BitRate
}

// moments is how far back the load of now goes: long enough that a link's
// counter, which some drivers refresh once in a while, has moved.
const moments = time.Second

func (r *round) report(stage string, rate unit.BitRate) {
	if r.cfg.Progress == nil {
		return
	}
	p := Progress{Spec: r.asked, Stage: stage, Rate: rate, Elapsed: time.Since(r.started)}
	if rate > 0 {
		p.RTT = r.ends.roundTrip()
		for _, t := range r.trials {
			t.addLoad(&p)
		}
		if stage == "measuring" {
			p.Left = max(p.Spec.longest()-r.ends.opened(), 0)
		}
	}
	r.cfg.Progress(p)
}

// addLoad adds what a trial carries now.
func (t *trial) addLoad(p *Progress) {
	if c, _, err := t.ceiling(); err == nil {
		p.Ceiling += c
	}
	for _, e := range t.ends {
		now := e.samples[len(e.samples)-1]
		then := e.before(moments)
		p.Links = append(p.Links, t.linkLoads(e, then, now)...)
		if e.sending {
			continue
		}
		seconds := (now.At - then.At).Seconds()
		for i, s := range t.streams[e.way.name] {
			if i >= len(now.Bytes) {
				break
			}
			p.Streams = append(p.Streams, StreamLoad{
				Way: e.way.name, Number: i + 1, Host: e.way.from, Rate: unit.FromBytes(float64(netstate.Grown(then.Bytes[i], now.Bytes[i])), seconds),
				Link: place(t.cfg.Network, e.way, flow.Tuple{Proto: e.way.transport(), Src: s.Src, Dst: s.Dst, Sport: s.Sport, Dport: s.Dport}),
			})
		}
	}
}

// before is the end's newest sample that is at least so much older than its
// last; the first where none is.
func (e *end) before(ago time.Duration) agentapi.Sample {
	last := len(e.samples) - 1
	for i := last - 1; i > 0; i-- {
		if e.samples[last].At-e.samples[i].At >= ago {
			return e.samples[i]
		}
	}
	return e.samples[0]
}

// linkLoads is what an end's links carried between two samples.
func (t *trial) linkLoads(e *end, from, to agentapi.Sample) []LinkLoad {
	h := t.cfg.Network.Host(e.host)
	link, _ := egress(h, e.lane())
	under, _ := tunnel.Below(h, link)
	v6 := e.lane().Src.Is6()
	header := headerBytes(t.spec.protocol(), v6, under)
	var out []LinkLoad
	for i, b := range to.Links {
		if i >= len(from.Links) || from.Links[i].Link != b.Link {
			continue
		}
		a := from.Links[i]
		seconds := (b.At - a.At).Seconds()
		payload := func(bytes, packets uint64) unit.BitRate {
			return unit.FromBytes(max(float64(bytes)-header*float64(packets), 0), seconds)
		}
		physical := t.counted(e, h, b.Link)
		out = append(out, LinkLoad{
			Host: e.host, Link: b.Link,
			Out:     payload(netstate.Grown(a.Counters.TxBytes, b.Counters.TxBytes), netstate.Grown(a.Counters.TxPackets, b.Counters.TxPackets)),
			In:      payload(netstate.Grown(a.Counters.RxBytes, b.Counters.RxBytes), netstate.Grown(a.Counters.RxPackets, b.Counters.RxPackets)),
			Ceiling: framing.PacketPayload(t.spec.protocol(), physical, under.Whole(link.MTU), t.packet(e.way), under.Tags, under.Outer, v6),
		})
	}
	return out
}
