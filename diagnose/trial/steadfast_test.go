package trial_test

import (
	"encoding/json"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// leastSteady is the share of the variants that must keep the right name.
const leastSteady = 0.98

// variants are what changes a record and not what limits it. One that does not
// apply to a record reports false.
var variants = map[string]func(*rand.Rand, *record.Record) bool{
	"four times slower, as much longer":   func(_ *rand.Rand, r *record.Record) bool { return faster(r, 0.25) },
	"half as fast, twice as long":         func(_ *rand.Rand, r *record.Record) bool { return faster(r, 0.5) },
	"three times faster, as much shorter": func(_ *rand.Rand, r *record.Record) bool { return longEnough(*r, 3) && faster(r, 3) },
	"a quarter as wide":                   func(_ *rand.Rand, r *record.Record) bool { return lossless(*r) && wider(r, 0.25) },
	"four times as wide":                  func(_ *rand.Rand, r *record.Record) bool { return lossless(*r) && wider(r, 4) },
	"twenty times as wide":                func(_ *rand.Rand, r *record.Record) bool { return lossless(*r) && wider(r, 20) },
	"figures 5 % off":                     func(rnd *rand.Rand, r *record.Record) bool { jitter(rnd, r, 0.05); return true },
	"figures 3 % off":                     func(rnd *rand.Rand, r *record.Record) bool { jitter(rnd, r, 0.03); return true },
	"no queue counters":                   eachLink(func(l *record.LinkUse) { l.MeanBacklog, l.QdiscBacklog, l.QdiscOverlimits, l.Throttled = 0, 0, 0, 0 }),
	"no TcpExt":                           eachCPU(func(c *record.CPUUse) { c.TCPExt = nil }),
	"no threads":                          eachCPU(func(c *record.CPUUse) { c.Threads, c.PerCore, c.BusiestThread = nil, nil, 0 }),
	"as before Linux 4.19": eachLane(func(l *record.Lane) {
		c := &l.TCP
		c.BytesRetrans, c.BytesSent, c.DSACKDups, c.ReordSeen, c.Timeouts = 0, 0, 0, 0, 0
	}),
	"no window":              eachLane(func(l *record.Lane) { l.TCP.SndWnd, l.TCP.RcvWnd = 0, 0 }),
	"no shortest round trip": eachLane(func(l *record.Lane) { l.TCP.MinRTTMS = 0 }),
	"no size probes":         func(_ *rand.Rand, r *record.Record) bool { return !standsStill(*r) && without(r) },
	"the other way":          func(_ *rand.Rand, r *record.Record) bool { turn(r); return true },
	"other names":            func(_ *rand.Rand, r *record.Record) bool { rename(r); return true },
	"ten seconds":            func(rnd *rand.Rand, r *record.Record) bool { longer(rnd, r); return true },
}

// TestSteadfast judges variants of measured networks with known faults: the
// same in other units, as another kernel counts it, the other way round.
func TestSteadfast(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it takes seconds")
	}
	all := corpus(t, filepath.Join("testdata", "faults.json.gz"))
	if dir := os.Getenv("LINERATE_FAULTS_DIR"); dir != "" {
		all = directory(t, dir)
	}
	rnd := rand.New(rand.NewPCG(20261122, 7))
	kept, judgedAll := 0, 0
	for _, variant := range slices.Sorted(maps.Keys(variants)) {
		right, of := 0, 0
		for _, name := range slices.Sorted(maps.Keys(all)) {
			f := all[name]
			if len(f.Record.Trials) == 0 || !f.right(judged(f.Record)) {
				continue
			}
			changed := copied(t, f.Record)
			if !variants[variant](rnd, &changed) {
				continue
			}
			of++
			if found := judged(changed); f.right(found) {
				right++
			} else {
				t.Logf("%s: %s: %s: truth %v, named %s", variant, name, f.Setup, f.Truth, found.Cause)
			}
		}
		t.Logf("%4d of %4d keep their name: %s", right, of, variant)
		kept, judgedAll = kept+right, judgedAll+of
	}
	share := float64(kept) / float64(judgedAll)
	t.Logf("%d of %d (%.1f %%)", kept, judgedAll, 100*share)
	if !(share >= leastSteady) {
		t.Errorf("%.3f keep the right name, want %.3f", share, leastSteady)
	}
}

func copied(t *testing.T, r record.Record) (out record.Record) {
	t.Helper()
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func eachLane(change func(*record.Lane)) func(*rand.Rand, *record.Record) bool {
	return func(_ *rand.Rand, r *record.Record) bool {
		for i := range r.Trials[0].Lanes {
			change(&r.Trials[0].Lanes[i])
		}
		return true
	}
}

func eachLink(change func(*record.LinkUse)) func(*rand.Rand, *record.Record) bool {
	return func(_ *rand.Rand, r *record.Record) bool {
		for i := range r.Trials[0].Links {
			change(&r.Trials[0].Links[i])
		}
		return true
	}
}

func eachCPU(change func(*record.CPUUse)) func(*rand.Rand, *record.Record) bool {
	return func(_ *rand.Rand, r *record.Record) bool {
		for i := range r.Trials[0].CPU {
			change(&r.Trials[0].CPU[i])
		}
		return true
	}
}

func without(r *record.Record) bool { r.Trials[0].Sizes = nil; return true }

// standsStill: only probes of single packets tell why nothing arrives.
func standsStill(r record.Record) bool {
	return r.Trials[0].Goodput < r.Trials[0].Ceiling/20
}

// lossless: what losses leave does not grow with the width of the path, so a
// wider one with as many is another network.
func lossless(r record.Record) bool {
	for _, l := range r.Trials[0].Lanes {
		if l.Retransmits > 0 || l.TCP.ReordSeen > 0 {
			return false
		}
	}
	return true
}

// hasCard: a slot has the rate that it has.
func hasCard(r record.Record) bool {
	return slices.ContainsFunc(r.Environment.Hosts, func(h netstate.Host) bool { return len(h.Cards) > 0 })
}

// longEnough: below some milliseconds what hosts add to a round trip hides
// what the path does.
func longEnough(r record.Record, times float64) bool {
	for _, p := range r.Fabric.Paths {
		if unit.Milliseconds(p.RTT) < 2*times {
			return false
		}
	}
	return true
}

// scaled multiplies every figure of a record's first trial, and of its hosts,
// by what its dimension takes: rates, times of the path, amounts that are on
// the way or wait, amounts counted over the window.
func scaled(r *record.Record, rate, trip, level, count float64) {
	bits := func(all ...*unit.BitRate) {
		for _, b := range all {
			*b *= unit.BitRate(rate)
		}
	}
	times := func(all ...*float64) {
		for _, t := range all {
			*t *= trip
		}
	}
	bytes := func(all ...*unit.Bytes) {
		for _, b := range all {
			*b = unit.Bytes(float64(*b) * level)
		}
	}
	counts := func(all ...*uint64) {
		for _, n := range all {
			*n = uint64(float64(*n)*count + 0.5)
		}
	}
	t := &r.Trials[0]
	bits(&t.Goodput, &t.GoodputLow, &t.GoodputHigh, &t.Forward, &t.Reverse, &t.Wire, &t.Unread, &t.Claimed, &t.Ceiling, &t.RateLimit, &t.Predicted)
	for _, all := range [][]unit.BitRate{t.Blocks, t.Series} {
		for i := range all {
			bits(&all[i])
		}
	}
	if t.Shaper != nil {
		bits(&t.Shaper.Rate, &t.Shaper.Burst)
	}
	for i := range t.Lanes {
		l, c := &t.Lanes[i], &t.Lanes[i].TCP
		bits(&l.Goodput, &c.Delivery, &c.Pacing, &c.MaxPacing)
		times(&c.RTTMS, &c.MinRTTMS, &c.MeanRTTMS, &c.HighestRTTMS, &c.RcvRTTMS)
		bytes(&l.RcvBuf, &l.SndBuf, &c.SndWnd, &c.NotSent, &c.RcvSpace, &c.MeanNotSent, &c.MeanUnread, &c.RcvWnd, &c.MeanBelow)
		counts(&l.Retransmits, &c.SegmentsOut, &c.SegmentsIn, &c.BytesRetrans, &c.BytesSent, &c.RcvOutOfOrder, &c.DSACKDups, &c.ReordSeen)
		c.MeanCwnd, c.MeanInFlight = c.MeanCwnd*level, c.MeanInFlight*level
		c.SndCwnd, c.Ssthresh = int(float64(c.SndCwnd)*level), int(float64(c.Ssthresh)*level)
		for _, s := range []*record.Socket{l.Asked, l.Granted} {
			if s != nil {
				bits(&s.Pacing)
				bytes(&s.SndBuf, &s.RcvBuf, &s.Window)
			}
		}
	}
	for i := range t.Links {
		l := &t.Links[i]
		bits(&l.Tx, &l.Rx, &l.TxPayload, &l.RxPayload, &l.Ceiling)
		bytes(&l.QdiscBacklog, &l.MeanBacklog)
		counts(&l.Drops, &l.TxPackets, &l.RxPackets, &l.QdiscDrops, &l.QdiscOverlimits, &l.Requeues, &l.Throttled, &l.RxMissed, &l.RxCRC)
	}
	for i := range t.CPU {
		for name, n := range t.CPU[i].TCPExt {
			t.CPU[i].TCPExt[name] = uint64(float64(n)*count + 0.5)
		}
	}
	for i := range r.Environment.Hosts {
		for j := range r.Environment.Hosts[i].Links {
			l := &r.Environment.Hosts[i].Links[j]
			bits(&l.Speed)
			for q := range l.Qdiscs {
				bits(&l.Qdiscs[q].Rate, &l.Qdiscs[q].FlowRate)
				bytes(&l.Qdiscs[q].Burst, &l.Qdiscs[q].Limit)
			}
		}
	}
	for i := range r.Fabric.Paths {
		p := &r.Fabric.Paths[i]
		p.RTT = time.Duration(float64(p.RTT) * trip)
		bits(&p.Rate)
	}
}

// faster is the same network in other units of time: rates up, times down, and
// as many bytes on the way.
func faster(r *record.Record, times float64) bool {
	if hasCard(*r) {
		return false
	}
	scaled(r, times, 1/times, 1, times)
	return true
}

// wider carries and has on the way so many times more, over the same time.
func wider(r *record.Record, times float64) bool {
	if hasCard(*r) {
		return false
	}
	scaled(r, times, 1, times, times)
	return true
}

// jitter puts each measured figure off by up to a share of it. What was
// carried is counted exactly, and a pace is as it was set.
func jitter(rnd *rand.Rand, r *record.Record, share float64) {
	off := func(all ...*float64) {
		for _, x := range all {
			*x *= 1 + share*(2*rnd.Float64()-1)
		}
	}
	whole := func(all ...*float64) { // a share of the time
		off(all...)
		for _, x := range all {
			*x = min(*x, 1)
		}
	}
	count := func(all ...*uint64) {
		for _, n := range all {
			x := float64(*n)
			off(&x)
			*n = uint64(x + 0.5)
		}
	}
	t := &r.Trials[0]
	for i := range t.Blocks {
		off((*float64)(&t.Blocks[i]))
	}
	for i := range t.Lanes {
		l, c := &t.Lanes[i], &t.Lanes[i].TCP
		off((*float64)(&c.Delivery), &c.MeanCwnd, &c.MeanInFlight)
		whole(&c.BusyRatio, &c.RwndLimited, &c.SndbufLimited, &c.Recovering, &c.Disordered, &c.Starved, &c.Unheeded, &c.CwndLimited)
		least := c.MinRTTMS
		off(&c.MeanRTTMS, &c.RTTMS, &c.HighestRTTMS)
		c.MeanRTTMS = max(c.MeanRTTMS, least)
		count(&l.Retransmits, &c.SegmentsOut, &c.BytesRetrans, &c.BytesSent, &c.DSACKDups, &c.ReordSeen, &c.RcvOutOfOrder)
	}
	for i := range t.CPU {
		c := &t.CPU[i]
		whole(&c.Busiest, &c.BusiestThread, &c.Throttled)
		off(&c.Busy, &c.Softirq)
		for name, n := range c.TCPExt {
			count(&n)
			c.TCPExt[name] = n
		}
		for j := range c.Threads {
			whole(&c.Threads[j].Busy, &c.Threads[j].Waited)
		}
	}
}

// turn has the trial's traffic go the other way between the same hosts.
func turn(r *record.Record) {
	t := &r.Trials[0]
	other := func(d flow.Direction) flow.Direction {
		switch d {
		case flow.Forward:
			return flow.Reverse
		case flow.Reverse:
			return flow.Forward
		}
		return d
	}
	t.From, t.To, t.Direction = t.To, t.From, other(t.Direction)
	t.Forward, t.Reverse = t.Reverse, t.Forward
	for i := range t.Lanes {
		t.Lanes[i].Way = other(t.Lanes[i].Way)
	}
	for i := range t.CPU {
		for j := range t.CPU[i].Threads {
			t.CPU[i].Threads[j].Way = other(t.CPU[i].Threads[j].Way)
		}
	}
}

// rename gives the hosts names in the other order, and lists them so.
func rename(r *record.Record) {
	names := map[string]string{r.Trials[0].From: "zulu", r.Trials[0].To: "alpha"}
	change := func(all ...*string) {
		for _, name := range all {
			if n, ok := names[*name]; ok {
				*name = n
			}
		}
	}
	t := &r.Trials[0]
	change(&t.From, &t.To)
	for i := range t.Links {
		change(&t.Links[i].Host)
	}
	for i := range t.CPU {
		change(&t.CPU[i].Host)
	}
	for i := range t.Sizes {
		change(&t.Sizes[i].From, &t.Sizes[i].To)
	}
	for i := range t.Routes {
		change(&t.Routes[i].Host)
	}
	for i := range t.Outages {
		change(&t.Outages[i].Host)
	}
	for i := range r.Environment.Hosts {
		change(&r.Environment.Hosts[i].Name)
	}
	for i := range r.Fabric.Paths {
		change(&r.Fabric.Paths[i].From, &r.Fabric.Paths[i].To)
	}
	slices.Reverse(t.Links)
	slices.Reverse(t.CPU)
}

// longer is the same for ten seconds, in a hundred blocks that swing as much.
func longer(rnd *rand.Rand, r *record.Record) {
	t := &r.Trials[0]
	if t.Window <= 0 || t.Window > 9 {
		return
	}
	kept := t.Window
	blocks := slices.Clone(t.Blocks)
	scaled(r, 1, 1, 1, 10/kept)
	t.Window = 10
	if len(blocks) > 0 {
		t.Blocks, t.BlockLength = nil, 0.1
		for range 100 {
			t.Blocks = append(t.Blocks, blocks[rnd.IntN(len(blocks))])
		}
	}
}
