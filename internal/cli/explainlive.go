package cli

import (
	"context"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/spf13/cobra"

	diagnoselive "github.com/linerate/linerate/diagnose/live"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/record"
)

// liveFlags say what to watch.
type liveFlags struct {
	live     bool
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

// withLive gives explain its --live.
func withLive(app *App, c *cobra.Command) *cobra.Command {
	var flags liveFlags
	c.Use += " | --live [HOST]"
	c.Example += "\n  linerate explain --live\n  linerate explain --live ssh://root@192.0.2.11 --duration 30s"
	c.Flags().BoolVar(&flags.live, "live", false, "explain the traffic that is there already; nothing is sent")
	c.Flags().DurationVar(&flags.duration, "duration", 5*time.Second, "with --live: how long to watch")
	c.Flags().IntVar(&flags.flows, "flows", 10, "with --live: how many of the heaviest connections to look at")
	args, run := c.Args, c.RunE
	c.Args = func(cmd *cobra.Command, given []string) error {
		switch {
		case !flags.live && (cmd.Flags().Changed("duration") || cmd.Flags().Changed("flows")):
			return usage("explain: --duration and --flows are about traffic that is watched", "say --live, or leave them out")
		case !flags.live:
			return args(cmd, given)
		case slices.ContainsFunc([]string{"probe", "yes", "output", "force", "wait"}, cmd.Flags().Changed):
			return usage("explain: --live sends nothing and keeps no record: --probe and its flags do not go with it", "leave them out, or name a RECORD and leave --live out")
		case len(given) == 1 && isFile(given[0]):
			return usage("explain: --live looks at a host, and "+given[0]+" is a file", "leave --live out to explain the file; name a host as ssh://root@HOST, netns:NAME or local:")
		case len(given) > 1:
			return usage("explain: --live looks at one HOST", "`"+cmd.CommandPath()+" --help` shows how")
		}
		return flags.check()
	}
	c.RunE = func(cmd *cobra.Command, given []string) error {
		if !flags.live {
			return run(cmd, given)
		}
		reach := "local:"
		if len(given) > 0 {
			reach = given[0]
		}
		return app.explainLive(cmd.Context(), reach, flags)
	}
	return c
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

func (f liveFlags) check() error {
	if f.duration < agentapi.LeastWatch || f.duration > agentapi.MostWatch {
		return usage(fmt.Sprintf("--duration: want %v to %v, not %v", agentapi.LeastWatch, agentapi.MostWatch, f.duration), "")
	}
	if f.flows < 1 || f.flows > agentapi.MostFlows {
		return usage(fmt.Sprintf("--flows: want 1 to %d, not %d", agentapi.MostFlows, f.flows), "")
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
	Links       []diagnoselive.Link `json:"links"`
	Unseen      []string            `json:"unseen"`
	Findings    []record.Finding    `json:"findings"`
	Connections int                 `json:"other_connections_count"`
}

type liveFlowDocument struct {
	diagnoselive.Flow
	// Finding hides that of LiveFlow: it stands in Findings.
	Finding  *record.Finding  `json:"finding,omitempty"`
	Links    []string         `json:"links"`
	Findings []record.Finding `json:"findings"`
}

// explainLive watches a host and says what limits its traffic.
func (a *App) explainLive(ctx context.Context, reach string, flags liveFlags) error {
	t, err := a.target(reach)
	if err != nil {
		return err
	}
	h, err := a.dial(ctx, t)
	if err != nil {
		return err
	}
	defer h.Close()
	p := newProgress(a)
	p.draw(fmt.Sprintf("watching %s for %v", t.name, flags.duration))
	reply, err := h.Traffic(ctx, agentapi.TrafficRequest{Span: flags.duration, Flows: flags.flows})
	p.clear()
	if err != nil {
		return fmt.Errorf("watch %s: %w", t.name, err)
	}
	w := reply.Watched
	w.Host.Name = t.name
	report := diagnoselive.Judge(w)
	if a.json {
		return a.printJSON(liveDocumentOf(w.Host.Name, w.Span, w.Rest.Connections, w.Unseen, report))
	}
	fmt.Fprint(a.Stdout, liveText(w, report, a.width()))
	return nil
}

func liveDocumentOf(host string, span time.Duration, others int, unseen []string, r diagnoselive.Report) liveDocument {
	d := liveDocument{
		Host: host, Watched: span.Seconds(), Answer: r.Answer, Flows: []liveFlowDocument{}, Links: r.Links,
		Unseen: append([]string{}, unseen...), Findings: r.Findings(), Connections: others,
	}
	for _, f := range r.Flows {
		d.Flows = append(d.Flows, liveFlowDocument{Flow: f, Links: append([]string{}, f.Links()...), Findings: []record.Finding{f.Finding}})
	}
	return d
}
