package predict

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/predict/maxmin"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// Joint is what one kind of traffic gets while others run at the same time,
// beside the prediction of it alone.
type Joint struct {
	Prediction
	// Together is its rate while all run, never more than Rate; zero unknown.
	Together unit.BitRate `json:"together_bps"`
	// TogetherLimit is the cause that binds then, TogetherWhere names the host
	// and the link, card or other resource, and TogetherWhy says who shares it.
	// Where others take nothing from it they are the prediction's own limit.
	TogetherLimit record.Cause `json:"together_limit"`
	TogetherWhere string       `json:"together_where"`
	TogetherWhy   string       `json:"together_why,omitempty"`
	// TogetherForward and TogetherReverse are the two ways of direction both.
	TogetherForward unit.BitRate `json:"together_forward_bps,omitempty"`
	TogetherReverse unit.BitRate `json:"together_reverse_bps,omitempty"`
	// TogetherLinks is what the traffic puts on every link that it may use while
	// all run; nil where its rate is unknown.
	TogetherLinks []LinkShare `json:"-"`
}

// Together predicts kinds of traffic that all run at the same time, in the
// order given. Streams share links, cards, hosts' rates and cores, and what
// else holds several of them back, max-min fairly (Share), each way for
// itself; none gets more than it would alone. What the fabric does not
// describe, such as links between switches, bounds nothing.
//
// Where chance places streams, what each link gets is computed for the mean
// number of streams on it. Traffic that nothing bounds is there with its limit
// unknown. Errors are Predict's others: of the first traffic that has one.
func Together(f Fabric, all []Traffic) ([]Joint, error) {
	paths := f.pathsByPair()
	j := joint{index: map[resource]int{}}
	ways := make([][]jointWay, len(all))
	for i, t := range all {
		one := Fabric{Hosts: f.Hosts, Paths: paths[pairOf(t.From, t.To)], Clouds: f.Clouds}
		for _, d := range t.Direction.Ways() {
			single := t
			single.Direction = d
			if t.Direction == flow.Both {
				single = t.bothWays(d)
			}
			w, err := j.add(one, single)
			if err != nil {
				return nil, err
			}
			ways[i] = append(ways[i], w)
		}
		if some := ways[i]; len(some) == 2 && some[0].own != maxmin.None && some[1].own != maxmin.None {
			var err error
			if some[0].alone, some[1].alone, err = besideOpposite(one, t, some[0].alone, some[1].alone); err != nil {
				return nil, err
			}
		}
		if len(ways[i]) == 0 {
			return nil, fmt.Errorf("predict %s to %s: direction %q: %w", t.From, t.To, t.Direction, ErrTraffic)
		}
	}
	shares, err := maxmin.Share(j.capacity, j.flows)
	if err != nil {
		return nil, err
	}
	j.weigh(shares)
	rows := make([]Joint, len(all))
	for i, some := range ways {
		rows[i] = j.row(some, shares)
	}
	return rows, nil
}

// pairOf is the same for both orders of two names.
func pairOf(a, b string) [2]string {
	if b < a {
		a, b = b, a
	}
	return [2]string{a, b}
}

func (f Fabric) pathsByPair() map[[2]string][]fabric.Path {
	paths := make(map[[2]string][]fabric.Path, len(f.Paths))
	for _, p := range f.Paths {
		key := pairOf(p.From, p.To)
		paths[key] = append(paths[key], p)
	}
	return paths
}

// joint is the resources and flows of several kinds of traffic.
type joint struct {
	capacity []float64
	index    map[resource]int
	of       []resource // by number
	users    []int      // ways that claim it, by resource
	latest   []int      // the way that claimed it last, counted from 1
	ways     int
	flows    maxmin.Flows
	// loads is what all put on each resource, ports the numbers of a host's port in one
	// direction: of the shares, once they are known.
	loads []float64
	ports map[portEnd][]int
}

// jointWay is one way of traffic: its flows, and the prediction of it alone.
type jointWay struct {
	alone       Prediction
	first, last int // entries, the last not included
	own         int // the resource that stands for what it is alone
	plan        plan
}

// add adds one way.
func (j *joint) add(f Fabric, t Traffic) (jointWay, error) {
	at := jointWay{first: j.flows.Len(), last: j.flows.Len(), own: maxmin.None}
	alone, err := Predict(f, t)
	if errors.Is(err, ErrUnknownSpeed) {
		at.alone = unknownRate(t, err)
		return at, nil
	}
	if err != nil {
		return at, err
	}
	at.alone = alone
	if err := t.check(f); err != nil {
		return at, err
	}
	w, err := newWay(f, t, t.Direction)
	if err != nil {
		return at, err
	}
	b := w.bounds()
	n := w.network(b, middle)
	p := w.plan(assumption{kernel: t.Ports == PortsKernel, mean: true})
	numbers := j.resources(w, n)
	at.own, at.plan = j.new(resource{}, float64(alone.Rate)), p
	j.ways++
	for c, count := range p.mean() {
		on := p.cells[c]
		loads := n.loads(p, on)
		j.flows.Add(count, j.most(count, b.flowCap(middle), loads, numbers))
		for _, l := range loads {
			j.claim(numbers[l.Resource], l.Weight)
		}
		j.claim(at.own, 1)
	}
	at.last = j.flows.Len()
	return at, nil
}

func (j *joint) claim(r int, weight float64) {
	j.flows.Claim(r, min(weight, maxmin.Heaviest))
	if j.latest[r] != j.ways {
		j.latest[r] = j.ways
		j.users[r]++
	}
}

// most is what a flow reaches at most. Part of one, which is there by chance,
// is as fast while it is there as a whole one: no faster than the links.
func (j *joint) most(count, limit float64, loads []maxmin.Load, numbers []int) float64 {
	if count < 1 {
		for _, l := range loads {
			limit = min(limit, j.capacity[numbers[l.Resource]]/l.Weight)
		}
	}
	return limit
}

// mean is the mean number of streams on each of the plan's cells.
func (p plan) mean() []float64 {
	counts := make([]float64, len(p.cells))
	for _, g := range p.groups {
		for _, class := range g.Classes {
			for _, c := range class.Cells {
				counts[c] += float64(g.Streams) * class.Weight / float64(len(class.Cells))
			}
		}
	}
	return counts
}

func unknownRate(t Traffic, why error) Prediction {
	limit := Limit{Cause: record.Unknown, Where: t.From + " to " + t.To, Why: why.Error()}
	return Prediction{From: t.From, To: t.To, Direction: t.Direction, Streams: t.Streams, Protocol: t.protocol(),
		Limit: record.Unknown, Limits: []Limit{limit}}
}

// row is one traffic's result.
func (j *joint) row(ways []jointWay, s maxmin.Shares) Joint {
	one := make([]Joint, len(ways))
	for i, w := range ways {
		one[i] = j.oneWay(w, s)
	}
	if len(one) == 1 {
		return one[0]
	}
	fwd, rev := one[0], one[1]
	all := fwd
	if rev.Rate-rev.Together > fwd.Rate-fwd.Together {
		all = rev
	}
	all.Prediction = unknownBoth(fwd.Prediction, rev.Prediction)
	all.Together, all.TogetherForward, all.TogetherReverse = fwd.Together+rev.Together, fwd.Together, rev.Together
	all.TogetherLinks = slices.Concat(fwd.TogetherLinks, rev.TogetherLinks)
	if fwd.TogetherLimit == record.Unknown || rev.TogetherLimit == record.Unknown {
		all.Together, all.TogetherForward, all.TogetherReverse = 0, 0, 0
		all.TogetherLimit, all.TogetherWhere, all.TogetherWhy = record.Unknown, all.Limits[0].Where, all.Limits[0].Why
	}
	return all
}

// unknownBoth sums the ways alone; one that is unknown makes both so.
func unknownBoth(fwd, rev Prediction) Prediction {
	for _, p := range []Prediction{fwd, rev} {
		if p.Limit == record.Unknown && p.Rate == 0 {
			p.Direction = flow.Both
			return p
		}
	}
	return bothOf(fwd, rev)
}

func (j *joint) oneWay(w jointWay, s maxmin.Shares) Joint {
	own := w.alone.Limits[0]
	r := Joint{Prediction: w.alone, TogetherLimit: own.Cause, TogetherWhere: own.Where, TogetherWhy: own.Why}
	if w.own == maxmin.None {
		return r
	}
	// By resource, the streams that it binds.
	bound := map[int]float64{}
	for i := w.first; i < w.last; i++ {
		count := j.flows.Count[i]
		if count <= 0 || math.IsInf(s.Rate[i], 1) {
			continue
		}
		r.Together += unit.BitRate(s.Rate[i] * count)
		if b := s.Binds[i]; b >= 0 && j.users[b] > 1 {
			bound[int(b)] += count
		}
	}
	r.Together = min(r.Together, r.Rate)
	r.TogetherLinks = w.links(j.flows, s)
	if r.Shared() && len(bound) > 0 {
		l := forRole(w.alone, j.hashed(w, j.limit(bound), bound))
		r.TogetherLimit, r.TogetherWhere, r.TogetherWhy = l.Cause, l.Where, l.Why
	}
	return r
}

// links is what the way puts on each link that it may use.
func (w jointWay) links(flows maxmin.Flows, s maxmin.Shares) []LinkShare {
	cells := w.last - w.first
	r := result{streams: make([]float64, cells), loads: make([]float64, cells)}
	for c := range cells {
		count, rate := flows.Count[w.first+c], s.Rate[w.first+c]
		if count > 0 && !math.IsInf(rate, 1) {
			r.streams[c], r.loads[c] = count, count*rate
		}
	}
	return w.plan.way.shares(w.plan, r)
}

// limit is what binds most of a way's streams, and its like on the same host.
func (j *joint) limit(bound map[int]float64) Limit {
	binds := maxmin.None
	for b, streams := range bound {
		if binds == maxmin.None || streams > bound[binds] || streams == bound[binds] && b < binds {
			binds = b
		}
	}
	var like []int
	for b := range bound {
		if j.of[b].like(j.of[binds]) {
			like = append(like, b)
		}
	}
	slices.Sort(like)
	return j.named(like)
}

// Shared reports that others hold the traffic back: it gets less together than
// alone.
func (j Joint) Shared() bool { return j.Together < j.Rate*(1-Differs) }
