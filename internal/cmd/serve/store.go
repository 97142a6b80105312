package serve

import (
	"context"
	"fmt"
	"log/slog"
	"os"

	"github.com/spf13/cobra"

	"github.com/linerate/linerate/internal/agent/nats/server"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/unit"
)

// storeFlags are a run store on servers that are not ours.
type storeFlags struct {
	creds, perUser string
	replicas       int
}

// addPerUser declares how much each user keeps.
func addPerUser(c *cobra.Command, value *string) {
	c.Flags().StringVar(value, "results-per-user", "1Gi", "results that each user keeps; beyond it the user's oldest go")
}

// perUserBytes reads it.
func perUserBytes(value string) (int64, error) {
	n, err := unit.ParseBytes(value)
	if err != nil || n <= 0 {
		return 0, console.BadUsage("--results-per-user: want a size above zero, such as 1Gi, not "+value, "")
	}
	return int64(n), nil
}

func newStore(con *console.Console) *cobra.Command {
	var flags storeFlags
	c := &cobra.Command{
		Use: "store", Args: console.NoArgs, Short: "the run store for a fleet on other NATS servers",
		Long: `Answers for the run store on NATS servers that something else runs: what hosts
say of themselves and what users measured. ` + "`serve`" + ` does so by itself. --creds are
those of the account of hosts and people, --store-creds those of an account of
its own with JetStream, where nobody else may be. docs/fleet.md says what each
may.

` + console.ExitHelp,
		Example: "  linerate serve store --nats tls://nats.example:4222 --creds service.creds --store-creds store.creds --replicas 3",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return serveStore(cmd.Context(), con, flags)
		},
	}
	c.Flags().StringVar(&flags.creds, "store-creds", "", "credentials of the account that JetStream is in")
	c.Flags().IntVar(&flags.replicas, "replicas", 1, "servers that keep each result")
	addPerUser(c, &flags.perUser)
	return c
}

// serveStore answers until ctx ends.
func serveStore(ctx context.Context, con *console.Console, flags storeFlags) error {
	perUser, err := perUserBytes(flags.perUser)
	if err != nil {
		return err
	}
	if flags.creds == "" {
		return console.BadUsage("serve store: want --store-creds FILE", "docs/fleet.md, \"An existing cluster\", says of whom")
	}
	at, err := con.BusConfig()
	if err != nil {
		return err
	}
	log := slog.New(slog.NewTextHandler(con.Stderr, &slog.HandlerOptions{Level: con.LogLevel()}))
	cfg := server.StoreConfig{
		Service:  func() ([]byte, error) { return os.ReadFile(at.Creds) },
		Store:    func() ([]byte, error) { return os.ReadFile(flags.creds) },
		Replicas: flags.replicas, PerUser: perUser, Logger: log,
	}
	_, end, err := server.Keep(ctx, cfg, at.URL, at.CA)
	if err != nil {
		return fmt.Errorf("serve the run store: %w", err)
	}
	defer end()
	log.Info("answering for the run store", "nats", at.URL)
	<-ctx.Done()
	return nil // ended as it is meant to
}
