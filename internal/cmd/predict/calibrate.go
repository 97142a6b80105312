package predict

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/predict/calibrate"
	"github.com/linerate/linerate/predict/declared"
	"github.com/linerate/linerate/predict/whatif"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// calibrateFlag names the record whose rows calibrate the prediction.
type calibrateFlag struct {
	file    string
	streams int
	record  record.Record // the file's, once it is checked
}

func (c *calibrateFlag) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&c.file, "calibrate", "", "learn what is unknown from one measured row a pair and direction of this record, and predict the rest; without FABRIC the record's own hosts")
	_ = cmd.MarkFlagFilename("calibrate", "json")
	cmd.Flags().IntVar(&c.streams, "calibrate-streams", 0, "the row to learn from: of so many streams (default: the fewest)")
}

// check finds what is wrong with the flags and the record before any host is
// looked at.
func (c *calibrateFlag) check(ctx context.Context) error {
	switch {
	case c.file == "" && c.streams != 0:
		return console.BadUsage("--calibrate-streams: nothing to calibrate with", "give the record with --calibrate RECORD")
	case c.streams < 0:
		return console.BadUsage(fmt.Sprintf("--calibrate-streams: want a count of streams, not %d", c.streams), "")
	case c.file == "":
		return nil
	}
	var err error
	c.record, err = console.ReadRecord(ctx, c.file) // once: it may be a pipe
	return err
}

// learned is what one measured row taught, and how it foretells the others.
type learned struct {
	From        string         `json:"from"`
	To          string         `json:"to"`
	Direction   flow.Direction `json:"direction"`
	Streams     int            `json:"streams"`
	Measured    unit.BitRate   `json:"measured_bps"`
	Predicted   unit.BitRate   `json:"predicted_bps"` // before
	Settles     string         `json:"settles"`
	Why         string         `json:"why"`
	Residual    float64        `json:"residual_ratio"`
	Others      []foretold     `json:"others,omitempty"`
	calibration calibrate.Calibration
}

// foretold is another measured row of the same pair and direction.
type foretold struct {
	Streams   int          `json:"streams"`
	Measured  unit.BitRate `json:"measured_bps"`
	Predicted unit.BitRate `json:"predicted_bps"`
	Error     float64      `json:"error_ratio"`
}

// recorded is what a record says of hosts and paths, where no fabric is given.
func (c calibrateFlag) recorded() (*foresight, error) {
	r := c.record
	s := &foresight{name: c.file, state: declared.Recorded(r)}
	if len(s.state.Hosts) == 0 || len(s.state.Paths) == 0 {
		return nil, console.BadUsage(c.file+": the record has no hosts and paths", "name the fabric: linerate predict FABRIC --calibrate "+c.file)
	}
	return s, nil
}

// learn calibrates every pair and direction that the record has a row of.
func (c calibrateFlag) learn(s *foresight, m fabric.Measure) error {
	if c.file == "" {
		return nil
	}
	r := c.record
	for _, paths := range declared.Pairs(s.state.Paths) {
		for _, d := range flow.Directions() {
			rows := c.rows(r, paths[0].From, paths[0].To, d)
			if len(rows) == 0 {
				continue
			}
			l, err := s.taught(rows, m, s.measuredState(r, rows[0]))
			if err != nil {
				return console.BadUsage(c.file+": "+err.Error(), "")
			}
			s.learned = append(s.learned, l)
		}
	}
	if len(s.learned) == 0 {
		if counts := c.counts(r, s.state.Paths); len(counts) > 0 {
			return console.BadUsage(fmt.Sprintf("%s: no trial of a pair of %s with %s", c.file, s.name, unit.Counted(c.streams, "stream")), "there are trials of "+strings.Join(counts, ", "))
		}
		return console.BadUsage(c.file+": no trial of a pair of "+s.name, "the record's hosts are to be named as in the fabric")
	}
	return nil
}

// counts are the stream counts that the record has trials of between hosts of
// these paths; none where no count was asked for.
func (c calibrateFlag) counts(r record.Record, paths []fabric.Path) []string {
	var counts []int
	if c.streams == 0 {
		return nil
	}
	for _, p := range paths {
		for _, d := range flow.Directions() {
			for _, t := range (calibrateFlag{}).rows(r, p.From, p.To, d) {
				counts = append(counts, t.Streams)
			}
		}
	}
	slices.Sort(counts)
	var words []string
	for _, n := range slices.Compact(counts) {
		words = append(words, strconv.Itoa(n))
	}
	return words
}

// rows are the record's rows of a pair and direction, the one to learn from
// first. A trial in the other order of hosts counts the other way round, and
// what a run measured after it changed hosts does not count.
func (c calibrateFlag) rows(r record.Record, from, to string, d flow.Direction) []record.Trial {
	var rows []record.Trial
	for _, t := range r.Trials {
		if t.Goodput <= 0 || t.Phase == record.PhaseStep || t.Phase == record.PhaseAfter || t.Group != "" || t.Variant != "" || t.RateLimit > 0 {
			continue
		}
		if t.From == to && t.To == from {
			t.From, t.To, t.Direction = from, to, t.Direction.Turned()
		}
		if t.From != from || t.To != to || t.Direction != d {
			continue
		}
		rows = append(rows, t)
		n := len(rows) - 1
		if c.streams == 0 && t.Streams < rows[0].Streams || c.streams > 0 && rows[0].Streams != c.streams {
			rows[0], rows[n] = rows[n], rows[0]
		}
	}
	if c.streams > 0 && len(rows) > 0 && rows[0].Streams != c.streams {
		return nil
	}
	return rows
}

// measuredState is what the hosts were when the row was measured: the record's
// own, else the fabric's with the row's MTU.
func (s *foresight) measuredState(r record.Record, t record.Trial) predict.Fabric {
	f := s.state
	own := map[string]netstate.Host{}
	for _, h := range r.Environment.Hosts {
		own[h.Name] = h
	}
	_, from := own[t.From]
	_, to := own[t.To]
	if from && to {
		f.Hosts = own
		for _, p := range r.Fabric.Paths {
			if p.Joins(t.From, t.To) {
				f.Paths = r.Fabric.Paths
			}
		}
		return f
	}
	if t.MTU > 0 {
		if w, err := whatif.Parse(fmt.Sprintf("mtu=%d", t.MTU)); err == nil {
			if g, _, _, err := w.Apply(f, fabric.Measure{}); err == nil {
				return g
			}
		}
	}
	return f
}

// taught learns from the first of the rows, measured in a state of the hosts,
// and foretells the others.
func (s *foresight) taught(rows []record.Trial, m fabric.Measure, state predict.Fabric) (learned, error) {
	t := rows[0]
	measured := calibrate.Measured{Traffic: trafficOf(t, m), Rate: t.Goodput}
	if t.Finding != nil {
		measured.Cause = t.Finding.Cause
	}
	c, err := calibrate.FromRow(state, measured)
	if err != nil {
		return learned{}, fmt.Errorf("%s to %s, %s, %s: %w", t.From, t.To, t.Direction, unit.Counted(t.Streams, "stream"), err)
	}
	l := learned{From: t.From, To: t.To, Direction: t.Direction, Streams: t.Streams, Measured: t.Goodput,
		Predicted: c.Predicted, Settles: string(c.Settles), Why: c.Why, Residual: c.Residual, calibration: c}
	for _, other := range rows[1:] {
		p, err := c.Predict(state, trafficOf(other, m))
		if err != nil {
			return learned{}, err
		}
		l.Others = append(l.Others, foretold{other.Streams, other.Goodput, p.Rate, float64(p.Rate/other.Goodput) - 1})
	}
	return l, nil
}

// trafficOf is the traffic that a trial was, with the buffer that the file asks
// for where the trial does not say.
func trafficOf(t record.Trial, m fabric.Measure) predict.Traffic {
	out := predict.TrafficOfTrial(t)
	out.SocketBuffer = max(out.SocketBuffer, m.SocketBuffer)
	return out
}

// calibration is what was learned of a pair: in this direction, else in
// another.
func (s *foresight) calibration(from, to string, d flow.Direction) calibrate.Calibration {
	var other calibrate.Calibration
	for _, l := range s.learned {
		if l.From != from || l.To != to {
			continue
		}
		if l.Direction == d {
			return l.calibration
		}
		if other.Settles == "" {
			other = l.calibration
		}
	}
	return other
}

// printLearned says what each row taught, and how far off it leaves the others.
func printLearned(con *console.Console, s *foresight) {
	for _, l := range s.learned {
		fmt.Fprintf(con.Stdout, "%s -> %s, %s, %s: measured %v, predicted %s\n", l.From, l.To, l.Direction, unit.Counted(l.Streams, "stream"), l.Measured, orUnknown(l.Predicted))
		fmt.Fprint(con.Stdout, console.Wrapped("  ", fmt.Sprintf("settles %s: %s (then %+.1f %% off)", l.Settles, l.Why, 100*l.Residual), con.Width()))
		for _, o := range l.Others {
			fmt.Fprintf(con.Stdout, "  foretells %s: %v, measured %v, %+.1f %%\n", unit.Counted(o.Streams, "stream"), o.Predicted, o.Measured, 100*o.Error)
		}
	}
	if len(s.learned) > 0 {
		fmt.Fprintln(con.Stdout)
	}
}
