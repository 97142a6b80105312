package predict

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/advise/workload"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/predict/connections"
	"github.com/linerate/linerate/predict/declared"
	"github.com/linerate/linerate/predict/whatif"
	"github.com/linerate/linerate/steer"
	"github.com/linerate/linerate/unit"
)

// workloadFlag names a program whose connections are predicted.
type workloadFlag struct {
	text  string
	named bool          // also as "", which is an error
	use   *workload.Use // nil where none is named
}

// listWorkloads is the word that lists programs in place of one.
const listWorkloads = "list"

func (w *workloadFlag) add(c *cobra.Command) {
	c.Flags().StringVar(&w.text, "workload", "", "a program's own connections in place of streams, such as nfs:nconnect=8\n(--workload list: the programs and their parameters)")
	// The error is a second registration, and there is one.
	_ = c.RegisterFlagCompletionFunc("workload", func(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		return completed(typed), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	})
}

// completed are the names of programs, and after one's colon or comma its
// parameters.
func completed(typed string) []string {
	name, params, named := strings.Cut(typed, ":")
	p, ok := workload.Named(name)
	if !named || !ok {
		return append(workload.Names(), listWorkloads)
	}
	lead := typed[:len(typed)-len(params)+strings.LastIndex(params, ",")+1]
	var all []string
	for _, q := range p.Params {
		all = append(all, lead+q.Key+"=")
	}
	return all
}

// listed reports that the programs are to be listed, and nothing predicted.
func (w *workloadFlag) listed() bool { return w.text == listWorkloads }

// workloadAlone are flags that say what a workload says itself, or that print
// another table.
var workloadAlone = []string{"streams", "ports", "together", "buy", "from", "to", "calibrate", "calibrate-streams", "validate", "show-clouds"}

// alone refuses flags that do not go with a workload.
func (w *workloadFlag) alone(c *cobra.Command) error {
	if w.named = c.Flags().Changed("workload"); !w.named {
		return nil
	}
	for _, name := range workloadAlone {
		if c.Flags().Changed(name) {
			return console.BadUsage("--workload and --"+name+" do not go together", "a workload has its own connections and ports: leave out --"+name)
		}
	}
	return nil
}

// read reads the program, and refuses changes of what it says itself.
func (w *workloadFlag) read(changes []whatif.Changes) error {
	if !w.named {
		return nil
	}
	for _, change := range changes {
		for _, part := range strings.Split(change.String(), ",") {
			if key, _, _ := strings.Cut(part, "="); slices.Contains([]string{"streams", "ports", "protocol"}, key) {
				return console.BadUsage("--what-if "+part+": does not go with --workload", "change the workload's parameters, such as --workload nfs:nconnect=16")
			}
		}
	}
	use, err := workload.Parse(w.text)
	var unknown *workload.UnknownError
	switch {
	case errors.As(err, &unknown):
		what := "workloads"
		if unknown.Program != "" {
			what = unknown.Program + "'s parameters"
		}
		hint := what + ": " + strings.Join(unknown.Known, ", ")
		if len(unknown.Known) == 0 {
			hint = unknown.Program + " has no parameters"
		}
		if near := console.OrMeant(unknown.Word, unknown.Known, "", ""); near != "" {
			hint = near + " " + hint
		}
		return console.BadUsage("--workload "+w.text+": "+err.Error(), hint)
	case err != nil:
		return console.BadUsage("--workload "+w.text+": "+plainly(err), "`linerate predict --workload list` has the programs and their parameters")
	}
	w.use = &use
	return nil
}

// plainly is an error without the sentinel that ends it.
func plainly(err error) string {
	for _, sentinel := range []error{workload.ErrParam, workload.ErrAddresses, workload.ErrCores} {
		if errors.Is(err, sentinel) {
			return strings.TrimSuffix(err.Error(), ": "+sentinel.Error())
		}
	}
	return err.Error()
}

// misused says what to give for a workload that the hosts have no place for.
func (s *foresight) misused(err error) error {
	hint := "`linerate predict --workload list` has the programs and their parameters"
	switch {
	case errors.Is(err, workload.ErrCores):
		hint = "write the number, or cpu.cores of the first host in the file"
		if p, ok := s.use.Program.Knob(); ok {
			hint = fmt.Sprintf("write --workload %s:%s=8, or cpu.cores of the first host in the file", s.use.Program.Name, p.Key)
		}
	case errors.Is(err, workload.ErrAddresses):
		hint = "give the server another address (`linerate steer addresses` names one), or leave the parameter out"
	}
	return console.BadUsage("--workload "+s.use.String()+": "+plainly(err), hint)
}

// printWorkloads lists the programs, with their parameters.
func printWorkloads(con *console.Console) error {
	if con.JSON {
		var all []workloadJSON
		for _, p := range workload.Programs() {
			all = append(all, rowOfProgram(p))
		}
		return workloadsDocument.Print(con, listedWorkloads{all})
	}
	for i, p := range workload.Programs() {
		if i > 0 {
			fmt.Fprintln(con.Stdout)
		}
		names := strings.Join(append([]string{p.Name}, p.Aliases...), ", ")
		fmt.Fprint(con.Stdout, console.Wrapped("", names+": "+p.What+". "+p.Opens, con.Width()))
		for _, q := range p.Params {
			fmt.Fprint(con.Stdout, console.Wrapped("  ", paramText(q), con.Width()))
		}
	}
	return nil
}

// paramText is "nconnect=1 to 16 (default 1, Linux 5.3): connections of a mount".
func paramText(p workload.Param) string {
	value, notes := fmt.Sprintf("1 to %d", p.Most), []string{}
	switch {
	case p.Words != nil:
		value, notes = strings.Join(p.Words, ", "), append(notes, "default "+p.Words[0])
	case p.Default > 0:
		notes = append(notes, fmt.Sprintf("default %d", p.Default))
	}
	if p.Since != "" {
		notes = append(notes, "from "+p.Since)
	}
	text := p.Key + "=" + value
	if len(notes) > 0 {
		text += " (" + strings.Join(notes, ", ") + ")"
	}
	return text + ": " + p.Doc
}

// workloadJSON is a program in a document.
type workloadJSON struct {
	Name       string   `json:"name"`
	What       string   `json:"what"`
	Opens      string   `json:"opens"`
	Beside     string   `json:"beside,omitempty"`
	Source     string   `json:"source_ports"`
	Server     string   `json:"server_ports"`
	ChosenBy   string   `json:"source_ports_chosen_by,omitempty"`
	More       string   `json:"more_connections,omitempty"`
	Spread     string   `json:"more_addresses,omitempty"`
	Needs      []string `json:"needs,omitempty"`
	Parameters []string `json:"parameters,omitempty"`
	// Use is what was asked for, Pairs what it is between each two hosts; both
	// left out of a list.
	Use   string         `json:"use,omitempty"`
	Pairs []workloadPair `json:"pairs,omitempty"`
}

// workloadPair is a program between two hosts; the first is the client.
type workloadPair struct {
	From        string         `json:"from"`
	To          string         `json:"to"`
	Connections int            `json:"connections_count"`
	Addresses   []laneJSON     `json:"addresses"`
	Direction   flow.Direction `json:"direction"`
	// Advice is nil where it was not asked for, of pairs after many others.
	Advice []connections.Advice `json:"advice"`
	had    int
	now    predict.Prediction
}

type laneJSON struct {
	Src string `json:"src"`
	Dst string `json:"dst"`
}

func rowOfProgram(p workload.Program) workloadJSON {
	row := workloadJSON{Name: p.Name, What: p.What, Opens: p.Opens, Beside: p.Beside, Source: p.Source.String(), Server: p.PortText(),
		ChosenBy: p.ChosenBy, More: p.More, Spread: p.Spread, Needs: p.Needs}
	for _, q := range p.Params {
		row.Parameters = append(row.Parameters, paramText(q))
	}
	return row
}

// workloadOf is the program's question between two hosts.
func (s *foresight) workloadOf(paths []fabric.Path, m fabric.Measure) connections.Question {
	f := s.state
	f.Paths = paths
	return connections.Question{Fabric: f, Path: paths[0], Measure: m, Use: *s.use}
}

// workloadRows predicts one pair's connections, in each direction.
func (s *foresight) workloadRows(paths []fabric.Path, m fabric.Measure) ([]predict.Prediction, error) {
	var all []predict.Prediction
	for _, d := range m.Directions {
		p, err := s.workloadOf(paths, m).Predict(d)
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}

// mostAdvised is for how many pairs changes are tried, which takes some twenty
// predictions each.
const mostAdvised = 1000

// advised is what the program is between each two hosts, with what would carry
// more in the first direction asked for. Pairs without a prediction are left
// out.
func (s *foresight) advised(all []predict.Prediction) []workloadPair {
	m := s.asked
	var pairs []workloadPair
	paths := declared.Pairs(s.state.Paths)
	for _, own := range byPair(all) {
		i := slices.IndexFunc(paths, func(p []fabric.Path) bool { return p[0].From == own[0].From && p[0].To == own[0].To })
		if i < 0 || own[0].Rate == 0 {
			continue
		}
		q := s.workloadOf(paths[i], m)
		o, err := q.Opened()
		if err != nil {
			continue
		}
		one := workloadPair{From: own[0].From, To: own[0].To, Connections: o.Connections, Direction: own[0].Direction, had: o.Had, now: own[0]}
		for _, l := range o.Lanes {
			one.Addresses = append(one.Addresses, laneJSON{l.Src.String(), l.Dst.String()})
		}
		pairs = append(pairs, one)
	}
	onEveryCore(min(len(pairs), mostAdvised), func(i int) {
		at := slices.IndexFunc(paths, func(p []fabric.Path) bool { return p[0].From == pairs[i].From && p[0].To == pairs[i].To })
		pairs[i].Advice = append([]connections.Advice{}, s.workloadOf(paths[at], m).Advise(pairs[i].Direction, pairs[i].now)...)
	})
	return pairs
}

// workloadDocument is the program in the document of predictions.
func (s *foresight) workloadDocument(all []predict.Prediction) workloadJSON {
	row := rowOfProgram(s.use.Program)
	row.Use, row.Pairs = s.use.String(), s.advised(all)
	return row
}

// printWorkload says before the tables what the program opens.
func printWorkload(con *console.Console, use workload.Use) {
	p := use.Program
	fmt.Fprint(con.Stdout, console.Wrapped("", fmt.Sprintf("%s: %s; the first host of a pair is the client", use, p.What), con.Width()))
	for _, line := range []struct{ lead, text string }{
		{"  ", p.Opens}, {"  beside: ", p.Beside},
		{"  ports: ", "source " + p.Source.String() + "; server " + p.PortText()},
	} {
		if line.text != "" {
			fmt.Fprint(con.Stdout, console.Wrapped(line.lead, line.text, con.Width()))
		}
	}
	fmt.Fprintln(con.Stdout)
}

// printAdvised says after the tables how connections fall on links, and what
// would carry more; pairs of which the same is to be said share it.
func printAdvised(con *console.Console, s *foresight, pairs []workloadPair) {
	var texts []string
	of := map[string][]string{}
	for _, pair := range pairs {
		text := adviceText(con, s.use.Program, pair)
		if of[text] == nil {
			texts = append(texts, text)
		}
		of[text] = append(of[text], pair.From+" -> "+pair.To)
	}
	for _, text := range texts {
		names := of[text]
		head := strings.Join(names[:min(len(names), mostAlike)], ", ")
		if more := len(names) - mostAlike; more > 0 {
			head += fmt.Sprintf(" and %d more", more)
		}
		fmt.Fprint(con.Stdout, "\n"+console.Wrapped("", head+":", con.Width()), text)
	}
}

func adviceText(con *console.Console, program workload.Program, pair workloadPair) string {
	var b strings.Builder
	say := func(lead, text string) { b.WriteString(console.Wrapped(lead, text, con.Width())) }
	over := fmt.Sprintf("%s to %s of the %d that the hosts share", unit.Counted(pair.Connections, "connection"), counted(len(pair.Addresses), "address", "addresses"), pair.had)
	if pair.had == 1 {
		over = fmt.Sprintf("%s to one address", unit.Counted(pair.Connections, "connection"))
	}
	say("  ", over+luckText(pair.now))
	for _, a := range pair.Advice {
		text := a.Change
		if a.Rate > 0 {
			text += fmt.Sprintf(": %v instead of %v, %s", a.Rate, pair.now.Rate, pair.Direction)
		}
		say("  to carry more: ", text)
		if a.How != "" {
			say("    ", a.How)
		}
	}
	if pair.Advice == nil {
		return b.String()
	}
	if len(pair.Advice) == 0 {
		say("  ", fmt.Sprintf("no option of the program and no hash carries more: the limit is %s", pair.now.Limit))
		return b.String()
	}
	if slices.ContainsFunc(pair.Advice, func(a connections.Advice) bool { return a.How != "" }) {
		for _, need := range program.Needs {
			say("  note: ", need)
		}
	}
	return b.String()
}

func counted(n int, one, many string) string {
	if n == 1 {
		return "one " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// luckText is ": 2 links 99 % of the time, 1 link 1 %".
func luckText(p predict.Prediction) string {
	if len(p.KernelChances) < 2 {
		return ""
	}
	var parts []string
	for _, c := range p.KernelChances {
		parts = append(parts, fmt.Sprintf("%s %s of the time", unit.Counted(c.Links, "link"), steer.Percent(c.Probability)))
	}
	return ", whose ports are luck: " + strings.Join(parts, ", ")
}
