// Package enroll is `linerate enroll`: credentials for a token.
package enroll

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/spf13/cobra"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/nats/authority"
	"github.com/linerate/linerate/internal/agent/nats/enroll"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/cmd/serve"
)

// mostToken bounds what is read as a token from standard input.
const mostToken = 64 << 10

// New is `linerate enroll`.
func New(con *console.Console) *cobra.Command {
	var dir string
	var replace bool
	c := &cobra.Command{
		Use: "enroll TOKEN", Short: "make this host's, or this user's, identity on NATS from a token",
		Long: `Makes a key here, has it signed by whoever runs ` + "`linerate serve`" + `, and writes
credentials that only their owner can read, the servers' certificate authority,
and where NATS is. The token is good once. "-" reads it from standard input, so
that no list of processes shows it.

` + console.ExitHelp,
		Example: "  linerate enroll - <token\n  linerate serve token --role agent --host db1 | ssh root@db1 linerate enroll -",
		Args:    console.Exactly(1, "one TOKEN, or - for standard input"),
		RunE: func(cmd *cobra.Command, args []string) error {
			text := args[0]
			if text == "-" {
				b, err := io.ReadAll(io.LimitReader(con.Stdin, mostToken))
				if err != nil {
					return fmt.Errorf("read token: %w", err)
				}
				text = string(b)
			}
			token, err := authority.ParseToken(text)
			if err != nil {
				return console.BadUsage("enroll: "+err.Error(), "`linerate serve token` prints one: give all of its line")
			}
			if dir == "" {
				if dir = con.IdentityDir(); dir == "" {
					return console.BadUsage("enroll: HOME is not set, so that there is no place for the identity", "set HOME, or name a directory: --dir DIR")
				}
			}
			id, err := enroll.Enroll(cmd.Context(), token, dir, replace)
			if err != nil && strings.Contains(err.Error(), "connect to") && serve.OnlyHere(token.URL) != "" {
				return console.WithHint(err, "the token says that the server is on this machine: for another make it with `linerate serve token --nats tls://ADDRESS:4222`")
			}
			if errors.Is(err, fs.ErrExist) {
				return console.BadUsage(err.Error(), "--replace puts the new identity in its place, --dir another directory")
			}
			if err != nil {
				return err
			}
			return enrolled(con, id)
		},
	}
	c.Flags().StringVar(&dir, "dir", "", "where to write it (default: /etc/linerate for root, else ~/.config/linerate)")
	c.Flags().BoolVar(&replace, "replace", false, "replace an identity that is there")
	return c
}

func enrolled(con *console.Console, id enroll.Identity) error {
	if con.JSON {
		return document.Print(con, enrolledHost{id.Name, id.Role, id.URL, id.Dir})
	}
	fmt.Fprintf(con.Stdout, "%s is enrolled as %s; the credentials are in %s\n", id.Name, id.Role, id.Dir)
	switch {
	case con.Quiet:
	case id.Role == agentapi.RoleAgent:
		fmt.Fprintf(con.Stderr, "`linerate agent` comes next, or the unit deploy/systemd/linerate-agent.service\n")
	default:
		fmt.Fprintf(con.Stderr, "you can now use nats:NAME for every enrolled host\n")
	}
	return nil
}
