package serve

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/nats/authority"
	"github.com/linerate/linerate/internal/agent/nats/server"
	"github.com/linerate/linerate/internal/agent/nats/wire"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/store"
	"github.com/linerate/linerate/internal/web"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// webFlags are the pages of `serve`.
type webFlags struct{ listen, store, explain string }

func (f *webFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.listen, "web", "", "address and port of the web page, such as 127.0.0.1:8480; with TLS where\nthat is not loopback (default: none)")
	c.Flags().StringVar(&f.store, "store", "", "the store whose runs it shows (default: that of `history`)")
	c.Flags().StringVar(&f.explain, "explain-page", "", "`FILE` that make page makes (linerate.html), shown at /explain of the web page\nfor text that users paste (default: none)")
	_ = c.MarkFlagFilename("explain-page", "html")
}

// mostPage bounds the file of --explain-page.
const mostPage = 64 << 20

// address is where the page listens; the zero one is nowhere.
func (f webFlags) address() (netip.AddrPort, error) {
	if f.listen == "" && f.explain != "" {
		return netip.AddrPort{}, console.BadUsage("--explain-page: there is no web page to add it to", "say --web 127.0.0.1:8480 too")
	}
	if f.listen == "" {
		return netip.AddrPort{}, nil
	}
	at, err := netip.ParseAddrPort(f.listen)
	if err != nil {
		return at, console.BadUsage("--web: want ADDRESS:PORT, not "+f.listen, "127.0.0.1:8480 is loopback")
	}
	return at, nil
}

// serveWeb shows the pages at an address until it is told to end; "" is
// nowhere.
func serveWeb(ctx context.Context, con *console.Console, f webFlags, who *authority.Authority, s *server.Server, state string, log *slog.Logger) (end func(), err error) {
	at, err := f.address()
	if err != nil || !at.IsValid() {
		return func() {}, err
	}
	handler, done, err := pages(ctx, con, f, who, s, state, log)
	if err != nil {
		return nil, err
	}
	listener, err := web.Listen(ctx, f.listen)
	if err != nil {
		done()
		return nil, portTaken(f.listen, "--web", fmt.Errorf("serve the web page: %w", err))
	}
	scheme := "http"
	if !at.Addr().IsLoopback() { // a token must not be read on its way
		scheme = "https"
		cert, err := tls.LoadX509KeyPair(filepath.Join(state, "server.pem"), filepath.Join(state, "server.key"))
		if err != nil {
			done()
			return nil, errors.Join(fmt.Errorf("read the server's certificate: %w", err), listener.Close())
		}
		listener = tls.NewListener(listener, &tls.Config{MinVersion: tls.VersionTLS12, Certificates: []tls.Certificate{cert}})
	}
	served := web.Server(ctx, handler, log)
	over := make(chan struct{})
	go func() {
		defer close(over)
		if err := served.Serve(listener); err != nil && !errors.Is(err, http.ErrServerClosed) {
			log.Error("the web page ended", "error", err)
		}
	}()
	log.Info("web page", "url", scheme+"://"+listener.Addr().String()+"/")
	return func() {
		closing, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		defer cancel()
		if err := served.Shutdown(closing); err != nil {
			_ = served.Close() // who still reads is cut off
		}
		<-over
		done()
	}, nil
}

// pages are what is shown of a store, and of the fleet where this server can act
// for users; done lets go of both.
func pages(ctx context.Context, con *console.Console, f webFlags, who *authority.Authority, s *server.Server, state string, log *slog.Logger) (h http.Handler, done func(), err error) {
	var explain []byte
	if f.explain != "" {
		if explain, err = console.ReadNamed(ctx, "read the page", f.explain, mostPage); err != nil {
			return nil, nil, err
		}
	}
	runs, err := con.OpenStore(ctx, f.store, true)
	if err != nil {
		return nil, nil, err
	}
	endFleet := func() {}
	done = func() {
		endFleet()
		if err := runs.Close(); err != nil {
			log.Error("close the store", "error", err)
		}
	}
	cfg := web.Config{Store: runs, Authenticator: authenticator{who}, Version: con.Version, Logger: log, Trials: trialsHeard(s, log), Explain: explain}
	if who.Signs() { // a member of a cluster cannot act for anybody
		acting, end, err := newUsersFleet(ctx, con, who, s, state, runs.Place(), log)
		if err != nil {
			done()
			return nil, nil, err
		}
		endKeeping := acting.keepRuns(ctx, runs)
		cfg.Fleet, endFleet = acting, func() {
			endKeeping()
			end()
		}
	}
	if h, err = web.Handler(cfg); err != nil {
		done()
		return nil, nil, err
	}
	log.Info("pages", "store", store.Shown(runs.Place()))
	return h, done, nil
}

// authenticator lets in who has a login.
type authenticator struct{ who *authority.Authority }

// Visit is the login of a token.
func (d authenticator) Visit(token string) (web.User, bool) {
	l, err := d.who.Login(token)
	return web.User{Name: l.Name, Role: l.Role, Until: l.Expires}, err == nil
}

// trialsHeard are the fleet's trials from now on, once the server may read them.
func trialsHeard(s *server.Server, log *slog.Logger) func(context.Context, func(string, record.Trial)) {
	return func(ctx context.Context, each func(string, record.Trial)) {
		kept := s.Store()
		if kept == nil {
			return
		}
		if err := kept.Follow(ctx, time.Now(), each); err != nil && ctx.Err() == nil {
			log.Error("follow trials", "error", err)
		}
	}
}

func newLogin(con *console.Console, serve *opts) *cobra.Command {
	var user, role, valid string
	c := &cobra.Command{
		Use: "login", Args: console.NoArgs, Short: "a token with which somebody sees the web page",
		Long: `Prints a token for the web page of ` + "`serve --web`" + `. It is a secret, and good as
often as it is used until it expires; ` + "`serve revoke --user`" + ` takes it away.

` + console.ExitHelp,
		Example: "  linerate serve login --user eve\n  linerate serve login --user bob --role measure --valid 8h",
		RunE: func(*cobra.Command, []string) error {
			if user == "" {
				return console.BadUsage("serve login: want --user NAME", "")
			}
			if strings.HasSuffix(user, authority.SignerSuffix) {
				return console.BadUsage("serve login: "+user+": names that end with "+authority.SignerSuffix+" are those under which the web page asks hosts", "name the user otherwise")
			}
			var life time.Duration
			if valid != "" {
				var err error
				if life, err = unit.ParseDuration(valid); err != nil || life <= 0 {
					return console.BadUsage("--valid: want a duration such as 8h, not "+valid, "")
				}
			}
			a, err := opened(con, serve)
			if err != nil {
				return err
			}
			token, err := a.IssueLogin(user, agentapi.Role(role), life)
			if errors.Is(err, wire.ErrName) || errors.Is(err, authority.ErrLoginRole) {
				return console.BadUsage("serve login: "+err.Error(), "")
			}
			if err != nil {
				return err
			}
			if con.JSON {
				return loginDocument.Print(con, issuedLogin{user, role, token})
			}
			fmt.Fprintln(con.Stdout, token)
			return nil
		},
	}
	c.Flags().StringVar(&user, "user", "", "whose it is")
	c.Flags().StringVar(&role, "role", string(agentapi.RoleWatch), "watch, measure or change")
	c.Flags().StringVar(&valid, "valid", "720h", "how long it is good")
	return c
}
