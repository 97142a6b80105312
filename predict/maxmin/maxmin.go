// Package maxmin shares resources among flows max-min fairly, as equal TCP
// flows do in the long run, and says what binds each: a million flows at once,
// or a few cells many times over. Flows and resources are flat lists of numbers.
// Don't give a flow a pointer.
package maxmin

import (
	"errors"
	"fmt"
	"math"
)

// ErrFlows is a list of flows that is not well formed: the error's text names
// the flow or the resource.
var ErrFlows = errors.New("bad flows")

// Flows are very many flows over shared resources: links, cards, hosts,
// shapers. Each entry stands for Count like flows, and claims resources by
// number. The lists are flat (compressed rows), so that a million flows cost
// no pointer each. The zero value is no flow; Add and Claim make them.
type Flows struct {
	// First is where each entry's claims begin in Resource and Weight, and
	// behind the last entry where its claims end.
	First    []int32
	Resource []int32
	// Weight is how many bits of the resource a payload bit takes; nil is one.
	Weight []float64
	// Cap is what one flow of the entry reaches at most, bits per second; +Inf
	// and a nil list are none.
	Cap []float64
	// Count is how many like flows the entry stands for; nil is one each. It
	// need not be whole; an entry of zero flows gets nothing.
	Count []float64
}

// Len is the number of entries.
func (f *Flows) Len() int { return max(0, len(f.First)-1) }

// Add appends an entry of count flows, each of at most limit bits per second
// (+Inf: no limit), and returns its number. Claims made next are its own.
func (f *Flows) Add(count, limit float64) int {
	if len(f.First) == 0 {
		f.First = append(f.First, 0)
	}
	f.First = append(f.First, int32(len(f.Resource)))
	f.Cap, f.Count = append(f.Cap, limit), append(f.Count, count)
	return f.Len() - 1
}

// Claim adds a resource to the entry that was added last.
func (f *Flows) Claim(resource int, weight float64) {
	f.Resource, f.Weight = append(f.Resource, int32(resource)), append(f.Weight, weight)
	f.First[len(f.First)-1] = int32(len(f.Resource))
}

// What binds a flow that no resource does.
const (
	// ByCap is the flow's own cap.
	ByCap int32 = -1
	// ByNothing is an entry without a bound, whose rate is +Inf: unknown; or
	// one of zero flows.
	ByNothing int32 = -2
)

// Shares is what flows get.
type Shares struct {
	// Rate is what one flow of each entry gets, payload bits per second; +Inf
	// where nothing bounds it.
	Rate []float64
	// Binds is the resource that keeps each entry from more, ByCap or
	// ByNothing: one that is full, and of whose users none gets more than this.
	Binds []int32
}

// Share shares resources of the given capacities (bits per second; +Inf
// bounds nothing) max-min fairly, as equal TCP flows do in the long run: no
// flow can get more without another that has no more than it getting less.
// That allocation is unique. Progressive filling (Bertsekas and Gallager, Data
// Networks, section 6.5.2): all flows grow alike, and each stops at its cap or
// with the first of its resources that is full.
//
// It takes time in proportion to the number of claims, times the logarithm of
// the number of resources. Error: ErrFlows.
func Share(capacity []float64, flows Flows) (Shares, error) {
	if err := flows.check(capacity); err != nil {
		return Shares{}, err
	}
	s := newSharing(capacity, flows)
	if r := s.tooMuch(); r != None {
		return Shares{}, fmt.Errorf("share: the claims of resource %d are too large: %w", r, ErrFlows)
	}
	s.fill()
	return s.shares(), nil
}

// check refuses lists that do not fit each other and numbers that are none.
func (f *Flows) check(capacity []float64) error {
	n := f.Len()
	for _, list := range []struct {
		name      string
		len, want int
	}{{"Weight", len(f.Weight), len(f.Resource)}, {"Cap", len(f.Cap), n}, {"Count", len(f.Count), n}} {
		if list.len != 0 && list.len != list.want {
			return fmt.Errorf("share: %s has %d entries, want %d: %w", list.name, list.len, list.want, ErrFlows)
		}
	}
	for r, c := range capacity {
		if math.IsNaN(c) || c < 0 {
			return fmt.Errorf("share: resource %d has capacity %v: %w", r, c, ErrFlows)
		}
	}
	if err := f.checkRows(); err != nil {
		return err
	}
	for k, r := range f.Resource {
		if r < 0 || int(r) >= len(capacity) {
			return fmt.Errorf("share: claim %d of resource %d, of %d: %w", k, r, len(capacity), ErrFlows)
		}
		if w := f.weight(k); !(w >= 0) || math.IsInf(w, 0) {
			return fmt.Errorf("share: claim %d of weight %v: %w", k, w, ErrFlows)
		}
	}
	for i := range n {
		if c := f.limit(i); !(c >= 0) {
			return fmt.Errorf("share: flow %d has cap %v: %w", i, c, ErrFlows)
		}
		if c := f.count(i); !(c >= 0) || math.IsInf(c, 0) {
			return fmt.Errorf("share: flow %d counts %v: %w", i, c, ErrFlows)
		}
	}
	return nil
}

func (f *Flows) checkRows() error {
	if len(f.First) == 0 {
		if len(f.Resource) > 0 {
			return fmt.Errorf("share: claims of no flow: %w", ErrFlows)
		}
		return nil
	}
	if f.First[0] != 0 || int(f.First[len(f.First)-1]) != len(f.Resource) {
		return fmt.Errorf("share: rows from %d to %d, of %d claims: %w", f.First[0], f.First[len(f.First)-1], len(f.Resource), ErrFlows)
	}
	for i := range f.Len() {
		if f.First[i] > f.First[i+1] {
			return fmt.Errorf("share: flow %d ends before it begins: %w", i, ErrFlows)
		}
	}
	return nil
}

func (f *Flows) weight(claim int) float64 {
	if len(f.Weight) == 0 {
		return 1
	}
	return f.Weight[claim]
}

func (f *Flows) limit(flow int) float64 {
	if len(f.Cap) == 0 {
		return math.Inf(1)
	}
	return f.Cap[flow]
}

func (f *Flows) count(flow int) float64 {
	if len(f.Count) == 0 {
		return 1
	}
	return f.Count[flow]
}

const None = -1
