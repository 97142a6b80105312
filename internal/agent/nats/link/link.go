// Package link is a connection to NATS as linerate makes it: who one is by a
// credentials file, the server by its certificate authority, and again without
// end where an agent wants it.
package link

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/nats/claim"
	"github.com/linerate/linerate/internal/agent/nats/wire"
)

// Errors of Connect.
var (
	ErrUnreachable = errors.New("no NATS server answers")
	ErrCreds       = errors.New("bad credentials")
	// ErrUntrusted is a server that another certificate authority vouches for, or
	// none: somebody else's, or one that was set up anew.
	ErrUntrusted = errors.New("the server is not of our certificate authority")
)

// Config says where NATS is and who connects.
type Config struct {
	URL   string // of one server or several, with commas
	Creds string // file with a user's JWT and seed, readable by its owner alone
	// CA is a file with the authority that the servers' certificates must be of;
	// "" is ca.pem beside Creds where there is one, else the system's.
	CA string
	// Forever goes on trying, the first time too: for an agent.
	Forever bool
	Logger  *slog.Logger // nil is silence
}

// Conn is a connection. It is safe for many goroutines.
type Conn struct {
	*nats.Conn
	Who   claim.Identity
	creds string
	began time.Time
	log   *slog.Logger

	mu     sync.Mutex
	denied map[int]func(subject string)
	next   int
}

// How long to wait between two tries to connect, at first and at most; each
// wait is between half and the whole of it, so that a thousand agents do not
// come back at the same moment.
const (
	firstWait = 250 * time.Millisecond
	mostWait  = 15 * time.Second
)

// wait is how long to wait before a try; it doubles until it is mostWait.
func wait(tries int) time.Duration {
	d := min(firstWait<<min(tries, 10), mostWait)
	return d/2 + rand.N(d/2)
}

// Connect connects. Errors: ErrUnreachable, ErrCreds for credentials that
// cannot be read or that the server does not take (which is fs.ErrPermission
// too).
func Connect(ctx context.Context, cfg Config) (*Conn, error) {
	signer, err := ReadSigner(cfg.Creds)
	if err != nil {
		return nil, err
	}
	who := signer.Who
	inbox := wire.StoreInbox(who.Name) // what hosts answer is heard elsewhere
	if who.Role == agentapi.RoleAgent {
		inbox = wire.AgentInbox(who.Name)
	}
	c := &Conn{Who: who, creds: cfg.Creds, began: time.Now(), log: cfg.Logger, denied: make(map[int]func(string))}
	if c.log == nil {
		c.log = slog.New(slog.DiscardHandler)
	}
	options := append(c.options(cfg), nats.CustomInboxPrefix(inbox), nats.UserCredentials(cfg.Creds))
	if ca := cfg.authority(); ca != "" {
		if _, err := os.Stat(ca); err != nil {
			return nil, fmt.Errorf("read certificate authority: %w", err)
		}
		options = append(options, nats.RootCAs(ca))
	}
	if c.Conn, err = nats.Connect(cfg.URL, options...); err != nil {
		return nil, connecting(cfg.URL, err)
	}
	return c, ctx.Err()
}

// Signer signs as who connected. The file is read again: an identity that was
// made to last longer is used from then on.
func (c *Conn) Signer() (*claim.Signer, error) { return ReadSigner(c.creds) }

// Now is the moment to sign with: of a clock that nobody sets while the
// connection lasts.
func (c *Conn) Now() time.Time { return c.began.Add(time.Since(c.began)) }

// authority is the file with the servers' certificate authority; "" is none.
func (c Config) authority() string {
	beside := filepath.Join(filepath.Dir(c.Creds), "ca.pem")
	if _, err := os.Stat(beside); err != nil {
		beside = ""
	}
	return cmp.Or(c.CA, beside)
}

func (c *Conn) options(cfg Config) []nats.Option {
	options := []nats.Option{
		nats.Name("linerate " + c.Who.Name),
		nats.Timeout(5 * time.Second),
		nats.PermissionErrOnSubscribe(true),
		nats.MaxReconnects(-1),
		nats.CustomReconnectDelay(wait),
		nats.PingInterval(5 * time.Second), nats.MaxPingsOutstanding(2), // a dead server is noticed
		nats.ReconnectBufSize(8 << 20),
		nats.FlusherTimeout(5 * time.Second), // who sends into a way that takes nothing goes on
		nats.ErrorHandler(c.failed),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil {
				c.log.Warn("connection to NATS is lost", "error", err)
			}
		}),
		nats.ReconnectHandler(func(n *nats.Conn) { c.log.Info("connected to NATS again", "server", n.ConnectedUrlRedacted()) }),
	}
	if cfg.Forever {
		options = append(options, nats.RetryOnFailedConnect(true), nats.IgnoreAuthErrorAbort(),
			nats.ConnectHandler(func(n *nats.Conn) { c.log.Info("connected to NATS", "server", n.ConnectedUrlRedacted()) }),
			nats.ReconnectErrHandler(func(_ *nats.Conn, err error) { c.log.Warn("cannot connect to NATS", "error", err) }))
	}
	return options
}

// connecting is a failure to connect in words.
func connecting(url string, err error) error {
	unverified := (*tls.CertificateVerificationError)(nil)
	switch {
	case errors.Is(err, nats.ErrAuthorization), errors.Is(err, nats.ErrAuthExpired), errors.Is(err, nats.ErrAuthRevoked), errors.Is(err, nats.ErrAccountAuthExpired):
		return fmt.Errorf("connect to %s: %w: the server does not take them (%w)", redacted(url), ErrCreds, fs.ErrPermission)
	case errors.As(err, &unverified):
		return fmt.Errorf("connect to %s: %w: %w (%w)", redacted(url), ErrUntrusted, err, fs.ErrPermission)
	}
	return fmt.Errorf("connect to %s: %w: %w", redacted(url), ErrUnreachable, err)
}

var password = regexp.MustCompile(`//[^/@,]*@`)

// redacted is a URL without what may be a password in it.
func redacted(url string) string { return password.ReplaceAllString(url, "//") }

var publishTo = regexp.MustCompile(`(?i)publish to "([^"]+)"`)

// failed is told what the server said by itself.
func (c *Conn) failed(_ *nats.Conn, _ *nats.Subscription, err error) {
	m := publishTo.FindStringSubmatch(err.Error())
	if m == nil || !errors.Is(err, nats.ErrPermissionViolation) {
		c.log.Warn("NATS", "error", err)
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, tell := range c.denied {
		tell(m[1])
	}
}

// Denied has tell called with each subject that the server lets this
// connection not publish to, until the returned function is. The server says
// so a moment after the message was sent. Tell must not block.
func (c *Conn) Denied(tell func(subject string)) (stop func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	id := c.next
	c.next++
	c.denied[id] = tell
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.denied, id)
	}
}

// mostCreds is more than a credentials file has.
const mostCreds = 64 << 10

// ReadSigner reads a credentials file: who it makes one, and the key that
// signs as that. A file that others than its owner may read is refused. Errors:
// ErrCreds, wire.ErrName.
func ReadSigner(file string) (*claim.Signer, error) {
	// The name may be a link, as where a cluster mounts secrets; what is looked at
	// is what is read.
	f, err := os.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read %s: %w: no such file", file, ErrCreds)
	}
	if err != nil {
		return nil, fmt.Errorf("read credentials: %w", err)
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, fmt.Errorf("read credentials: %w", err)
	}
	if info.Mode().Perm()&mayNot(file) != 0 {
		return nil, fmt.Errorf("read %s: %w: others than its owner may read it, want mode 0600 (%w)", file, ErrCreds, fs.ErrPermission)
	}
	text, err := io.ReadAll(io.LimitReader(f, mostCreds))
	if err != nil {
		return nil, fmt.Errorf("read credentials: %w", err)
	}
	signer, err := claim.NewSigner(text)
	if errors.Is(err, wire.ErrName) {
		return nil, fmt.Errorf("read %s: %w", file, err)
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w: %w", file, ErrCreds, err)
	}
	return signer, nil
}

// mayNot are the permissions that a credentials file must not have. Where
// systemd hands it over, an access list for the service's user shows as the
// group's right to read.
func mayNot(file string) fs.FileMode {
	if dir := os.Getenv("CREDENTIALS_DIRECTORY"); dir != "" && filepath.Dir(file) == filepath.Clean(dir) {
		return 0o037
	}
	return 0o077
}
