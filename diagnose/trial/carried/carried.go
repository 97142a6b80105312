// Package carried tells which streams a link carried, where no address or port says it,
// by their rates and by what each waits for, and how evenly. It must never look at what
// limits them.
package carried

import (
	"cmp"
	"math"
	"slices"

	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// Streams are told from other traffic by their rates: as near as counters and
// sockets agree over one window, and no more streams than can be tried.
const (
	ratesAgree = 0.10
	mostTried  = 14
)

// HostsAddMS is what hosts themselves may add to a round trip, in milliseconds.
const HostsAddMS = 1.0

// farApart is how many times longer than that and than others the streams of a full link
// wait.
const farApart = 4

// Lanes are the streams whose goodput adds up to a link's payload: those that find no
// queue where others wait in one, else any; nil where none do, or nothing was carried.
func Lanes(all []record.Lane, payload unit.BitRate) []record.Lane {
	if payload <= 0 {
		return nil
	}
	if apart := withoutQueue(all); len(apart) > 0 && off(Goodput(apart), payload) < ratesAgree {
		return apart
	}
	if len(all) > mostTried {
		return nil
	}
	best, nearest := 0, ratesAgree
	for set := 1; set < 1<<len(all)-1; set++ {
		var sum unit.BitRate
		for i, l := range all {
			if set&(1<<i) != 0 {
				sum += l.Goodput
			}
		}
		if d := off(sum, payload); d < nearest {
			best, nearest = set, d
		}
	}
	var out []record.Lane
	for i, l := range all {
		if best&(1<<i) != 0 {
			out = append(out, l)
		}
	}
	return out
}

// off is how far a sum is from a payload, as a part of it.
func off(sum, payload unit.BitRate) float64 { return math.Abs(float64(sum/payload) - 1) }

// withoutQueue are the streams that find no queue while others wait in one: these share a
// link that is full. Nil where all wait alike.
func withoutQueue(all []record.Lane) []record.Lane {
	queue := func(l record.Lane) float64 { return max(l.TCP.MeanRTTMS-l.TCP.MinRTTMS, 0) }
	sorted := slices.SortedFunc(slices.Values(all), func(a, b record.Lane) int { return cmp.Compare(queue(a), queue(b)) })
	for i := 1; i < len(sorted); i++ {
		if queue(sorted[i]) > farApart*(queue(sorted[i-1])+HostsAddMS) {
			return sorted[:i]
		}
	}
	return nil
}

// Lossless are the streams of which nothing was sent again.
func Lossless(lanes []record.Lane) []record.Lane {
	return slices.DeleteFunc(slices.Clone(lanes), func(l record.Lane) bool { return l.Retransmits > 0 || l.TCP.BytesRetrans > 0 })
}

// Goodput is what the streams carry together.
func Goodput(lanes []record.Lane) (sum unit.BitRate) {
	for _, l := range lanes {
		sum += l.Goodput
	}
	return sum
}
