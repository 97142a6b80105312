package change

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// ErrWaves is a choice of waves that makes no sense for the hosts that change.
var ErrWaves = errors.New("bad waves")

// Waves puts the hosts that change into waves: the canaries first, without any named
// the first host to change, then so many at a time, zero all the others at once.
// Hosts that are cabled to each other (switches: 0) change in one wave, as both ends
// of a cable must agree, so that a wave may be larger. Each wave keeps the order of
// Hosts. A canary that does not change is ErrWaves.
func (c *Change) Waves(canaries []string, size int) ([][]string, error) {
	var names []string
	for _, p := range c.parts {
		if len(p.Plan.Steps)+len(p.Plan.Files) > 0 {
			names = append(names, p.Name)
		}
	}
	for _, canary := range canaries {
		if !slices.Contains(names, canary) {
			return nil, fmt.Errorf("%w: nothing changes on %s", ErrWaves, canary)
		}
	}
	if len(names) == 0 {
		return nil, nil
	}
	if len(canaries) == 0 {
		canaries = names[:1]
	}
	taken := map[string]bool{}
	take := func(wave []string, name string) []string {
		for _, one := range c.cabled(names, name) {
			if !taken[one] {
				taken[one] = true
				wave = append(wave, one)
			}
		}
		return wave
	}
	var waves [][]string
	var wave []string
	for _, name := range canaries {
		wave = take(wave, name)
	}
	waves, wave = append(waves, wave), nil
	for _, name := range names {
		if size > 0 && len(wave) >= size {
			waves, wave = append(waves, wave), nil
		}
		wave = take(wave, name)
	}
	if len(wave) > 0 {
		waves = append(waves, wave)
	}
	for _, w := range waves {
		slices.SortFunc(w, func(a, b string) int { return slices.Index(names, a) - slices.Index(names, b) })
	}
	return waves, nil
}

// cabled are a host and those among names that cables lead to from it, directly or
// by others.
func (c *Change) cabled(names []string, host string) []string {
	out := []string{host}
	if s := c.cfg.Fabric.Switches; s == nil || *s != 0 {
		return out
	}
	for i := 0; i < len(out); i++ {
		for _, p := range c.before.Paths {
			for _, name := range names {
				if p.Joins(out[i], name) && !slices.Contains(out, name) {
					out = append(out, name)
				}
			}
		}
	}
	return out
}

// WaveOutcome is what became of one wave; of one that was not begun its hosts alone.
type WaveOutcome struct {
	Names []string
	Begun bool
	Outcome
}

// ApplyWaves carries the waves out, each as Apply does: armed, changed, proven and
// confirmed as one, against what its hosts are then. A wave that fails is put back
// and no other is begun: those before it stay, and go back as one by the group's
// name, which the options must say. The outcomes are of all waves.
func (c *Change) ApplyWaves(ctx context.Context, waves [][]string, o Options) ([]WaveOutcome, error) {
	out := make([]WaveOutcome, len(waves))
	for i, hosts := range waves {
		out[i].Names = hosts
	}
	title := o.Title
	for i := range out {
		c.cfg.Tell(fmt.Sprintf("wave %d of %d: %s", i+1, len(out), strings.Join(out[i].Names, ", ")))
		w, err := c.wave(ctx, out[i].Names)
		if err == nil {
			o.Title = fmt.Sprintf("%s, wave %d of %d", title, i+1, len(out))
			out[i].Begun = true
			out[i].Outcome, err = w.Apply(ctx, o)
		}
		if err == nil && !out[i].Confirmed {
			// Nobody else looks on: it cannot be known that the host is still reached.
			err = fmt.Errorf("%w: a wave of this host alone is not proven by anybody: apply it by itself", errors.Join(ErrWaves, w.revert(&out[i].Outcome)))
		}
		if err != nil {
			return out, fmt.Errorf("wave %d of %d: %w", i+1, len(out), err)
		}
	}
	return out, nil
}

// wave is the change of some of the hosts, as these are now.
func (c *Change) wave(ctx context.Context, hosts []string) (*Change, error) {
	w := *c
	w.order = slices.DeleteFunc(slices.Clone(c.order), func(name string) bool { return !slices.Contains(hosts, name) })
	w.parts = slices.DeleteFunc(slices.Clone(c.parts), func(p Host) bool { return !slices.Contains(hosts, p.Name) })
	state, err := c.observe(ctx)
	if err != nil {
		return nil, err
	}
	w.before = state
	return &w, nil
}

// GroupName is a name for a run of waves, by which it goes back as one.
func GroupName(now time.Time) string { return now.UTC().Format("20060102T150405.000Z") }
