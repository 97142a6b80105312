package cloud

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/unit"
)

// size is a host's bandwidth by the provider's rules, before it is shared out.
type size struct {
	vcpus int
	total Cap // without Sources
	cards int
	rule  sizeRule // what the total came from; zero for a type of the table
	names []string // of sources
}

// size finds the host in the table or derives it by a rule.
func (p provider) size(c netstate.Cloud) (size, error) {
	if c.Instance == "" {
		return p.sizeByVCPUs(c)
	}
	if i, ok := p.types[p.key(c.Instance)]; ok {
		return i.size(c), nil
	}
	for _, r := range p.rules {
		if r.pattern == nil {
			continue
		}
		m := r.pattern.FindStringSubmatch(c.Instance)
		if m == nil {
			continue
		}
		n, err := strconv.Atoi(m[1])
		if err != nil || n < 1 || n > maxVCPUs {
			continue
		}
		return r.size(n, c.Tier1)
	}
	err := fmt.Errorf("%w %q of %s", ErrUnknownInstance, c.Instance, p.title)
	if near := nearest(p.key(c.Instance), slices.Sorted(maps.Keys(p.types))); near != "" {
		err = fmt.Errorf("%w (nearest: %s)", err, p.types[near].name)
	}
	return size{}, err
}

func (p provider) sizeByVCPUs(c netstate.Cloud) (size, error) {
	for _, r := range p.rules {
		if r.ByVCPUs && c.VCPUs > 0 {
			return r.size(c.VCPUs, c.Tier1)
		}
		if r.ByVCPUs {
			return size{}, fmt.Errorf("%w: %s needs instance or vcpus", ErrUnsized, p.title)
		}
	}
	return size{}, fmt.Errorf("%w: %s goes by instance types", ErrUnsized, p.title)
}

func (i instance) size(c netstate.Cloud) size {
	s := size{vcpus: max(i.VCPUs, 0), cards: i.Cards, names: []string{i.source}}
	s.total = Cap{Rate: i.Rate, Why: fmt.Sprintf("%s has %s", i.name, i.Rate)}
	if s.vcpus == 0 {
		s.vcpus = c.VCPUs
	}
	if c.Tier1 && i.Tier1 > 0 {
		s.total.Rate, s.total.Why = i.Tier1, fmt.Sprintf("%s has %s with Tier_1", i.name, i.Tier1)
	}
	if i.Burst > i.Rate {
		s.total.Burst, s.total.High = i.Burst, i.Burst
		s.total.Open = fmt.Sprintf("%s reaches %s while its network credits last, %s after", i.name, i.Burst, i.Rate)
		s.total.Why = fmt.Sprintf("%s has %s for long and %s while its network credits last", i.name, i.Rate, i.Burst)
		s.names = append(s.names, i.burstSource)
	}
	return s
}

// size is the rule's bandwidth of a number of vCPUs.
func (r sizeRule) size(vcpus int, tier1 bool) (size, error) {
	s := size{vcpus: vcpus, rule: r, names: []string{r.Source}}
	if len(r.Steps) > 0 {
		return s.fromStep(tier1)
	}
	n := unit.BitRate(vcpus)
	s.total = Cap{Rate: r.PerVCPU * n, Why: fmt.Sprintf("%d vCPUs x %s = %s", vcpus, r.PerVCPU, r.PerVCPU*n)}
	if r.Most > 0 && s.total.Rate > r.Most {
		s.total.Rate = r.Most
		s.total.Why += fmt.Sprintf(", at most %s", r.Most)
	}
	if r.MostLow > 0 {
		s.total.Low = min(s.total.Rate, r.MostLow)
	}
	if r.MostHigh > 0 {
		s.total.High = max(s.total.Rate, r.MostHigh)
	}
	if s.total.Low > 0 || s.total.High > 0 {
		s.total.Open = r.Note
	}
	return s, nil
}

func (s size) fromStep(tier1 bool) (size, error) {
	var found *step
	for i := range s.rule.Steps {
		if s.rule.Steps[i].VCPUs <= s.vcpus {
			found = &s.rule.Steps[i]
		}
	}
	if found == nil {
		return size{}, fmt.Errorf("%w: %s begin at %d vCPUs", ErrUnknownInstance, s.rule.Name, s.rule.Steps[0].VCPUs)
	}
	s.total = Cap{Rate: found.Rate, Why: fmt.Sprintf("%s with %d vCPUs have %s", s.rule.Name, s.vcpus, found.Rate)}
	if tier1 && found.Tier1 > 0 {
		s.total.Rate = found.Tier1
		s.total.Why = fmt.Sprintf("%s with %d vCPUs have %s with Tier_1", s.rule.Name, s.vcpus, found.Tier1)
	}
	return s, nil
}
