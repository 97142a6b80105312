package cli

import (
	"context"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"strings"

	"github.com/linerate/linerate/internal/bus"
	"github.com/linerate/linerate/internal/fleet"
)

// target is a host named on the command line: how to reach it and what to
// call it.
type target struct{ name, reach string }

// parseTarget reads "local:", "netns:NAME", "ssh://[user@]host[:port]" or
// "nats:NAME". A bare word is refused: it could be any of them.
func parseTarget(arg string) (target, error) {
	scheme, rest, found := strings.Cut(arg, ":")
	switch {
	case arg == "":
		return target{}, usage("host: the name is empty", "write local:, netns:NAME, ssh://user@host or nats:NAME")
	case !found:
		return target{}, usage("host "+arg+": not said how to reach it",
			"write ssh://root@"+arg+", netns:"+arg+" for a network namespace, or local: for this host")
	case scheme == "local" && rest == "":
		return target{thisHost(), arg}, nil
	case scheme == "netns" && rest != "":
		return target{rest, arg}, nil
	case scheme == "ssh":
		u, err := url.Parse(arg)
		if err != nil || u.Hostname() == "" {
			return target{}, usage("host "+arg+": no host name in it", "write ssh://user@host or ssh://user@host:port")
		}
		return target{u.Hostname(), arg}, nil
	case scheme == "nats":
		if err := bus.CheckName("host", rest); err != nil {
			return target{}, usage(err.Error(), "write nats:NAME, the name that the host was enrolled under")
		}
		return target{rest, arg}, nil
	}
	return target{}, usage("host "+arg+": unknown way to reach it", "write local:, netns:NAME, ssh://user@host or nats:NAME")
}

func thisHost() string {
	name, err := os.Hostname()
	if err != nil || name == "" {
		return "localhost"
	}
	return name
}

// dial reaches a host named on the command line.
func (a *App) dial(ctx context.Context, t target) (*fleet.Host, error) {
	h, err := fleet.Dial(ctx, t.name, t.reach, fleet.Config{Version: a.Version, Bus: a.bus, Logger: a.logger()})
	if err == nil || !errors.Is(err, fleet.ErrUnreachable) || errors.Is(err, fs.ErrPermission) {
		return h, err
	}
	if strings.HasPrefix(t.reach, "nats:") {
		return nil, withHint(err, "--nats says where NATS is, `linerate agent` must run on the host and be enrolled as "+t.name)
	}
	if strings.HasPrefix(t.reach, "netns:") {
		return nil, withHint(err, "`ip netns list` names the network namespaces here")
	}
	return nil, withHint(err, "try `ssh "+sshWords(t.reach)+" linerate version`: it must work without a question")
}

// sshWords is a reach as the arguments that ssh takes.
func sshWords(reach string) string {
	u, err := url.Parse(reach)
	if err != nil {
		return strings.TrimPrefix(reach, "ssh://")
	}
	words := u.Hostname()
	if name := u.User.Username(); name != "" {
		words = name + "@" + words
	}
	if u.Port() != "" {
		words = "-p " + u.Port() + " " + words
	}
	return words
}
