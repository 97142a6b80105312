package predict

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict/testfabric"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
	"pgregory.net/rapid"
)

// star is a store with a bond of two links and clients with one link each, in
// one subnet.
func star(clients int, change ...func(Fabric)) Fabric {
	const gigabit = 1e9
	store := testfabric.Bond{Name: "store", Addrs: []string{"10.0.0.1/24"}, Ports: 2, Speed: gigabit, Mode: netstate.LACP,
		Policy: netstate.Layer34, Mtu: 1500, Kernel: "6.1"}.Host()
	f := Fabric{Hosts: map[string]netstate.Host{"store": store}}
	for i := range clients {
		name := string(rune('a' + i))
		f.Hosts[name] = testfabric.Plain(name, gigabit, 1500, "10.0.0."+string(rune('2'+i))+"/24")
		f.Paths = append(f.Paths, fabric.Path{From: name, To: "store", RTT: 100 * time.Microsecond, SwitchHash: "layer3+4", Declared: true})
	}
	for _, c := range change {
		c(f)
	}
	return f
}

func all(f Fabric, d flow.Direction, streams int) (traffic []Traffic) {
	for _, p := range f.Paths {
		traffic = append(traffic, Traffic{From: p.From, To: p.To, Direction: d, Streams: streams})
	}
	return traffic
}

func TestTogether(t *testing.T) {
	link := 1e9 * 1448.0 / 1538.0
	host := func(name string, change func(*netstate.Host)) func(Fabric) {
		return func(f Fabric) {
			h := f.Hosts[name]
			change(&h)
			f.Hosts[name] = h
		}
	}
	capped := host("store", func(h *netstate.Host) { h.Rate = 1e9 })
	path := func(f Fabric) { f.Paths[0].Rate = 100e6 }
	slow := host("a", func(h *netstate.Host) { h.Links[0].Speed = 100e6 })
	cores := host("store", func(h *netstate.Host) { h.CPU = netstate.CPU{Cores: 2, StreamRate: 600e6} })
	unknown := func(f Fabric) {
		host("a", func(h *netstate.Host) { h.Links[0].Speed = 0 })(f)
		host("store", func(h *netstate.Host) {
			for i := range h.Links {
				h.Links[i].Speed = 0
			}
		})(f)
		f.Paths[0].RTT = 0
	}
	for _, c := range []struct {
		name    string
		f       Fabric
		d       flow.Direction
		streams int
		want    []float64
		limit   []record.Cause
		where   []string
	}{
		{"one pair is alone", star(1), flow.Forward, 2, []float64{link}, []record.Cause{record.LineRate}, []string{"a: ens3"}},
		{"two pairs, two links", star(2), flow.Forward, 2, []float64{link, link},
			[]record.Cause{record.LineRate, record.LineRate}, []string{"a: ens3", "b: ens3"}},
		{"four pairs, two links", star(4), flow.Forward, 2, []float64{link / 2, link / 2, link / 2, link / 2},
			[]record.Cause{record.LineRate, record.LineRate, record.LineRate, record.LineRate},
			[]string{"store: store0, store1, receiving", "store: store0, store1, receiving", "store: store0, store1, receiving", "store: store0, store1, receiving"}},
		{"four pairs back", star(4), flow.Reverse, 2, []float64{link / 2, link / 2, link / 2, link / 2}, nil,
			[]string{"store: store0, store1, sending", "store: store0, store1, sending", "store: store0, store1, sending", "store: store0, store1, sending"}},
		{"both ways", star(4), flow.Both, 2, []float64{link, link, link, link}, nil, nil},
		{"a host's rate", star(2, capped), flow.Forward, 2, []float64{1e9 * 1448 / 1514 / 2, 1e9 * 1448 / 1514 / 2},
			[]record.Cause{record.Shaper, record.Shaper}, []string{"store, receiving", "store, receiving"}},
		{"a path's rate leaves more to others", star(2, capped, path), flow.Forward, 2, []float64{100e6 * 1448 / 1514, 900e6 * 1448 / 1514},
			[]record.Cause{record.Shaper, record.Shaper}, []string{"a to store", "store, receiving"}},
		{"a slow client", star(2, capped, slow), flow.Forward, 2, []float64{100e6 * 1448 / 1538, 1e9*1448/1514 - 100e6*1448/1538},
			[]record.Cause{record.LineRate, record.Shaper}, []string{"a: ens3", "store, receiving"}},
		{"cores", star(2, cores), flow.Forward, 2, []float64{600e6, 600e6}, []record.Cause{record.ReceiverCPU, record.ReceiverCPU}, nil},
		{"one of unknown speed", star(2, unknown), flow.Forward, 2, []float64{0, link}, []record.Cause{record.Unknown, record.LineRate}, nil},
	} {
		rows, err := Together(c.f, all(c.f, c.d, c.streams))
		if err != nil || len(rows) != len(c.want) {
			t.Errorf("%s: %d rows, %v", c.name, len(rows), err)
			continue
		}
		for i, r := range rows {
			if got := float64(r.Together); math.Abs(got-c.want[i]) > 1e-6*c.want[i] {
				t.Errorf("%s: pair %d gets %v, want %v", c.name, i, r.Together, unit.BitRate(c.want[i]))
			}
			if c.limit != nil && r.TogetherLimit != c.limit[i] {
				t.Errorf("%s: pair %d: limit %s, want %s", c.name, i, r.TogetherLimit, c.limit[i])
			}
			if c.where != nil && !strings.HasPrefix(r.TogetherWhere, c.where[i]) {
				t.Errorf("%s: pair %d: where %q, want %q", c.name, i, r.TogetherWhere, c.where[i])
			}
		}
	}
}

func TestTogetherErrors(t *testing.T) {
	f := star(1)
	for name, c := range map[string]struct {
		traffic Traffic
		want    error
	}{
		"host":      {Traffic{From: "a", To: "nobody", Direction: flow.Forward, Streams: 1}, ErrUnknownHost},
		"streams":   {Traffic{From: "a", To: "store", Direction: flow.Forward}, ErrTraffic},
		"direction": {Traffic{From: "a", To: "store", Direction: "sideways", Streams: 1}, ErrTraffic},
	} {
		if _, err := Together(f, []Traffic{c.traffic}); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
	if rows, err := Together(f, nil); err != nil || len(rows) != 0 {
		t.Errorf("nothing: %v, %v", rows, err)
	}
}

// TestTogetherHolds: whatever the fabric, nobody gets more together than alone
// and not more in all than may pass; one alone gets what it is predicted.
func TestTogetherHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := DrawFabric(t)
		tr := Traffic{
			From: "a", To: "b", Direction: rapid.SampledFrom(flow.Directions()).Draw(t, "direction"),
			Streams: rapid.IntRange(1, 8).Draw(t, "streams"), Protocol: rapid.SampledFrom([]string{"", "udp", "mptcp"}).Draw(t, "protocol"),
			Ports: rapid.SampledFrom([]string{"", PortsKernel}).Draw(t, "ports"),
		}
		alone, err := Predict(f, tr)
		rows, errAll := Together(f, []Traffic{tr})
		if errors.Is(err, ErrUnknownSpeed) {
			if errAll != nil || rows[0].TogetherLimit != record.Unknown || rows[0].Together != 0 {
				t.Fatalf("%+v, %v; want unknown", rows, errAll)
			}
			return
		}
		if (err == nil) != (errAll == nil) {
			t.Fatalf("alone %v, together %v", err, errAll)
		}
		if err != nil {
			return
		}
		if got := rows[0].Together; math.Abs(float64(got-alone.Rate)) > 1e-6*float64(alone.Rate) {
			t.Fatalf("one pair gets %v, alone %v", got, alone.Rate)
		}
		twice, err := Together(f, []Traffic{tr, tr})
		if err != nil {
			t.Fatal(err)
		}
		sum := twice[0].Together + twice[1].Together
		for _, r := range twice {
			if r.Together > r.Rate {
				t.Fatalf("%v together, %v alone", r.Together, r.Rate)
			}
		}
		if alone.Ceiling > 0 && sum > alone.Ceiling*(1+1e-9) {
			t.Fatalf("two get %v, the ceiling is %v", sum, alone.Ceiling)
		}
	})
}
