package explaining

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/agent/fleet"
	"github.com/linerate/linerate/internal/lab/labtest/tried"
	"github.com/linerate/linerate/internal/run/campaign"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

const (
	// leastDrop is what a fault must take of the healthy rate to count.
	leastDrop = 0.20
	// tie: faults whose removal gains as much within it are both the truth.
	tie = 0.05
	// healthyShare is the part of the ceiling that a network must reach before
	// anything is done to it: what does not is disturbed, or no network of ours.
	healthyShare = 0.90
	// paired is the share of the instances that have two faults.
	paired = 0.25
	// drawn is how often an instance is drawn until its faults bite.
	mostDraws = 12

	glance     = 1500 * time.Millisecond
	longGlance = 3 * time.Second
)

// instance is one network, its faults, and what was measured.
type instance struct {
	t      *testing.T
	seed   uint64
	number uint64
	stand  *stand
	faults []fault
}

// kept is an instance as it is written to a file.
type kept struct {
	Seed   uint64                   `json:"seed"`
	Number uint64                   `json:"number"`
	Setup  string                   `json:"setup"`
	Faults []string                 `json:"faults"`
	Kinds  []string                 `json:"kinds"`
	Truth  []record.Cause           `json:"truth"`
	Rates  map[string]unit.BitRate  `json:"rates_bps"` // healthy, faulted, without NAME
	Gains  map[record.Cause]float64 `json:"gains"`
	Record record.Record            `json:"record"`
	Tried  tried.Result             `json:"tried,omitzero"`
}

func (k kept) finding() *record.Finding {
	if len(k.Record.Trials) == 0 {
		return nil
	}
	return k.Record.Trials[0].Finding
}

// draw deals the network and the faults of an instance of a cause.
func draw(d dice, cause record.Cause, kinds []*kind) (network, []fault) {
	first := slices.DeleteFunc(slices.Clone(kinds), func(k *kind) bool { return k.cause != cause })
	for {
		chosen := []*kind{first[d.IntN(len(first))]}
		if d.chance(paired) {
			if k := kinds[d.IntN(len(kinds))]; k.cause != cause && k.claims != chosen[0].claims && k.cause != record.CardSlot {
				chosen = append(chosen, k)
			}
		}
		n := d.network()
		if !suited(d, &n, chosen) {
			continue
		}
		var all []fault
		for _, k := range chosen {
			f := k.draw(d, n)
			f.kind = k
			all = append(all, f)
		}
		return n, all
	}
}

// suited changes a network for all of some kinds; the later must not take back
// what the earlier need, so that they are asked twice on the same network.
func suited(d dice, n *network, chosen []*kind) bool {
	for _, k := range chosen {
		if !k.suit(d, n) {
			return false
		}
	}
	if len(chosen) > 1 {
		before := n.form
		if !chosen[0].suit(d, n) || n.form != before || chosen[1].cause == record.MTU && n.singly != (chosen[1].name[0:2] == "a h") {
			return false
		}
	}
	return chosen[0].onHost || n.possible()
}

// run makes an instance of a cause, and draws anew until its faults take as
// much as they must; nil is none in so many draws. The networks that carried
// what they should before come with it.
func run(t *testing.T, seed, number uint64, cause record.Cause, kinds []*kind) (fault *kept, healthy []*kept) {
	t.Helper()
	for try := range uint64(mostDraws) {
		d := dice{rand.New(rand.NewPCG(seed, number<<8|try))}
		t.Run(fmt.Sprint(try), func(t *testing.T) {
			n, faults := draw(d, cause, kinds)
			i := &instance{t: t, seed: seed, number: number, faults: faults, stand: build(t, n)}
			var well *kept
			if well, fault = i.measure(); well != nil {
				healthy = append(healthy, well)
			}
		})
		if fault != nil || t.Failed() {
			break
		}
	}
	return fault, healthy
}

func (i *instance) String() string {
	var all []string
	for _, f := range i.faults {
		all = append(all, f.String())
	}
	return fmt.Sprintf("%v: %s", i.stand.what, strings.Join(all, " and "))
}

// measure measures the network well, with its faults, and without each. Nil is
// a network that did not carry what it should, and faults that do not bite.
func (i *instance) measure() (well, fault *kept) {
	s := i.stand
	healthy := s.trial(nil, glance)
	h := trialOf(healthy)
	if h == nil || h.Goodput < healthyShare*h.Ceiling {
		i.t.Logf("void: %v: healthy it carries %v", i, goodput(healthy))
		return nil, nil
	}
	well = i.keep("healthy", healthy, []record.Cause{record.LineRate}, kept{Rates: map[string]unit.BitRate{"healthy": h.Ceiling, "faulted": h.Goodput}})
	i.set(true)
	window := glance
	for _, f := range i.faults {
		if f.kind.cause == record.Congestion || f.kind.cause == record.Reordering || f.kind.onHost {
			window = longGlance
		}
	}
	var spoilt record.Record
	for range 4 {
		spoilt = s.trial(i.faults, window)
		if goodput(spoilt) <= h.Goodput*(1-leastDrop) || i.faults[0].kind.claims != "ports" {
			break
		}
	}
	rate := goodput(spoilt)
	if rate > h.Goodput*(1-leastDrop) || trialOf(spoilt) == nil {
		i.t.Logf("void: %v: %.1f of %.1f Mbit/s, %+v", i, mega(rate), mega(h.Goodput), spoilt.Failures)
		return well, nil
	}
	k := kept{Rates: map[string]unit.BitRate{"healthy": h.Goodput, "faulted": rate}, Gains: map[record.Cause]float64{}, Record: spoilt}
	if i.gains(&k, window); len(k.Truth) == 0 {
		i.t.Logf("void: %v: neither's end brings anything: %v", i, k.Rates)
		return well, nil
	}
	i.remedied(&k, window)
	return well, i.keep("fault", spoilt, k.Truth, k)
}

// gains repairs each fault alone and says which repair brings the most; no truth is
// that none alone brings anything.
func (i *instance) gains(k *kept, window time.Duration) {
	healthy, faulted := k.Rates["healthy"], k.Rates["faulted"]
	without := map[record.Cause]unit.BitRate{}
	most := unit.BitRate(0)
	for n, f := range i.faults {
		rate := healthy
		if len(i.faults) > 1 {
			if f.off != nil {
				f.off(i.stand)
			}
			rate = goodput(i.again(slices.Delete(slices.Clone(i.faults), n, n+1), window, linksUsed(k.Record)))
			if f.on != nil {
				f.on(i.stand)
			}
		}
		without[f.kind.cause] = rate
		most = max(most, rate)
		k.Rates["without "+string(f.kind.cause)] = rate
		k.Gains[f.kind.cause] = float64(rate/max(faulted, 1)) - 1
	}
	for _, f := range i.faults {
		if without[f.kind.cause] >= most*(1-tie) && most > faulted*(1+tie) {
			k.Truth = slices.Concat(k.Truth, []record.Cause{f.kind.cause}, f.kind.also, f.also)
		}
	}
}

// again measures with some of the faults, until it comes to a result. Ports that the kernel chose are other
// ones in each trial: one in which they use more links than they did says nothing
// of the fault that was taken out.
func (i *instance) again(faults []fault, window time.Duration, links int) record.Record {
	i.t.Helper()
	chance := slices.ContainsFunc(faults, func(f fault) bool { return f.kind.claims == "ports" })
	for range 30 {
		r := i.stand.trial(faults, window)
		if trialOf(r) != nil && (!chance || linksUsed(r) <= links) {
			return r
		}
	}
	i.t.Fatalf("in 30 trials %v was not measured without one of its faults, on %d links", i, links)
	return record.Record{}
}

// linksUsed is how many links of the sender the streams of a record left by.
func linksUsed(r record.Record) int {
	used := map[string]bool{}
	for _, l := range trialOf(r).Lanes {
		used[l.EgressLink] = true
	}
	return len(used)
}

func (i *instance) set(on bool) {
	for _, f := range i.faults {
		if do := map[bool]func(*stand){true: f.on, false: f.off}[on]; do != nil {
			do(i.stand)
		}
	}
}

func trialOf(r record.Record) *record.Trial {
	if len(r.Trials) == 0 {
		return nil
	}
	return &r.Trials[len(r.Trials)-1]
}

func goodput(r record.Record) unit.BitRate {
	if t := trialOf(r); t != nil {
		return t.Goodput
	}
	return 0
}

// trial measures as `linerate measure` does, with the file that a user of the
// network has.
func (s *stand) trial(faults []fault, window time.Duration) record.Record {
	s.t.Helper()
	said := s.said.clone()
	m := campaign.Matrix{Streams: []int{s.what.streams}, Directions: []flow.Direction{s.what.direction}, Ports: s.what.ports, Duration: window}
	m.Base.Socket.Congestion = s.what.congestion
	for _, f := range faults {
		if f.ask != nil {
			f.ask(&m)
		}
		if f.declare != nil {
			f.declare(&said)
		}
	}
	f, err := fabric.Parse("fabric.yaml", said.text())
	s.must(err)
	shared := &fleet.SSH{Program: s.program}
	defer func() { s.must(shared.Close()) }() // after the hosts that are reached by it
	c, err := campaign.Open(s.t.Context(), campaign.Config{Fabric: f, Fleet: fleet.Config{Version: "test", JournalDir: s.t.TempDir(), Unguarded: true, SSH: shared}, Pings: pings})
	s.must(err)
	defer c.Close()
	s.must(c.CheckRoutes(s.t.Context()))
	s.must(c.Latency(s.t.Context()))
	s.must(c.Run(s.t.Context(), m))
	return c.Record()
}

// keep writes an instance where there is a place for it, and says what came
// of it.
func (i *instance) keep(what string, r record.Record, truth []record.Cause, k kept) *kept {
	k.Seed, k.Number, k.Setup, k.Truth, k.Record = i.seed, i.number, i.String(), truth, r
	for _, f := range i.faults {
		k.Faults, k.Kinds = append(k.Faults, f.String()), append(k.Kinds, f.kind.String())
	}
	dir := os.Getenv(envFaults)
	if dir == "" {
		return &k
	}
	name := fmt.Sprintf("%s-%d-%03d.json", i.faults[0].kind.cause, i.seed, i.number)
	if what == "healthy" {
		k.Faults, k.Kinds, k.Setup = nil, nil, i.stand.what.String()
		name = "healthy-" + name
	}
	text, err := json.Marshal(k)
	i.stand.must(err)
	i.stand.must(os.WriteFile(filepath.Join(dir, name), text, 0o644))
	return &k
}

// rowOf is the line of an instance.
func rowOf(k kept, cause record.Cause) row {
	r := row{seed: k.Seed, number: k.Number, cause: cause, setup: k.Setup, truth: k.Truth, named: record.Unknown, rate: mega(k.Rates["faulted"]), healthy: mega(k.Rates["healthy"])}
	f := k.finding()
	if f == nil {
		return r
	}
	r.named, r.sure, r.tried = f.Cause, int(math.Round(100*f.Confidence)), k.Tried
	if mended := cmp.Or(k.Rates["without "+string(f.Cause)], k.Rates["healthy"]); f.Expected > 0 && cause != record.LineRate {
		r.expected, r.mended = mega(f.Expected), mega(mended)
	}
	return r
}
