package tune

import (
	"testing"

	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// TestPays: medians of as many looks as there are, so that the best of several
// does not stand for a gain; what two looks cannot tell asks for more.
func TestPays(t *testing.T) {
	looks := func(half float64, rates ...float64) (out []record.Trial) {
		for _, r := range rates {
			out = append(out, measured(unit.BitRate(r)*unit.Mbps, unit.BitRate(r*half)*unit.Mbps))
		}
		return out
	}
	for _, c := range []struct {
		name          string
		found, become []record.Trial
		pays, sure    bool
	}{
		{"clear", looks(0.005, 50), looks(0.005, 97), true, true},
		{"one lucky look of three", looks(0.005, 100), looks(0.005, 100, 103, 99), false, false},
		{"as fast, two looks each", looks(0.005, 100, 101), looks(0.005, 100.5, 101), false, true},
		{"a little, one look each", looks(0.005, 100), looks(0.005, 104), true, false},
		{"a little, two looks each", looks(0.005, 100, 100.2), looks(0.005, 104, 104.1), true, true},
		{"a little, wide intervals, each time", looks(0.05, 100, 100.2), looks(0.05, 104, 104.1), true, true},
		{"a little, wide intervals", looks(0.05, 100, 104.2), looks(0.05, 104, 105), false, false},
		{"slower", looks(0.005, 100, 100), looks(0.005, 90, 91), false, true},
		{"a found look that was disturbed", looks(0.005, 80, 100, 100), looks(0.005, 100, 101), false, true},
		{"wide intervals, nearly all above", looks(0.1, 163, 168.7, 161.9), looks(0.1, 175.4, 174.5, 166.7, 174, 173.7), true, true},
		{"wide intervals, some above", looks(0.1, 163, 170, 161), looks(0.1, 166, 169, 165, 172), false, false},
		{"nothing seen", nil, looks(0.005, 100), false, false},
	} {
		if pays, sure := Pays(0, c.found, c.become); pays != c.pays || sure != c.sure {
			t.Errorf("%s: pays %v, sure %v", c.name, pays, sure)
		}
	}
}

// TestPaysAsPredicted: looks that something disturbed do not refute what the
// prediction expects and the best of as many looks bear out; undisturbed ones do.
// The first three are what tunes saw of MTU 9000 on a machine whose cores were
// taken away for up to 60 ms at a time.
func TestPaysAsPredicted(t *testing.T) {
	looks := func(rates ...unit.BitRate) (out []record.Trial) {
		for _, r := range rates {
			out = append(out, measured(r*unit.Mbps, r*unit.Mbps*6/100))
		}
		return out
	}
	for _, c := range []struct {
		name          string
		gain          float64
		found, become []record.Trial
		pays, sure    bool
	}{
		{"one disturbed look each", 0.038, looks(936, 925), looks(976, 891), false, false},
		{"medians alike, the best as predicted", 0.038, looks(941, 941, 896), looks(976, 929, 939), true, true},
		{"medians apart, pairs mixed", 0.038, looks(862, 831, 866, 848, 922), looks(924, 901, 976, 904, 941), true, true},
		{"nobody predicted it", 0, looks(941, 941, 896), looks(976, 929, 939), false, true},
		{"undisturbed, and no gain", 0.038, looks(941, 940), looks(942, 941), false, true},
		{"undisturbed, and slower", 0.038, looks(941, 940, 941), looks(930, 931, 932), false, true},
		{"disturbed, and no gain yet", 0.038, looks(941, 890, 900), looks(942, 870, 905), false, false},
		{"disturbed, and no gain", 0.038, looks(941, 890, 900, 920, 935), looks(942, 870, 910, 925, 930), false, true},
		{"one lucky look of more", 0.038, looks(941, 900, 890), looks(976, 900, 901, 890), false, false},
	} {
		if pays, sure := Pays(c.gain, c.found, c.become); pays != c.pays || sure != c.sure {
			t.Errorf("%s: pays %v, sure %v", c.name, pays, sure)
		}
	}
}

// TestAsPredicted: what agrees with the prediction, and what is far from it or
// lost in the intervals.
func TestAsPredicted(t *testing.T) {
	wide := rated(104)
	wide.GoodputLow = wide.Goodput * 0.9
	for i, c := range []struct {
		gain float64
		b    record.Trial
		want bool
	}{{0.038, rated(104), true}, {0.038, rated(102.5), true}, {0.038, rated(101.5), false}, {0.038, rated(109), false}, {0.038, wide, false}, {0.012, rated(100.8), false}, {0, rated(104), false}} {
		if got := AsPredicted(Proposal{Gain: c.gain}, rated(100), c.b); got != c.want {
			t.Errorf("case %d: %v", i, got)
		}
	}
}

// TestMoreStreams: of what nobody predicts so many are tried that it shows, and
// of what failed not still more.
func TestMoreStreams(t *testing.T) {
	for now, want := range map[int]int{1: 4, 2: 8, 3: 8, 4: 8, 8: 16, 16: 32} {
		if got := moreStreams(now); got != want {
			t.Errorf("%d streams: %d, want %d", now, got, want)
		}
	}
	s := healthy(nil)
	s.Trials = []record.Trial{found(record.Unknown)}
	for _, p := range Propose(s) {
		if p.Name == Streams && p.Traffic.Streams != 8 {
			t.Errorf("%d streams are tried after 2, want 8", p.Traffic.Streams)
		}
	}
}

// TestEvident: one look each is enough for a difference that no usual
// disturbance makes, and intervals that meet never are.
func TestEvident(t *testing.T) {
	wide := rated(150)
	wide.GoodputLow = wide.Goodput / 2
	for i, c := range []struct {
		b    record.Trial
		want bool
	}{{rated(110), false}, {rated(119), false}, {rated(125), true}, {wide, false}, {rated(90), false}} {
		if got := Evident(rated(100), c.b); got != c.want {
			t.Errorf("case %d: %v", i, got)
		}
	}
}

// TestSlows: by medians, and by three looks where one or two might err.
func TestSlows(t *testing.T) {
	at := func(rates ...unit.BitRate) (all []record.Trial) {
		for _, r := range rates {
			all = append(all, record.Trial{Goodput: r * unit.Mbps})
		}
		return all
	}
	for _, c := range []struct {
		found, now  []record.Trial
		slows, sure bool
	}{
		{at(165), at(164), false, true},
		{at(165), at(180), false, true},
		{at(165), at(155), true, false},
		{at(165), at(155, 159), true, false}, // what was found may have been seen too high
		{at(165, 164), at(155, 159), true, true},
		{at(165, 164), at(162, 163), true, false},
		{at(165, 158), at(157, 164), false, true},
		{at(165), at(160, 164), true, false},
		{at(165), at(158, 171), false, true},
		{at(165), at(155, 163, 164), true, false},
		{at(165, 171, 160), at(157, 159, 164), true, true},
		{at(165, 166, 160), at(161, 162, 167), false, true}, // apart by medians, not by their looks
		{at(165, 166, 164), at(162, 163, 163), false, true},
	} {
		if slows, sure := Slows(c.found, c.now, false); slows != c.slows || sure != c.sure {
			t.Errorf("%v, then %v: %v, sure %v", c.found, c.now, slows, sure)
		}
	}
	for _, c := range []struct {
		now         []record.Trial
		slows, sure bool
	}{{at(155), true, false}, {at(155, 158), true, true}, {at(162, 160, 161), true, true}, {at(162, 163, 163), false, true}} {
		if slows, sure := Slows(at(165), c.now, true); slows != c.slows || sure != c.sure {
			t.Errorf("of one last look at 165, then %v: %v, sure %v", c.now, slows, sure)
		}
	}
}

// TestVague: a rate that goes up and down may hide a gain, a steady one and one
// far below do not.
func TestVague(t *testing.T) {
	at := func(low, rate, high unit.BitRate) record.Trial {
		return record.Trial{Goodput: rate, GoodputLow: low, GoodputHigh: high}
	}
	for _, c := range []struct {
		a, b             record.Trial
		disordered, want bool
	}{
		{at(138, 166, 194), at(167, 167, 167), false, true},
		{at(165, 166, 167), at(166, 167, 168), false, false},
		{at(165, 166, 167), at(164, 165, 166), true, true},
		{at(138, 166, 194), at(150, 157, 165), true, false},
	} {
		if got := Vague(c.a, c.b, c.disordered); got != c.want {
			t.Errorf("%v and %v, disordered %v: %v", c.a, c.b, c.disordered, got)
		}
	}
}

// TestDisorderedTurns: medians decide where any single look may err, but not of
// steady traffic.
func TestDisorderedTurns(t *testing.T) {
	at := func(rates ...unit.BitRate) (all []record.Trial) {
		for _, r := range rates {
			r *= unit.Mbps
			all = append(all, record.Trial{Goodput: r, GoodputLow: 0.999 * r, GoodputHigh: 1.001 * r})
		}
		return all
	}
	for _, c := range []struct {
		as, bs     []record.Trial
		disordered bool
		want       bool
	}{
		{at(166, 169, 169), at(178, 178, 168), true, true},
		{at(166, 169, 169), at(178, 178, 168), false, false},
		{at(166, 169, 169), at(172, 172, 168), true, false},
		{at(169, 166), at(168, 178), true, false},
	} {
		keep, verdict := JudgeTurns(Proposal{Disordered: c.disordered}, c.as, c.bs, Middle(c.as), Middle(c.bs))
		if keep != c.want {
			t.Errorf("%v, then %v: %q", c.as, c.bs, verdict)
		}
	}
}
