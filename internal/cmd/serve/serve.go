// Package serve is `linerate serve`: the NATS server of a fleet, and its web page.
package serve

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/linerate/linerate/internal/agent/nats/authority"
	"github.com/linerate/linerate/internal/agent/nats/server"
	"github.com/linerate/linerate/internal/agent/nats/wire"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/metrics"
)

// opts are one server of the bus.
type opts struct {
	state, listen, name, cluster, metrics string
	perUser                               string
	names, routes                         []string
	replicas                              int
	web                                   webFlags
}

// New is `linerate serve`.
func New(con *console.Console) *cobra.Command {
	var flags opts
	c := &cobra.Command{
		Use: "serve", Args: console.NoArgs, Short: "the NATS server that a fleet meets on",
		Long: `Runs a NATS server with JetStream for agents and controllers, until it is ended.
At the first start it makes its keys and a certificate authority in the state
directory, which is its owner's alone: who can read it can sign roles. It
listens on loopback unless told otherwise. ` + "`serve token`" + ` lets hosts and people in.

` + console.ExitHelp,
		Example: "  linerate serve --listen 192.0.2.1:4222\n  linerate serve token --role agent --host db1\n  linerate serve token --role change --user eve",
		RunE: func(cmd *cobra.Command, _ []string) error {
			return serve(cmd.Context(), con, flags)
		},
	}
	c.PersistentPreRunE = func(*cobra.Command, []string) error {
		if stateDir(con, &flags) == "" {
			return console.BadUsage("serve: HOME is not set, so that there is no place for the keys", "set HOME, or name a directory: --state DIR")
		}
		return nil
	}
	c.PersistentFlags().StringVar(&flags.state, "state", "", "state directory (default: "+authority.DefaultDir+" for root, else ~/.local/state/linerate/serve)")
	c.Flags().StringVar(&flags.listen, "listen", "127.0.0.1:4222", "address and port for agents and controllers")
	c.Flags().StringVar(&flags.name, "server-name", "", "this server's name in the cluster (default: the host's)")
	c.Flags().StringArrayVar(&flags.names, "address", nil, "host name or address that it is reached by, for its certificate; again for more")
	c.Flags().StringVar(&flags.cluster, "cluster", "", "address and port on which the servers of a cluster meet (default: no cluster)")
	c.Flags().StringArrayVar(&flags.routes, "route", nil, "HOST:PORT of another server of the cluster; again for more")
	c.Flags().IntVar(&flags.replicas, "replicas", 0, "servers that keep each result (default: 3 in a cluster, else 1)")
	addPerUser(c, &flags.perUser)
	c.Flags().StringVar(&flags.metrics, "metrics", "", "address and port where Prometheus reads how this server, the fleet and\nits paths are, such as 127.0.0.1:9116 (default: nowhere)")
	flags.web.add(c)
	c.AddCommand(newToken(con, &flags), newLogin(con, &flags), newRevoke(con, &flags), newIdentities(con, &flags), newMember(con, &flags), newHosts(con), newStore(con))
	return c
}

// stateDir is where the authority is; "" for a user without a home, which is refused
// before anything is done.
func stateDir(con *console.Console, flags *opts) string {
	switch {
	case flags.state != "":
		return flags.state
	case os.Geteuid() == 0:
		return authority.DefaultDir
	}
	if dir := con.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "linerate", "serve")
	}
	if home := con.Getenv("HOME"); filepath.IsAbs(home) {
		return filepath.Join(home, ".local", "state", "linerate", "serve")
	}
	return ""
}

// reachedBy are the names in the server's certificate: those given, the address
// that it listens on, and the host's own where that is every address.
func (f *opts) reachedBy() ([]string, error) {
	at, err := netip.ParseAddrPort(f.listen)
	if err != nil {
		return nil, console.BadUsage("--listen: want ADDRESS:PORT, not "+f.listen, "127.0.0.1:4222 is loopback, 0.0.0.0:4222 every address")
	}
	names := slices.Clone(f.names)
	for _, name := range names {
		if strings.ContainsAny(name, "/:@ ") {
			if _, err := netip.ParseAddr(name); err != nil {
				return nil, console.BadUsage("--address: want a host name or an address, not "+name, "")
			}
		}
	}
	if !at.Addr().IsUnspecified() {
		names = append(names, at.Addr().String())
	} else {
		names = append(names, console.ThisHost())
	}
	for _, own := range []string{"127.0.0.1", "localhost"} {
		if !slices.Contains(names, own) {
			names = append(names, own)
		}
	}
	return names, nil
}

// openAuthority opens the state directory, and says how to name another where this
// user may not have it.
func openAuthority(dir string) (*authority.Authority, error) {
	who, err := authority.Open(dir)
	if errors.Is(err, fs.ErrPermission) && !errors.Is(err, authority.ErrShared) {
		err = console.WithHint(err, "the keys must be in a directory of your own: --state DIR names one, or run it as the user who owns "+dir)
	}
	return who, err
}

func (f *opts) config() (authority.ServerConfig, error) {
	names, err := f.reachedBy()
	cfg := authority.ServerConfig{Name: f.name, Listen: f.listen, Names: names, Cluster: f.cluster, Routes: f.routes}
	if cfg.Name == "" {
		cfg.Name = console.ThisHost()
	}
	return cfg, err
}

// portTaken says in a line that another program has the port of the server, which
// tells it in its own log's words; any other error stays.
func portTaken(listen, flag string, err error) error {
	if err == nil || !strings.Contains(err.Error(), "address already in use") {
		return err
	}
	return console.WithHint(fmt.Errorf("serve on %s: another program has the port", listen), "`ss -lntp` shows which; "+flag+" takes another")
}

func serve(ctx context.Context, con *console.Console, flags opts) error {
	cfg, err := flags.config()
	if err != nil {
		return err
	}
	tellAt, err := con.MetricsAddress(flags.metrics)
	if err != nil {
		return err
	}
	// Before anything starts.
	if _, err := flags.web.address(); err != nil {
		return err
	}
	who, err := openAuthority(stateDir(con, &flags))
	if err != nil {
		return err
	}
	perUser, err := perUserBytes(flags.perUser)
	if err != nil {
		return err
	}
	replicas := flags.replicas
	if replicas == 0 {
		replicas = 1
		if cfg.Cluster != "" {
			replicas = 3
		}
	}
	log := slog.New(slog.NewTextHandler(con.Stderr, &slog.HandlerOptions{Level: con.LogLevel()}))
	s, err := server.Start(server.Config{Authority: who, Server: cfg, Replicas: replicas, PerUser: perUser, Logger: log})
	if err != nil {
		return portTaken(flags.listen, "--listen", err)
	}
	defer s.Stop()
	log.Info("serving", "nats", s.URL(), "state", stateDir(con, &flags))
	told, err := tellOfFleet(ctx, s, tellAt, log)
	if err != nil {
		return err
	}
	defer told.close()
	endWeb, err := serveWeb(ctx, con, flags.web, who, s, stateDir(con, &flags), log)
	if err != nil {
		return err
	}
	defer endWeb()
	prepared := make(chan error, 1)
	go func() { prepared <- s.Prepare(ctx) }()
	for {
		select {
		case <-ctx.Done():
			return nil // ended as it is meant to
		case <-s.Ended():
			return errors.New("serve: the NATS server ended by itself")
		case err := <-prepared:
			if err != nil && ctx.Err() == nil {
				return fmt.Errorf("serve: %w", err)
			}
			log.Info("ready for tokens, trials and hosts' states")
			told.follow(ctx)
			prepared = nil
		}
	}
}

// fleetSaid are the metrics of a server of the bus.
type fleetSaid struct {
	s     *server.Server
	log   *slog.Logger
	paths *metrics.Paths // nil where nobody reads them
	end   func()
	ends  sync.WaitGroup
	stop  context.CancelFunc
}

func tellOfFleet(ctx context.Context, s *server.Server, address string, log *slog.Logger) (*fleetSaid, error) {
	f := &fleetSaid{s: s, log: log, stop: func() {}}
	if address == "" {
		f.end = func() {}
		return f, nil
	}
	f.paths = &metrics.Paths{}
	end, err := metrics.Tell(ctx, address, log, metrics.Serve(metrics.ServeConfig{Numbers: s.Numbers, States: f.states, Paths: f.paths, Logger: log}), metrics.OfThePaths(f.paths))
	f.end = end
	return f, err
}

// states are the fleet's hosts, on the server that may read them.
func (f *fleetSaid) states(context.Context) (map[string]wire.State, error) {
	store := f.s.Store()
	if store == nil {
		return nil, nil
	}
	return store.States(), nil
}

// follow reads what paths carried, from when the streams are there.
func (f *fleetSaid) follow(ctx context.Context) {
	kept := f.s.Store()
	if f.paths == nil || kept == nil {
		return
	}
	ctx, f.stop = context.WithCancel(ctx)
	f.ends.Go(func() {
		if err := kept.Follow(ctx, time.Now().Add(-metrics.PathsSince), f.paths.Add); err != nil {
			f.log.Error("metrics: paths are not told", "error", err)
		}
	})
}

func (f *fleetSaid) close() {
	f.stop()
	f.ends.Wait()
	f.end()
}
