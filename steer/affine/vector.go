package affine

import (
	"encoding/binary"
	"math/bits"

	"github.com/linerate/linerate/flow"
)

// vector is what a hash may read of a flow, bit by bit: both addresses, both
// ports, and a bit that is always set, which stands for all that does not vary
// (a seed, MAC addresses, the protocol). Sums of vectors are XORs.
type vector [5]uint64

// The words of a vector: two of each address, one of the ports.
const (
	srcWord = iota * 2
	dstWord
	portWord
	constant = 1 << 32
)

// vectorOf takes IPv4 addresses as the last bits of IPv6 ones.
func vectorOf(t flow.Tuple) (v vector) {
	if t.Src.IsValid() && t.Dst.IsValid() {
		src, dst := t.Src.As16(), t.Dst.As16()
		v[srcWord], v[srcWord+1] = binary.BigEndian.Uint64(src[:8]), binary.BigEndian.Uint64(src[8:])
		v[dstWord], v[dstWord+1] = binary.BigEndian.Uint64(dst[:8]), binary.BigEndian.Uint64(dst[8:])
	}
	v[portWord] = constant | uint64(t.Sport)<<16 | uint64(t.Dport)
	return v
}

func (v *vector) add(w *vector) {
	for i := range v {
		v[i] ^= w[i]
	}
}

// lead is the number of the first bit that is set, -1 for none.
func (v *vector) lead() int {
	for i, word := range v {
		if word != 0 {
			return i*64 + bits.LeadingZeros64(word)
		}
	}
	return -1
}

func (v *vector) has(bit int) bool { return v[bit/64]>>(63-bit%64)&1 == 1 }

// mostSeen bounds the flows that one learner observes.
const mostSeen = 256

// subset is a set of observed flows by number.
type subset [mostSeen / 64]uint64

func (s *subset) flip(i int) { s[i/64] ^= 1 << (i % 64) }

func (s *subset) add(t *subset) {
	for i := range s {
		s[i] ^= t[i]
	}
}

func (s *subset) each(do func(i int)) {
	for at, word := range s {
		for ; word != 0; word &= word - 1 {
			do(at*64 + bits.TrailingZeros64(word))
		}
	}
}

// span is what sums of observed vectors reach, as an echelon basis: each row
// with the observed flows that it is the sum of.
type span struct {
	rows []row
	// equations are sets of observed flows whose vectors sum to nothing: under
	// an affine hash their values do, too.
	equations []subset
}

type row struct {
	v    vector
	lead int
	of   subset
}

// insert adds the vector of observed flow i.
func (s *span) insert(v vector, i int) {
	of := subset{}
	of.flip(i)
	s.reduce(&v, &of)
	lead := v.lead()
	if lead < 0 {
		s.equations = append(s.equations, of)
		return
	}
	s.rows = append(s.rows, row{v, lead, of})
}

// reduce takes from v what the rows reach; of collects the flows that took
// part. Rows are used in the order that they came in: each is reduced by those
// before it.
func (s *span) reduce(v *vector, of *subset) {
	for i := range s.rows {
		r := &s.rows[i]
		if v.has(r.lead) {
			v.add(&r.v)
			of.add(&r.of)
		}
	}
}

// sum is the set of observed flows whose vectors sum to v; false when none do.
func (s *span) sum(v vector) (of subset, ok bool) {
	s.reduce(&v, &of)
	return of, v == vector{}
}

// reaches reports a vector that is a sum of observed ones.
func (s *span) reaches(v vector) bool {
	var of subset
	s.reduce(&v, &of)
	return v == vector{}
}
