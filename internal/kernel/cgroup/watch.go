package cgroup

import "time"

const (
	// lookEvery is how often threads are looked for in another group than before,
	// and groups without a quota for one.
	lookEvery = time.Second
	// threadsMost bounds of how many that is done: of the threads of one program
	// few groups are to be expected.
	threadsMost = 64
)

// Watch follows the groups of threads over time. Its zero value has seen
// nothing; it is for one goroutine at a time.
type Watch struct {
	looked bool
	at     time.Duration
	// tree is found once; nil before.
	tree   *Tree
	groups map[string]*watched
	total  time.Duration
}

type watched struct {
	group Group
	state State
	read  bool
	at    time.Duration // of the last reading
}

// See is what the groups of the threads say at a moment of the caller's clock:
// the tightest quota now, and how long the group that was stopped most was
// stopped since the first call. A thread that is gone keeps its group until the
// next look.
func (w *Watch) See(at time.Duration, threads []int) State {
	if !w.looked || at-w.at >= lookEvery {
		w.look(at, threads)
	}
	var now State
	longest := time.Duration(0)
	for _, g := range w.groups {
		if g.read && g.state.Quota == 0 && at-g.at < lookEvery {
			continue
		}
		s, err := g.group.Read()
		if err != nil {
			continue
		}
		if g.read && g.state.Quota > 0 { // before there was a quota nothing was counted
			longest = max(longest, s.Throttled-g.state.Throttled)
		}
		g.state, g.read, g.at = s, true, at
		now = now.Merge(s)
	}
	w.total += longest
	return State{Quota: now.Quota, Throttled: w.total}
}

// look finds the threads' groups; those that it knows go on from where they
// were.
func (w *Watch) look(at time.Duration, threads []int) {
	if w.tree == nil {
		tree, _ := Find() // what cannot be found has no quota that is known
		w.tree = &tree
	}
	found := make(map[string]*watched)
	for _, id := range threads[:min(len(threads), threadsMost)] {
		if id == 0 {
			continue
		}
		g, err := w.tree.Of(id)
		if err != nil || g.Name() == "" {
			continue
		}
		if known := w.groups[g.Name()]; known != nil {
			found[g.Name()] = known
		} else if found[g.Name()] == nil {
			found[g.Name()] = &watched{group: g}
		}
	}
	if len(found) == 0 {
		return // no thread runs yet, or none is seen: look again
	}
	w.groups, w.at, w.looked = found, at, true
}
