package measure

import (
	"strconv"

	"github.com/spf13/cobra"

	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/cmd/progress"
	"github.com/linerate/linerate/internal/run/campaign"
)

// pathFlags say which paths are measured at a time, and what is looked at
// first.
type pathFlags struct {
	together, unchecked bool
	pairs               string
}

func (f *pathFlags) add(c *cobra.Command) {
	c.Flags().BoolVar(&f.together, "together", false, "measure all pairs at the same time, in one window, and their sum")
	c.Flags().StringVar(&f.pairs, "pairs", allPairs, "which pairs: all; cover, as few as use every host and link; or how many, so chosen")
	c.Flags().BoolVar(&f.unchecked, "no-route-check", false, "do not ask the hosts first where their packets would go")
}

// The words of --pairs.
const (
	allPairs   = "all"
	coverPairs = "cover"
)

// over says which pairs a matrix measures.
func (f *pathFlags) over(m *campaign.Matrix) error {
	switch f.pairs {
	case allPairs:
		return nil
	case coverPairs:
		m.Pairs = new(int)
		return nil
	}
	n, err := strconv.Atoi(f.pairs)
	if err != nil || n < 1 {
		return console.BadUsage("--pairs: want all, cover or a number, not "+f.pairs, "cover measures as few pairs as use every host and link")
	}
	m.Pairs = &n
	return nil
}

// checkRoutes asks the hosts where packets would go, unless told not to.
func (f *pathFlags) checkRoutes(check func() error, p *progress.Progress) error {
	if f.unchecked {
		return nil
	}
	p.Stage("check routes")
	return check()
}

// check refuses what does not go with --together.
func (f *pathFlags) check(run *RunFlags, m campaign.Matrix) error {
	switch {
	case f.together && run.resume != "":
		return console.BadUsage("--together: what runs at the same time cannot be resumed in parts", "leave --resume out")
	case f.together && run.sweeps.any():
		return console.BadUsage("--together: does not go with --sweep or --aliases", "sweep one pair at a time")
	case m.Pairs != nil && run.sweeps.any():
		return console.BadUsage("--pairs: does not go with --sweep or --aliases", "these are of one pair")
	case f.together && m.Base.Fail != nil:
		return console.BadUsage("--together: does not go with --fail-link", "")
	}
	return nil
}
