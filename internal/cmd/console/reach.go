package console

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/linerate/linerate/internal/agent/fleet"
	"github.com/linerate/linerate/internal/agent/nats/enroll"
	"github.com/linerate/linerate/internal/agent/nats/link"
	"github.com/linerate/linerate/internal/agent/nats/wire"
	"github.com/linerate/linerate/unit"
)

// Missing are hosts that were named and not reached, when others were.
type Missing []error

// Err is all of them as one error, which is a failed job and not an unreachable
// host: the others were reached.
func (m Missing) Err() error {
	if len(m) == 0 {
		return nil
	}
	more := ""
	if n := len(m) - 1; n > 0 {
		more = fmt.Sprintf(" (and %s)", unit.Counted(n, "other host"))
	}
	return errors.New("left out: " + OneLine(m[0].Error()) + more)
}

// Targets reads hosts; no two may have one name, nor be the same.
func (con *Console) Targets(args []string) ([]Target, error) {
	var targets []Target
	names := make(map[string]int)
	for _, arg := range args {
		t, err := con.Target(arg)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(targets, func(o Target) bool { return o.Reach == t.Reach }) {
			return nil, BadUsage("host "+arg+" is named twice", "")
		}
		names[t.Name]++
		if n := names[t.Name]; n > 1 {
			t.Name = fmt.Sprintf("%s-%d", t.Name, n)
		}
		targets = append(targets, t)
	}
	return targets, nil
}

// SSHHelp is what commands say of hosts reached by ssh.
const SSHHelp = `By ssh it is the system's OpenSSH: your configuration, keys and jump hosts
count. Where the same linerate is not installed it is copied there for the run,
and goes with it; --binaries has those for other machines. --become sudo (in a
file hosts.NAME.become) gets root where root may not log in; without root it is
said what is lost.
`

// Target is a host named on the command line: how to reach it and what to
// call it.
type Target struct{ Name, Reach string }

// fileNamed are names of files that people have: no host's name ends so.
var fileNamed = regexp.MustCompile(`(?i)\.(ya?ml|json|txt|log|gz|xz|zip|csv|conf|html?)$`)

// parseTarget reads "local:", "netns:NAME", "ssh://[user@]host[:port]" or
// "nats:NAME"; USER@HOST and an address are ssh's. A bare word is refused: it could be any of them.
func parseTarget(arg string) (Target, error) {
	scheme, rest, found := strings.Cut(arg, ":")
	switch {
	case arg == "":
		return Target{}, BadUsage("host: the name is empty", "write local:, netns:NAME, ssh://user@host or nats:NAME")
	case bareLogin(arg):
		return parseTarget("ssh://" + arg)
	case strings.Contains(arg, "//") && (!found || scheme != "ssh"): // ssh//, shh://, root@ssh://
		return Target{}, BadUsage("host "+arg+": no such way to a host", "write ssh://"+arg[strings.LastIndex(arg, "//")+2:])
	case !found && (strings.Contains(arg, "/") || fileNamed.MatchString(arg)):
		return Target{}, BadUsage("host "+arg+": this is the name of a file, and a host is wanted",
			"write ssh://root@HOST, netns:NAME or local:; `linerate discover --from "+arg+"` reads a file")
	case !found:
		return Target{}, BadUsage("host "+arg+": a bare name may be a host, a network namespace or a file",
			"write ssh://root@"+arg+", netns:"+arg+" for a network namespace, or local: for this host")
	case scheme == "local" && rest == "":
		return Target{ThisHost(), arg}, nil
	case scheme == "netns" && rest != "":
		return Target{rest, arg}, nil
	case scheme == "ssh":
		u, err := url.Parse(arg)
		if err != nil || u.Hostname() == "" {
			return Target{}, BadUsage("host "+arg+": no host name in it", "write ssh://user@host or ssh://user@host:port")
		}
		return Target{u.Hostname(), arg}, nil
	case scheme == "nats":
		if err := wire.CheckName("host", rest); err != nil {
			return Target{}, BadUsage(err.Error(), "write nats:NAME, the name that the host was enrolled under")
		}
		return Target{rest, arg}, nil
	}
	hint := "write local:, netns:NAME, ssh://user@host or nats:NAME"
	if strings.Contains(scheme, "@") { // as scp has it, or with a port
		hint = "write ssh://user@host, or ssh://user@host:port"
	}
	return Target{}, BadUsage("host "+arg+": unknown way to reach it", hint)
}

// bareLogin reports what can only be a host to log in to: USER@HOST, or an IPv4 address.
func bareLogin(arg string) bool {
	user, host, found := strings.Cut(arg, "@")
	if found {
		return user != "" && host != "" && !strings.ContainsAny(arg, ":/?") && !strings.Contains(host, "@")
	}
	addr, err := netip.ParseAddr(arg)
	return err == nil && addr.Is4()
}

// Target reads a host that the command line names, with --become where it is
// reached by ssh.
func (con *Console) Target(arg string) (Target, error) {
	t, err := parseTarget(arg)
	if err != nil || con.Become == "" || !strings.HasPrefix(t.Reach, "ssh:") || strings.Contains(t.Reach, "?") {
		return t, err
	}
	if con.Become != string(fleet.BecomeSudo) {
		return Target{}, BadUsage("--become "+con.Become+": want "+string(fleet.BecomeSudo), "it runs linerate by sudo on hosts reached by ssh")
	}
	t.Reach += "?become=" + con.Become
	return t, nil
}

// AsTyped is a reach as it is given to a command: a question mark would be a
// pattern to a shell.
func AsTyped(reach string) string {
	way, become, found := strings.Cut(reach, "?become=")
	if !found {
		return reach
	}
	return way + " --become " + become
}

// unnamed is what a kernel is called that nobody gave a name
// (CONFIG_DEFAULT_HOSTNAME).
const unnamed = "(none)"

// ThisHost is what this machine is called.
func ThisHost() string {
	name, err := os.Hostname()
	if err != nil || name == "" || name == unnamed {
		return "localhost"
	}
	return name
}

// Fleet is how hosts are reached; journal is the directory of those of this
// machine, "" the default.
func (con *Console) Fleet(journal string) fleet.Config {
	return fleet.Config{Version: con.Version, JournalDir: journal, SSH: con.SSH, Bus: con.Bus, Logger: con.Logger()}
}

// Open reaches one host by the word that a user gave for it.
func (con *Console) Open(ctx context.Context, arg string) (Target, *fleet.Host, error) {
	t, err := con.Target(arg)
	if err != nil {
		return t, nil, err
	}
	h, err := con.Dial(ctx, t)
	return t, h, err
}

// Dial reaches a host named on the command line.
func (con *Console) Dial(ctx context.Context, t Target) (*fleet.Host, error) {
	h, err := fleet.Dial(ctx, t.Name, t.Reach, con.Fleet(""))
	if hint := SSHHint(t.Reach, err); hint != "" {
		return nil, WithHint(err, hint)
	}
	if err == nil || !errors.Is(err, fleet.ErrUnreachable) || errors.Is(err, fs.ErrPermission) {
		return h, err
	}
	if already := (*hinted)(nil); errors.As(err, &already) {
		return nil, err
	}
	if strings.HasPrefix(t.Reach, "nats:") {
		return nil, WithHint(err, "--nats says where NATS is, `linerate agent` must run on the host and be enrolled as "+t.Name)
	}
	if strings.HasPrefix(t.Reach, "netns:") {
		return nil, WithHint(err, "`ip netns list` names the network namespaces here")
	}
	return nil, WithHint(err, "try `ssh "+sshWords(t.Reach)+" true`: it must work without a question")
}

// anyone is a reach for hints about a host that is not known here.
const anyone = "ssh://USER@HOST"

// SSHHint is what to do about a host that ssh does not reach; "" for any other
// error.
func SSHHint(reach string, err error) string {
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

// NATSFlags say where NATS is. What they leave out, the environment says
// (LINERATE_NATS, LINERATE_CREDS, LINERATE_CA), and else what `enroll` wrote.
type NATSFlags struct{ Url, creds, ca string }

// Add adds the flags to all commands.
func (b *NATSFlags) Add(root *cobra.Command) {
	flags := root.PersistentFlags()
	flags.StringVar(&b.Url, "nats", "", "NATS server or cluster, such as tls://ctl:4222 (LINERATE_NATS)")
	flags.StringVar(&b.creds, "creds", "", "credentials file for it (LINERATE_CREDS)")
	flags.StringVar(&b.ca, "nats-ca", "", "its certificate authority (LINERATE_CA; default: ca.pem beside the credentials)")
}

// IdentityDir is where `enroll` writes an identity, and where it is looked for; "" for
// a user without a home: never the working directory, where others may write.
func (con *Console) IdentityDir() string {
	if os.Geteuid() == 0 {
		return "/etc/linerate"
	}
	if dir := con.Getenv("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "linerate")
	}
	if home := con.Getenv("HOME"); filepath.IsAbs(home) {
		return filepath.Join(home, ".config", "linerate")
	}
	return ""
}

// enrollHint is what who is nobody on the bus does: the hosts may well be
// enrolled.
const enrollHint = "no user is enrolled here: where `linerate serve` runs, `linerate serve token --role measure --user NAME` prints a token, and `linerate enroll -` here reads it"

// BusConfig is how to connect to NATS. Where nobody says, it is ErrUnreachable.
func (con *Console) BusConfig() (link.Config, error) {
	written := map[string]string{}
	if dir := con.IdentityDir(); dir != "" {
		written = readEnv(filepath.Join(dir, enroll.EnvFile))
	}
	cfg := link.Config{
		URL:   cmp.Or(con.NATS.Url, con.Getenv("LINERATE_NATS"), written["LINERATE_NATS"]),
		Creds: cmp.Or(con.NATS.creds, con.Getenv("LINERATE_CREDS"), written["LINERATE_CREDS"]),
		CA:    cmp.Or(con.NATS.ca, con.Getenv("LINERATE_CA")),
	}
	if cfg.Creds == written["LINERATE_CREDS"] {
		cfg.CA = cmp.Or(cfg.CA, written["LINERATE_CA"])
	}
	if con.Verbose {
		cfg.Logger = con.Logger()
	}
	if cfg.URL == "" || cfg.Creds == "" {
		what := map[bool]string{true: "the address of the NATS server (--nats)", false: "the credentials for it (--creds)"}[cfg.URL == ""]
		return cfg, WithHint(fmt.Errorf("%w by NATS: missing: %s", fleet.ErrUnreachable, what), enrollHint)
	}
	return cfg, nil
}

// readEnv reads the lines KEY=VALUE of a file; one that cannot be read has none.
func readEnv(file string) map[string]string {
	out := make(map[string]string)
	f, err := os.Open(file)
	if err != nil {
		return out
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if key, value, ok := strings.Cut(lines.Text(), "="); ok {
			out[key] = value
		}
	}
	return out
}

// OnNATS begins a run's name on NATS: what --resume nats:RUN goes on with.
const OnNATS = "nats:"
