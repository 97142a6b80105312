// Package listen is `linerate listen`: one end for iperf3 and linerate.
package listen

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/traffic/iperf3"
	"github.com/linerate/linerate/internal/traffic/iperf3server"
)

// opts are the flags of `listen`.
type opts struct {
	port       uint16
	bind       []string
	allow      []string
	tokenFile  string
	maxClients int
	idle       time.Duration
	oneOff     bool
}

// New is `linerate listen`.
func New(con *console.Console) *cobra.Command {
	var flags opts
	c := &cobra.Command{
		Use: "listen", Short: "a traffic server that iperf3 clients can use, many at a time", Args: console.NoArgs,
		Long: `Serves iperf3 clients (3.7 and later) and linerate's own, TCP and UDP, many at
a time on one port, until it is interrupted. Nothing is changed, and nothing is
sent to anybody who did not ask over a TCP connection.

Without --allow and --token-file it serves this host and the networks that its
interfaces are on; others are refused, which iperf3 reports as a busy server.
With --token-file only clients that know the token are served, which iperf3
cannot: linerate measure --token-file can. The clocks of the two hosts must
agree to within ten minutes.

Each test is a line on standard error. With --json the tests are one document
on standard output when it ends.

` + console.ExitHelp,
		Example: `  linerate listen
  linerate listen --port 5202 --allow 10.0.0.0/8,192.0.2.7
  iperf3 -c HOST -P 4 -t 10          # on another host`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := flags.config(cmd.Context())
			if err != nil {
				return err
			}
			return listen(cmd.Context(), con, cfg)
		},
	}
	f := c.Flags()
	f.Uint16Var(&flags.port, "port", iperf3.DefaultPort, "port to listen on, TCP and UDP")
	f.StringSliceVar(&flags.bind, "bind", nil, "addresses to listen on (default all)")
	f.StringSliceVar(&flags.allow, "allow", nil, "networks or addresses to serve, instead of this host's own")
	f.StringVar(&flags.tokenFile, "token-file", "", "serve only who knows the token in this file (mode 0600)")
	f.IntVar(&flags.maxClients, "max-clients", iperf3server.DefaultClients, "tests at a time; one address (IPv6: one /64) gets at most three\nquarters of them, and of the streams")
	f.DurationVar(&flags.idle, "idle-timeout", iperf3server.DefaultIdle, "end a test in which nothing, or next to nothing, moves for as\nlong, however slow the rate that its client asks for")
	f.BoolVar(&flags.oneOff, "one-off", false, "serve one test, then end")
	return c
}

// config reads the flags.
func (f *opts) config(ctx context.Context) (iperf3server.Config, error) {
	cfg := iperf3server.Config{Port: int(f.port), MaxClients: f.maxClients, Idle: f.idle, OneOff: f.oneOff}
	if f.port == 0 {
		return cfg, console.BadUsage("--port: port 0 is none to listen on", "")
	}
	if f.maxClients < 1 || f.maxClients > iperf3server.MaxClients {
		return cfg, console.BadUsage(fmt.Sprintf("--max-clients: want a number from 1 to %d, not %d", iperf3server.MaxClients, f.maxClients), "")
	}
	if f.idle < time.Second {
		return cfg, console.BadUsage(fmt.Sprintf("--idle-timeout: want at least 1s, not %s", f.idle), "")
	}
	for _, text := range f.bind {
		a, err := netip.ParseAddr(text)
		if err != nil {
			return cfg, console.BadUsage("--bind: "+text+" is not an address", "give an address of this host, such as 192.0.2.1 or ::1")
		}
		cfg.Bind = append(cfg.Bind, a)
	}
	for _, text := range f.allow {
		p, err := parseNetwork(text)
		if errors.Is(err, errMapped) {
			return cfg, console.BadUsage("--allow: "+text+": "+err.Error(), "write the IPv4 network, such as 10.0.0.0/8")
		}
		if err != nil {
			return cfg, console.BadUsage("--allow: "+text+" is neither a network nor an address", "give networks such as 10.0.0.0/8, with commas between them")
		}
		cfg.Allow = append(cfg.Allow, p)
	}
	var err error
	cfg.Token, err = console.ReadToken(ctx, f.tokenFile)
	return cfg, err
}

// errMapped is a network of IPv6 that has more in it than IPv4.
var errMapped = errors.New("a network of IPv4 addresses mapped to IPv6 has 96 bits or more")

// parseNetwork reads a network, or an address as the network of it alone.
// Networks of mapped addresses are those of IPv4, as who connects is: shorter
// ones are errMapped.
func parseNetwork(text string) (netip.Prefix, error) {
	if !strings.Contains(text, "/") {
		a, err := netip.ParseAddr(text)
		if err != nil {
			return netip.Prefix{}, err
		}
		return netip.PrefixFrom(a.Unmap(), a.Unmap().BitLen()), nil
	}
	p, err := netip.ParsePrefix(text)
	const mapped = 96 // bits of ::ffff:0:0/96 (RFC 4291, 2.5.5.2)
	switch {
	case err != nil || !p.Addr().Is4In6():
		return p.Masked(), err
	case p.Bits() < mapped:
		return netip.Prefix{}, errMapped
	}
	return netip.PrefixFrom(p.Addr().Unmap(), p.Bits()-mapped).Masked(), nil
}

// listened is the document of `listen --json`.
type listened struct {
	Addresses []string       `json:"addresses"`
	Started   time.Time      `json:"started"`
	Ended     time.Time      `json:"ended"`
	Tests     []listenedTest `json:"tests"`
	// TestsCount counts those that are not in Tests, too.
	TestsCount   int `json:"tests_count"`
	RefusedCount int `json:"refused_count"`
}

// testsKept bounds the document: of a server that runs for weeks the latest
// tests are kept.
const testsKept = 10000

// listen serves until the context ends, which is how a server is meant to end.
func listen(ctx context.Context, con *console.Console, cfg iperf3server.Config) error {
	var mu sync.Mutex
	doc := listened{Started: time.Now().UTC(), Tests: []listenedTest{}}
	cfg.Log = con.Logger()
	cfg.Done = func(t iperf3server.Test) {
		mu.Lock()
		defer mu.Unlock()
		doc.TestsCount++
		if len(doc.Tests) == testsKept {
			doc.Tests = doc.Tests[1:]
		}
		if con.JSON {
			doc.Tests = append(doc.Tests, documented(t))
		}
		listenLine(con, t.Started.Add(t.Window), testWords(t))
	}
	cfg.Refused = func(r iperf3server.Refusal) {
		mu.Lock()
		defer mu.Unlock()
		doc.RefusedCount += 1 + r.More
		listenLine(con, time.Now(), refusalWords(r))
	}
	l, err := iperf3server.Listen(cfg)
	if err != nil {
		return listenError(cfg, err)
	}
	for _, at := range l.Addrs() {
		doc.Addresses = append(doc.Addresses, at.String())
	}
	if !con.Quiet {
		fmt.Fprint(con.Stderr, console.Wrapped("", "listening on "+strings.Join(doc.Addresses, ", ")+", TCP and UDP; serving "+servedWords(cfg), con.Width()))
	}
	if err := l.Serve(ctx); err != nil {
		return err
	}
	doc.Ended = time.Now().UTC()
	if con.JSON {
		return document.Print(con, doc)
	}
	return nil
}

func listenError(cfg iperf3server.Config, err error) error {
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return console.WithHint(fmt.Errorf("listen on port %d: another program has it", cfg.Port), "`ss -lntup` shows which; --port takes another")
	case errors.Is(err, syscall.EADDRNOTAVAIL):
		return console.BadUsage("--bind: this host does not have the address", "`ip address` lists those it has")
	case errors.Is(err, syscall.EACCES):
		return console.WithHint(fmt.Errorf("listen on port %d: %w", cfg.Port, err), "ports below 1024 are root's; --port takes another")
	}
	return err
}

func listenLine(con *console.Console, at time.Time, text string) {
	if !con.Quiet {
		fmt.Fprint(con.Stderr, console.Wrapped(at.Format("15:04:05 "), text, con.Width()))
	}
}
