package measure

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/ask"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// Spec is one trial to run.
type Spec struct {
	From, To  string
	Direction flow.Direction
	Streams   int    // in each direction
	Protocol  string // "tcp" or "", "udp", "mptcp"
	// Tool is a program that the hosts have installed, "iperf2"; "" is this one.
	Tool  string
	Ports string
	// Block is what a tool writes at a time, of a tool that can be told; zero is
	// its own usual.
	Block unit.Bytes
	// Socket is asked for of every stream.
	Socket record.Socket
	Mode   agentapi.Mode
	// Datagrams are UDP's; nil is the default ones.
	Datagrams *agentapi.Datagrams
	// Rate is what all streams of a direction offer together, payload; zero is
	// no limit.
	Rate unit.BitRate
	// Flood lets UDP without a rate go as fast as it can, over what the path
	// may carry; else it keeps to the predicted ceiling.
	Flood bool
	// Unpinned leaves the streams' threads to the scheduler, see package
	// placement.
	Unpinned bool
	// Precision is half the 95 % interval's width, as a share of the mean, at
	// which the stop rule ends the window; zero is series.DefaultPrecision.
	Precision float64
	// MaxBytes ends the window, in all; zero is no limit.
	MaxBytes unit.Bytes
	// Lanes are the only pairs of addresses to use, From's first; nil is every
	// lane of the pair.
	Lanes []flow.Lane
	// Idle connects the streams and sends nothing: what the links carry and the
	// processors do meanwhile is somebody else's.
	Idle bool
	// Claim also counts what the senders would report by themselves, see
	// record.Trial.Claimed.
	Claim bool
	// Group and Variant are noted in the result, see record.Trial.
	Group, Variant string
	// Loaded is the latency series to take while the window is open; nil is
	// none. Config.Pinged is told.
	Loaded *Pings
	// Fail is a link to take down and up again in the window; nil is none.
	Fail *Failing
	// Silent fails that link in place of taking it down; nil takes it down.
	Silent Breaker `json:"-"`
	// Within are the only ports that a receiver may listen on; nil is any.
	Within *flow.PortRange
	// Duration is the exact length of the window; zero lets the stop rule end
	// it, at the latest after Longest.
	Duration time.Duration
	Longest  time.Duration // zero is 10 s
	// LongestWarm bounds the warm-up: what is not steady by then is noted, and
	// measured; zero is 10 s.
	LongestWarm time.Duration
	// Once measures no second time where the rate broke down for a moment: who
	// asks for it measures by turns anyway, and counts every second.
	Once  bool
	Phase record.Phase
	Step  string
	// CeilingMTU computes the ceiling at this MTU; zero at the configured one.
	CeilingMTU int
}

// Config is how trials are run.
type Config struct {
	Network Network
	// Progress is told what a running trial carries now; nil is nobody.
	Progress func(Progress)
	// Pinged is told of the latency under load of a round, once it is over; of
	// a round that is repeated, again. Nil is nobody.
	Pinged func([]record.Latency)
	// Care may end trials early; nil lets them be.
	Care Care
}

const (
	// longestWarm is more than the 8 s for which HyStart may leave a stream at
	// a third of its share.
	longestWarm = 10 * time.Second
	defaultLong = 10 * time.Second
	// slack is what a session may outlive the time its trial can take.
	slack = 30 * time.Second
)

// end is one host's session in a trial.
type end struct {
	host    string
	at      ask.Host
	session string
	way     way
	sending bool
	links   []string
	samples []agentapi.Sample
	opened  int // index of the sample that opens the window
	closed  int // of the one that closes it; zero is the last so far
	// took is the shortest that a sample took its host; zero is not known.
	took time.Duration
}

// trial is one measurement of a running round.
type trial struct {
	cfg     Config
	spec    Spec
	ends    ends
	streams map[flow.Direction][]agentapi.Stream
	notes   []string
	method  record.Method
	// congestion is what the senders' sockets read back.
	congestion string
	offered    unit.BitRate // UDP's rate in one direction, where none was asked for
	started    time.Time
	warmUp     time.Duration
	feed       *feed // of a trial against a listener; nil otherwise
	silent     *silence
}

// repeats is how often a trial is measured again that was disturbed.
const repeats = 2

// Run carries out one trial and returns its result, findings not included. A
// trial whose rate broke down for a moment, or whose own numbers contradict
// each other, is measured again, twice at most, and the soundest is returned
// with a note. Everything it opened is closed when it returns, whatever
// happened.
func Run(ctx context.Context, cfg Config, spec Spec) (record.Trial, error) {
	if spec.Idle { // whatever others send is what it is about
		t, _, err := once(ctx, cfg, spec)
		return t, err
	}
	if spec.Once {
		t, _, err := once(ctx, cfg, spec)
		return t, err
	}
	return soundest(ctx, func() (record.Trial, float64, error) { return once(ctx, cfg, spec) })
}

// soundest measures once, and again while what came of it is disturbed.
func soundest(ctx context.Context, once func() (record.Trial, float64, error)) (record.Trial, error) {
	best, dip, err := once()
	if err != nil {
		return best, err
	}
	for range repeats {
		why := disturbed(best, dip)
		if why == "" {
			break
		}
		again, againDip, err := once()
		if err != nil { // the first result is there, also after an interrupt
			best.Notes = append(best.Notes, unrepeated(ctx, err))
			return best, nil
		}
		if sounder(again, againDip, best, dip) {
			again.Notes = append(again.Notes, fmt.Sprintf("measured again: an earlier trial, at %v, %s", best.Goodput, why))
			best, dip = again, againDip
		}
	}
	if dip > tolerableDip && len(best.Outages) == 0 {
		best.Notes = append(best.Notes, fmt.Sprintf("unsteady: the rate fell by %.0f %% for a moment, in every repetition", 100*dip))
	}
	return best, nil
}

// unrepeated says why a trial was not measured again.
func unrepeated(ctx context.Context, err error) string {
	if ctx.Err() != nil {
		return "a repetition was interrupted"
	}
	return "a repetition failed: " + err.Error()
}

// disturbed says what speaks against a trial; "" for nothing. A full processor
// explains a rate that falls: repeating it would tell nothing new.
func disturbed(t record.Trial, dip float64) string {
	if halted(t.Stop) || t.Stop == StopStalled || len(t.Outages) > 0 {
		return "" // it is meant to be over, or its reason is known
	}
	if wrong := t.Check(); len(wrong) > 0 {
		return "contradicted itself (" + wrong[0] + ")"
	}
	if dip > tolerableDip && !busy(t) {
		return fmt.Sprintf("fell by %.0f %% for a moment", 100*dip)
	}
	return ""
}

// sounder prefers the trial with fewer contradictions, then the steadier one.
func sounder(a record.Trial, aDip float64, b record.Trial, bDip float64) bool {
	if n, m := len(a.Check()), len(b.Check()); n != m {
		return n < m
	}
	return aDip < bDip
}

// busy reports whether a processor was full: then the unsteadiness is the
// result's own, and repeating it tells nothing new.
func busy(t record.Trial) bool {
	return slices.ContainsFunc(t.CPU, func(c record.CPUUse) bool { return c.BusiestThread >= 0.9 || c.Busiest >= 0.9 && c.Shared })
}

// once is one trial and the deepest dip of its rate.
func once(ctx context.Context, cfg Config, spec Spec) (record.Trial, float64, error) {
	results, dip, err := runRound(ctx, cfg, []Spec{spec})
	if err != nil {
		return record.Trial{}, 0, err
	}
	return results[0], dip, nil
}

// open makes every session: sinks first, since a source connects at once.
func (t *trial) open(ctx context.Context) error {
	if l, ok := t.cfg.Network.Listeners[t.spec.To]; ok {
		return t.openListener(ctx, l)
	}
	all, err := ways(t.cfg.Network, t.spec)
	if err != nil {
		return err
	}
	id, key := ask.NewSession()
	sampled := make(map[string]bool) // a host's links are counted in one session
	var used []flow.Tuple
	for _, w := range all {
		if used, err = t.openWay(ctx, w, id, key, sampled, used); err != nil {
			return err
		}
	}
	return nil
}

func (t *trial) openSink(ctx context.Context, w way, id string, key agentapi.Key, sampled map[string]bool, lifetime time.Duration) (agentapi.SinkReply, error) {
	var bind, peers []netip.Addr
	for _, l := range w.lanes {
		bind, peers = appendAddr(bind, l.Dst), appendAddr(peers, l.Src)
	}
	e := t.newEnd(w, w.to, id+"-"+string(w.name)+"-in", false, sampled)
	reply, err := ask.Call(ctx, e.at, agentapi.OpenSink, agentapi.SinkRequest{
		Session: e.session, Key: key, Bind: bind, Peers: peers, Streams: w.streams, Within: t.spec.Within, Socket: t.spec.receiving(), Mode: t.spec.Mode,
		Links: e.links, Lifetime: lifetime,
		MPTCP: t.spec.protocol() == protocolMPTCP, UDP: t.spec.datagrams(), Unpinned: t.spec.Unpinned,
	})
	if err != nil {
		return reply, fmt.Errorf("listen on %s: %w", w.to, err)
	}
	t.ends = append(t.ends, e)
	return reply, nil
}

func (t *trial) newEnd(w way, host, session string, sending bool, sampled map[string]bool) *end {
	e := &end{host: host, at: t.cfg.Network.Endpoints[host], session: session, way: w, sending: sending}
	// A host that receives counts its links where it counts what arrived, so
	// that both have one clock and one moment.
	if !sampled[host] && (!sending || t.spec.Direction != flow.Both) {
		sampled[host] = true
		e.links = physical(t.cfg.Network.Host(host), w.lanes, sending)
	}
	return e
}

func appendAddr(list []netip.Addr, a netip.Addr) []netip.Addr {
	if slices.Contains(list, a) {
		return list
	}
	return append(list, a)
}

// finish ends every session, also after an interrupt.
func (t *trial) finish() {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	for i := len(t.ends) - 1; i >= 0; i-- { // sources before sinks
		_, _ = ask.Call(ctx, t.ends[i].at, agentapi.Finish, agentapi.SessionRequest{Session: t.ends[i].session})
	}
}

// add keeps samples that hold what the rest relies on: every stream, and the
// clock running forward.
func (e *end) add(samples []agentapi.Sample) error {
	for _, s := range samples {
		n := len(e.samples)
		switch {
		case len(s.Bytes) != e.way.streams:
			return fmt.Errorf("sample %s: %d streams, want %d", e.host, len(s.Bytes), e.way.streams)
		case n > 0 && s.At < e.samples[n-1].At:
			return fmt.Errorf("sample %s: its clock runs backward", e.host)
		}
		e.samples = append(e.samples, s)
		if s.Took > 0 && (e.took == 0 || s.Took < e.took) {
			e.took = s.Took
		}
	}
	if len(e.samples) == 0 {
		return fmt.Errorf("sample %s: no sample", e.host)
	}
	return nil
}

// longest is the most the window may take.
func (s Spec) longest() time.Duration {
	switch {
	case s.Duration > 0:
		return s.Duration
	case s.Longest > 0:
		return s.Longest
	}
	return defaultLong
}

// ceiling is what this trial's result must not exceed: the links that its
// lanes use, every lane of the pair where it names none.
func (t *trial) ceiling() (unit.BitRate, int, error) {
	return t.ceilingOf(t.spec.Direction)
}
