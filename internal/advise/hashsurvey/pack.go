package hashsurvey

// packing is the search for a set of flows that is even on several sides at
// once: on each, no link has two more than another.
type packing struct {
	links   [sideCount]int
	use     [sideCount]bool
	streams int
}

// packed is a flow as the search sees it: a number and its links.
type packed struct {
	at    int
	links [sideCount]int
}

// load counts the flows on each link of each side. On an even set a side's
// links have low flows each, and spare of them one more.
type load struct {
	packing
	counts [sideCount][]int
	full   [sideCount]int // links that have one more than low
	size   int
	chosen []int // into what was searched
}

func (p packing) empty() *load {
	l := &load{packing: p}
	for side, n := range p.links {
		l.counts[side] = make([]int, n)
	}
	return l
}

func (l *load) low(side Side) int   { return l.streams / l.links[side] }
func (l *load) spare(side Side) int { return l.streams % l.links[side] }

// fits reports whether the set with one flow more can still become even.
func (l *load) fits(links [sideCount]int) bool {
	if l.size >= l.streams {
		return false
	}
	for _, side := range Sides() {
		if !l.use[side] {
			continue
		}
		switch count := l.counts[side][links[side]]; {
		case count > l.low(side):
			return false
		case count == l.low(side) && l.full[side] >= l.spare(side):
			return false
		}
	}
	return true
}

func (l *load) add(links [sideCount]int, at int) {
	for _, side := range Sides() {
		if l.use[side] {
			if l.counts[side][links[side]] == l.low(side) {
				l.full[side]++
			}
			l.counts[side][links[side]]++
		}
	}
	l.size++
	l.chosen = append(l.chosen, at)
}

func (l *load) drop(links [sideCount]int) {
	for _, side := range Sides() {
		if l.use[side] {
			l.counts[side][links[side]]--
			if l.counts[side][links[side]] == l.low(side) {
				l.full[side]--
			}
		}
	}
	l.size--
	l.chosen = l.chosen[:len(l.chosen)-1]
}

func (l *load) clone() *load {
	c := *l
	for side := range l.counts {
		c.counts[side] = append([]int(nil), l.counts[side]...)
	}
	c.chosen = append([]int(nil), l.chosen...)
	return &c
}

// The search is exact for the few flows of a probe; these bound what a
// contrived case may cost.
const (
	searchSteps  = 20_000
	alternatives = 32
)

// largest returns the largest parts of an even set that the flows hold, some
// of the alternatives where there are several.
func (p packing) largest(flows []packed) []*load {
	best := []*load{p.empty()}
	bound := p.bound(flows)
	steps := searchSteps
	now := p.empty()
	var walk func(i int)
	walk = func(i int) {
		steps--
		if now.size > best[0].size {
			best = []*load{now.clone()}
		} else if now.size == best[0].size && now.size > 0 && i == len(flows) && len(best) < alternatives {
			best = append(best, now.clone())
		}
		done := best[0].size == bound && len(best) == alternatives
		if i == len(flows) || steps < 0 || done || now.size+len(flows)-i < best[0].size {
			return
		}
		if now.fits(flows[i].links) {
			now.add(flows[i].links, flows[i].at)
			walk(i + 1)
			now.drop(flows[i].links)
		}
		walk(i + 1)
	}
	walk(0)
	return best
}

// bound is the most flows that any side alone would take.
func (p packing) bound(flows []packed) int {
	bound := min(p.streams, len(flows))
	for _, side := range Sides() {
		if !p.use[side] {
			continue
		}
		counts := make([]int, p.links[side])
		for _, f := range flows {
			counts[f.links[side]]++
		}
		low, spare, takes := p.streams/p.links[side], p.streams%p.links[side], 0
		for _, n := range counts {
			takes += min(n, low)
			if n > low && spare > 0 {
				takes, spare = takes+1, spare-1
			}
		}
		bound = min(bound, takes)
	}
	return bound
}

// complete fills a part up to an even set out of the pool, the most needed
// link first; false when it finds no way. Flows of the pool with equal links
// are as good as each other.
func (l *load) complete(pool []packed) bool {
	cells := make(map[[sideCount]int][]int)
	var kinds [][sideCount]int
	for _, f := range pool {
		key := f.links
		for _, side := range Sides() {
			if !l.use[side] {
				key[side] = 0
			}
		}
		if cells[key] == nil {
			kinds = append(kinds, key)
		}
		cells[key] = append(cells[key], f.at)
	}
	steps := searchSteps
	var walk func() bool
	walk = func() bool {
		if l.size == l.streams {
			return true
		}
		if steps--; steps < 0 {
			return false
		}
		side, link := l.neediest(kinds, cells)
		for _, key := range kinds {
			left := cells[key]
			if len(left) == 0 || side < sideCount && key[side] != link || !l.fits(key) {
				continue
			}
			l.add(key, left[0])
			cells[key] = left[1:]
			if walk() {
				return true
			}
			cells[key] = left
			l.drop(key)
		}
		return false
	}
	return walk()
}

// neediest is the link that still lacks flows and has fewest kinds to get
// them from; side is sideCount when every link has its share.
func (l *load) neediest(kinds [][sideCount]int, cells map[[sideCount]int][]int) (Side, int) {
	side, link, fewest := sideCount, 0, 0
	for _, s := range Sides() {
		if !l.use[s] {
			continue
		}
		for i, count := range l.counts[s] {
			if count >= l.low(s) {
				continue
			}
			ways := 0
			for _, key := range kinds {
				if key[s] == i && len(cells[key]) > 0 && l.fits(key) {
					ways++
				}
			}
			if side == sideCount || ways < fewest {
				side, link, fewest = s, i, ways
			}
		}
	}
	return side, link
}
