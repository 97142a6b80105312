// Package probe finds out which links the flows between two hosts take, whatever
// hashes them: it opens one flow after the other, sends a short burst, and reads
// the counters of the bonds' ports at both ends. Which flow is next, and what was
// found, hashsurvey decides. Don't let a stray packet decide: repeat, larger.
package probe

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"time"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/advise/hashsurvey"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/ask"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict/routing"
	"github.com/linerate/linerate/steer"
	"github.com/linerate/linerate/unit"
)

// End is one of the two hosts, and its network as observed.
type End struct {
	At   ask.Host
	Host netstate.Host
}

// Config says what to probe. A connects, B listens.
type Config struct {
	A, B End
	// Lanes are the pairs of addresses that flows may use, A's first.
	Lanes []flow.Lane
	// Ports are the source ports to choose from; zero is steer's default
	// range. Avoid are ports not to use.
	Ports flow.PortRange
	Avoid []uint16
	// Dport is where B listens; zero is steer's default. Hashes read it, so a
	// set holds for this port only.
	Dport uint16
	// Streams is how many the set shall have; zero leaves it to the survey.
	Streams int
	// Budget is the most flows to look at; zero is 2*n*H(n).
	Budget int
	// Size is the most that is sent to look at one flow; zero is 4 MiB. A
	// sixteenth of it is enough where no other traffic is.
	Size unit.Bytes
	// Quick ends the probe when the set is found. Otherwise what is left of the
	// budget goes into telling which policy the switch has.
	Quick bool
	// LLDP is how long to listen for neighbours beside it; zero not at all.
	LLDP time.Duration
	// Seed draws the source ports; the same seed draws the same.
	Seed uint64
	// Progress is told of every flow looked at; nil is nobody.
	Progress func(Look)
	Logger   *slog.Logger // nil is silence
}

// Look is one flow looked at.
type Look struct {
	Number int // from 1
	Frame  flow.Frame
	// Links are the names of the links it took, by side; "" undecided.
	Links   map[hashsurvey.Side]string
	Repeats int // bursts more than one
	// Problem says why the flow could not be looked at; "" it could.
	Problem string
}

// Plan is what a probe will do.
type Plan struct {
	Names    hashsurvey.Names
	Streams  int
	Limit    int     // flows
	Expected float64 // flows, on average
	// Most is the most bytes of payload that will be sent.
	Most  unit.Bytes
	Dport uint16
}

// Errors of Prepare and Run.
var (
	ErrConfig  = errors.New("cannot be probed")
	ErrPortUse = errors.New("the port to listen on is in use")
)

// DefaultSize is the most that is sent to look at one flow.
const DefaultSize = 4 * unit.MiB

// Prepare says what Run will do, without doing anything. A configuration
// that leaves nothing to probe is ErrConfig.
func Prepare(cfg Config) (Plan, error) {
	r, err := newRunner(cfg)
	if err != nil {
		return Plan{}, err
	}
	return r.plan(), nil
}

func (r *runner) plan() Plan {
	p := Plan{Names: r.names, Streams: r.cfg.Streams, Limit: r.cfg.Budget, Expected: r.state.Expected(), Dport: r.cfg.Dport}
	if p.Streams == 0 {
		p.Streams = r.state.WantedStreams()
	}
	p.Most = unit.Bytes(p.Limit) * r.cfg.Size
	return p
}

// Run probes until a set is found that uses all links evenly, the budget is
// spent or nothing more can be found, and reports. Everything it opens is
// closed when it returns. With an error, of the context too, the report holds
// what was seen until then.
func Run(ctx context.Context, cfg Config) (hashsurvey.Report, error) {
	r, err := newRunner(cfg)
	if err != nil {
		return hashsurvey.Report{}, err
	}
	ctx, cancel := context.WithCancel(ctx) // ends what listens, too
	defer cancel()
	neighbors := r.listen(ctx)
	d, err := r.survey(ctx)
	report := r.state.Report(r.names, d)
	report.Limit, report.Found, report.Repeats, report.Sent = r.cfg.Budget, r.found, r.repeats, r.sent
	report.Trunks = []hashsurvey.Trunk{r.ends[0].trunk(), r.ends[1].trunk()}
	if err == nil {
		report.Neighbors, err = r.heard(ctx, neighbors)
	}
	report.Notes = r.notes
	return report, err
}

// runner is one probe under way.
type runner struct {
	cfg        Config
	log        *slog.Logger
	ends       [2]attached
	names      hashsurvey.Names
	state      hashsurvey.State
	candidates []flow.Frame
	undecided  map[hashsurvey.Side]int // flows in a row that showed no link
	lag        time.Duration           // of slow counters
	repeats    int
	found      int // flows looked at when the set was there
	sent       unit.Bytes
	notes      []string
	oneWay     bool // B cannot connect to A
}

// perLane is how many candidates each lane gives: enough that some suit every
// pair of links of two bonds.
const (
	perLane         = 64
	leastCandidates = 256
	mostCandidates  = 1024
)

func newRunner(cfg Config) (*runner, error) {
	r := &runner{cfg: cfg, log: cfg.Logger, undecided: make(map[hashsurvey.Side]int)}
	if r.log == nil {
		r.log = slog.New(slog.DiscardHandler)
	}
	if r.cfg.Ports.Count() == 0 {
		r.cfg.Ports = flow.PortRange{First: steer.DefaultFirstPort, Last: steer.DefaultLastPort}
	}
	if r.cfg.Dport == 0 {
		r.cfg.Dport = steer.DefaultDport
	}
	if r.cfg.Size == 0 {
		r.cfg.Size = DefaultSize
	}
	if len(cfg.Lanes) == 0 {
		return nil, fmt.Errorf("probe: %w: no pair of addresses", ErrConfig)
	}
	var err error
	if r.ends[0], err = attach(cfg.A.Host, cfg.Lanes, func(l flow.Lane) flow.Lane { return l }); err != nil {
		return nil, err
	}
	if r.ends[1], err = attach(cfg.B.Host, cfg.Lanes, flow.Lane.Reverse); err != nil {
		return nil, err
	}
	r.draw()
	r.names.A, r.names.B = cfg.A.Host.Name, cfg.B.Host.Name
	for _, side := range hashsurvey.Sides() {
		end := r.ends[0]
		if side.Far() {
			end = r.ends[1]
		}
		r.names.Links[side], r.state.Links[side] = end.names, len(end.names)
		r.names.Separate[side] = end.separate()
		switch {
		case !side.Out() && end.separate():
			r.state.Own[side] = arriving{end}
		case side.Out() && end.keyed(): // its hash is to be looked at as a switch's is
		case side.Out():
			r.state.Own[side] = end
			r.names.Ignored[side] = r.cannotSpread(side)
			r.state.Ignore[side] = r.names.Ignored[side] != ""
		}
	}
	if r.cfg.Budget == 0 {
		r.cfg.Budget = r.state.ProbeLimit()
	}
	return r, nil
}

// draw makes the candidates: each lane with source ports at random.
func (r *runner) draw() {
	var ports []uint16
	avoid := make(map[uint16]bool)
	for _, p := range r.cfg.Avoid {
		avoid[p] = true
	}
	for p := int(r.cfg.Ports.First); p <= int(r.cfg.Ports.Last); p++ {
		if p > 0 && !avoid[uint16(p)] {
			ports = append(ports, uint16(p))
		}
	}
	random := rand.New(rand.NewPCG(r.cfg.Seed, uint64(len(ports))))
	random.Shuffle(len(ports), func(i, j int) { ports[i], ports[j] = ports[j], ports[i] })
	want := min(max(leastCandidates, perLane*len(r.cfg.Lanes)), mostCandidates)
	for i := 0; i < want && i < len(ports)*len(r.cfg.Lanes); i++ {
		r.candidates = append(r.candidates, r.frame(r.cfg.Lanes[i%len(r.cfg.Lanes)], ports[i%len(ports)]))
	}
}

// frame is a flow as A sends it.
func (r *runner) frame(lane flow.Lane, sport uint16) flow.Frame {
	f := flow.Frame{Tuple: flow.Tuple{Proto: flow.TCP, Src: lane.Src, Dst: lane.Dst, Sport: sport, Dport: r.cfg.Dport}}
	facing := routing.Facing(r.cfg.A.Host, lane.Src, lane.Dst)
	if len(facing) != 1 {
		return f // by which MAC address is for the route's hash to say
	}
	near := facing[0]
	far, _ := r.cfg.B.Host.LinkWith(lane.Dst)
	f.SrcMAC = near.MAC
	if near.VLAN != nil {
		f.VLAN = uint16(near.VLAN.ID)
	}
	if near.Faces(lane.Src, lane.Dst) {
		f.DstMAC = far.MAC
	}
	return f
}

// cannotSpread says why a host's own side cannot be even, where its rule says
// so; "" when it can or only looking will tell.
func (r *runner) cannotSpread(side hashsurvey.Side) string {
	own := r.state.Own[side]
	reach := own.Reach()
	if len(own.Links()) < 2 {
		return ""
	}
	if !reach.Chosen || !reach.Ports && !reach.Addresses {
		return reach.Why
	}
	reached := make(map[int]bool)
	for _, f := range r.candidates {
		p := own.Place(side.On(f))
		if !p.Known {
			return "" // looking will tell
		}
		reached[p.Index] = true
	}
	if len(reached) < len(own.Links()) {
		return fmt.Sprintf("%s; the pairs of addresses given reach %d of %d links", reach.Why, len(reached), len(own.Links()))
	}
	return ""
}

// survey looks at flows until the survey is over.
func (r *runner) survey(ctx context.Context) (hashsurvey.Decision, error) {
	req := hashsurvey.Request{Streams: r.cfg.Streams, Limit: r.cfg.Budget, Quick: r.cfg.Quick}
	for {
		d := r.state.Decide(r.candidates, req)
		if len(d.Cover.Flows) > 0 && d.Why == "" && r.found == 0 {
			r.found = len(r.state.Seen)
		}
		if d.Next < 0 {
			return d, nil
		}
		f := r.candidates[d.Next]
		seen, repeats, err := r.look(ctx, f)
		if ctx.Err() != nil {
			return r.rest(req), ctx.Err()
		}
		if err != nil {
			if err := r.cannotOpen(f, err); err != nil {
				return r.rest(req), err
			}
			continue
		}
		r.repeats += repeats
		r.state.Seen = append(r.state.Seen, seen)
		r.giveUpSides(seen)
		r.tell(seen, repeats)
	}
}

// rest is the best set of what was seen when the probe ends before its time.
func (r *runner) rest(req hashsurvey.Request) hashsurvey.Decision {
	req.Limit = len(r.state.Seen)
	if req.Limit == 0 {
		return hashsurvey.Decision{Next: -1, Why: "nothing was looked at"}
	}
	return r.state.Decide(r.candidates, req)
}

// giveUpSides leaves a side out that never shows a flow on one link.
func (r *runner) giveUpSides(seen hashsurvey.SeenFlow) {
	const enough = 2
	for _, side := range hashsurvey.Sides() {
		if r.state.Ignore[side] || r.state.Links[side] < 2 {
			continue
		}
		if seen.Links[side] >= 0 {
			r.undecided[side] = -len(r.candidates) // it can be told
			continue
		}
		if r.undecided[side]++; r.undecided[side] >= enough {
			r.state.Ignore[side] = true
			r.names.Ignored[side] = "the packets of one flow went by several links, or other traffic hid them"
		}
	}
}

func (r *runner) tell(seen hashsurvey.SeenFlow, repeats int) {
	if r.cfg.Progress == nil {
		return
	}
	l := Look{Number: len(r.state.Seen), Frame: seen.Frame, Links: make(map[hashsurvey.Side]string), Repeats: repeats}
	for _, side := range hashsurvey.Sides() {
		if at := seen.Links[side]; at >= 0 {
			l.Links[side] = r.names.Links[side][at]
		}
	}
	r.cfg.Progress(l)
}

// cannotOpen drops candidates like one that could not be opened: its port
// where somebody holds it, else its lane. The error is returned when nothing
// is left, or when it is the same for all.
func (r *runner) cannotOpen(f flow.Frame, err error) error {
	if errors.Is(err, ErrPortUse) {
		return err
	}
	lane := flow.Lane{Src: f.Src, Dst: f.Dst}
	drop := func(have flow.Frame) bool { return have.Src == lane.Src && have.Dst == lane.Dst }
	what := "no flow from " + lane.String()
	if errors.Is(err, agentapi.ErrPortTaken) {
		drop = func(have flow.Frame) bool { return have.Sport == f.Sport }
		what = fmt.Sprintf("port %d is taken", f.Sport)
	}
	var left []flow.Frame
	for _, have := range r.candidates {
		if !drop(have) {
			left = append(left, have)
		}
	}
	if len(left) == 0 {
		return err
	}
	r.candidates = left
	if !errors.Is(err, agentapi.ErrPortTaken) {
		r.notes = append(r.notes, what+": "+err.Error())
	}
	if r.cfg.Progress != nil {
		r.cfg.Progress(Look{Number: len(r.state.Seen) + 1, Frame: f, Problem: what + ": " + err.Error()})
	}
	return nil
}
