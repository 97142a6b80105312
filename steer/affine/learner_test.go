package affine

import (
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"testing"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/steer/testhash"
)

// every is what may be varied: 65,536 flows each.
var every = []struct {
	name string
	at   func(i int) flow.Tuple
}{
	{"source ports", func(i int) flow.Tuple { return drawn(1, 1, uint16(i), 5201) }},
	{"destination ports", func(i int) flow.Tuple { return drawn(1, 1, 5201, uint16(i)) }},
	{"source ports of four lanes", func(i int) flow.Tuple {
		return drawn(byte(10+i>>15), byte(20+i>>14&1), uint16(i*4)+uint16(i>>14), 5201)
	}},
	{"addresses", func(i int) flow.Tuple { return drawn(byte(i), byte(i>>8), 40000, 5201) }},
}

func drawn(src, dst byte, sport, dport uint16) flow.Tuple {
	return flow.Tuple{Proto: flow.TCP, Src: netip.AddrFrom4([4]byte{192, 0, 2, src}), Dst: netip.AddrFrom4([4]byte{198, 51, 100, dst}), Sport: sport, Dport: dport}
}

// candidates are all of them, shuffled.
func candidates(r *rand.Rand, at func(i int) flow.Tuple) []flow.Tuple {
	out := make([]flow.Tuple, 1<<16)
	for i := range out {
		out[i] = at(i)
	}
	r.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

// study lets a learner observe a switch until it is done.
func study(t *testing.T, l *Learner, link func(flow.Tuple) int) (d Decision, looks int) {
	t.Helper()
	for looks = 0; ; looks++ {
		if d = l.Decide(); d.Next < 0 {
			return d, looks
		}
		if looks > 150 {
			t.Fatalf("not done after %d flows: %+v", looks, d.Progress)
		}
		l.Observe(d.Next, link(l.candidates[d.Next]))
	}
}

// random is the proof's draw, or the same every day.
func random(n uint64) *rand.Rand {
	seed, err := strconv.ParseUint(os.Getenv("PROVE_SEED"), 10, 64)
	if err != nil {
		seed = 1
	}
	return rand.New(rand.NewPCG(seed, n))
}

// proof is how often each hash that is not affine is tried in the proof; zero
// is a sample.
func proof() int {
	n, _ := strconv.Atoi(os.Getenv("PROVE_LEARN"))
	return n
}

// TestLearnsHashes: whatever affine hash over 2, 4 or 8 links, its links
// numbered at random: at most 24 flows fix the links of all others.
func TestLearnsHashes(t *testing.T) {
	flows, worst, most, learners, unseen := 0, 0, 0, 0, 1000
	if proof() > 0 {
		unseen = 10000
	}
	for hi, h := range testhash.Affine() {
		for _, links := range []int{2, 4, 8} {
			for vi, varied := range every {
				if proof() == 0 && vi != (hi+links/2)%len(every) {
					continue
				}
				r := random(uint64(hi*100 + links*10 + vi))
				of, order := h.Make(r), r.Perm(links)
				link := func(t flow.Tuple) int { return order[of(t)%uint32(links)] }
				l := New(names[:links], candidates(r, varied.at))
				d, looks := study(t, l, link)
				what := fmt.Sprintf("%s over %d links, %s", h.Name, links, varied.name)
				if d.Map == nil || d.Learned > 24 || d.Checked < Checks || len(d.Unsteady) > 0 {
					t.Errorf("%s: %+v", what, d)
					continue
				}
				seen := make(map[flow.Tuple]bool)
				for _, s := range l.seen {
					seen[l.candidates[s.at]] = true
				}
				tried := 0
				for _, tuple := range l.candidates {
					if seen[tuple] {
						continue
					}
					if got, ok := d.Map.Link(tuple); !ok || got != link(tuple) {
						t.Fatalf("%s: %v is on link %d, predicted %d, %v", what, tuple, link(tuple), got, ok)
					}
					if tried++; tried == unseen {
						break
					}
				}
				learners, flows = learners+1, flows+tried
				worst, most = max(worst, d.Learned), max(most, looks)
			}
		}
	}
	t.Logf("%d hashes over 2, 4 and 8 links: %d learned, each from at most %d flows (%d with the checks): %d unseen flows as predicted, none otherwise",
		len(testhash.Affine()), learners, worst, most, flows)
}

// others are switches whose hash is not affine over so many links.
func others() []struct {
	name  string
	links []int
	make  func(r *rand.Rand, links int) func(t flow.Tuple) int
} {
	all := []int{2, 4, 8}
	crc := func(r *rand.Rand) func(t flow.Tuple) uint32 {
		seed, table := r.Uint32(), crc32.MakeTable(crc32.Castagnoli)
		return func(t flow.Tuple) uint32 { return crc32.Update(seed, table, testhash.Fields(t)) }
	}
	remainder := func(n int) func(r *rand.Rand, links int) func(t flow.Tuple) int {
		return func(r *rand.Rand, links int) func(t flow.Tuple) int {
			of, order := crc(r), r.Perm(links)
			return func(t flow.Tuple) int { return order[of(t)%uint32(n)%uint32(links)] }
		}
	}
	hashed := func(make func(r *rand.Rand) func(t flow.Tuple) uint32) func(r *rand.Rand, links int) func(t flow.Tuple) int {
		return func(r *rand.Rand, links int) func(t flow.Tuple) int {
			of := make(r)
			return func(t flow.Tuple) int { return int(of(t) % uint32(links)) }
		}
	}
	table := func(buckets int) func(r *rand.Rand, links int) func(t flow.Tuple) int {
		return func(r *rand.Rand, links int) func(t flow.Tuple) int {
			of, to := crc(r), make([]int, buckets)
			for i := range to {
				to[i] = i % links
			}
			// One link failed, its buckets went to the others, and it took back as
			// many from them when it returned: resilient hashing.
			lost, next := r.IntN(links), r.IntN(links)
			if links == 2 {
				r.Shuffle(len(to), func(i, j int) { to[i], to[j] = to[j], to[i] })
				return func(t flow.Tuple) int { return to[of(t)%uint32(buckets)] }
			}
			for i := range to {
				if to[i] == lost {
					if next = (next + 1) % links; next == lost {
						next = (next + 1) % links
					}
					to[i] = next
				}
			}
			for _, i := range r.Perm(buckets)[:buckets/links] {
				to[i] = lost
			}
			return func(t flow.Tuple) int { return to[of(t)%uint32(buckets)] }
		}
	}
	return []struct {
		name  string
		links []int
		make  func(r *rand.Rand, links int) func(t flow.Tuple) int
	}{
		{"crc modulo 3, 3 links", []int{3}, remainder(3)},
		{"crc modulo 5, 5 links", []int{5}, remainder(5)},
		{"crc modulo 6, 6 links", []int{6}, remainder(6)},
		{"crc modulo 3, one of 4 links idle", []int{4}, remainder(3)},
		{"crc modulo 5, three of 8 links idle", []int{8}, remainder(5)},
		{"crc modulo 6, two of 8 links idle", []int{8}, remainder(6)},
		{"crc modulo 7, folded", all, remainder(7)},
		{"murmur3", all, hashed(func(r *rand.Rand) func(flow.Tuple) uint32 {
			seed := r.Uint32()
			return func(t flow.Tuple) uint32 { return testhash.Murmur3(seed, testhash.Fields(t)) }
		})},
		{"jhash", all, hashed(func(r *rand.Rand) func(flow.Tuple) uint32 {
			seed := r.Uint32()
			return func(t flow.Tuple) uint32 {
				src, dst := t.Src.As4(), t.Dst.As4()
				return testhash.Lookup3(seed+uint32(src[3]), seed+uint32(dst[3]), seed+uint32(t.Sport)<<16+uint32(t.Dport))
			}
		})},
		{"multiplied, top bits", all, hashed(func(r *rand.Rand) func(flow.Tuple) uint32 {
			a, b := r.Uint64()|1, r.Uint64()
			return func(t flow.Tuple) uint32 {
				return uint32((a*(uint64(t.Sport)<<16|uint64(t.Dport)) + b) >> 61)
			}
		})},
		{"resilient table of 64", all, table(64)},
		{"resilient table of 256", all, table(256)},
		{"a random link for each connection", all, func(r *rand.Rand, links int) func(t flow.Tuple) int {
			return func(flow.Tuple) int { return r.IntN(links) }
		}},
		{"links in turn", all, func(_ *rand.Rand, links int) func(t flow.Tuple) int {
			n := 0
			return func(flow.Tuple) int { n++; return n % links }
		}},
	}
}

// TestRefusesOthers: a hash that is not affine is never taken for one.
func TestRefusesOthers(t *testing.T) {
	trials := max(proof(), 3)
	for oi, o := range others() {
		for _, links := range o.links {
			refused, most := 0, 0
			for trial := range trials {
				r := random(uint64(1e6 + oi*1e5 + links*1e4 + trial))
				all := candidates(r, every[trial%2].at)[:4096]
				d, looks := study(t, New(names[:links], all), o.make(r, links))
				if d.Map == nil && d.Why != "" {
					refused++
				}
				most = max(most, looks)
			}
			t.Logf("%s, %d links: %d of %d refused, after at most %d flows", o.name, links, refused, trials, most)
			if refused != trials {
				t.Errorf("%s over %d links was taken for affine", o.name, links)
			}
		}
	}
}

// TestMendsMisread: one flow that was read wrongly is found, looked at again
// and named; what is learned is exact.
func TestMendsMisread(t *testing.T) {
	hashes := testhash.Affine()
	trials := max(proof(), 12)
	for trial := range trials {
		r := random(uint64(2e6 + trial))
		links := []int{2, 4, 8}[trial%3]
		of, order := hashes[r.IntN(8)].Make(r), r.Perm(links)
		link := func(t flow.Tuple) int { return order[of(t)%uint32(links)] }
		l := New(names[:links], candidates(r, every[0].at))
		wrong, n := r.IntN(40), 0
		var misread flow.Tuple
		d, _ := study(t, l, func(t flow.Tuple) int {
			defer func() { n++ }()
			if n == wrong {
				misread = t
				return (link(t) + 1) % links
			}
			return link(t)
		})
		if d.Map == nil {
			t.Fatalf("%d links, flow %d misread: %+v", links, wrong, d)
		}
		if len(d.Unsteady) != 1 || d.Unsteady[0].Flow != misread || d.Unsteady[0].Then != names[link(misread)] {
			t.Errorf("%d links, flow %d: unsteady %+v, misread was %v", links, wrong, d.Unsteady, misread)
		}
		for _, tuple := range l.candidates[:10000] {
			if got, ok := d.Map.Link(tuple); !ok || got != link(tuple) {
				t.Fatalf("%d links, flow %d misread: %v on link %d, predicted %d", links, wrong, tuple, link(tuple), got)
			}
		}
	}
	t.Logf("one of the first 40 flows misread: named, and the hash learned, in %d of %d", trials, trials)
}

// TestNamesUnsteady: a switch that does not go by the flow alone is refused
// with a flow that was seen on two links.
func TestNamesUnsteady(t *testing.T) {
	named := 0
	for trial := range 50 {
		r := random(uint64(3e6 + trial))
		d, _ := study(t, New(names[:4], candidates(r, every[0].at)[:4096]), func(flow.Tuple) int { return r.IntN(4) })
		if d.Map != nil {
			t.Fatalf("learned: %+v", d)
		}
		if len(d.Unsteady) > 0 {
			named++
		}
	}
	t.Logf("a random link for each connection: refused in 50 of 50, with a flow that was seen on two links in %d", named)
	if named < 45 { // three flows seen again are all on the same of 4 links once in 64
		t.Errorf("named a flow in %d of 50", named)
	}
}

// TestSortedPorts: a hash that sorts both ports, so that both ways share a
// link, is affine above the other port. Over all ports it is refused.
func TestSortedPorts(t *testing.T) {
	refused := 0
	for trial := range 12 {
		r := random(uint64(9e6 + trial))
		of, links := testhash.Affine()[trial%10].Make(r), []int{2, 4, 8}[trial%3]
		link := func(t flow.Tuple) int {
			t.Sport, t.Dport = min(t.Sport, t.Dport), max(t.Sport, t.Dport)
			return int(of(t) % uint32(links))
		}
		above := candidates(r, func(i int) flow.Tuple { return drawn(1, 2, uint16(5202+i%(1<<16-5202)), 5201) })
		if d, _ := study(t, New(names[:links], above), link); d.Map == nil {
			t.Errorf("%d links, ports above: %+v", links, d)
		}
		all := candidates(r, func(i int) flow.Tuple { return drawn(1, 2, uint16(i), 32768) })
		d, _ := study(t, New(names[:links], all), link)
		if d.Map == nil {
			refused++
			continue
		}
		for _, tuple := range all { // of a hash that is symmetric anyway
			if got, _ := d.Map.Link(tuple); got != link(tuple) {
				t.Fatalf("%d links: %v on link %d, predicted %d", links, tuple, link(tuple), got)
			}
		}
	}
	if refused < 6 {
		t.Errorf("%d of 12 refused over all ports", refused)
	}
}

// TestFewPorts: a block of 64 ports takes 7 flows, and no more is claimed.
func TestFewPorts(t *testing.T) {
	r := random(4e6)
	of := testhash.Affine()[0].Make(r)
	link := func(t flow.Tuple) int { return int(of(t) % 4) }
	var block []flow.Tuple
	for i := range 64 {
		block = append(block, every[0].at(0xa000+i))
	}
	d, _ := study(t, New(names[:4], block), link)
	if d.Map == nil || d.Learned != 7 || d.Fixed != 7 {
		t.Fatalf("%+v", d)
	}
	for i := range 1 << 16 {
		got, ok := d.Map.Link(every[0].at(i))
		if inside := i>>6 == 0xa000>>6; ok != inside || ok && got != link(every[0].at(i)) {
			t.Fatalf("port %d: link %d, %v", i, got, ok)
		}
	}
}

// TestAsksNothingTwice: every flow is asked for once unless it contradicts,
// and skipped ones never.
func TestAsksNothingTwice(t *testing.T) {
	r := random(5e6)
	of := testhash.Affine()[5].Make(r)
	l := New(names[:8], candidates(r, every[0].at))
	asked := make(map[int]bool)
	for n := 0; ; n++ {
		d := l.Decide()
		if d.Next < 0 {
			if d.Map == nil || d.Learned > 24 {
				t.Errorf("%+v", d)
			}
			break
		}
		if asked[d.Next] || d.Again {
			t.Fatalf("candidate %d is asked for again", d.Next)
		}
		asked[d.Next] = true
		if n%5 == 4 {
			l.Skip(d.Next) // the port is taken
			continue
		}
		l.Observe(d.Next, int(of(l.candidates[d.Next])%8))
	}
}

// TestNumberings: the thirty numberings of eight links are of thirty kinds: no
// affine map takes one to another.
func TestNumberings(t *testing.T) {
	planes := make(map[string]bool) // which links sum to nothing with links 0 and two others
	for _, n := range numberings(8) {
		var lines []string
		for a := range 8 {
			for b := range a {
				for c := range b {
					for d := range c {
						if n[a]^n[b]^n[c]^n[d] == 0 {
							lines = append(lines, fmt.Sprint(a, b, c, d))
						}
					}
				}
			}
		}
		slices.Sort(lines)
		planes[fmt.Sprint(lines)] = true
		if len(lines) != 14 {
			t.Errorf("%v: %d planes", n, len(lines))
		}
	}
	if len(planes) != 30 {
		t.Errorf("%d kinds", len(planes))
	}
}
