package explain

import (
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/linerate/linerate/diagnose"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/cmd/progress"
	"github.com/linerate/linerate/record"
)

// liveFlags say what to watch.
type liveFlags struct {
	on       bool // --live
	duration time.Duration
	flows    int
}

const liveHelp = `With --live no record is needed and nothing is sent: the host's own connections,
links and cores are watched for a while, and for each of the heaviest programs
it is said by which link its traffic leaves, what limits it and what would help.
It takes five seconds (--duration). HOST is local: (this host, the default),
netns:NAME or ssh://user@host, where linerate is installed. Without root other
users' programs have no names; everything else is seen.

`

func (f *liveFlags) add(c *cobra.Command) {
	c.Flags().BoolVar(&f.on, "live", false, "explain the traffic that is there already; nothing is sent")
	c.Flags().DurationVar(&f.duration, "duration", 5*time.Second, "with --live: how long to watch")
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
		return console.BadUsage("explain: --live looks at a host, and "+args[0]+" is a file", "leave --live out to explain the file; name a host as ssh://root@HOST, netns:NAME or local:")
	case len(args) > 1:
		return console.BadUsage("explain: --live looks at one HOST", "`"+cmd.CommandPath()+" --help` shows how")
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
	Flows       []liveFlowDocument  `json:"flows"`
	Links       []diagnose.LiveLink `json:"links"`
	Unseen      []string            `json:"unseen"`
	Findings    []record.Finding    `json:"findings"`
	Connections int                 `json:"other_connections_count"`
}

type liveFlowDocument struct {
	diagnose.LiveFlow
	// Finding hides that of LiveFlow: it stands in Findings.
	Finding  *record.Finding  `json:"finding,omitempty"`
	Links    []string         `json:"links"`
	Findings []record.Finding `json:"findings"`
}

// explainLive watches a host and says what limits its traffic.
func explainLive(ctx context.Context, con *console.Console, reach string, flags liveFlags) error {
	t, err := con.Target(reach)
	if err != nil {
		return err
	}
	h, err := con.Dial(ctx, t)
	if err != nil {
		return err
	}
	defer h.Close()
	p := progress.New(con)
	p.Draw(fmt.Sprintf("watching %s for %v", t.Name, flags.duration))
	reply, err := h.Traffic(ctx, agentapi.TrafficRequest{Span: flags.duration, Flows: flags.flows})
	p.Clear()
	if err != nil {
		return fmt.Errorf("watch %s: %w", t.Name, err)
	}
	w := reply.Watched
	w.Host.Name = t.Name
	report := diagnose.Live(w)
	if con.JSON {
		return con.PrintJSON(liveDocumentOf(w.Host.Name, w.Span, w.Rest.Connections, w.Unseen, report))
	}
	fmt.Fprint(con.Stdout, liveText(w, report, con.Width()))
	return nil
}

func liveDocumentOf(host string, span time.Duration, others int, unseen []string, r diagnose.LiveReport) liveDocument {
	d := liveDocument{
		Host: host, Watched: span.Seconds(), Answer: r.Answer, Flows: []liveFlowDocument{}, Links: r.Links,
		Unseen: append([]string{}, unseen...), Findings: r.Findings(), Connections: others,
	}
	for _, f := range r.Flows {
		d.Flows = append(d.Flows, liveFlowDocument{LiveFlow: f, Links: append([]string{}, f.Links()...), Findings: []record.Finding{f.Finding}})
	}
	return d
}
