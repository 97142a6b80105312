package console

import (
	"bufio"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/linerate/linerate/internal/agent/fleet"
	"github.com/linerate/linerate/internal/agent/nats/enroll"
	"github.com/linerate/linerate/internal/agent/nats/link"
)

// NATSFlags say where NATS is. What they leave out, the environment says
// (LINERATE_NATS, LINERATE_CREDS, LINERATE_CA), and else what `enroll` wrote.
type NATSFlags struct{ Url, creds, ca string }

func (b *NATSFlags) Add(root *cobra.Command) {
	flags := root.PersistentFlags()
	flags.StringVar(&b.Url, "nats", "", "NATS server or cluster, such as tls://ctl:4222 (LINERATE_NATS)")
	flags.StringVar(&b.creds, "creds", "", "credentials file for it (LINERATE_CREDS)")
	flags.StringVar(&b.ca, "nats-ca", "", "its certificate authority (LINERATE_CA; default: ca.pem beside the credentials)")
}

// IdentityDir is where `enroll` writes an identity, and where it is looked for.
func (con *Console) IdentityDir() string {
	if os.Geteuid() == 0 {
		return "/etc/linerate"
	}
	if dir := con.Getenv("XDG_CONFIG_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "linerate")
	}
	return filepath.Join(con.Getenv("HOME"), ".config", "linerate")
}

// enrollHint is what who is nobody on the bus does: the hosts may well be
// enrolled.
const enrollHint = "no user is enrolled here: where `linerate serve` runs, `linerate serve token --role measure --user NAME` prints a token, and `linerate enroll -` here reads it"

// BusConfig is how to connect to NATS. Where nobody says, it is ErrUnreachable.
func (con *Console) BusConfig() (link.Config, error) {
	written := readEnv(filepath.Join(con.IdentityDir(), enroll.EnvFile))
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
		what := map[bool]string{true: "where NATS is (--nats)", false: "who we are there (--creds)"}[cfg.URL == ""]
		return cfg, WithHint(fmt.Errorf("%w: not said %s", fleet.ErrUnreachable, what), enrollHint)
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
