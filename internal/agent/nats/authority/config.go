package authority

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/nats-io/jwt/v2"

	"github.com/linerate/linerate/internal/kernel/sys"
	"github.com/linerate/linerate/internal/statefile"
)

// ServerConfig is one server of the bus.
type ServerConfig struct {
	Name   string // unique in the cluster
	Listen string // address and port for controllers and agents
	// Names are the host names and addresses that it is reached by, for its
	// certificate.
	Names []string
	// Cluster is the address and port on which it meets the other servers,
	// Routes those of the others; "" is a server by itself.
	Cluster string
	Routes  []string
}

// mostReserved is how many bytes the streams may reserve together. Each user's
// results are bounded by themselves, and most never fill what they may.
const mostReserved = 1 << 50

// A connection costs some 30 KiB before it has said who it is. Of the process's files the
// streams need some, and so do the store and the web page.
const (
	mostConnections = 16 << 10
	otherFiles      = 768
)

// connectionsOf is how many connections there may be at a time in a process that may open
// so many files; zero is not known.
func connectionsOf(files uint64) int {
	if files == 0 || files > mostConnections+otherFiles {
		return mostConnections
	}
	return int(max(files/4, files-min(files, otherFiles)))
}

// mostUnread is how much of what somebody does not read waits in the server, for each
// connection: some hosts' replies.
const mostUnread = "32MB"

// confFile is what nats-server reads too.
const confFile = "server.conf"

// WriteConfig certifies a server and writes its configuration in nats-server's
// own language, so that `nats-server -c` runs the same server as `linerate
// serve` does. It returns the file.
func (a *Authority) WriteConfig(cfg ServerConfig) (string, error) {
	if err := a.Certify(cfg.Names); err != nil {
		return "", err
	}
	text, err := a.config(a.dir, cfg)
	if err != nil {
		return "", err
	}
	return a.path(confFile), a.write(confFile, text)
}

// config is the configuration of a server whose directory is dir.
func (a *Authority) config(dir string, cfg ServerConfig) (string, error) {
	system, err := a.read(systemJWT)
	if err != nil {
		return "", err
	}
	key, err := subject(string(system))
	if err != nil {
		return "", err
	}
	in := func(name string) string { return quoted(filepath.Join(dir, name)) }
	var b strings.Builder
	fmt.Fprintf(&b, "# Written by linerate serve at each start.\nserver_name: %s\nlisten: %s\n", quoted(cfg.Name), quoted(cfg.Listen))
	fmt.Fprintf(&b, "operator: %s\nsystem_account: %s\n", in(operatorJWT), key)
	fmt.Fprintf(&b, "resolver {\n  type: full\n  dir: %s\n  allow_delete: false\n  interval: \"1m\"\n}\n", in(resolverDir))
	fmt.Fprintf(&b, "jetstream {\n  store_dir: %s\n  max_file_store: %d\n}\n", in("jetstream"), mostReserved)
	tls := fmt.Sprintf("  cert_file: %s\n  key_file: %s\n  ca_file: %s\n", in(serverFile), in(serverKey), in(caFile))
	fmt.Fprintf(&b, "tls {\n%s  timeout: 10\n}\n", tls)
	fmt.Fprintf(&b, "max_payload: 1MB\nmax_control_line: 8KB\nmax_pending: %s\nwrite_deadline: \"10s\"\nping_interval: \"10s\"\nping_max: 2\nmax_connections: %d\n", mostUnread, connectionsOf(sys.OpenFiles()))
	if cfg.Cluster != "" {
		var routes []string
		for _, r := range cfg.Routes {
			routes = append(routes, quoted("tls://"+r))
		}
		fmt.Fprintf(&b, "cluster {\n  name: linerate\n  listen: %s\n  routes: [%s]\n  tls {\n%s  verify: true\n  timeout: 10\n  }\n}\n", quoted(cfg.Cluster), strings.Join(routes, ", "), tls)
	}
	return b.String(), nil
}

// quoted is a text in nats-server's language, which takes JSON's quoting.
func quoted(s string) string {
	text, err := json.Marshal(s)
	if err != nil {
		return `""` // never of a string
	}
	return string(text)
}

// Member writes the state directory of another server of the cluster: it has a
// certificate of its own and no key that signs. Its configuration is written
// when it is first started there.
func (a *Authority) Member(dir string, names []string) error {
	if !a.Signs() {
		return ErrMember
	}
	if err := os.MkdirAll(filepath.Join(dir, resolverDir), 0o700); err != nil {
		return err
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		return err
	}
	if err := a.certify(dir, names); err != nil {
		return err
	}
	accounts, err := filepath.Glob(filepath.Join(a.path(resolverDir), "*.jwt"))
	if err != nil {
		return err
	}
	for _, from := range append(accounts, a.path(operatorJWT), a.path(systemJWT), a.path(accountJWT), a.path(storeJWT), a.path(caFile), a.path(revokedFile)) {
		name, err := filepath.Rel(a.dir, from)
		if err != nil {
			return err
		}
		text, err := statefile.Read(from, mostState)
		if err == nil {
			err = WritePrivate(filepath.Join(dir, name), string(text))
		}
		if err != nil {
			return fmt.Errorf("copy %s: %w", name, err)
		}
	}
	for file, of := range map[string]func() ([]byte, error){serviceCreds: a.Service, storeCreds: a.Store} {
		text, err := of()
		if err == nil {
			err = WritePrivate(filepath.Join(dir, file), string(text))
		}
		if err != nil {
			return fmt.Errorf("write %s: %w", file, err)
		}
	}
	return nil
}

// subject is the key that a signed token is of.
func subject(token string) (string, error) {
	claims, err := jwt.DecodeAccountClaims(strings.TrimSpace(token))
	if err != nil {
		return "", fmt.Errorf("read account: %w", err)
	}
	return claims.Subject, nil
}
