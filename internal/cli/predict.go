package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

func newPredict(app *App) *cobra.Command {
	var flags matrixFlags
	c := &cobra.Command{
		Use: "predict FABRIC", Short: "what every pair of hosts can carry, and what binds", Args: exactly(1, "one FABRIC file"),
		Long: `Predicts the rate of every pair, direction and stream count from the file alone;
no host is looked at. Expected is what the traffic should carry with the ports
asked for, the ceiling what no measurement may exceed, both TCP payload.

` + exitHelp,
		Example: "  linerate predict fabric.yaml\n  linerate predict fabric.yaml --streams 1,8 --directions both --json",
		RunE: func(_ *cobra.Command, args []string) error {
			f, err := readFabric(args[0])
			if err != nil {
				return err
			}
			m, err := flags.overPrediction(f.Measure)
			if err != nil {
				return err
			}
			predictions, err := predictAlone(f, m)
			if err != nil {
				return err
			}
			if app.json {
				return app.printJSON(map[string]any{"predictions": predictions})
			}
			return app.printPredictions(predictions)
		},
	}
	c.Flags().StringVar(&flags.streams, "streams", "", "stream counts, such as 1,2,8 (default: the file's, else 1,2,4,8,16)")
	c.Flags().StringVar(&flags.directions, "directions", "", "of forward,reverse,both (default: the file's, else all)")
	c.Flags().StringVar(&flags.ports, "ports", "", "chosen (spread over the links) or kernel (default: the file's, else chosen)")
	return c
}

// overPrediction is over for a prediction, which has no window.
func (m *matrixFlags) overPrediction(f fabric.Measure) (fabric.Measure, error) {
	matrix, err := m.over(f)
	if err != nil {
		return f, err
	}
	if len(f.Streams) == 0 {
		f.Streams = []int{1, 2, 4, 8, 16}
	}
	if m.streams != "" {
		f.Streams = matrix.Streams
	}
	f.Directions, f.Ports = matrix.Directions, matrix.Ports
	if f.Protocol == "" {
		f.Protocol = "tcp"
	}
	return f, nil
}

// predictAlone predicts every pair from the file. A pair about which the file
// says too little is there with its limit unknown and the reason.
func predictAlone(f fabric.Fabric, m fabric.Measure) ([]predict.Prediction, error) {
	if err := f.ResolveAlone(); err != nil {
		return nil, err
	}
	if len(f.Paths) == 0 {
		return nil, usage(f.File+": no path to predict", "name one in paths:, or give two hosts addresses in one subnet")
	}
	hosts := make(map[string]netstate.Host)
	for _, h := range f.Hosts {
		state, err := f.State(h.Name)
		if err != nil {
			return nil, err
		}
		hosts[h.Name] = state
	}
	all := []predict.Prediction{}
	for _, pair := range pairsOf(f.Paths) {
		some, err := predict.Matrix(predict.Fabric{Hosts: hosts, Paths: pair}, m)
		switch {
		case err == nil:
			all = append(all, some...)
		case errors.Is(err, predict.ErrUnknownSpeed):
			all = append(all, unknownPair(pair[0], m, err)...)
		default:
			return nil, withHint(usage(f.File+": "+err.Error(), ""), "give both hosts an address in one subnet, or a route to the other's")
		}
	}
	return all, nil
}

// pairsOf groups paths by the pair they join: two directed ones are one pair.
func pairsOf(paths []fabric.Path) [][]fabric.Path {
	var pairs [][]fabric.Path
	index := map[[2]string]int{}
	for _, p := range paths {
		i, seen := index[[2]string{p.From, p.To}]
		if !seen {
			i = len(pairs)
			index[[2]string{p.From, p.To}], index[[2]string{p.To, p.From}] = i, i
			pairs = append(pairs, nil)
		}
		pairs[i] = append(pairs[i], p)
	}
	return pairs
}

// unknownPair says of every cell of a pair why nobody can tell.
func unknownPair(p fabric.Path, m fabric.Measure, why error) []predict.Prediction {
	limit := predict.Limit{Cause: record.Unknown, Where: p.From + " to " + p.To, Why: why.Error() + "; write it as hosts.NAME.hardware.links"}
	var out []predict.Prediction
	for _, d := range m.Directions {
		for _, n := range m.Streams {
			out = append(out, predict.Prediction{
				From: p.From, To: p.To, Direction: d, Streams: n, Protocol: m.Protocol, Limit: record.Unknown, Limits: []predict.Limit{limit},
			})
		}
	}
	return out
}

// printPredictions prints a table a pair, then why each limit binds.
func (a *App) printPredictions(all []predict.Prediction) error {
	for i := 0; i < len(all); {
		end := i
		for end < len(all) && all[end].From == all[i].From && all[end].To == all[i].To {
			end++
		}
		if i > 0 {
			fmt.Fprintln(a.Stdout)
		}
		if err := a.printPair(all[i:end]); err != nil {
			return err
		}
		i = end
	}
	return nil
}

func (a *App) printPair(pair []predict.Prediction) error {
	fmt.Fprintf(a.Stdout, "%s -> %s, %s\n", pair[0].From, pair[0].To, pair[0].Protocol)
	kernel := false
	for _, p := range pair {
		kernel = kernel || p.KernelPorts > 0
	}
	w := tabwriter.NewWriter(a.Stdout, 0, 8, 2, ' ', 0)
	header := "  DIRECTION\tSTREAMS\tEXPECTED\tCEILING\tLIMIT"
	if kernel {
		header += "\tKERNEL'S PORTS"
	}
	fmt.Fprintln(w, header)
	for _, p := range pair {
		row := fmt.Sprintf("  %s\t%d\t%s\t%s\t%s", p.Direction, p.Streams, orUnknown(p.Rate), orUnknown(p.Ceiling), p.Limit)
		if kernel {
			row += "\t" + kernelPorts(p)
		}
		fmt.Fprintln(w, row)
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("print predictions: %w", err)
	}
	printLimits(a.Stdout, pair, a.width())
	printRanges(a.Stdout, pair, a.width())
	return nil
}

func orUnknown(r unit.BitRate) string {
	if r == 0 {
		return "unknown"
	}
	return r.String()
}

func kernelPorts(p predict.Prediction) string {
	if p.KernelPorts == 0 {
		return "the same"
	}
	return p.KernelPorts.String()
}

// printLimits says why each limit that binds somewhere does, once, and what is
// unknown that might bind before it.
func printLimits(w io.Writer, pair []predict.Prediction, width int) {
	told := map[string]bool{}
	tell := func(key string, l predict.Limit) {
		if !told[key] {
			told[key] = true
			fmt.Fprint(w, wrapped("  ", fmt.Sprintf("%s, %s: %s", l.Cause, l.Where, l.Why), width))
		}
	}
	for _, p := range pair {
		tell(string(p.Limit), p.Limits[0])
	}
	for _, p := range pair {
		if p.Direction == flow.Both {
			continue // its ways have said it
		}
		for _, l := range p.Limits[1:] {
			if l.Cause == record.Unknown {
				tell(l.Where, l)
			}
		}
	}
}

// printRanges says how far what is unknown could move the expected rates.
func printRanges(w io.Writer, pair []predict.Prediction, width int) {
	var ranges []string
	for _, p := range pair {
		if p.RateLow > 0 && p.RateHigh > p.RateLow {
			ranges = append(ranges, fmt.Sprintf("%s of %d streams %v to %v", p.Direction, p.Streams, p.RateLow, p.RateHigh))
		}
	}
	if len(ranges) > 0 {
		fmt.Fprint(w, wrapped("  ", "with what the file leaves open: "+strings.Join(ranges, "; "), width))
	}
}
