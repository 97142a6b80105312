// Package agent is `linerate agent`: one host answers controllers.
package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/linerate/linerate/internal/agent"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/fleet"
	"github.com/linerate/linerate/internal/agent/nats/link"
	"github.com/linerate/linerate/internal/agent/nats/natsagent"
	"github.com/linerate/linerate/internal/agent/pipe"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/host/apply"
	"github.com/linerate/linerate/internal/kernel/netns"
	"github.com/linerate/linerate/internal/metrics"
)

// opts are one host that answers.
type opts struct {
	stdio                                              bool
	silence                                            time.Duration
	journal, name, most, audit, space, metrics, remove string
}

// New answers controllers, over NATS or, started by ssh, over a pipe.
func New(con *console.Console) *cobra.Command {
	var flags opts
	c := &cobra.Command{
		Use: "agent", Args: console.NoArgs, Short: "answer controllers over NATS: a host of a fleet",
		Long: `Connects to NATS and answers what this host is asked there, until it is ended:
as nats:NAME, the name that it was enrolled under. It connects again by itself.
Each controller's conversation ends with the controller: its traffic stops, and
temporary changes are rolled back. Changes are written down in the audit log; where that
cannot be written none is made.

Without root the host is measured, with less; what is lost is said at the start.

` + console.ExitHelp,
		Example: "  linerate agent --nats tls://ctl:4222 --creds /etc/linerate/nats.creds\n  linerate agent --most measure",
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg := agent.Config{Version: con.Version, Logger: con.Logger(), JournalDir: flags.journal, StartGuard: apply.StartGuard, Silence: flags.silence}
			if flags.space != "" {
				cfg.Namespace = netns.Named(flags.space)
			}
			if flags.stdio {
				return pipe.Answer(cmd.Context(), cfg, flags.remove, con.Stdin, console.Bare(con.Stdout))
			}
			return onBus(cmd.Context(), con, flags, cfg)
		},
	}
	c.Flags().BoolVar(&flags.stdio, "stdio", false, "speak on standard input and output instead; ssh starts it so")
	c.Flags().DurationVar(&flags.silence, "silence", 0, "with --stdio: end when the controller is not heard for so long")
	c.Flags().StringVar(&flags.remove, "remove-self", "", "with --stdio: this agent's name among those that use the private\ndirectory that the program was copied into, which goes with the last")
	c.Flags().StringVar(&flags.journal, "journal", "", "journal directory (default "+apply.DefaultDir+")")
	c.Flags().StringVar(&flags.name, "name", "", "this host's name on NATS (default: that of the credentials)")
	c.Flags().StringVar(&flags.most, "most", string(agentapi.RoleChange), "the most that is served: watch, measure or change")
	c.Flags().StringVar(&flags.audit, "audit-log", natsagent.DefaultAudit, "where changes are written down, and who asked for them")
	c.Flags().StringVar(&flags.space, "netns", "", "answer for this network namespace")
	c.Flags().StringVar(&flags.metrics, "metrics", "", "address and port where Prometheus reads how this agent and its\nbonds are, such as 127.0.0.1:9117 (default: nowhere)")
	return c
}

// onBus runs the agent on NATS until ctx ends.
func onBus(ctx context.Context, con *console.Console, flags opts, cfg agent.Config) error {
	most := agentapi.Role(flags.most)
	if !most.Person() {
		return console.BadUsage("--most: want watch, measure or change, not "+flags.most, "")
	}
	tellAt, err := con.MetricsAddress(flags.metrics)
	if err != nil {
		return err
	}
	at, err := con.BusConfig()
	if errors.Is(err, fleet.ErrUnreachable) {
		return console.WithHint(err, "this host is not enrolled: where `linerate serve` runs, `linerate serve token --role agent --host NAME` prints a token, and `linerate enroll -` here reads it")
	}
	if err != nil {
		return err
	}
	// A daemon says what happens, for the system's log.
	log := slog.New(slog.NewTextHandler(con.Stderr, &slog.HandlerOptions{Level: con.LogLevel()}))
	at.Forever, at.Logger, cfg.Logger = true, log, log
	conn, err := link.Connect(ctx, at)
	if errors.Is(err, fs.ErrNotExist) {
		return console.BadUsage("agent: "+err.Error(), "`linerate enroll TOKEN` makes credentials")
	}
	if err != nil {
		return err
	}
	defer conn.Close()
	host := cmp.Or(flags.name, conn.Who.Name)
	if host != conn.Who.Name {
		return console.BadUsage(fmt.Sprintf("--name %s: the credentials are of %s", host, conn.Who.Name), "")
	}
	if conn.Who.Role.Person() {
		return console.BadUsage(fmt.Sprintf("--creds: they are of somebody who asks (%s), not of a host", conn.Who.Role), "`linerate serve token --role agent` makes a token for a host")
	}
	for _, what := range natsagent.Lost() {
		log.Info("without root: " + what)
	}
	log.Info("answering", "host", host, "most", most, "server", at.URL)
	var meter natsagent.Meter
	told, err := metrics.Tell(ctx, tellAt, log, metrics.Agent(metrics.AgentConfig{
		Host: host, Linerate: con.Version, Most: most, Counts: meter.Counts, Observe: meter.Observe, Logger: log,
	}))
	if err != nil {
		return err
	}
	defer told()
	return natsagent.Run(ctx, conn, natsagent.Config{Host: host, Agent: cfg, Most: most, Audit: flags.audit, Logger: log, Meter: &meter, Revoked: filepath.Join(filepath.Dir(at.Creds), "revoked.jwt")})
}
