package measure

import (
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/linerate/linerate/flow"
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

const portsHint = "write chosen, kernel, ports for the receiver such as 5201-5216, or both: kernel,5201-5216"

// parseTrialPorts reads --ports: how source ports are found, "" where it does not
// say, and the only ports that receivers may listen on; nil is any.
func parseTrialPorts(s string) (word string, within *flow.PortRange, err error) {
	for _, part := range strings.Split(s, ",") {
		part = strings.TrimSpace(part)
		switch {
		case part == "chosen" || part == "kernel":
			if word != "" {
				return "", nil, console.BadUsage("--ports: want chosen or kernel, once, not "+s, portsHint)
			}
			word = part
		case part == "" || part[0] < '0' || part[0] > '9':
			return "", nil, console.BadUsage("--ports: want chosen, kernel or ports, not "+s, portsHint)
		default:
			r, err := flow.ParsePortRange(part)
			if err != nil || r.First == 0 {
				return "", nil, console.BadUsage("--ports: want ports from 1 to 65535, such as 5201-5216, not "+part, portsHint)
			}
			if within != nil {
				return "", nil, console.BadUsage("--ports: want one range of ports, not "+s, portsHint)
			}
			within = &r
		}
	}
	return word, within, nil
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
