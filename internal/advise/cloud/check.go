package cloud

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/linerate/linerate/unit"
)

// check returns the first thing that is wrong with the table: a rule without
// a source, a source without a date, a number out of its range.
func (t Table) check() error {
	for _, name := range slices.Sorted(maps.Keys(t.sources)) {
		if err := t.sources[name].check(); err != nil {
			return fmt.Errorf("source %s: %w", name, err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(t.providers)) {
		if err := t.checkProvider(t.providers[name]); err != nil {
			return fmt.Errorf("provider %s: %w", name, err)
		}
	}
	return nil
}

func (s Source) check() error {
	switch {
	case strings.TrimSpace(s.Title) == "":
		return errors.New("title is missing")
	case !strings.HasPrefix(s.URL, "https://") && !strings.HasPrefix(s.URL, "http://"):
		return fmt.Errorf("url %q is no web address", s.URL)
	case s.Confidence != Read && s.Confidence != Recalled:
		return fmt.Errorf("confidence is %q, want %s or %s", s.Confidence, Read, Recalled)
	}
	if _, err := time.Parse(time.DateOnly, s.Read); err != nil {
		return fmt.Errorf("read is %q, want the day it was read, such as 2026-11-21", s.Read)
	}
	if s.Dated == "" {
		return nil
	}
	if _, err := time.Parse(time.DateOnly, s.Dated); err != nil {
		return fmt.Errorf("dated is %q, want a day such as 2021-12-02, or nothing", s.Dated)
	}
	return nil
}

func (t Table) checkProvider(p provider) error {
	if err := t.known(p.source); err != nil {
		return err
	}
	for _, f := range p.flows {
		if !slices.Contains(conditions, f.When) {
			return fmt.Errorf("flow: when is %q, want cluster, ena-express, outside or nothing", f.When)
		}
		if f.Rate <= 0 || !finite(f.Rate) {
			return errors.New("flow: rate is missing")
		}
		if err := t.known(f.Source); err != nil {
			return fmt.Errorf("flow: %w", err)
		}
	}
	if o := p.outside; o != nil {
		if o.Rate <= 0 || !finite(o.Rate, o.Tier1) || !(o.Share >= 0 && o.Share <= 1) || o.FromCPUs < 0 {
			return errors.New("outside: want a rate, and a share from 0 to 1")
		}
		if err := t.known(o.Source); err != nil {
			return fmt.Errorf("outside: %w", err)
		}
	}
	for _, r := range p.rules {
		if err := errors.Join(r.check(), t.known(r.Source)); err != nil {
			return fmt.Errorf("rule %q: %w", r.Name, oneOf(err))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(p.types)) {
		i := p.types[name]
		if err := errors.Join(i.check(), t.known(i.source), t.known(i.burstSource), t.known(i.cardsSource)); err != nil {
			return fmt.Errorf("type %s: %w", i.name, oneOf(err))
		}
	}
	return nil
}

// oneOf keeps the first of joined errors, which would print a line each.
func oneOf(err error) error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return joined.Unwrap()[0]
	}
	return err
}

func (t Table) known(source string) error {
	if source == "" {
		return errors.New("source is missing")
	}
	if _, ok := t.sources[source]; !ok {
		return fmt.Errorf("source %q is not under sources", source)
	}
	return nil
}

func (r sizeRule) check() error {
	switch {
	case r.Name == "":
		return errors.New("name is missing")
	case (r.Match == "") == !r.ByVCPUs:
		return errors.New("want either match or by_vcpus: true")
	case r.pattern != nil && r.pattern.NumSubexp() != 1:
		return errors.New("match must have one group, the vCPUs")
	case (r.PerVCPU > 0) == (len(r.Steps) > 0):
		return errors.New("want either per_vcpu or steps")
	case !finite(r.PerVCPU, r.Most, r.MostLow, r.MostHigh, r.VolumesLeast, r.Interface, r.InterfaceLow, r.InterfaceHigh):
		return errors.New("a rate is out of range")
	case !(r.NetworkShare >= 0 && r.NetworkShare <= 1):
		return errors.New("network_share is not from 0 to 1")
	case !ordered(r.MostLow, r.Most, r.MostHigh) || !ordered(r.InterfaceLow, r.Interface, r.InterfaceHigh):
		return errors.New("a low is above, a high below, or either without what it bounds")
	case !slices.IsSortedFunc(r.Steps, func(a, b step) int { return a.VCPUs - b.VCPUs }):
		return errors.New("steps are not in order of vcpus")
	}
	for _, s := range r.Steps {
		if s.VCPUs < 1 || s.VCPUs > maxVCPUs || s.Rate <= 0 || !finite(s.Rate, s.Tier1) {
			return errors.New("a step wants vcpus and a rate")
		}
	}
	return nil
}

// ordered reports that low and high, where given, bound a rate that is given.
func ordered(low, rate, high unit.BitRate) bool {
	return low == 0 && high == 0 || rate > 0 && low <= rate && (high == 0 || high >= rate)
}

// maxVCPUs is more than any instance has.
const maxVCPUs = 1 << 16

func (i instance) check() error {
	switch {
	case i.Rate <= 0 || !finite(i.Rate, i.Burst, i.Tier1):
		return errors.New("rate is missing or out of range")
	case i.Burst != 0 && i.Burst < i.Rate:
		return errors.New("burst is below rate")
	case i.VCPUs < 0 || i.VCPUs > maxVCPUs:
		return errors.New("vcpus is out of range")
	case i.Cards < 0 || i.Cards > 1024:
		return errors.New("cards is out of range")
	}
	return nil
}
