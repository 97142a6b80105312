package probe

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/advise/hashsurvey"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/steer"
	"github.com/linerate/linerate/steer/affine"
	"github.com/linerate/linerate/unit"
)

// LearnedSide is what was learned of the switch's hash towards one host.
type LearnedSide struct {
	// To is the host, Links its links.
	To    string   `json:"to"`
	Links []string `json:"links"`
	// Hash is what was learned; nil where Why says why nothing was.
	Hash *flow.LearnedHash `json:"hash,omitempty"`
	Why  string            `json:"why,omitempty"`
	// Unsteady are flows that were seen on two links.
	Unsteady []affine.Unsteady `json:"unsteady,omitempty"`
}

// LearnReport is what Learn found out.
type LearnReport struct {
	Sides []LearnedSide
	// Probes is how many flows were looked at, Sent how much they sent.
	Probes int
	Sent   unit.Bytes
	Notes  []string
}

// LearnPorts are the source ports to learn from where none are given: all but
// the system's own, above dport, so that a hash that sorts both ports is one.
func LearnPorts(dport uint16) flow.PortRange {
	r := flow.PortRange{First: 1024, Last: 65535}
	if dport >= r.First && dport < steer.DefaultFirstPort {
		r.First = dport + 1
	}
	return r
}

// mostLearned is how many pairs of addresses are learned from at once.
const mostLearned = 8

// Learn looks at flows from A to B until the switch's hash towards each host is
// learned, or will not be: the one towards B by the source ports of A's
// connections, the one towards A by the destination ports of the answers. With
// an error the report holds what was learned until then.
func Learn(ctx context.Context, cfg Config) (LearnReport, error) {
	if cfg.Ports.Count() == 0 {
		if cfg.Dport == 0 {
			cfg.Dport = steer.DefaultDport
		}
		cfg.Ports = LearnPorts(cfg.Dport)
	}
	var notes []string
	if len(cfg.Lanes) > mostLearned {
		notes = append(notes, fmt.Sprintf("learned for the first %d of %d pairs of addresses", mostLearned, len(cfg.Lanes)))
		cfg.Lanes = cfg.Lanes[:mostLearned]
	}
	r, err := newRunner(cfg)
	if err != nil {
		return LearnReport{}, err
	}
	// What a host's own bond does is known, or no business of the switch.
	r.state.Ignore[hashsurvey.NearOut], r.state.Ignore[hashsurvey.FarOut] = true, true
	s := r.learning()
	s.budget = cfg.Budget
	err = s.run(ctx)
	return LearnReport{Sides: s.learned(), Probes: len(r.state.Seen), Sent: r.sent, Notes: append(notes, r.notes...)}, err
}

// learning is a runner that learns.
type learning struct {
	*runner
	budget int // zero is as many as it takes
	frames []flow.Frame
	sides  []*sideLearner
}

// sideLearner learns one side.
type sideLearner struct {
	side    hashsurvey.Side
	learner *affine.Learner
	done    affine.Decision
	over    bool
}

func (r *runner) learning() *learning {
	s := &learning{runner: r, frames: r.allPorts()}
	for _, side := range []hashsurvey.Side{hashsurvey.FarIn, hashsurvey.NearIn} {
		if r.state.Links[side] < 2 || r.state.Own[side] != nil {
			r.state.Ignore[side] = true
			continue
		}
		tuples := make([]flow.Tuple, len(s.frames))
		for i, f := range s.frames {
			tuples[i] = side.On(f).Tuple
		}
		s.sides = append(s.sides, &sideLearner{side: side, learner: affine.New(r.names.Links[side], tuples)})
	}
	return s
}

// fewFlows are all to choose from where they are no more: a short range.
const fewFlows = 4096

// allPorts are the flows to choose from, at random: all source ports on the
// first lane, and some on the others, by turns.
func (r *runner) allPorts() []flow.Frame {
	avoid := make(map[uint16]bool)
	for _, p := range r.cfg.Avoid {
		avoid[p] = true
	}
	var ports []uint16
	for p := int(r.cfg.Ports.First); p <= int(r.cfg.Ports.Last); p++ {
		// A switch may hash equal ports by other fields (RTAG7).
		if p > 0 && !avoid[uint16(p)] && uint16(p) != r.cfg.Dport {
			ports = append(ports, uint16(p))
		}
	}
	random := rand.New(rand.NewPCG(r.cfg.Seed, uint64(len(ports))))
	random.Shuffle(len(ports), func(i, j int) { ports[i], ports[j] = ports[j], ports[i] })
	var frames []flow.Frame
	if len(ports)*len(r.cfg.Lanes) <= fewFlows {
		for _, lane := range r.cfg.Lanes {
			for _, p := range ports {
				frames = append(frames, r.frame(lane, p))
			}
		}
		random.Shuffle(len(frames), func(i, j int) { frames[i], frames[j] = frames[j], frames[i] })
		return frames
	}
	for i, p := range ports {
		lane := r.cfg.Lanes[0]
		if i < perLane*len(r.cfg.Lanes) {
			lane = r.cfg.Lanes[i%len(r.cfg.Lanes)]
		}
		frames = append(frames, r.frame(lane, p))
	}
	return frames
}

// run looks at flows until every side is learned, or will not be.
func (s *learning) run(ctx context.Context) error {
	failed := 0
	for {
		at := s.next()
		if at < 0 {
			return nil
		}
		if s.budget > 0 && len(s.state.Seen) >= s.budget {
			s.end(fmt.Sprintf("%d flows were looked at, as many as allowed", len(s.state.Seen)))
			return nil
		}
		seen, repeats, err := s.look(ctx, s.frames[at])
		switch {
		case ctx.Err() != nil:
			s.end("interrupted")
			return ctx.Err()
		case errors.Is(err, agentapi.ErrPortTaken):
			s.skip(at)
			continue
		case err != nil:
			if failed++; failed > mostFailed || errors.Is(err, ErrPortUse) {
				s.end(err.Error())
				return err
			}
			s.notes = append(s.notes, fmt.Sprintf("no flow from %s port %d: %v", s.frames[at].Src, s.frames[at].Sport, err))
			s.skip(at)
			continue
		}
		s.repeats += repeats
		s.state.Seen = append(s.state.Seen, seen)
		s.giveUpSides(seen)
		s.tell(seen, repeats)
		s.note(at, seen)
	}
}

// mostFailed is how many flows may fail to be opened.
const mostFailed = 3

// next is the flow that the first side that is not done asks for; -1 for none.
func (s *learning) next() int {
	for _, p := range s.sides {
		if p.over {
			continue
		}
		if why := s.names.Ignored[p.side]; s.state.Ignore[p.side] {
			p.over, p.done = true, affine.Decision{Next: -1, Why: why}
			continue
		}
		if p.done = p.learner.Decide(); p.done.Next >= 0 {
			return p.done.Next
		}
		p.over, s.state.Ignore[p.side] = true, true // a flow need not show it any longer
	}
	return -1
}

// note tells the sides what a flow showed. One that showed no link is asked
// of no more.
func (s *learning) note(at int, seen hashsurvey.SeenFlow) {
	for _, p := range s.sides {
		switch link := seen.Links[p.side]; {
		case p.over:
		case link >= 0:
			p.learner.Observe(at, link)
		default:
			p.learner.Skip(at)
		}
	}
}

func (s *learning) skip(at int) {
	for _, p := range s.sides {
		p.learner.Skip(at)
	}
}

// end leaves what is not learned.
func (s *learning) end(why string) {
	for _, p := range s.sides {
		if !p.over {
			p.over, p.done = true, affine.Decision{Next: -1, Why: why, Progress: p.done.Progress}
		}
	}
}

func (s *learning) learned() []LearnedSide {
	var all []LearnedSide
	for _, p := range s.sides {
		l := LearnedSide{To: s.names.B, Links: s.names.Links[p.side], Why: p.done.Why, Unsteady: p.done.Unsteady}
		if !p.side.Far() {
			l.To = s.names.A
		}
		if p.done.Map != nil {
			hash, err := s.keep(p)
			if err != nil {
				l.Why = err.Error()
			} else {
				hash.To = l.To
				l.Hash = &hash
			}
		}
		all = append(all, l)
	}
	return all
}

// keep is what a side learned, of the lanes that its flows reached.
func (s *learning) keep(p *sideLearner) (flow.LearnedHash, error) {
	field := flow.LearnedSport
	if p.side.Back() {
		field = flow.LearnedDport
	}
	var lanes []flow.Tuple
	for _, lane := range s.cfg.Lanes {
		t := p.side.On(s.frame(lane, s.cfg.Ports.First)).Tuple
		if _, ok := p.done.Map.Link(t); ok {
			lanes = append(lanes, t)
		}
	}
	return p.done.Map.Learned(field, s.cfg.Ports, lanes)
}
