package tune_test

import (
	"fmt"

	"github.com/linerate/linerate/internal/advise/tune"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// Whether a change is kept: only where the intervals of before and after leave no
// doubt.
func Example() {
	trial := func(rate, low, high unit.BitRate) record.Trial {
		return record.Trial{Goodput: rate, GoodputLow: low, GoodputHigh: high, Ceiling: 500 * unit.Mbps}
	}
	before := trial(240*unit.Mbps, 235*unit.Mbps, 245*unit.Mbps)
	for _, after := range []record.Trial{trial(478*unit.Mbps, 470*unit.Mbps, 486*unit.Mbps), trial(242*unit.Mbps, 236*unit.Mbps, 248*unit.Mbps)} {
		keep, verdict := tune.Judge(before, after)
		fmt.Println(keep, verdict)
	}
	// Output:
	// true proven: +99.2 %
	// false no gain (+0.8 %)
}
