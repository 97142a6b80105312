package changing

import (
	"os"
	"slices"
	"strconv"
	"testing"
	"time"
)

// scenarios is everything that a user may do here and what must become of it,
// with the time that each takes, in seconds.
var scenarios = []struct {
	name string
	cost int
	run  func(*testing.T)
}{
	{"both ends change as one", 15, bothEndsChangeAsOne},
	{"large frames do not pass", 28, jumboThatDoesNotPass},
	{"nobody confirms", 30, nobodyConfirms},
	{"plain hosts become bonds", 21, plainHostsBecomeBonds},
	{"no partner", 65, noPartner},
	{"modes at both ends", 25, modesAtBothEnds},
	{"changed by hand", 11, changedByHand},
	{"the controller is cut off", 83, cutOff},
	{"interrupted", 27, interrupted},
	{"below a stream", 66, liveChanges},
	{"a lease stays", 60, leaseStays},
	{"source rules", 30, sourceRules},
	{"the second host refuses", 9, secondHostRefuses},
	{"all or none keep", 16, allOrNoneKeep},
	{"on a hypervisor", 20, onHypervisor},
}

const (
	// sampleTime is how long the suite's share may take, partTime each part of
	// the proof.
	sampleTime = 12
	partTime   = 105
)

// TestChanges plays scenarios: those of one part of the proof (PROVE_RUN), all
// (PROVE_RUN=all), or in the suite, which has no time for more, those drawn.
func TestChanges(t *testing.T) {
	played := 0
	for _, i := range chosen(t, os.Getenv("PROVE_RUN")) {
		s := scenarios[i]
		t.Run(s.name, func(t *testing.T) {
			played++
			begun := time.Now()
			s.run(t)
			t.Logf("took %v", time.Since(begun).Round(time.Second))
		})
	}
	if played == 0 {
		t.Fatal("nothing was played: no such part")
	}
	t.Logf("scenarios: %d of %d played", played, len(scenarios))
}

// chosen are indexes of scenarios.
func chosen(t *testing.T, run string) []int {
	t.Helper()
	switch n, err := strconv.Atoi(run); {
	case run == "all":
		return upTo(0, 1<<30)
	case err == nil:
		for first := 0; ; n-- {
			part := upTo(first, partTime)
			if n <= 1 || len(part) == 0 {
				return part
			}
			first = part[len(part)-1] + 1
		}
	}
	var short []int
	for i, s := range scenarios {
		if s.cost <= sampleTime {
			short = append(short, i)
		}
	}
	first := int(seed(t) % uint64(len(short)))
	short = slices.Concat(short[first:], short[:first])
	left := sampleTime
	return slices.DeleteFunc(short, func(i int) bool {
		if scenarios[i].cost > left {
			return true
		}
		left -= scenarios[i].cost
		return false
	})
}

// upTo are the scenarios from the first that fit into the time, at least one.
func upTo(first, time int) []int {
	var out []int
	for i := first; i < len(scenarios) && (len(out) == 0 || scenarios[i].cost <= time); i++ {
		time -= scenarios[i].cost
		out = append(out, i)
	}
	return out
}
