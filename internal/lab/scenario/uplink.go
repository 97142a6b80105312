package scenario

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/unit"
)

// Uplink is what lies between a host's switch and the middle of the network,
// each direction; the zero Uplink is a cable.
type Uplink struct {
	RTT    time.Duration // that it adds to each round trip
	Rate   unit.BitRate  // zero is no shaper
	Bucket unit.Bytes    // of that shaper; zero is its usual one
	Loss   float64       // of packets, each way
}

// IsZero reports a cable.
func (u Uplink) IsZero() bool { return u == Uplink{} }

// Uplinks are the hosts' uplinks that make up the paths of the fabric, by
// host: a lab is a star, so that round trips of three hosts and more must add
// up as those of a star do, and paths of one host share a shaper. The error
// names the path that does not fit.
func (s Scenario) Uplinks() (map[string]Uplink, error) { return Star(s.Fabric) }

// Star is Uplinks for a fabric.
func Star(f fabric.Fabric) (map[string]Uplink, error) {
	rtts, err := star(f.Paths, "rtt", func(p fabric.Path) float64 { return p.RTT.Seconds() }, 50e-6)
	if err != nil {
		return nil, err
	}
	losses, err := star(f.Paths, "loss", func(p fabric.Path) float64 { return p.Loss }, 1e-6)
	if err != nil {
		return nil, err
	}
	out := map[string]Uplink{}
	for _, h := range f.Hosts {
		u := Uplink{RTT: time.Duration(rtts[h.Name] * float64(time.Second)).Round(time.Microsecond), Loss: losses[h.Name], Rate: h.Rate}
		for _, p := range f.Paths {
			if p.Rate == 0 || p.From != h.Name && p.To != h.Name || h.Rate > 0 {
				continue
			}
			if u.Rate > 0 && u.Rate != p.Rate {
				return nil, fmt.Errorf("paths of %s have rates of %v and %v: in a lab they share a shaper", h.Name, u.Rate, p.Rate)
			}
			u.Rate, u.Bucket = p.Rate, max(u.Bucket, p.Bucket)
		}
		out[h.Name] = u
	}
	return out, nil
}

// rounds are far more than a star of a hundred hosts needs to settle.
const rounds = 2000

// star finds a number for each host so that those of two hosts add up to what
// their path has (Kaczmarz's method, none below zero): the nearest there is.
// Paths that differ by direction count by their mean. What is off by more than
// 2 % and the tolerance is an error.
func star(paths []fabric.Path, what string, of func(fabric.Path) float64, tolerance float64) (map[string]float64, error) {
	type pair struct{ a, b string }
	sums, counts := map[pair]float64{}, map[pair]float64{}
	var order []pair
	for _, p := range paths {
		k := pair{min(p.From, p.To), max(p.From, p.To)}
		if !slices.Contains(order, k) {
			order = append(order, k)
		}
		sums[k] += of(p)
		counts[k]++
	}
	out := map[string]float64{}
	for range rounds {
		for _, k := range order {
			rest := sums[k]/counts[k] - out[k.a] - out[k.b]
			out[k.a] = max(0, out[k.a]+rest/2)
			out[k.b] = max(0, out[k.b]+rest/2)
		}
	}
	for _, k := range order {
		want, got := sums[k]/counts[k], out[k.a]+out[k.b]
		if math.Abs(want-got) > 0.02*want+tolerance {
			return nil, fmt.Errorf("%s between %s and %s does not add up with the other paths' to a star, as which the lab is built", what, k.a, k.b)
		}
	}
	return out, nil
}
