package rounds

import "time"

// Pace estimates how long work takes from how long work of its kind took. The
// zero Pace knows nothing and believes what it is told.
type Pace struct {
	kinds map[string]took
	all   took
}

// took is work done: how long it took and how long it was thought to take.
type took struct {
	count           int
	actual, thought time.Duration
}

func (t *took) add(thought, actual time.Duration) {
	t.count++
	t.actual += actual
	t.thought += thought
}

// Took notes that work of the kind, thought to take so long, took that long.
func (p *Pace) Took(kind string, thought, actual time.Duration) {
	if p.kinds == nil {
		p.kinds = make(map[string]took)
	}
	t := p.kinds[kind]
	t.add(thought, actual)
	p.kinds[kind] = t
	p.all.add(thought, actual)
}

// Expect is how long work of the kind will take: what such work took on
// average; for a kind not seen yet what it is thought to take, longer or
// shorter by as much as other work was.
func (p *Pace) Expect(kind string, thought time.Duration) time.Duration {
	if t := p.kinds[kind]; t.count > 0 {
		return t.actual / time.Duration(t.count)
	}
	if p.all.thought > 0 {
		return time.Duration(float64(thought) * float64(p.all.actual) / float64(p.all.thought))
	}
	return thought
}
