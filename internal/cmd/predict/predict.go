// Package predict is `linerate predict`: what paths can carry, and what limits them.
package predict

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/spf13/cobra"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/internal/advise/workload"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/cmd/measure"
	"github.com/linerate/linerate/internal/cmd/progress"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/predict/declared"
	"github.com/linerate/linerate/unit"
)

// New is `linerate predict`.
func New(con *console.Console) *cobra.Command {
	var flags measure.MatrixFlags
	var live liveFlag
	var calibrate calibrateFlag
	var whatIf whatIfFlag
	var validate validateFlags
	var ladder ladderFlag
	var together togetherFlags
	var clouds cloudsFlag
	var buy buyFlags
	var program workloadFlag
	var page pageFlag
	c := &cobra.Command{
		Use: "predict FABRIC | HOST HOST...", Short: "what every pair of hosts can carry, and what binds",
		Args: func(cmd *cobra.Command, args []string) error {
			if validate.on || validate.format {
				return validate.args(cmd, args)
			}
			if clouds.show {
				return clouds.args(args)
			}
			if program.listed() && len(args) == 0 {
				return nil
			}
			return predictArgs(cmd, args, calibrate.file != "")
		},
		Long: `Predicts the rate of every pair, direction and stream count from the file alone;
no host is looked at, unless --live asks for it or hosts are named (local:,
netns:NAME, ssh://user@host). Expected is what the traffic should carry with
the ports asked for, the ceiling what no measurement may exceed in steady
state, both TCP payload. Beside them stand the limits from the lowest up: what
binds, and what would bind next if that were removed.

--workload predicts a program instead of streams: as many connections as it
opens, to as many addresses, from ports that nobody chose; and says which of its
own options, or of the hosts' hashes, would carry more.

-o writes the prediction as a page, a picture or Markdown: a design to show
before anything is bought.

--calibrate takes one measured row a pair and direction from a record, settles
with it what is unknown, and predicts the rest. --what-if compares changes on
paper. --validate judges the model by published tables, or by a file of yours.

` + console.ExitHelp,
		Example: `  linerate predict fabric.yaml
  linerate predict fabric.yaml --streams 1,8 --directions both --json
  linerate predict fabric.yaml --what-if mtu=9000 --what-if links=4,rmem=64Mi
  linerate predict fabric.yaml -o design.html
  linerate predict fabric.yaml --workload nfs:nconnect=8
  linerate predict fabric.yaml --calibrate record.json
  linerate predict --validate`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := program.alone(cmd); err != nil {
				return err
			}
			if err := page.check(con, otherTable(cmd)); err != nil {
				return err
			}
			if validate.on {
				return validateModel(cmd.Context(), con, args, validate)
			}
			if clouds.show {
				return printClouds(con)
			}
			if program.listed() {
				return printWorkloads(con)
			}
			if buy.asked() {
				return compareDesigns(con, cmd, args, buy)
			}
			changes, err := whatIf.read()
			if err != nil {
				return err
			}
			if err := program.read(changes); err != nil {
				return err
			}
			if err := together.check(calibrate.file != ""); err != nil {
				return err
			}
			if err := ladder.check(together.on, len(changes)); err != nil {
				return err
			}
			if err := calibrate.check(cmd.Context()); err != nil {
				return err
			}
			rules, err := clouds.table(cmd.Context())
			if err != nil {
				return err
			}
			f, err := foresee(cmd.Context(), con, args, live, calibrate)
			if err != nil {
				return err
			}
			f.state.Clouds = rules
			if err := predict.KnownClouds(f.state); err != nil {
				return f.unpredictable(err)
			}
			m, err := overPrediction(&flags, f.measure)
			if err != nil {
				return err
			}
			if f.use = program.use; f.use != nil {
				m.Streams = []int{1} // one row: how many there are is the program's
				f.asked = m
			}
			if err := calibrate.learn(f, m); err != nil {
				return err
			}
			if err := f.affordable(m); err != nil {
				return err
			}
			pairs := len(declared.Pairs(f.state.Paths))
			if pairs*len(m.Directions)*len(m.Streams) > manyRows {
				progress.New(con).Stage("predict %s", unit.Counted(pairs, "pair"))
			}
			if together.on {
				return predictTogether(con, f, m, flags.Streams != "", changes)
			}
			if len(changes) > 0 {
				return compareWhatIf(cmd.Context(), con, f, m, changes)
			}
			predictions, err := f.predictions(cmd.Context(), m)
			if err != nil {
				return err
			}
			if page.out.Path != "" {
				return page.write(cmd.Context(), con, f, m, predictions)
			}
			if con.JSON {
				return predictDocument.Print(con, f.document(predictions))
			}
			if f.use != nil {
				printWorkload(con, *f.use)
			}
			printForesight(con, f, predictions, ladder)
			if f.use != nil {
				printAdvised(con, f, f.advised(predictions))
			}
			return nil
		},
	}
	c.Flags().StringVar(&flags.Streams, "streams", "", "stream counts, such as 1,2,8 (default: the file's, else 1,2,4,8,16)")
	c.Flags().StringVar(&flags.Directions, "directions", "", "of forward,reverse,both (default: the file's, else all)")
	c.Flags().StringVar(&flags.Ports, "ports", "", "chosen (spread over the links) or kernel (default: the file's, else chosen)")
	c.Flags().StringVar(&flags.Buffer, "socket-buffer", "", "what each socket asks for, such as 8Mi (default: the file's, else autotuning)")
	ladder.add(c)
	buy.add(c)
	live.add(c)
	whatIf.add(c)
	calibrate.add(c)
	validate.add(c)
	together.add(c)
	clouds.add(c)
	program.add(c)
	page.add(c)
	return c
}

// otherTable is the first of the flags given that print another table than the
// prediction's; "" none.
func otherTable(c *cobra.Command) string {
	for _, name := range []string{"workload", "what-if", "together", "limits", "buy", "validate", "format", "show-clouds"} {
		if f := c.Flags().Lookup(name); f != nil && f.Changed {
			return "--" + name
		}
	}
	return ""
}

// affordable refuses more predictions than are made at once.
func (s *foresight) affordable(m fabric.Measure) error {
	pairs := len(declared.Pairs(s.state.Paths))
	if rows := pairs * len(m.Directions) * len(m.Streams); rows > mostRows {
		return console.BadUsage(fmt.Sprintf("%s: %s are %d predictions, at most %d are made at once", s.name, unit.Counted(pairs, "pair"), rows, mostRows),
			"name the pairs that matter in paths:, or fewer --streams")
	}
	return nil
}

// manyRows take long enough, about a second, for a word about it; mostRows are a
// minute and some gigabytes, and nobody reads them: 447 hosts in one subnet.
const (
	manyRows = 10_000
	mostRows = 1_000_000
)

// predictArgs demands one fabric file, or several hosts; nothing where a
// record brings its own hosts.
func predictArgs(cmd *cobra.Command, args []string, recorded bool) error {
	switch {
	case len(args) == 0 && recorded:
		return nil
	case len(args) == 0:
		return console.BadUsage(console.CommandName(cmd)+": want one FABRIC file, or hosts", "`"+cmd.CommandPath()+" --help` shows how")
	case len(args) == 1 && namesHost(args[0]):
		return console.BadUsage(fmt.Sprintf("%s: one host, %s, has no pair", console.CommandName(cmd), args[0]), "name two hosts or more, or a fabric file")
	case len(args) > 1 && (measure.IsFabric(args[0]) || measure.IsFabric(args[1])):
		return console.BadUsage(console.CommandName(cmd)+": want one FABRIC file, or hosts", "name one file, or hosts such as ssh://root@192.0.2.11")
	}
	return nil
}

// namesHost: the argument is a host's address, not a file's name.
func namesHost(arg string) bool {
	return slices.ContainsFunc([]string{"ssh://", "netns:", "local:", "nats:"}, func(scheme string) bool { return strings.HasPrefix(arg, scheme) })
}

// overPrediction is over for a prediction, which has no window.
func overPrediction(m *measure.MatrixFlags, f fabric.Measure) (fabric.Measure, error) {
	matrix, err := m.Over(f)
	if err != nil {
		return f, err
	}
	if len(f.Streams) == 0 {
		f.Streams = []int{1, 2, 4, 8, 16}
	}
	if m.Streams != "" {
		f.Streams = matrix.Streams
	}
	f.Directions, f.Ports, f.SocketBuffer = matrix.Directions, matrix.Ports, matrix.Base.Socket.RcvBuf
	if f.Protocol == "" {
		f.Protocol = "tcp"
	}
	return f, nil
}

// foresight is what predictions are made from.
type foresight struct {
	name        string // of the file, for errors
	text        string // of the file
	state       predict.Fabric
	measure     fabric.Measure
	differences []fabric.Difference
	learned     []learned
	use         *workload.Use  // the program to predict; nil is streams
	asked       fabric.Measure // with it
}

// foresee gathers what predictions are made from: the file, or a record's
// hosts; and live hosts where that is asked for.
func foresee(ctx context.Context, con *console.Console, args []string, live liveFlag, c calibrateFlag) (*foresight, error) {
	if len(args) == 0 {
		return c.recorded()
	}
	var run measure.RunFlags
	f, err := measure.FabricOf(ctx, con, args, &run)
	if len(run.Missing) > 0 && err == nil {
		err = run.Missing[0]
	}
	if err != nil {
		return nil, err
	}
	if live.on {
		return observed(ctx, con, f)
	}
	return alone(f)
}

// alone is what the file says by itself.
func alone(f fabric.Fabric) (*foresight, error) {
	state, err := declared.State(f)
	if errors.Is(err, declared.ErrNoPath) {
		hint := declared.RemedyFor(err)
		if slices.ContainsFunc(f.Hosts, func(h fabric.Host) bool { return h.Reach != "" }) {
			hint += "; --live watches the hosts"
		}
		return nil, console.BadUsage(f.File+": "+err.Error(), hint)
	}
	if err != nil {
		return nil, err
	}
	return &foresight{name: f.File, text: f.Text, measure: f.Measure, state: state}, nil
}

// predictions are those of every pair. A pair about which too little is known
// is there with its limit unknown and the reason.
func (s *foresight) predictions(ctx context.Context, m fabric.Measure) ([]predict.Prediction, error) {
	pairs := declared.Pairs(s.state.Paths)
	some, errs := make([][]predict.Prediction, len(pairs)), make([]error, len(pairs))
	if _, err := console.Beside(ctx, func() (struct{}, error) {
		onEveryCore(len(pairs), func(i int) { some[i], errs[i] = s.pair(pairs[i], m) })
		return struct{}{}, nil
	}); err != nil {
		return nil, err
	}
	all := []predict.Prediction{}
	for i, pair := range pairs {
		err := errs[i]
		switch {
		case err == nil:
			all = append(all, some[i]...)
		case errors.Is(err, workload.ErrCores), errors.Is(err, workload.ErrAddresses), errors.Is(err, workload.ErrParam):
			return nil, s.misused(err)
		case errors.Is(err, predict.ErrUnknownSpeed):
			all = append(all, declared.Unpredicted(pair[0], m, err)...)
		default:
			return nil, s.unpredictable(err)
		}
	}
	return all, nil
}

// unpredictable says what to mend in the fabric.
func (s *foresight) unpredictable(err error) error {
	return console.BadUsage(s.name+": "+err.Error(), declared.RemedyFor(err))
}

// pair predicts one pair, with what was learned of it.
func (s *foresight) pair(paths []fabric.Path, m fabric.Measure) ([]predict.Prediction, error) {
	if s.use != nil {
		return s.workloadRows(paths, m)
	}
	f := s.state
	f.Paths = paths
	if len(s.learned) == 0 {
		return predict.Matrix(f, m)
	}
	var all []predict.Prediction
	for _, d := range m.Directions {
		c := s.calibration(paths[0].From, paths[0].To, d)
		for _, n := range m.Streams {
			p, err := c.Predict(f, predict.TrafficOf(paths[0], m, d, n))
			if err != nil {
				return nil, err
			}
			all = append(all, p)
		}
	}
	return all, nil
}

// document is the JSON document of the predictions.
func (s *foresight) document(all []predict.Prediction) predicted {
	doc := predicted{Predictions: all, Differences: s.differences, LeftOut: s.leftOut(), Calibrations: s.learned}
	if s.use != nil {
		use := s.workloadDocument(all)
		doc.Workload = &use
	}
	return doc
}

// leftOut says which links the hosts are managed over and are left out for it.
func (s *foresight) leftOut() []string {
	var hosts []netstate.Host
	for _, name := range slices.Sorted(maps.Keys(s.state.Hosts)) {
		hosts = append(hosts, s.state.Hosts[name])
	}
	return fabric.LeftOut(hosts)
}

// Headings are the titles in the list of flags.
var Headings = []console.FlagHeading{
	{Title: "What to predict", Flags: "streams directions ports socket-buffer workload together limits output force"},
	{Title: "From what", Flags: "live calibrate calibrate-streams clouds show-clouds"},
	{Title: "What to compare", Flags: "what-if buy from to"},
	{Title: "The model itself", Flags: "validate format"},
}

// onEveryCore calls do with every number below n, on all cores at once.
func onEveryCore(n int, do func(i int)) {
	var next atomic.Int64
	var wait sync.WaitGroup
	for range min(n, runtime.GOMAXPROCS(0)) {
		wait.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				do(i)
			}
		})
	}
	wait.Wait()
}
