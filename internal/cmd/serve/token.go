package serve

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/nats/authority"
	"github.com/linerate/linerate/internal/agent/nats/server"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/unit"
)

// opened is the authority that is there; none is made by asking it for
// something.
func opened(con *console.Console, flags *opts) (*authority.Authority, error) {
	dir := stateDir(con, flags)
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		return nil, console.BadUsage("serve: no state in "+dir, "`linerate serve` makes it at its first start; --state names another directory")
	}
	return openAuthority(dir)
}

// servedAt is where hosts will find the server: as --nats or the environment
// says, else where the server of the state directory listens. One that listens
// on every address, or was never started, has to be named.
func servedAt(con *console.Console, flags *opts) (string, error) {
	if url := cmp.Or(con.NATS.Url, con.Getenv("LINERATE_NATS")); url != "" {
		return url, nil
	}
	at, err := listensAt(filepath.Join(stateDir(con, flags), serverConf))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", console.BadUsage("serve: it is not known where the server listens: none was started with "+stateDir(con, flags), "--nats tls://ADDRESS:4222 says where hosts find it")
	case err != nil:
		return "", console.WithHint(fmt.Errorf("serve: read where the server listens: %w", err), "--nats tls://ADDRESS:4222 says where hosts find it")
	case at.Addr().IsUnspecified():
		return "", console.BadUsage("serve: the server listens on every address, and one of them has to be in a token", fmt.Sprintf("say by which one hosts find it: --nats tls://%s:%d", console.ThisHost(), at.Port()))
	}
	return "tls://" + at.String(), nil
}

// saidAt is where a server of this machine is told something: as servedAt, and
// by loopback where that is no answer.
func saidAt(con *console.Console, flags *opts) string {
	if url, err := servedAt(con, flags); err == nil {
		return url
	}
	port := uint16(4222)
	if at, err := listensAt(filepath.Join(stateDir(con, flags), serverConf)); err == nil {
		port = at.Port()
	}
	return fmt.Sprintf("tls://127.0.0.1:%d", port)
}

// serverConf is the configuration that `linerate serve` writes at each start
// (package authority), in NATS's own language.
const serverConf = "server.conf"

// listensAt is the address that a server's configuration says; fs.ErrNotExist
// where there is none.
func listensAt(file string) (netip.AddrPort, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return netip.AddrPort{}, err
	}
	for line := range strings.Lines(string(text)) {
		value, ok := strings.CutPrefix(line, "listen: ")
		if !ok {
			continue
		}
		at, err := strconv.Unquote(strings.TrimSpace(value))
		if err != nil {
			return netip.AddrPort{}, fmt.Errorf("%s: %w", file, err)
		}
		return netip.ParseAddrPort(at)
	}
	return netip.AddrPort{}, fmt.Errorf("%s: %w: no listen", file, fs.ErrNotExist)
}

// OnlyHere says of a token that it is good on this machine alone; "" of others.
func OnlyHere(url string) string {
	at, err := netip.ParseAddrPort(strings.TrimPrefix(url, "tls://"))
	if err != nil || !at.Addr().IsLoopback() {
		return ""
	}
	return "the server listens on " + at.String() + " alone: this token is good on this machine only (`linerate serve --listen ADDRESS:PORT` serves others)"
}

func newToken(con *console.Console, serve *opts) *cobra.Command {
	var role, host, user, ttl, valid string
	var replace bool
	c := &cobra.Command{
		Use: "token", Args: console.NoArgs, Short: "print a one-time token for `linerate enroll`",
		Long: `Prints a token that is good once and for a short while: whoever has it becomes
the host or the user named. Roles: agent, a host; and for people watch (look),
measure (send traffic) and change (change hosts), each with what the one before
may. They find the server where it listens, or where --nats says: a server that
listens on every address has to be named.

` + console.ExitHelp,
		Example: "  linerate serve token --role agent --host db1 --nats tls://192.0.2.1:4222\n  linerate serve token --role measure --user eve --ttl 1h",
		RunE: func(*cobra.Command, []string) error {
			g := authority.Grant{Name: host, Role: agentapi.Role(role), Replace: replace}
			switch {
			case g.Role != agentapi.RoleAgent && !g.Role.Person():
				return console.BadUsage("--role: want agent, watch, measure or change, not "+role, "")
			case g.Role == agentapi.RoleAgent && (host == "" || user != ""):
				return console.BadUsage("serve token: want --host NAME with --role agent", "")
			case g.Role.Person() && (user == "" || host != ""):
				return console.BadUsage("serve token: want --user NAME with --role "+role, "")
			case strings.HasSuffix(user, authority.SignerSuffix):
				return console.BadUsage("serve token: "+user+": names that end with "+authority.SignerSuffix+" are those under which the web page asks hosts", "name the user otherwise")
			case g.Role.Person():
				g.Name = user
			}
			for _, d := range []struct {
				flag, text string
				to         *time.Duration
			}{{"--ttl", ttl, &g.Within}, {"--valid", valid, &g.Valid}} {
				if d.text == "" {
					continue
				}
				var err error
				if *d.to, err = unit.ParseDuration(d.text); err != nil {
					return console.BadUsage(d.flag+": "+err.Error(), "")
				}
			}
			if g.Within <= 0 || g.Within > authority.LongestToken {
				return console.BadUsage("--ttl: want more than 0 and at most 168h, not "+ttl, "")
			}
			a, err := opened(con, serve)
			if err != nil {
				return err
			}
			url, err := servedAt(con, serve)
			if err != nil {
				return err
			}
			token, err := a.Issue(url, g)
			if errors.Is(err, authority.ErrTaken) {
				return console.BadUsage("serve token: "+err.Error(), "--replace takes the name from whoever has it")
			}
			if err != nil {
				return err
			}
			if con.JSON {
				return tokenDocument.Print(con, issuedToken{token.String(), g.Name, g.Role, g.Within.Seconds(), token.URL})
			}
			fmt.Fprintln(con.Stdout, token)
			if note := OnlyHere(url); note != "" && !con.Quiet {
				fmt.Fprintln(con.Stderr, note)
			}
			return nil
		},
	}
	c.Flags().StringVar(&role, "role", string(agentapi.RoleAgent), "agent, watch, measure or change")
	c.Flags().StringVar(&host, "host", "", "the host's name on NATS")
	c.Flags().StringVar(&user, "user", "", "the user's name")
	c.Flags().StringVar(&ttl, "ttl", "10m", "how long the token is good")
	c.Flags().StringVar(&valid, "valid", "", "how long the identity is good that is made with it (default: until it is revoked)")
	c.Flags().BoolVar(&replace, "replace", false, "take the name from whoever has it")
	return c
}

func newRevoke(con *console.Console, serve *opts) *cobra.Command {
	var host, user string
	c := &cobra.Command{
		Use: "revoke", Args: console.NoArgs, Short: "take a host's or a user's identity away",
		Long: `Takes an identity away, and tells the servers at --nats, which disconnect
whoever has it at once. Where they cannot be told it is an error, and they know
it when they are started again. A user's logins to the web page go with it.

` + console.ExitHelp,
		Example: "  linerate serve revoke --host db1\n  linerate serve revoke --user eve",
		RunE: func(*cobra.Command, []string) error {
			if (host == "") == (user == "") {
				return console.BadUsage("serve revoke: want --host NAME or --user NAME", "`linerate serve identities` lists them")
			}
			name, role := host, agentapi.RoleAgent
			if user != "" {
				name, role = user, agentapi.RoleWatch
			}
			a, err := opened(con, serve)
			if err != nil {
				return err
			}
			ended := 0
			if user != "" {
				if ended, err = a.EndLogins(user); err != nil {
					return err
				}
			}
			err = a.Revoke(name, role)
			if errors.Is(err, fs.ErrNotExist) && ended > 0 {
				return revoked(con, name) // who saw the web page only: no server knows of it
			}
			if errors.Is(err, fs.ErrNotExist) {
				return console.BadUsage("serve revoke: nobody is called "+name, "`linerate serve identities` lists them")
			} else if err != nil {
				return err
			}
			if err := server.Push(a, saidAt(con, serve), filepath.Join(stateDir(con, serve), "ca.pem")); err != nil {
				return console.WithHint(fmt.Errorf("%s is revoked, but servers that run do not know: %w", name, err), "--nats says where they are; or start them again")
			}
			return revoked(con, name)
		},
	}
	c.Flags().StringVar(&host, "host", "", "the host's name")
	c.Flags().StringVar(&user, "user", "", "the user's name")
	return c
}

func revoked(con *console.Console, name string) error {
	if con.JSON {
		return revokeDocument.Print(con, revokedName{name, true})
	}
	fmt.Fprintf(con.Stdout, "%s is revoked\n", name)
	return nil
}

func newIdentities(con *console.Console, serve *opts) *cobra.Command {
	return &cobra.Command{
		Use: "identities", Args: console.NoArgs, Short: "who was let in, as what, until when",
		RunE: func(*cobra.Command, []string) error {
			a, err := opened(con, serve)
			if err != nil {
				return err
			}
			all, err := a.Identities()
			if err != nil {
				return err
			}
			if con.JSON {
				if all == nil {
					all = []authority.Identity{}
				}
				return identitiesDocument.Print(con, listedIdentities{all})
			}
			for _, id := range all {
				state := "until it is revoked"
				switch {
				case !id.Revoked.IsZero():
					state = "revoked " + id.Revoked.Format(time.DateTime)
				case !id.Expires.IsZero():
					state = "until " + id.Expires.Format(time.DateTime)
				}
				fmt.Fprintf(con.Stdout, "%-20s %-8s since %s, %s\n", id.Name, id.Role, id.Made.Format(time.DateTime), state)
			}
			return nil
		},
	}
}

func newMember(con *console.Console, serve *opts) *cobra.Command {
	var names []string
	var out string
	c := &cobra.Command{
		Use: "member", Args: console.NoArgs, Short: "write the state directory of another server of the cluster",
		Long: `Writes a directory for another server: a certificate of its own, and what it
needs to know of the fleet, but no key that signs. Copy it there as its --state,
and keep it as private as this one.

` + console.ExitHelp,
		Example: "  linerate serve member --address 192.0.2.2 -o member-2",
		RunE: func(*cobra.Command, []string) error {
			if out == "" || len(names) == 0 {
				return console.BadUsage("serve member: want --address NAME and -o DIRECTORY", "")
			}
			if err := console.CheckDir("serve member -o", out); err != nil {
				return err
			}
			a, err := opened(con, serve)
			if err != nil {
				return err
			}
			if err := a.Member(out, append(slices.Clone(names), "127.0.0.1", "localhost")); err != nil {
				return err
			}
			if con.JSON {
				return memberDocument.Print(con, writtenMember{out, names})
			}
			fmt.Fprintf(con.Stdout, "%s is written; there: linerate serve --state DIRECTORY --listen ... --cluster ... --route ...\n", out)
			return nil
		},
	}
	c.Flags().StringArrayVar(&names, "address", nil, "host name or address that it is reached by; again for more")
	c.Flags().StringVarP(&out, "output", "o", "", "directory to write")
	return c
}
