package serve

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/ask"
	"github.com/linerate/linerate/internal/agent/fleet"
	"github.com/linerate/linerate/internal/agent/nats/authority"
	"github.com/linerate/linerate/internal/agent/nats/link"
	"github.com/linerate/linerate/internal/agent/nats/server"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/web"
	"github.com/linerate/linerate/netstate"
)

// pageIdentity is how long a user's identity is good: longer than a
// measurement of the page can last.
const pageIdentity = 6 * time.Hour

// usersFleet is the fleet as users of the page act on it: each under an
// identity of their own, with the role that their login has.
type usersFleet struct {
	con   *console.Console
	who   *authority.Authority
	bus   *server.Server
	dir   string // of the identities, in the state directory, that one server has
	state string
	log   *slog.Logger
	jobs

	mu    sync.Mutex
	users map[string]*usersLink // by name
}

// usersLink is how a user is connected.
type usersLink struct {
	webSigner *authority.Signer
	until     map[agentapi.Role]time.Time // how long what it has for each role is good
}

// newUsersFleet acts until ctx ends; end takes away what it wrote. Place is
// the store that measurements are kept in.
func newUsersFleet(ctx context.Context, con *console.Console, who *authority.Authority, s *server.Server, state, place string, log *slog.Logger) (f *usersFleet, end func(), err error) {
	dir := filepath.Join(state, "web")
	if err := errors.Join(os.RemoveAll(dir), os.Mkdir(dir, 0o700)); err != nil { // what a killed server left goes
		return nil, nil, fmt.Errorf("serve the web page: %w", err)
	}
	f = &usersFleet{con: con, who: who, bus: s, dir: dir, state: state, log: log, users: make(map[string]*usersLink)}
	f.jobs = jobs{dir: dir, store: place, log: log}
	f.jobs.ctx, f.jobs.cancel = context.WithCancel(ctx)
	return f, func() {
		f.jobs.end()
		if err := os.RemoveAll(dir); err != nil {
			log.Error("remove what the web page wrote", "error", err)
		}
	}, nil
}

// Hosts are the fleet as its agents last said.
func (f *usersFleet) Hosts(context.Context) ([]web.Host, error) {
	store := f.bus.Store()
	if store == nil {
		return nil, nil // it starts only now
	}
	states := store.States()
	all := make([]web.Host, 0, len(states))
	for _, name := range slices.Sorted(maps.Keys(states)) {
		said := states[name]
		said.Written = time.Now().Add(-said.Quiet) // by the clock of whoever reads the page
		all = append(all, web.Host{Name: name, State: said, Gone: said.Quiet > quietAfter})
	}
	return all, nil
}

// as is how a user connects. The identity is made when it is first needed, and
// made to last longer when it is about to expire.
func (f *usersFleet) as(v web.User) (link.Config, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	one := f.users[v.Name]
	if one == nil {
		webSigner, err := f.who.NewSigner(v.Name)
		if err != nil {
			return link.Config{}, fmt.Errorf("act as %s: %w", v.Name, err)
		}
		one = &usersLink{webSigner, make(map[agentapi.Role]time.Time)}
		f.users[v.Name] = one
	}
	creds := filepath.Join(f.dir, v.Name+"."+string(v.Role)+".creds")
	if time.Until(one.until[v.Role]) < pageIdentity/2 {
		if err := one.webSigner.Credentials(v.Role, pageIdentity, creds); err != nil {
			return link.Config{}, fmt.Errorf("act as %s: %w", v.Name, err)
		}
		one.until[v.Role] = expiry(time.Now())
	}
	return link.Config{URL: fromHere(f.bus.URL()), Creds: creds, CA: filepath.Join(f.state, "ca.pem"), Logger: f.log}, nil
}

// expiry is when an identity that is made now expires. That is by the time of day:
// the clock that nobody sets stands still while the machine sleeps.
func expiry(now time.Time) time.Time { return now.Round(0).Add(pageIdentity) }

// fromHere is the URL by which this host reaches its own server: one that listens
// on every address is on loopback too, and its certificate says so.
func fromHere(url string) string {
	scheme, at, _ := strings.Cut(url, "://")
	if addr, err := netip.ParseAddrPort(at); err == nil && addr.Addr().IsUnspecified() {
		return fmt.Sprintf("%s://127.0.0.1:%d", scheme, addr.Port())
	}
	return url
}

// dial reaches a host as the user, over a connection of its own: that it gets
// through is what a confirmation is worth.
func (f *usersFleet) dial(ctx context.Context, v web.User, host string) (h *fleet.Host, done func(), err error) {
	cfg, err := f.as(v)
	if err != nil {
		return nil, nil, err
	}
	dialer := link.NewDialer(func() (link.Config, error) { return cfg, nil })
	h, err = fleet.Dial(ctx, host, "nats:"+host, fleet.Config{Version: f.con.Version, Fresh: true, Bus: dialer, Logger: f.log})
	if err != nil {
		dialer.Close()
		return nil, nil, err
	}
	return h, func() {
		h.Close()
		dialer.Close()
	}, nil
}

// Journal is what was changed on a host.
func (f *usersFleet) Journal(ctx context.Context, v web.User, host string) (agentapi.JournalReply, error) {
	h, done, err := f.dial(ctx, v, host)
	if err != nil {
		return agentapi.JournalReply{}, err
	}
	defer done()
	return ask.Call(ctx, h, agentapi.Journal, agentapi.Empty{})
}

// Observe is a host's state now, with the settings that are judged.
func (f *usersFleet) Observe(ctx context.Context, v web.User, host string) (netstate.Host, error) {
	h, done, err := f.dial(ctx, v, host)
	if err != nil {
		return netstate.Host{}, err
	}
	defer done()
	reply, err := h.Observe(ctx)
	return reply.Host, err
}

// Confirm keeps a change that waits.
func (f *usersFleet) Confirm(ctx context.Context, v web.User, host, change string) error {
	h, done, err := f.dial(ctx, v, host)
	if err != nil {
		return err
	}
	defer done()
	_, err = ask.Call(ctx, h, agentapi.Confirm, agentapi.ConfirmRequest{Journal: change})
	return err
}

// Rollback puts a change back.
func (f *usersFleet) Rollback(ctx context.Context, v web.User, host, change string) (agentapi.RollbackReply, error) {
	h, done, err := f.dial(ctx, v, host)
	if err != nil {
		return agentapi.RollbackReply{}, err
	}
	defer done()
	return ask.Call(ctx, h, agentapi.Rollback, agentapi.RollbackRequest{Journal: change})
}

// Measure starts `linerate measure` as the user.
func (f *usersFleet) Measure(v web.User, w web.Request) error {
	cfg, err := f.as(v)
	if err != nil {
		return err
	}
	return f.jobs.start(v.Name, w, []string{"LINERATE_NATS=" + cfg.URL, "LINERATE_CREDS=" + cfg.Creds, "LINERATE_CA=" + cfg.CA, "USER=" + v.Name})
}

// Stop ends a measurement.
func (f *usersFleet) Stop(_ web.User, id string) error { return f.jobs.stop(id) }
