package livestats

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/linerate/linerate/internal/evidence/livetraffic"
	"github.com/linerate/linerate/internal/kernel/cgroup"
	"github.com/linerate/linerate/internal/kernel/process"
	"github.com/linerate/linerate/internal/kernel/procfs"
)

// programs is who holds the heaviest connections, and how busy their threads
// were.
type programs struct {
	started time.Time
	held    map[uint32]process.Process // by inode
	asked   map[uint32]bool
	hidden  int
	before  map[int]timed // threads by process
	after   map[int]timed
	groups  cgroup.Tree
	mounts  []procfs.Mount
	missed  []string
}

type timed struct {
	at      time.Time
	threads []process.Thread
	group   cgroup.State // zero where it has no quota, or it cannot be read
}

func newPrograms() *programs {
	return &programs{held: make(map[uint32]process.Process), asked: make(map[uint32]bool), before: make(map[int]timed), after: make(map[int]timed)}
}

func (p *programs) begun() bool { return !p.started.IsZero() }

// mostLookedUp is how many connections' programs are timed from early on; who
// is heavy at the start is mostly heavy at the end.
const mostLookedUp = 64

// begin looks up the programs of the heaviest and starts timing their threads.
func (p *programs) begin(heaviest []*track) {
	p.started = time.Now()
	p.groups, _ = cgroup.Find() // what cannot be found has no quota that is known
	p.find(heaviest[:min(len(heaviest), mostLookedUp)])
	p.time(p.before)
}

// end looks up those that became heavy later, whose threads have no time, and
// ends the timing.
func (p *programs) end(shown []*track) {
	p.find(shown)
	p.time(p.after)
	var err error
	if p.mounts, err = procfs.Mounts(); err != nil {
		p.missed = append(p.missed, "file systems mounted over the network: "+err.Error())
	}
}

func (p *programs) find(tracks []*track) {
	var inodes []uint32
	for _, t := range tracks {
		if inode := t.last.Inode; inode != 0 && !p.asked[inode] {
			p.asked[inode] = true
			inodes = append(inodes, inode)
		}
	}
	if len(inodes) == 0 {
		return
	}
	h, err := process.Holders(inodes)
	if err != nil {
		p.missed = append(p.missed, "programs: "+err.Error())
	}
	p.hidden = max(p.hidden, h.Hidden)
	maps.Copy(p.held, h.By)
}

func (p *programs) time(into map[int]timed) {
	for _, held := range p.held {
		if _, done := into[held.PID]; done {
			continue
		}
		if threads, err := process.Threads(held.PID); err == nil {
			into[held.PID] = timed{time.Now(), threads, p.groupOf(held.PID)}
		}
	}
}

// of is the program of a connection.
func (p *programs) of(t *track) livetraffic.Program {
	program := livetraffic.Program{UID: t.last.UID}
	if held, ok := p.held[t.last.Inode]; ok {
		program.PID, program.Name = held.PID, held.Name
		program.Ran, program.Waited, program.Threads = p.busiest(held.PID)
		program.Quota, program.Throttled = p.stopped(held.PID)
		return program
	}
	// What nobody is seen to hold belongs to the kernel, or to somebody whose
	// files are hidden: a mount or a port that the kernel itself uses tells.
	// A port alone tells only where nothing is hidden.
	use, mounted := kernelUse(t.last.Tuple, p.mounts)
	program.Hidden = p.hidden > 0 && !mounted && program.UID != uint32(os.Geteuid())
	if !program.Hidden {
		program.Kernel = use
	}
	return program
}

// busiest is the share of the time that the process's busiest thread ran, and
// waited for a core.
func (p *programs) busiest(pid int) (ran, waited float64, threads int) {
	a, b := p.before[pid], p.after[pid]
	span := b.at.Sub(a.at)
	if a.at.IsZero() || b.at.IsZero() || span <= 0 {
		return 0, 0, 0
	}
	for _, now := range b.threads {
		at := slices.IndexFunc(a.threads, func(t process.Thread) bool { return t.TID == now.TID })
		if at < 0 {
			continue
		}
		share := func(d time.Duration) float64 { return min(1, max(0, float64(d)/float64(span))) }
		r, w := share(now.Ran-a.threads[at].Ran), share(now.Waited-a.threads[at].Waited)
		if r+w > ran+waited {
			ran, waited = r, w
		}
	}
	return ran, waited, len(b.threads)
}

// groupOf is what a process's control groups allow it.
func (p *programs) groupOf(pid int) cgroup.State {
	g, err := p.groups.Of(pid)
	if err != nil {
		return cgroup.State{}
	}
	state, err := g.Read()
	if err != nil {
		return cgroup.State{}
	}
	return state
}

// stopped is the process's quota, and the share of the time that it was
// stopped for it.
func (p *programs) stopped(pid int) (quota, throttled float64) {
	a, b := p.before[pid], p.after[pid]
	span := b.at.Sub(a.at)
	if a.at.IsZero() || b.at.IsZero() || span <= 0 {
		return 0, 0
	}
	return b.group.Quota, min(1, max(0, float64(b.group.Throttled-a.group.Throttled)/float64(span)))
}

// unseen says which programs could not be looked into.
func (p *programs) unseen(shown []*track) []string {
	lines := p.missed
	hidden := 0
	for _, t := range shown {
		if p.of(t).Hidden {
			hidden++
		}
	}
	if hidden > 0 {
		lines = append(lines, fmt.Sprintf("the programs of %d of the connections: another user's; root sees them", hidden))
	}
	return lines
}
