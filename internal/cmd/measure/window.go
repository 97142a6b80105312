package measure

import (
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/run/campaign"
)

// windowFlags are how sure a measurement has to be before it ends by itself.
type windowFlags struct{ precision string }

func (w *windowFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&w.precision, "precision", "", "end when the 95 % interval is within this share of the mean\n(default 2%); not with --duration")
}

// The bounds of --precision: a tighter interval is narrower than the clocks
// are sure, a wider one says nothing.
const (
	leastPrecision = 0.001
	mostPrecision  = 0.5
)

// over lays the flags over a matrix.
func (w *windowFlags) over(m *campaign.Matrix) error {
	if w.precision == "" {
		return nil
	}
	if m.Duration > 0 {
		return console.BadUsage("--precision: --duration gives the exact length, there is nothing to decide", "leave one of them out")
	}
	number, percent := strings.CutSuffix(strings.TrimSpace(w.precision), "%")
	v, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if percent {
		v /= 100
	}
	if err != nil || !(v >= leastPrecision && v <= mostPrecision) {
		return console.BadUsage("--precision: want 0.1% to 50%, such as 2%, not "+w.precision, "")
	}
	m.Base.Precision = v
	return nil
}
