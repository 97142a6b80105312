package discovering

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/fabric/describe"
	"github.com/linerate/linerate/internal/host/apply"
	"github.com/linerate/linerate/internal/kernel/act"
	"github.com/linerate/linerate/internal/lab/labtest/floor"
	"github.com/linerate/linerate/internal/wanted"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/plan"
)

// The settings of a proof (`make prove-discover`): how many hosts a run draws,
// from which seed, and the run's number.
const (
	envHosts = "PROVE_HOSTS"
	envSeed  = "PROVE_SEED"
	envRun   = "PROVE_RUN"
)

// sampleHosts is how many hosts a test draws that is no proof.
const sampleHosts = 25

func setting(name string, otherwise int) int {
	if n, err := strconv.Atoi(os.Getenv(name)); err == nil {
		return n
	}
	return otherwise
}

// tally is what a run has seen.
type tally struct {
	hosts, changes, steps, unchangeable int
	has, made, lacks                    map[string]int
	kernel                              string
}

// count notes what a host has, so that a kernel that lacks it is known.
func (y *tally) count(h netstate.Host, refused []string) {
	y.kernel = h.Kernel.Release
	for _, l := range h.Links {
		if l.Kind != "veth" && l.Kind != "loopback" {
			y.has[l.Kind]++
		}
		if l.Bond != nil && len(l.Bond.Ports) < 2 {
			y.has["bond of few ports"]++
		}
	}
	for _, r := range h.Routes {
		switch {
		case r.Object != 0:
			y.has["route by object"]++
		case len(r.Hops) > 0:
			y.has["multipath"]++
		case r.Type != "":
			y.has[r.Type]++
		case len(r.Metrics) > 0 || r.MTU > 0:
			y.has["route with metrics"]++
		}
	}
	for _, r := range h.Rules {
		if word, _, _ := strings.Cut(r.Selectors, " "); word != "" {
			y.has["rule by "+word]++
		}
	}
	if h.MPTCP != nil && len(h.MPTCP.Endpoints) > 0 {
		y.has["MPTCP endpoints"]++
	}
	for _, line := range refused {
		_, why, _ := strings.Cut(line, ": ")
		y.lacks[why]++
	}
}

// TestDiscover draws hosts and builds them; of each the file that it is
// discovered as plans nothing, and a change of it is put back to the last byte.
func TestDiscover(t *testing.T) {
	seed, run := floor.Number(t, envSeed, floor.Draw(t)), uint64(setting(envRun, 0))
	y := &tally{has: map[string]int{}, made: map[string]int{}, lacks: map[string]int{}}
	start, can := time.Now(), makes(t)
	for i := range uint64(setting(envHosts, sampleHosts)) {
		t.Run(fmt.Sprintf("seed %d run %d host %d", seed, run, i), func(t *testing.T) {
			d := draw(seed, run<<32|i, can)
			s := built(t, "drawn", d.links, d.sysctls, d.commands)
			text := s.plansNothing()
			y.count(s.observe(), s.refused)
			s.thereAndBack(d.Rand, text, y)
			y.hosts++
			if t.Failed() {
				t.Logf("the host:\n%s\nrefused:\n%s\nits file:\n%s", strings.Join(d.commands, "\n"), strings.Join(s.refused, "\n"), text)
			}
		})
	}
	t.Logf("%d hosts in a row on kernel %s, %.0f s: discovered, planned, planned exactly, all empty; %d changes of %d steps applied and put back, dumps equal; %d hosts could not be changed",
		y.hosts, y.kernel, time.Since(start).Seconds(), y.changes, y.steps, y.unchangeable)
	t.Logf("in a row they had %s; changes: %s", words(y.has), words(y.made))
	t.Logf("in a row this kernel refused: %s", words(y.lacks))
	if y.unchangeable > y.hosts/4 {
		t.Errorf("%d of %d hosts could not be changed, more than a quarter", y.unchangeable, y.hosts)
	}
}

func words(counts map[string]int) string {
	var out []string
	for _, k := range slices.Sorted(maps.Keys(counts)) {
		out = append(out, fmt.Sprintf("%s %d", k, counts[k]))
	}
	return strings.Join(out, ", ")
}

// plansNothing discovers the host and plans the file; it returns the file.
func (s *stand) plansNothing() string {
	t := s.t
	t.Helper()
	h := s.observe()
	text := string(describe.Write([]netstate.Host{h}, nil, map[string]string{h.Name: "netns:" + h.Name}, fabric.Measure{}))
	for _, exact := range []bool{false, true} {
		p, _, err := s.plan(text, exact)
		switch {
		case err != nil:
			t.Errorf("plan (exact %v): %v", exact, err)
		case len(p.Steps) > 0:
			t.Errorf("plan (exact %v) is not empty:\n%s", exact, p.Text(80))
		}
	}
	return text
}

// plan is what a file would change of the host as it is.
func (s *stand) plan(text string, exact bool) (plan.Plan, fabric.Fabric, error) {
	f, err := fabric.Parse("fabric.yaml", []byte(text))
	if err != nil {
		return plan.Plan{}, f, err
	}
	h := s.observe()
	want, err := wanted.Of(wanted.Request{Fabric: f, Host: h.Name, Observed: h, Exact: exact, Profiles: []string{}, InNamespace: true})
	if err != nil {
		return plan.Plan{}, f, err
	}
	p, err := plan.Between(h, want.Host)
	return p, f, err
}

// thereAndBack applies a change of the file and puts it back.
func (s *stand) thereAndBack(r *rand.Rand, text string, y *tally) {
	t := s.t
	t.Helper()
	f, err := fabric.Parse("fabric.yaml", []byte(text))
	if err != nil {
		return // said already
	}
	var refused []string
	for _, e := range edits(r, text, f) {
		if e.needs != "" && !s.can(e.needs) {
			continue
		}
		p, _, err := s.plan(e.text, e.exact)
		if err != nil || len(p.Steps) == 0 {
			refused = append(refused, fmt.Sprintf("%s: %v", e.name, err))
			continue
		}
		s.quiet()
		before := s.dump()
		steps, err := s.applyAndRollBack(p)
		if err != nil {
			t.Errorf("%s: %v\n%s", e.name, err, p.Text(80))
		}
		s.quiet()
		if lines := differences(before, s.dump()); len(lines) > 0 {
			t.Errorf("%s: after the rollback it is not as it was:\n  %s\n%s", e.name, strings.Join(lines, "\n  "), p.Text(80))
		}
		y.changes, y.steps = y.changes+1, y.steps+steps
		name, _, _ := strings.Cut(e.name, ":")
		y.made[name]++
		return
	}
	y.unchangeable++
	t.Logf("not changed: %s", strings.Join(refused, "; "))
}

func (s *stand) applyAndRollBack(p plan.Plan) (steps int, err error) {
	a, err := apply.New(apply.Config{Kernel: act.Kernel{}, Dir: s.t.TempDir(), Namespace: s.name})
	floor.Must(s.t, err)
	err = s.near.Do(func() error {
		done, err := a.Apply(context.Background(), p, apply.Options{})
		if err != nil {
			return fmt.Errorf("apply: %w", err)
		}
		back, err := a.Rollback(context.Background(), done.ID)
		if err == nil && len(back.Left) > 0 {
			err = fmt.Errorf("left: %v", back.Left)
		}
		if err != nil {
			return fmt.Errorf("roll back: %w", err)
		}
		return nil
	})
	return len(p.Steps), err
}
