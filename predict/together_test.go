package predict

import (
	"errors"
	"testing"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict/testfabric"
	"github.com/linerate/linerate/unit"
)

// TestCeilingTogether: three hosts; alpha and beta with two links, one to each
// of the others' subnets.
func TestCeilingTogether(t *testing.T) {
	const gigabit = 1e9
	one := unit.BitRate(gigabit * 1448.0 / 1538.0)
	hosts := func(change ...func(map[string]netstate.Host)) Fabric {
		f := Fabric{Hosts: map[string]netstate.Host{
			"alpha": testfabric.Plain("alpha", gigabit, 1500, "10.0.1.1/24", "10.0.2.1/24"),
			"beta":  testfabric.Plain("beta", gigabit, 1500, "10.0.1.2/24"),
			"gamma": testfabric.Plain("gamma", gigabit, 1500, "10.0.2.3/24"),
			"delta": testfabric.Plain("delta", gigabit, 1500, "10.0.1.4/24"),
		}}
		for _, c := range change {
			c(f.Hosts)
		}
		f.Paths = []fabric.Path{{From: "alpha", To: "beta"}, {From: "alpha", To: "gamma"}, {From: "alpha", To: "delta"}}
		return f
	}
	capped := func(h map[string]netstate.Host) {
		a := h["alpha"]
		a.Rate = 1.5 * gigabit
		h["alpha"] = a
	}
	unknown := func(h map[string]netstate.Host) {
		for _, name := range []string{"alpha", "beta", "gamma", "delta"} {
			for i := range h[name].Links {
				h[name].Links[i].Speed = 0
			}
		}
	}
	to := func(d flow.Direction, names ...string) (all []Traffic) {
		for _, n := range names {
			all = append(all, Traffic{From: "alpha", To: n, Direction: d, Streams: 1})
		}
		return all
	}
	for _, c := range []struct {
		name  string
		f     Fabric
		all   []Traffic
		want  unit.BitRate
		binds string
		err   error
	}{
		{"one pair", hosts(), to(flow.Forward, "beta"), one, "ens3 of alpha", nil},
		{"two links, two targets", hosts(), to(flow.Forward, "beta", "gamma"), 2 * one, "ens3 of alpha, ens4 of alpha", nil},
		{"one link, two targets", hosts(), to(flow.Forward, "beta", "delta"), one, "ens3 of alpha", nil},
		{"from both back by one link", hosts(), to(flow.Reverse, "beta", "delta"), one, "ens3 of alpha", nil},
		{"both ways by one link", hosts(), to(flow.Both, "beta", "delta"), 2 * one, "ens3 of alpha", nil},
		{"a cap on the host", hosts(capped), to(flow.Forward, "beta", "gamma"), 1.5 * gigabit * 1448 / 1514, "all that alpha sends", nil},
		{"three targets, two links", hosts(), to(flow.Forward, "beta", "gamma", "delta"), 2 * one, "ens3 of alpha, ens4 of alpha", nil},
		{"unknown speeds", hosts(unknown), to(flow.Forward, "beta", "gamma"), 0, "", ErrUnknownSpeed},
		{"unknown host", hosts(), to(flow.Forward, "beta", "nobody"), 0, "", ErrUnknownHost},
	} {
		got, binds, err := CeilingTogether(c.f, c.all)
		if !errors.Is(err, c.err) || got < c.want*0.9999 || got > c.want*1.0001 {
			t.Errorf("%s: %v (%s), %v; want %v", c.name, got, binds, err, c.want)
		}
		if binds != c.binds {
			t.Errorf("%s: binds %q, want %q", c.name, binds, c.binds)
		}
	}
}
