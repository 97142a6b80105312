// Package tune proposes what to change next and judges whether it helped.
// Pure: it sees states, predictions and trials, and names a desired state;
// carrying it out and measuring is the campaign's work. It proposes nothing
// that neither the prediction nor the kernel's own evidence asks for.
package tune

import (
	"fmt"
	"maps"
	"slices"
	"sort"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// Name tells the proposals apart: each is tried once.
type Name string

// The proposals there are.
const (
	HashPolicy Name = "hash-policy"
	Streams    Name = "streams-and-ports"
	MTU        Name = "mtu"
	Buffers    Name = "buffers"
)

// State is where a campaign stands: how the hosts are, what traffic it would
// run, and what it has measured in just this state.
type State struct {
	Fabric  predict.Fabric
	Traffic predict.Traffic
	// Trials are those measured in this state, oldest first.
	Trials []record.Trial
	Tried  map[Name]bool
	// Thorough also proposes what the load of the links already rules out, so
	// that a measurement shows it.
	Thorough bool
}

// Proposal is one change to try, with the traffic that will prove it.
type Proposal struct {
	Name   Name
	Change string
	Why    string
	// Hosts are the desired states of the hosts to change; nil when only the
	// traffic changes.
	Hosts map[string]netstate.Host
	// Traffic is what to run once the change is kept; ProofA and ProofB are
	// measured before and after it.
	Traffic, ProofA, ProofB predict.Traffic
	// Expected is the prediction for ProofB, Gain its excess over ProofA as a
	// ratio (0.5 is half again as much).
	Expected unit.BitRate
	Gain     float64
	// ProbeMTU must pass both ways after the change, or it is reverted
	// unmeasured; zero probes nothing.
	ProbeMTU int
}

// Propose lists what is worth trying, most promising first; empty when
// nothing is left.
func Propose(s State) []Proposal {
	var out []Proposal
	for _, propose := range []struct {
		name Name
		make func(State) (Proposal, bool)
	}{{HashPolicy, hashPolicy}, {Streams, streams}, {MTU, mtu}, {Buffers, buffers}} {
		if s.Tried[propose.name] {
			continue
		}
		p, ok := propose.make(s)
		if !ok {
			continue
		}
		p.Name = propose.name
		out = append(out, p)
	}
	sort.SliceStable(out, func(i, j int) bool { return out[i].Gain > out[j].Gain })
	return out
}

// Promising reports whether the prediction expects a gain that counts.
func (p Proposal) Promising() bool { return p.Gain >= leastGain }

// leastGain is the smallest change of the rate that counts: below it, noise
// of the machine and the method are as large.
const leastGain = 0.01

// Judge compares the two trials of a proof. A change is kept when it gained
// at least 1 % and the intervals of the two do not overlap.
func Judge(a, b record.Trial) (keep bool, verdict string) {
	if a.Goodput <= 0 {
		return b.Goodput > 0, "nothing was carried before"
	}
	gain := float64(b.Goodput/a.Goodput) - 1
	switch {
	case gain < leastGain && gain > -leastGain:
		return false, fmt.Sprintf("no gain (%+.1f %%)", 100*gain)
	case gain < 0:
		return false, fmt.Sprintf("slower (%+.1f %%)", 100*gain)
	case low(b) <= high(a):
		return false, fmt.Sprintf("not proven: %+.1f %%, but the intervals overlap", 100*gain)
	}
	return true, fmt.Sprintf("proven: %+.1f %%", 100*gain)
}

// low and high are the ends of a trial's interval; a trial too short to have
// one is taken to be sure within 1 %.
func low(t record.Trial) unit.BitRate {
	if t.GoodputLow < t.Goodput {
		return t.GoodputLow
	}
	return t.Goodput * (1 - leastGain)
}

func high(t record.Trial) unit.BitRate {
	if t.GoodputHigh > t.Goodput {
		return t.GoodputHigh
	}
	return t.Goodput * (1 + leastGain)
}

// gain predicts a proposal's worth; false when the prediction cannot be made.
func (p *Proposal) gain(before, after predict.Fabric) bool {
	a, err := predict.Predict(before, p.ProofA)
	if err != nil || a.Rate <= 0 {
		return false
	}
	b, err := predict.Predict(after, p.ProofB)
	if err != nil {
		return false
	}
	p.Expected, p.Gain = b.Rate, float64(b.Rate/a.Rate)-1
	return true
}

// with is the fabric with some hosts replaced.
func with(f predict.Fabric, hosts map[string]netstate.Host) predict.Fabric {
	out := predict.Fabric{Hosts: make(map[string]netstate.Host, len(f.Hosts)), Paths: f.Paths, Clouds: f.Clouds}
	for name, h := range f.Hosts {
		out.Hosts[name] = h
	}
	for name, h := range hosts {
		out.Hosts[name] = h
	}
	return out
}

// pairLinks are the links of the two hosts that hold the lanes' addresses.
func pairLinks(s State) map[string][]netstate.Link {
	out := make(map[string][]netstate.Link)
	lanes, err := predict.Lanes(s.Fabric, s.Traffic.From, s.Traffic.To, "")
	if err != nil {
		return nil
	}
	add := func(host string, l netstate.Link, ok bool) {
		if !ok {
			return
		}
		for _, have := range out[host] {
			if have.Name == l.Name {
				return
			}
		}
		out[host] = append(out[host], l)
	}
	for _, lane := range lanes {
		l, ok := s.Fabric.Hosts[s.Traffic.From].LinkWith(lane.Src)
		add(s.Traffic.From, l, ok)
		l, ok = s.Fabric.Hosts[s.Traffic.To].LinkWith(lane.Dst)
		add(s.Traffic.To, l, ok)
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
