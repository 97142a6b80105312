package cli

import (
	"context"
	"errors"
	"io/fs"
	"net/url"
	"os"
	"strings"

	"github.com/linerate/linerate/internal/agent/fleet"
	"github.com/linerate/linerate/internal/agent/nats/wire"
)

// sshHelp is what commands say of hosts reached by ssh.
const sshHelp = `By ssh it is the system's OpenSSH: your configuration, keys and jump hosts
count. Where the same linerate is not installed it is copied there for the run,
and goes with it; --binaries has those for other machines. --become sudo (in a
file hosts.NAME.become) gets root where root may not log in; without root it is
said what is lost.
`

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
	case !found && strings.Contains(arg, "@"):
		return target{}, usage("host "+arg+": it has no scheme", "write ssh://"+arg)
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
		if err := wire.CheckName("host", rest); err != nil {
			return target{}, usage(err.Error(), "write nats:NAME, the name that the host was enrolled under")
		}
		return target{rest, arg}, nil
	}
	hint := "write local:, netns:NAME, ssh://user@host or nats:NAME"
	if strings.Contains(scheme, "@") { // as scp has it, or with a port
		hint = "write ssh://user@host, or ssh://user@host:port"
	}
	return target{}, usage("host "+arg+": unknown way to reach it", hint)
}

// target reads a host that the command line names, with --become where it is
// reached by ssh.
func (a *App) target(arg string) (target, error) {
	t, err := parseTarget(arg)
	if err != nil || a.become == "" || !strings.HasPrefix(t.reach, "ssh:") || strings.Contains(t.reach, "?") {
		return t, err
	}
	if a.become != string(fleet.BecomeSudo) {
		return target{}, usage("--become "+a.become+": want "+string(fleet.BecomeSudo), "it runs linerate by sudo on hosts reached by ssh")
	}
	t.reach += "?become=" + a.become
	return t, nil
}

// asTyped is a reach as it is given to a command: a question mark would be a
// pattern to a shell.
func asTyped(reach string) string {
	way, become, found := strings.Cut(reach, "?become=")
	if !found {
		return reach
	}
	return way + " --become " + become
}

// unnamed is what a kernel is called that nobody gave a name
// (CONFIG_DEFAULT_HOSTNAME).
const unnamed = "(none)"

func thisHost() string {
	name, err := os.Hostname()
	if err != nil || name == "" || name == unnamed {
		return "localhost"
	}
	return name
}

// fleet is how hosts are reached; journal is the directory of those of this
// machine, "" the default.
func (a *App) fleet(journal string) fleet.Config {
	return fleet.Config{Version: a.Version, JournalDir: journal, SSH: a.ssh, Bus: a.bus, Logger: a.logger()}
}

// dial reaches a host named on the command line.
func (a *App) dial(ctx context.Context, t target) (*fleet.Host, error) {
	h, err := fleet.Dial(ctx, t.name, t.reach, a.fleet(""))
	if hint := sshHint(t.reach, err); hint != "" {
		return nil, withHint(err, hint)
	}
	if err == nil || !errors.Is(err, fleet.ErrUnreachable) || errors.Is(err, fs.ErrPermission) {
		return h, err
	}
	if already := (*hinted)(nil); errors.As(err, &already) {
		return nil, err
	}
	if strings.HasPrefix(t.reach, "nats:") {
		return nil, withHint(err, "--nats says where NATS is, `linerate agent` must run on the host and be enrolled as "+t.name)
	}
	if strings.HasPrefix(t.reach, "netns:") {
		return nil, withHint(err, "`ip netns list` names the network namespaces here")
	}
	return nil, withHint(err, "try `ssh "+sshWords(t.reach)+" true`: it must work without a question")
}

// anyone is a reach for hints about a host that is not known here.
const anyone = "ssh://USER@HOST"

// sshHint is what to do about a host that ssh does not reach; "" for any other
// error.
func sshHint(reach string, err error) string {
	switch {
	case errors.Is(err, fleet.ErrHostKey):
		return "log in once by hand, `ssh " + sshWords(reach) + "`, and compare the key; `ssh-keygen -R HOST` forgets an old one"
	case errors.Is(err, fleet.ErrLogin):
		return "`ssh " + sshWords(reach) + " true` must work without a question: a key in authorized_keys there, and ssh-agent here"
	case errors.Is(err, fleet.ErrBecome):
		user := "USER"
		if u, err := url.Parse(reach); err == nil && u.User.Username() != "" {
			user = u.User.Username()
		}
		return "add a line to sudoers there (visudo): " + user + " ALL=(root) NOPASSWD: ALL; or install linerate there and allow that alone: NOPASSWD: /usr/local/bin/linerate agent *"
	case errors.Is(err, fleet.ErrNoName):
		return "check the spelling, DNS and /etc/hosts: `getent hosts NAME` must print an address"
	case errors.Is(err, fleet.ErrDead):
		return "is the host up, and does its sshd listen at that port? a firewall on the way may also be silent or refuse"
	case errors.Is(err, fleet.ErrCopy):
		return "make room there, or install linerate in /usr/local/bin: one that is installed is not copied"
	case errors.Is(err, fleet.ErrNoProgram):
		return "put linerate-linux-arm64 and so on in a directory and name it: --binaries DIR, or LINERATE_BINARIES"
	}
	return ""
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
