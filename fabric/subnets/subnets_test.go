package subnets

import (
	"math/rand/v2"
	"net/netip"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestPairsAsEveryPairCompared: hosts of one subnet are found by an index, the same
// as by comparing each with each.
func TestPairsAsEveryPairCompared(t *testing.T) {
	draw := rand.New(rand.NewPCG(1, 2))
	met := 0
	for range 300 {
		ends := make([]End, 2+draw.IntN(10))
		for i := range ends {
			ends[i].Name = strconv.Itoa(i)
			for range draw.IntN(4) {
				a := netip.AddrFrom4([4]byte{10, byte(draw.IntN(2)), byte(draw.IntN(3)), byte(draw.IntN(5))})
				bits := []int{8, 16, 24, 30, 31, 32}[draw.IntN(6)]
				if draw.IntN(3) == 0 {
					six := [16]byte{0: 0xfd, 1: byte(draw.IntN(2)), 15: byte(draw.IntN(5))}
					a, bits = netip.AddrFrom16(six), []int{16, 64, 127, 128}[draw.IntN(4)]
				}
				ends[i].Addresses = append(ends[i].Addresses, netip.PrefixFrom(a, bits))
			}
		}
		var want []Pair
		for i, a := range ends {
			for j, b := range ends[i+1:] {
				for _, family := range []string{"ipv4", "ipv6"} {
					if len(Common(a.Addresses, b.Addresses, family)) > 0 {
						want = append(want, Pair{A: i, B: i + 1 + j, IPv6: family == "ipv6"})
						break
					}
				}
			}
		}
		met += len(want)
		if diff := cmp.Diff(want, Pairs(ends)); diff != "" {
			t.Fatalf("%v (-want +got):\n%s", ends, diff)
		}
	}
	if met == 0 {
		t.Fatal("no two hosts shared a subnet")
	}
}
