// Package tune proposes what to change next and judges whether it helped.
// Pure: it sees states, predictions and trials, and names a desired state or
// other traffic, with the reason and the samples that prove it. To carry it out
// and to measure is the campaign's work.
//
// A move is a kind of change: a row of the one table in moves.go, with what it
// can do to a state, which causes ask for it, and whether a port bounces. The
// prediction finds the way to the cheapest state that carries most (paper.go).
// Where it knows nothing, the trial's cause decides what is tried (evidence.go).
//
// It proposes nothing that neither the prediction nor the kernel's own evidence
// asks for. Don't model a rate here: predict does.
package tune

import (
	"maps"
	"slices"
	"time"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/predict/routing"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// Objective is what a tune is for.
type Objective string

// The objectives.
const (
	// Throughput is the highest rate at the lowest cost; "" is the same.
	Throughput Objective = "throughput"
	// Latency is the highest rate whose latency under load keeps a bound.
	Latency Objective = "latency"
)

// State is where a campaign stands: how the hosts are, what traffic it would
// run, and what it has measured in just this state.
type State struct {
	Fabric predict.Fabric
	Load
	// Trials are those measured in this state, oldest first.
	Trials []record.Trial
	// Tried are the keys of the proposals that were tried, see Proposal.Key; a
	// bare name rules out all of its kind.
	Tried map[Name]bool
	// Refused are the moves that the path was proven not to take, and those that the
	// traffic as it was found is slower with: none of their options is proposed. By
	// their keys they are single options that a host did not take.
	Refused map[Name]bool
	// Thorough proves each change by itself, under traffic that shows it, and
	// also proposes what the load of the links already rules out.
	Thorough bool
	// Calm leaves out what bounces a port, a link or a bond: nobody consented.
	Calm bool
	// Target is the share of the ceiling from which on only what the prediction
	// is sure of is tried; zero is DefaultTarget.
	Target float64
	// CeilingMTU is the MTU that the ceiling is computed at; zero is the one set.
	CeilingMTU int
	// Objective with Bound, the longest p99 under load, and Loaded, the longest
	// that was measured in this state; zero unknown.
	Objective     Objective
	Bound, Loaded time.Duration
	learnt        lessons
}

// DefaultTarget is the share of the ceiling that counts as reached.
const DefaultTarget = 0.97

// Load is the traffic that a state is tuned for, and how its bytes are moved.
type Load struct {
	Traffic predict.Traffic
	// ZeroCopy sends without the copy from the program to the kernel.
	ZeroCopy bool
}

// Proposal is one change to try, with the traffic that will prove it.
type Proposal struct {
	// Name is the move's, of a bundle the first one's; Moves are all of them.
	Name  Name
	Moves []Name
	// Key tells this very change from others of its name: it is tried once.
	Key Name
	// Keys are those of the parts of a bundle.
	Keys   []Name
	Change string
	Why    string
	// Hosts are the desired states of the hosts to change; nil when only the
	// traffic changes.
	Hosts map[string]netstate.Host
	// Load is what to run once the change is kept; ProofA and ProofB are
	// measured before and after it.
	Load
	ProofA, ProofB Load
	// Expected is the prediction for ProofB, Gain its excess over ProofA as a
	// ratio (0.5 is half again as much).
	Expected unit.BitRate
	Gain     float64
	// Unsure proposals rest on evidence that the prediction does not know:
	// measured, they decide; Gain is zero.
	Unsure bool
	// Bounces is set where a link or port carries nothing for a while.
	Bounces bool
	// Cheaper proposals are kept where they are not slower.
	Cheaper bool
	// Disordered is set where packets are dealt out one by one: single looks say
	// little.
	Disordered bool
	// ProbeMTU must pass both ways after the change, or it is reverted
	// unmeasured; zero probes nothing.
	ProbeMTU int
	// HostMoves are those of Moves that change hosts, and not traffic alone.
	HostMoves []Name
}

// Propose lists what is worth trying, in the order to try it, each step as if
// those before it were kept; empty when nothing is left. What the prediction
// is sure of comes first; where the newest trial is still below the target,
// what its evidence asks for follows.
func Propose(s State) []Proposal {
	if s.Objective == Latency {
		return latencyProposals(s)
	}
	if out := append(stripedOut(s), onPaper(s)...); len(out) > 0 {
		return out
	}
	return byEvidence(s)
}

// Promising reports whether the prediction expects a gain that counts.
func (p Proposal) Promising() bool { return p.Gain >= leastGain }

// with is the fabric with some hosts replaced.
func with(f predict.Fabric, hosts map[string]netstate.Host) predict.Fabric {
	out := predict.Fabric{Hosts: make(map[string]netstate.Host, len(f.Hosts)), Paths: f.Paths, Clouds: f.Clouds}
	maps.Copy(out.Hosts, f.Hosts)
	maps.Copy(out.Hosts, hosts)
	return out
}

// pairLinks are the links of the two hosts that hold the lanes' addresses.
func pairLinks(s State) map[string][]netstate.Link {
	out := make(map[string][]netstate.Link)
	lanes, err := predict.Lanes(s.Fabric, s.Traffic.From, s.Traffic.To, "")
	if err != nil {
		return nil
	}
	add := func(host string, l netstate.Link) {
		for _, have := range out[host] {
			if have.Name == l.Name {
				return
			}
		}
		out[host] = append(out[host], l)
	}
	for _, lane := range lanes {
		for _, l := range routing.Facing(s.Fabric.Hosts[s.Traffic.From], lane.Src, lane.Dst) {
			add(s.Traffic.From, l)
		}
		for _, l := range routing.Facing(s.Fabric.Hosts[s.Traffic.To], lane.Dst, lane.Src) {
			add(s.Traffic.To, l)
		}
	}
	return out
}

// hostsOf are the hosts of pairLinks in order, so that the same state always
// gives the same proposals.
func hostsOf(links map[string][]netstate.Link) []string {
	return slices.Sorted(maps.Keys(links))
}

// width is how many links the pair can use at most. Two interfaces on one
// bond share its ports.
func width(s State) int {
	most := 1
	for host, links := range pairLinks(s) {
		ports := make(map[string]bool)
		for _, l := range links {
			below, _, _ := s.Fabric.Hosts[host].Below(l.Name)
			for _, port := range below {
				ports[port.Name] = true
			}
		}
		most = max(most, len(ports))
	}
	return most
}

// newest is the latest trial of this state in the direction asked for.
func newest(s State, d flow.Direction) (record.Trial, bool) {
	for i := len(s.Trials) - 1; i >= 0; i-- {
		if s.Trials[i].Direction == d {
			return s.Trials[i], true
		}
	}
	return record.Trial{}, false
}
