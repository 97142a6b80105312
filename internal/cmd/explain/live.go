package explain

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	diagnoselive "github.com/linerate/linerate/diagnose/live"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/ask"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/cmd/progress"
	"github.com/linerate/linerate/internal/evidence/livetraffic"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// liveFlags say what to watch.
type liveFlags struct {
	on       bool // --live
	duration time.Duration
	flows    int
	fabric   string // whose switches are watched too; "" none
}

const liveHelp = `With --live no record is needed and nothing is sent: the host's own connections,
links and cores are watched for a while, and for each of the heaviest programs
it is said by which link its traffic leaves, what limits it and what would help.
It takes five seconds (--duration). HOST is local: (this host, the default),
netns:NAME or ssh://user@host, where linerate is installed. Without root other
users' programs have no names; everything else is seen. --fabric FILE reads the
counters of its switches meanwhile: which member of a trunk carried what, and
where frames were lost on the way.

`

func (f *liveFlags) add(c *cobra.Command) {
	c.Flags().BoolVar(&f.on, "live", false, "explain the traffic that is there already; nothing is sent")
	c.Flags().DurationVar(&f.duration, "duration", 5*time.Second, "with --live: how long to watch")
	c.Flags().StringVar(&f.fabric, "fabric", "", "with --live: the fabric `FILE` whose switches are read meanwhile")
	c.Flags().IntVar(&f.flows, "flows", 10, "with --live: how many of the heaviest connections to look at")
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

func (f *liveFlags) check(cmd *cobra.Command, args []string) error {
	switch {
	case slices.ContainsFunc([]string{"probe", "yes", "output", "force", "wait"}, cmd.Flags().Changed):
		return console.BadUsage("explain: --live sends nothing and keeps no record: --probe and its flags do not go with it", "leave them out, or name a RECORD and leave --live out")
	case len(args) == 1 && isFile(args[0]):
		return console.BadUsage("explain: --live watches a host, and "+args[0]+" is a file", "leave --live out to explain the file; name a host as ssh://root@HOST, netns:NAME or local:")
	case len(args) > 1:
		return console.BadUsage("explain: --live watches one HOST", "`"+cmd.CommandPath()+" --help` shows how")
	}
	if f.duration < agentapi.LeastWatch || f.duration > agentapi.MostWatch {
		return console.BadUsage(fmt.Sprintf("--duration: want %v to %v, not %v", agentapi.LeastWatch, agentapi.MostWatch, f.duration), "")
	}
	if f.flows < 1 || f.flows > agentapi.MostFlows {
		return console.BadUsage(fmt.Sprintf("--flows: want 1 to %d, not %d", agentapi.MostFlows, f.flows), "")
	}
	return nil
}

// liveDocument is `explain --live --json`.
type liveDocument struct {
	Host    string  `json:"host"`
	Watched float64 `json:"watched_s"`
	Answer  string  `json:"answer"`
	// Flows hold their finding again under Findings, as scripts for records
	// expect it.
	Flows []liveFlowDocument  `json:"flows"`
	Links []diagnoselive.Link `json:"links"`
	// Unanswered are peers that connections wait for, and that answer nothing.
	Unanswered  []livetraffic.Unanswered `json:"unanswered,omitempty"`
	Unseen      []string                 `json:"unseen"`
	Findings    []record.Finding         `json:"findings"`
	Connections int                      `json:"other_connections_count"`
	// Switches are those of --fabric.
	Switches []record.SwitchUse `json:"switches,omitempty"`
}

type liveFlowDocument struct {
	diagnoselive.Flow
	// Finding hides that of LiveFlow: it stands in Findings.
	Finding  *record.Finding  `json:"finding,omitempty"`
	Links    []string         `json:"links"`
	Findings []record.Finding `json:"findings"`
}

// explainLive watches a host and says what limits its traffic.
func explainLive(ctx context.Context, con *console.Console, reach string, flags liveFlags) error {
	t, h, err := con.Open(ctx, reach)
	if err != nil {
		return err
	}
	defer h.Close()
	p := progress.New(con)
	switches, err := watchLive(ctx, con, p, flags.fabric)
	if err != nil {
		return err
	}
	p.Draw(fmt.Sprintf("watching %s for %v", t.Name, flags.duration))
	reply, err := ask.Call(ctx, h, agentapi.Traffic, agentapi.TrafficRequest{Span: flags.duration, Flows: flags.flows})
	uses := switches.over(ctx)
	p.Clear()
	if err != nil {
		return fmt.Errorf("watch %s: %w", t.Name, err)
	}
	w := reply.Watched
	w.Host.Name = t.Name
	report := diagnoselive.Judge(w)
	switches.evidence(w, uses, report.Flows)
	if con.JSON {
		d := liveDocumentOf(w.Host.Name, w.Span, w.Rest.Connections, w.Unseen, report)
		d.Switches = uses
		return liveAnswer.Print(con, d)
	}
	fmt.Fprint(con.Stdout, liveText(w, report, con.Width())+liveSwitchText(uses, con.Width()))
	return nil
}

func liveDocumentOf(host string, span time.Duration, others int, unseen []string, r diagnoselive.Report) liveDocument {
	d := liveDocument{
		Host: host, Watched: span.Seconds(), Answer: r.Answer, Flows: []liveFlowDocument{}, Links: r.Links, Unanswered: r.Unanswered,
		Unseen: append([]string{}, unseen...), Findings: r.Findings(), Connections: others,
	}
	for _, f := range r.Flows {
		d.Flows = append(d.Flows, liveFlowDocument{Flow: f, Links: append([]string{}, f.Links()...), Findings: []record.Finding{f.Finding}})
	}
	return d
}

// liveText is what was watched, as people read it: the answer, each program,
// the links, what was not seen.
func liveText(w livetraffic.Watched, r diagnoselive.Report, width int) string {
	var b strings.Builder
	b.WriteString(console.Wrapped("", liveHead(w, r), width))
	b.WriteString("\n" + console.Wrapped("", r.Answer, width))
	for _, f := range r.Flows {
		b.WriteString("\n" + liveFlowText(f, width))
	}
	if len(r.Links) > 0 {
		b.WriteString("\n" + liveLinksText(r.Links, width))
	}
	for i, u := range r.Unanswered {
		if i == 0 {
			b.WriteString("\nnot answered\n")
		}
		b.WriteString(console.Wrapped("  - ", diagnoselive.Waiting(u), width))
	}
	for i, line := range w.Unseen {
		if i == 0 {
			b.WriteString("\nnot seen\n")
		}
		b.WriteString(console.Wrapped("  - ", line, width))
	}
	return b.String()
}

// liveHead says how long was watched and how much is shown.
func liveHead(w livetraffic.Watched, r diagnoselive.Report) string {
	var all unit.BitRate
	connections := 0
	for _, f := range r.Flows {
		all += f.Rate
		connections += len(f.Connections)
	}
	head := fmt.Sprintf("%s, watched for %.1f s: %s, %v in all", w.Host.Name, w.Span.Seconds(), unit.Counted(connections, "connection"), all)
	var rest []string
	if n := w.Rest.Connections; n > 0 {
		rest = append(rest, fmt.Sprintf("%d more with %v", n, w.Rest.Rate))
	}
	if n := w.Rest.Idle; n > 0 {
		rest = append(rest, fmt.Sprintf("%d idle", n))
	}
	if n := w.Rest.Inside; n > 0 {
		rest = append(rest, fmt.Sprintf("%d inside the host", n))
	}
	if len(rest) > 0 {
		head += " (not shown: " + strings.Join(rest, ", ") + ")"
	}
	return head
}

func liveFlowText(f diagnoselive.Flow, width int) string {
	var b strings.Builder
	fmt.Fprint(&b, console.Outdented("", liveFlowHead(f), width))
	found := f.Finding
	b.WriteString(console.Wrapped("  ", fmt.Sprintf("%s (%s, confidence %.0f %%)", found.Summary, found.Cause, 100*found.Confidence), width))
	for _, e := range found.Evidence {
		b.WriteString(console.Wrapped("    - ", e.What+": "+e.Value, width))
	}
	if why := liveDoubt(f); why != "" {
		b.WriteString(console.Wrapped("    - ", why, width))
	}
	if len(found.Also) > 0 {
		b.WriteString("  It may also be:\n")
		for _, other := range found.Also {
			b.WriteString(console.Wrapped("    - ", fmt.Sprintf("%s, %.0f %%: %s", other.Cause, 100*other.Confidence, other.Summary), width))
		}
	}
	if found.Remedy != "" {
		expected := ""
		if found.Expected > 0 {
			expected = fmt.Sprintf(" Up to %v.", found.Expected)
		}
		b.WriteString(console.Wrapped("  To do: ", found.Remedy+"."+expected, width))
	}
	return b.String()
}

// liveFlowHead is "rsync[812] to 10.0.0.2: 9.9 Gbit/s, 2 connections, by eth0".
func liveFlowHead(f diagnoselive.Flow) string {
	way := "to"
	if !f.Sends {
		way = "from"
	}
	who := diagnoselive.Who(f.Program)
	if !strings.HasSuffix(who, " of "+f.Peer.String()) {
		who += " " + way + " " + f.Peer.String()
	}
	head := fmt.Sprintf("%s: %v, %s", who, f.Rate, unit.Counted(len(f.Connections), "connection"))
	var by []string
	for _, name := range f.Links() {
		ports := livePorts(f, name)
		if len(f.Links()) > 1 {
			by = append(by, fmt.Sprintf("%s (%s)", name, ports))
		} else {
			by = append(by, name+" "+ports)
		}
	}
	if len(by) > 0 && f.Sends {
		head += ", by " + strings.Join(by, " and ")
	}
	return head
}

// livePorts are the local ports of the connections on one link.
func livePorts(f diagnoselive.Flow, link string) string {
	const shown = 4
	var ports []string
	for _, c := range f.Connections {
		if c.Link == link {
			ports = append(ports, fmt.Sprint(c.Sport))
		}
	}
	slices.Sort(ports)
	noun := "port "
	if len(ports) > 1 {
		noun = "ports "
	}
	if n := len(ports); n > shown {
		return noun + strings.Join(ports[:shown], ", ") + fmt.Sprintf(" and %d more", n-shown)
	}
	return noun + strings.Join(ports, ", ")
}

// liveDoubt says why the link of a connection is not known; "" when it is.
func liveDoubt(f diagnoselive.Flow) string {
	for _, c := range f.Connections {
		if c.Link == "" && c.Why != "" && f.Sends {
			return "its link is not known: " + c.Why
		}
	}
	return ""
}

// liveLinksText is a row for each link; what does not fit behind one stands
// below it.
func liveLinksText(links []diagnoselive.Link, width int) string {
	name, rate, share, gap := len("link"), 13, 8, "   "
	for _, l := range links {
		name = max(name, len([]rune(l.Name)))
	}
	const wide, room = 12, 80 // of a name; what such a table is laid out for
	if width >= room {
		name = max(name, wide)
	} else {
		rate, share, gap = 10, 7, " "
	}
	var b strings.Builder
	row := func(link, out, outFull, in, inFull, rest string) {
		line := strings.TrimRight(fmt.Sprintf("%-*s %*s %*s%s%*s %*s", name, link, rate, out, share, outFull, gap, rate, in, share, inFull), " ")
		switch {
		case rest != "" && len([]rune(line))+2+len([]rune(rest)) > width:
			line += "\n" + strings.TrimRight(console.Wrapped("  ", rest, width), "\n")
		case rest != "":
			line += "  " + rest
		}
		b.WriteString(line + "\n")
	}
	row("link", "out", "full", "in", "full", "connections")
	for _, l := range links {
		row(l.Name, l.Tx.String(), liveShare(l.Out, l.OutCeiling), l.Rx.String(), liveShare(l.In, l.InCeiling), liveLinkNotes(l))
	}
	return b.String()
}

// liveLinkNotes are a link's connections, and what is odd about it.
func liveLinkNotes(l diagnoselive.Link) string {
	var notes []string
	if l.Connections > 0 {
		notes = append(notes, fmt.Sprint(l.Connections))
	}
	if l.Unused {
		notes = append(notes, "not used by "+l.Bond)
	}
	if l.TxDrops > 0 {
		notes = append(notes, fmt.Sprintf("%d dropped", l.TxDrops))
	}
	return strings.Join(notes, " ")
}

// liveShare is a link's share; "?" where its rate is not known.
func liveShare(share float64, ceiling unit.BitRate) string {
	if ceiling <= 0 {
		return "?"
	}
	return fmt.Sprintf("%.1f %%", 100*share)
}
