package agent

import "time"

const (
	// paceShare is the part of a core that one of the costly readings may take
	// at the most: a sampler that disturbs what it measures is worth nothing, and
	// one that reads once in a window tells no increase.
	paceShare = 0.01
	// freshFor is how long a reading is given to others that ask, as the two
	// ends of a host that sends and receives do at the same moment.
	freshFor = 10 * time.Millisecond
	// paceTries is how many readings tell what one takes: the first opens
	// files, and any may lose its core in between.
	paceTries = 4
)

// pace spaces a costly reading of counters out so that what it takes stays a
// small part of the time. Its zero value has read nothing.
type pace struct {
	began time.Time
	last  map[string]uint64
	// least is the shortest that a reading took: a longer one waited for a core.
	least time.Duration
	times int
	// missing is set where there is nothing to read.
	missing bool
}

// read is what get reads, where it is time to; else what it read a moment ago,
// or nil.
func (p *pace) read(get func() (found map[string]uint64, missing bool)) map[string]uint64 {
	now := time.Now()
	age := now.Sub(p.began)
	switch {
	case p.missing:
		return nil
	case p.times > 0 && age < freshFor:
		return p.last
	case p.times >= paceTries && age < time.Duration(float64(p.least)/paceShare):
		return nil
	}
	p.last, p.missing = get()
	took := max(time.Since(now), 1)
	p.began, p.times = now, p.times+1
	if p.least == 0 || took < p.least {
		p.least = took
	}
	return p.last
}
