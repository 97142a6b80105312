package crash

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/linerate/linerate/internal/host/apply"
	"github.com/linerate/linerate/internal/kernel/sys"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/plan"
)

// ends counts cuts by what was cut, and what was left.
type ends struct {
	cuts     map[string]int
	old, new int
	between  int
}

func (e *ends) text() string {
	total := 0
	var parts []string
	for _, what := range slices.Sorted(maps.Keys(e.cuts)) {
		total += e.cuts[what]
		parts = append(parts, fmt.Sprintf("%s %d", what, e.cuts[what]))
	}
	return fmt.Sprintf("%d cuts: old state %d, new confirmed state %d, between %d (%s)", total, e.old, e.new, e.between, strings.Join(parts, ", "))
}

// mostSteps is of a plan that is drawn; a sample's has fewer.
const (
	mostSteps   = 12
	sampleSteps = 4
)

// cuts kills what changes a host, at every step of a plan and at other moments,
// and looks that the host is as it was, or the new one whole. A sample does
// the first kinds of cut alone, to a small plan.
func cuts(t *testing.T, seed, part int, sample bool) {
	e := &ends{cuts: map[string]int{}}
	r := rand.New(rand.NewPCG(uint64(seed), uint64(part)))
	modes := []netstate.BondMode{netstate.ActiveBackup, netstate.BalanceXOR, netstate.LACP, netstate.BalanceRR}
	s := newStand(t, modes[part%len(modes)])
	defer s.close()
	c := &cutter{stand: s, ends: e, r: r, sample: sample}
	most := mostSteps
	if c.sample {
		most = sampleSteps
	}
	c.p = draw(r, s.observed, most)
	for i, step := range c.p.Steps {
		fmt.Printf("plan of %s, step %d: %s\n", modes[part%len(modes)], i+1, step.Change())
	}
	c.learn()
	c.all()
	t.Logf("cuts in a row, seed %d plan %d, plan of %d steps: %s", seed, part, len(c.p.Steps), e.text())
}

// cutter cuts one plan on one stand.
type cutter struct {
	*stand
	ends   *ends
	r      *rand.Rand
	p      plan.Plan
	sample bool
	// after is the host with the plan applied; took how long that took; moments
	// how many writes to the disk there are in each operation.
	after   netstate.Host
	took    time.Duration
	moments map[string]int
}

func (c *cutter) job(op string) job {
	return job{Op: op, Dir: c.dir, Space: c.hostName, Root: c.root, Plan: c.p, Guard: op == "apply", Deadline: time.Minute}
}

// learn carries the plan out whole: applied, confirmed and rolled back.
func (c *cutter) learn() {
	c.t.Helper()
	c.moments = map[string]int{}
	start := time.Now()
	for _, op := range []string{"apply", "confirm", "rollback"} {
		out, killed := c.job(op).run(c.t)
		if killed || out.Err != "" {
			c.t.Fatalf("%s without a cut: %+v", op, out)
		}
		if op == "apply" {
			c.took = time.Since(start)
		}
		if op == "confirm" {
			c.after = c.observe()
		}
		c.moments[op] = out.Moment
	}
	if diff := c.same(c.observed); diff != "" || c.files() != "old" {
		c.t.Fatalf("applied and rolled back, files %s; -before +after:\n%s", c.files(), diff)
	}
}

// ended waits until every entry has ended, by the guard alone, and returns the
// last one's state. A change that stands unconfirmed has until its deadline.
func (c *cutter) ended(what string) (last apply.State) {
	c.t.Helper()
	for until := time.Now().Add(patience); ; time.Sleep(20 * time.Millisecond) {
		last = apply.RolledBack // nothing was begun
		entries, _, err := apply.OpenJournal(c.dir).List()
		i := slices.IndexFunc(entries, func(e apply.Entry) bool { return e.State.Pending() })
		if len(entries) > 0 {
			last = entries[len(entries)-1].State
		}
		if err == nil && i < 0 {
			return last
		}
		if i >= 0 && entries[i].State == apply.Applied && entries[i].Deadline.Add(patience).After(until) {
			until = entries[i].Deadline.Add(patience)
		}
		if time.Now().After(until) {
			c.t.Fatalf("waited in vain for %s to end: it is %s: %s", what, last, c.words())
		}
	}
}

// whole counts a cut and checks what is left.
func (c *cutter) whole(what string, state apply.State) {
	c.t.Helper()
	c.ends.cuts[what]++
	want, files := c.observed, "old"
	if state == apply.Confirmed {
		want, files = c.after, "new"
	}
	if state != apply.Confirmed && state != apply.RolledBack {
		c.ends.between++
		c.t.Errorf("%s: it is %s: %s", what, state, c.words())
		return
	}
	if diff := c.same(want); diff != "" || c.files() != files {
		c.ends.between++
		c.t.Errorf("%s: %s, files %s, -wanted +is:\n%s\n%s", what, state, c.files(), diff, c.words())
		return
	}
	if state == apply.RolledBack {
		c.ends.old++
		return
	}
	c.ends.new++
	if out, _ := c.job("rollback").run(c.t); out.Err != "" {
		c.t.Errorf("roll back after %s: %+v", what, out)
	}
}

// words is what the journal says of the last entry.
func (c *cutter) words() string {
	e := c.newest()
	if e.ID == "" {
		_, problems, err := apply.OpenJournal(c.dir).List()
		return fmt.Sprint(problems, err)
	}
	text := e.Reason
	for i, s := range e.Steps {
		text += fmt.Sprintf("\n%s: %s %s", e.Plan.Steps[i].Change(), s.Progress, s.Note)
	}
	return text
}

// some are n numbers from 1 to most, or all of them.
func (c *cutter) some(n, most int) []int {
	all := c.r.Perm(most)
	if c.sample {
		n = min(n, 1)
	}
	all = all[:min(n, most)]
	for i := range all {
		all[i]++
	}
	return all
}

func (c *cutter) all() {
	c.afterEveryStep()
	c.confirmation()
	c.runs()
	if c.sample {
		return
	}
	c.atMoments()
	c.guardToo()
	c.takingBack()
	c.fullDisk()
	// What waits for a deadline, by turns.
	switch turn := c.r.IntN(3); turn {
	case 0:
		c.owners()
		c.twoAtOnce()
	case 1:
		c.agent()
	case 2:
		c.management()
	}
}

func (c *cutter) killed(what string, j job) {
	c.t.Helper()
	if out, killed := j.run(c.t); !killed {
		c.t.Errorf("%s: not killed: %+v", what, out)
	}
}

// afterEveryStep: kill -9 of the applying process after each step.
func (c *cutter) afterEveryStep() {
	steps := len(c.p.Steps)
	if c.sample {
		steps = 2
	}
	for _, k := range c.r.Perm(len(c.p.Steps))[:steps] {
		j := c.job("apply")
		j.DieAfter = k + 1
		c.killed("after a step", j)
		c.whole("after a step", c.ended("the guard"))
	}
	if c.sample {
		return
	}
	for _, k := range c.some(1, len(c.p.Steps)) {
		j := c.job("apply")
		j.DieBefore = k
		c.killed("before a step", j)
		c.whole("before a step", c.ended("the guard"))
	}
}

// atMoments: kill -9 around writes of the journal. Before the guard is armed
// nobody ends the entry but the next program.
func (c *cutter) atMoments() {
	for _, m := range c.some(2, c.moments["apply"]) {
		j := c.job("apply")
		j.DieMoment, j.Deadline = m, 2*c.took+5*time.Second
		c.killed("writing the journal", j)
		if m < 6 {
			c.job("recover").run(c.t)
		}
		c.whole("writing the journal", c.ended("the guard"))
	}
}

// guardToo: the guard is killed with the applying process, and the next program
// recovers; its recovery is killed too.
func (c *cutter) guardToo() {
	for _, k := range c.some(1, len(c.p.Steps)) {
		j := c.job("apply")
		j.HoldAfter = k
		cmd, out := j.start(c.t)
		waitTrue(c.t, "the step", func() bool { return strings.Contains(out.String(), "held") })
		c.killGuards()
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		if c.r.IntN(2) == 0 {
			again := c.job("recover")
			again.DieAfter = 1 + c.r.IntN(k)
			if _, killed := again.run(c.t); killed {
				c.ends.cuts["recovering"]++
				c.ends.old++ // what the next one leaves is looked at below
			}
		}
		c.job("recover").run(c.t)
		c.whole("apply and guard", c.ended("recovery"))
	}
}

// confirmation: kill -9 while the files are written; the guard, or the next
// program when that is killed too, goes on.
func (c *cutter) confirmation() {
	for _, m := range c.some(2, c.moments["confirm"]) {
		if out, _ := c.job("apply").run(c.t); out.Err != "" {
			c.t.Fatalf("apply: %+v", out)
		}
		alone := c.r.IntN(2) == 0
		if alone {
			c.killGuards()
		}
		j := c.job("confirm")
		j.DieMoment = m
		c.killed("confirming", j)
		if c.newest().State == apply.Applied || alone {
			c.killGuards()
			c.job("recover").run(c.t)
		}
		c.whole("confirming", c.ended("the guard"))
	}
}

// newest is the newest entry, an empty one where there is none.
func (c *cutter) newest() apply.Entry {
	entries, _, _ := apply.OpenJournal(c.dir).List()
	if len(entries) == 0 {
		return apply.Entry{}
	}
	return entries[len(entries)-1]
}

// takingBack: kill -9 while a confirmed change is taken back.
func (c *cutter) takingBack() {
	for _, m := range c.some(1, c.moments["rollback"]) {
		for _, op := range []string{"apply", "confirm"} {
			if out, _ := c.job(op).run(c.t); out.Err != "" {
				c.t.Fatalf("%s: %+v", op, out)
			}
		}
		j := c.job("rollback")
		j.DieMoment = m
		c.killed("rolling back", j)
		c.job("recover").run(c.t)
		c.whole("rolling back", c.ended("recovery"))
	}
}

// owners: the process that started the guard dies after the change stands: a
// temporary change goes at once, another at its deadline.
func (c *cutter) owners() {
	j := c.job("apply")
	j.Temporary, j.HoldEnd = c.r.IntN(2) == 0, true
	if !j.Temporary {
		j.Deadline = 2*c.took + 5*time.Second
	}
	cmd, out := j.start(c.t)
	waitTrue(c.t, "the change", func() bool { return out.String() != "" })
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	c.whole("guard's parent", c.ended("the guard"))
}

// fullDisk: the journal's disk is full before, in the middle, and with a kill.
func (c *cutter) fullDisk() {
	usual := c.dir
	defer func() { c.dir = usual }()
	c.dir = c.t.TempDir()
	must(c.t, sys.Mount("tmpfs", c.dir, "tmpfs", "size=2m,mode=700"))
	full := c.dir
	defer func() { _ = sys.Unmount(full) }()
	for _, m := range append([]int{0}, c.some(1, 12)...) {
		j := c.job("apply")
		j.Fill, j.FillMoment = c.dir, m
		if m == 0 {
			must(c.t, fill(c.dir))
		}
		out, _ := j.run(c.t)
		if out.State == apply.Applied {
			out, _ = c.job("rollback").run(c.t)
		}
		c.whole("full disk", c.ended("the full disk: "+out.Err))
		_ = os.Remove(c.dir + "/" + fillName)
	}
	for _, k := range c.some(1, len(c.p.Steps)) {
		j := c.job("apply")
		j.Fill, j.FillMoment, j.DieAfter = c.dir, 8, k
		c.killed("full disk and kill", j)
		c.whole("full disk and kill", c.ended("the guard"))
		_ = os.Remove(c.dir + "/" + fillName)
	}
}

// twoAtOnce: one of them changes the host, and only one.
func (c *cutter) twoAtOnce() {
	a, first := c.job("apply").start(c.t)
	b, second := c.job("apply").start(c.t)
	must(c.t, a.Wait())
	must(c.t, b.Wait())
	if strings.Count(first.String()+second.String(), `"Locked":true`) != 1 {
		c.t.Errorf("two at once: %s and %s", first, second)
	}
	if out, _ := c.job("rollback").run(c.t); out.Err != "" {
		c.t.Errorf("roll back: %+v", out)
	}
	c.whole("two at once", c.ended("the rollback"))
}
