package rounds

import "math/bits"

// occupied says of each host or thing in which rounds it is: a bit for each round, so
// that 64 rounds are looked at together.
type occupied [][]uint64

// free reports that none of them is in the round.
func (o occupied) free(of []int, round int) bool {
	for _, n := range of {
		if round/64 < len(o[n]) && o[n][round/64]>>(round%64)&1 != 0 {
			return false
		}
	}
	return true
}

// first is the first round that none of them is in.
func (o occupied) first(of []int) int {
	for word := 0; ; word++ {
		taken := uint64(0)
		for _, n := range of {
			if word < len(o[n]) {
				taken |= o[n][word]
			}
		}
		if taken != ^uint64(0) {
			return 64*word + bits.TrailingZeros64(^taken)
		}
	}
}

func (o occupied) take(of []int, round int) {
	for _, n := range of {
		for len(o[n]) <= round/64 {
			o[n] = append(o[n], 0)
		}
		o[n][round/64] |= 1 << (round % 64)
	}
}

func (o occupied) leave(of []int, round int) {
	for _, n := range of {
		o[n][round/64] &^= 1 << (round % 64)
	}
}
