package recognise

import (
	"math"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/steer"
)

// misread is how often a sighting is taken to name the wrong link: other
// traffic may move a counter at the wrong moment.
const misread = 0.01

// ownPrior is how much a sender's own spreader, computed from its kernel's
// rule, is believed before anything was seen.
const ownPrior = 0.98

// Belief is what sightings leave of all that a spreader may do: a weight for
// every known rule and for unpublished hashes of each choice of inputs.
type Belief struct {
	links   int
	leads   []lead
	counted int // sightings
}

// lead is a suspect with its weight and the link that each class was seen on.
type lead struct {
	suspect
	weight              float64 // posterior, all leads sum to one
	of                  map[uint64]int
	agree, differ, mute int    // sightings; mute have no class
	free                []bool // links that no class has
}

// Believe weighs every known way to spread flows over that many links by
// whether it explains the sightings, whatever its numbering of the links. Own
// is the device's spreader where its rule is known, nil for a black box: it is
// believed until sightings contradict it.
func Believe(sightings []steer.Sighting, links int, own steer.Spreader) Belief {
	b := Belief{links: links, counted: len(sightings)}
	share := 1.0
	if own != nil {
		share = 1 - ownPrior
		b.leads = append(b.leads, lead{suspect: suspect{policy: "own", prior: ownPrior, ruled: true, placed: own}})
	}
	for _, s := range suspects() {
		s.prior *= share
		b.leads = append(b.leads, lead{suspect: s})
	}
	likelihoods := make([]float64, len(b.leads))
	best := math.Inf(-1)
	for i := range b.leads {
		likelihoods[i] = math.Log(b.leads[i].prior) + b.leads[i].weigh(sightings, links)
		best = max(best, likelihoods[i])
	}
	sum := 0.0
	for i := range b.leads {
		b.leads[i].weight = math.Exp(likelihoods[i] - best)
		sum += b.leads[i].weight
	}
	for i := range b.leads {
		b.leads[i].weight /= sum
	}
	return b
}

// weigh assigns links to classes as the sightings say and returns the
// logarithm of their likelihood, averaged over all numberings of the links.
func (l *lead) weigh(sightings []steer.Sighting, links int) float64 {
	if l.placed != nil {
		return l.weighOwn(sightings, links)
	}
	n := float64(links)
	votes := make(map[uint64][]int)
	var order []uint64
	for _, s := range sightings {
		class, ok := l.class(s.Frame, links)
		if !ok || s.Link < 0 || s.Link >= links {
			l.mute++
			continue
		}
		if votes[class] == nil {
			votes[class] = make([]int, links)
			order = append(order, class)
		}
		votes[class][s.Link]++
	}
	l.assign(votes, order, links)
	sum := -float64(l.mute) * math.Log(n)
	for _, class := range order {
		link, assigned := l.of[class]
		for at, count := range votes[class] {
			if assigned && at == link {
				l.agree += count
			} else {
				l.differ += count
			}
		}
	}
	sum += float64(l.agree)*math.Log(1-misread+misread/n) + float64(l.differ)*math.Log(misread/n)
	for i := range len(l.of) { // the numbering is one of many
		if l.ruled {
			sum -= math.Log(float64(links - i))
		} else {
			sum -= math.Log(n)
		}
	}
	return sum
}

// weighOwn is weigh for a spreader that names the links itself.
func (l *lead) weighOwn(sightings []steer.Sighting, links int) float64 {
	for _, s := range sightings {
		switch p := l.placed.Place(s.Frame); {
		case !p.Known || p.Index < 0:
			l.mute++
		case p.Index == s.Link:
			l.agree++
		default:
			l.differ++
		}
	}
	n := float64(links)
	return float64(l.agree)*math.Log(1-misread+misread/n) + float64(l.differ)*math.Log(misread/n) - float64(l.mute)*math.Log(n)
}

// assign gives each class its link: the pair most often seen together first,
// and under a rule each link to one class only.
func (l *lead) assign(votes map[uint64][]int, order []uint64, links int) {
	l.of = make(map[uint64]int, len(order))
	l.free = make([]bool, links)
	for i := range l.free {
		l.free[i] = true
	}
	for range order {
		most, bestClass, bestLink := 0, uint64(0), -1
		for _, class := range order {
			if _, done := l.of[class]; done {
				continue
			}
			for link, count := range votes[class] {
				if count > most && (l.free[link] || !l.ruled) {
					most, bestClass, bestLink = count, class, link
				}
			}
		}
		if bestLink < 0 {
			return
		}
		l.of[bestClass] = bestLink
		l.free[bestLink] = false
	}
}

// negligible is a weight that decides nothing.
const negligible = 2e-4

// Chances returns, for each link, the probability that f takes it.
func (b Belief) Chances(f flow.Frame) []float64 {
	chances := make([]float64, b.links)
	if b.links == 1 {
		chances[0] = 1
		return chances
	}
	for i := range b.leads {
		if l := &b.leads[i]; l.weight > negligible {
			l.add(chances, f)
		}
	}
	return chances
}

// add adds the lead's share of each link's probability.
func (l *lead) add(chances []float64, f flow.Frame) {
	n := float64(len(chances))
	on := func(link int) {
		for i := range chances {
			chances[i] += l.weight * misread / n
		}
		chances[link] += l.weight * (1 - misread)
	}
	if l.placed != nil {
		if p := l.placed.Place(f); p.Known && p.Index >= 0 && p.Index < len(chances) {
			on(p.Index)
			return
		}
	} else if class, ok := l.class(f, len(chances)); ok {
		if link, seen := l.of[class]; seen {
			on(link)
			return
		}
		if l.ruled {
			l.addFree(chances)
			return
		}
	}
	for i := range chances {
		chances[i] += l.weight / n
	}
}

// Information is how many bits a sighting of f is expected to tell about
// which rule the device has: nothing where all rules agree, and nothing about
// a rule that leaves the link to chance.
func (b Belief) Information(f flow.Frame) (bits float64) {
	if b.links == 1 {
		return 0
	}
	bits = Entropy(b.Chances(f))
	for i := range b.leads {
		l := b.leads[i]
		if l.weight <= negligible {
			continue
		}
		weight := l.weight
		l.weight = 1
		alone := make([]float64, b.links)
		l.add(alone, f)
		bits -= weight * Entropy(alone)
	}
	return max(bits, 0)
}

// Entropy is what is not known of a choice with these chances, in bits.
func Entropy(chances []float64) (bits float64) {
	for _, p := range chances {
		if p > 0 {
			bits -= p * math.Log2(p)
		}
	}
	return bits
}

// addFree spreads the weight over the links that no class has yet: a class
// that was not seen is on one of them.
func (l *lead) addFree(chances []float64) {
	free := 0
	for _, f := range l.free {
		if f {
			free++
		}
	}
	for i := range chances {
		if free == 0 {
			chances[i] += l.weight / float64(len(chances))
		} else if l.free[i] {
			chances[i] += l.weight / float64(free)
		}
	}
}

// Reads is the probability that ports, and that addresses, decide about the
// link, as far as the sightings tell.
func (b Belief) Reads() (ports, addresses float64) {
	for _, l := range b.leads {
		reads := l.reads
		if l.placed != nil {
			r := l.placed.Reach()
			reads = Reads{Ports: r.Ports, Addresses: r.Addresses}
		}
		if reads.Ports {
			ports += l.weight
		}
		if reads.Addresses {
			addresses += l.weight
		}
	}
	return ports, addresses
}
