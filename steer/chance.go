package steer

// Coverage returns the probability, from 0 to 1, that so many flows, each on a
// link at random, use every one of n links.
func Coverage(flows, n int) float64 {
	t := newThrows(n)
	for range flows {
		t.add()
	}
	return t.all()
}

// FlowsToCover returns how many flows it takes, each on a link at random, to
// use every one of n links with a probability of at least share, which is below
// one.
func FlowsToCover(n int, share float64) int {
	t := newThrows(n)
	flows := 0
	for t.all() < share {
		t.add()
		flows++
	}
	return flows
}

// throws is the distribution of the number of links in use, one flow at a
// time: throws[k] is the probability of k links.
type throws []float64

func newThrows(n int) throws {
	t := make(throws, n+1)
	t[0] = 1
	return t
}

func (t throws) add() {
	n := len(t) - 1
	for k := n; k >= 0; k-- {
		t[k] *= float64(k) / float64(n)
		if k > 0 {
			t[k] += t[k-1] * float64(n-k+1) / float64(n)
		}
	}
}

// all is the probability that every link is in use.
func (t throws) all() float64 { return min(t[len(t)-1], 1) }
