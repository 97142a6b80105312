package switchwatch

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/linerate/linerate/fabric/topology"
	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/internal/switchwatch/gnmi"
	"github.com/linerate/linerate/internal/switchwatch/snmp"
	"github.com/linerate/linerate/internal/userfile"
)

// EnvCredentials names the file for the switches whose fabric file names none.
const EnvCredentials = "LINERATE_SWITCH_CREDENTIALS"

// credentials are what a file has of a switch's secrets. They are never printed.
type credentials map[string]string

// credentialKeys are the keys of such a file.
var credentialKeys = []string{"community", "user", "auth", "auth_password", "privacy", "privacy_password", "password", "tls", "ca"}

// String keeps them from being shown.
func (c credentials) String() string { return "credentials" }

// GoString keeps %#v from showing them.
func (c credentials) GoString() string { return c.String() }

// LogValue keeps logs from showing them.
func (c credentials) LogValue() slog.Value { return slog.StringValue(c.String()) }

// mostCredentials is the largest such file, in bytes.
const mostCredentials = 64 << 10

// read is a switch's credentials: its own file's, relative to the fabric's folder, else
// that of the environment. Nothing of a file is in an error.
func (cfg Config) read(ctx context.Context, s topology.Switch) (credentials, error) {
	path := s.Credentials
	switch {
	case path == "":
		path = cfg.Credentials
	case !filepath.IsAbs(path):
		path = filepath.Join(cfg.Dir, path)
	}
	if path == "" {
		return nil, fmt.Errorf("no credentials: write credentials: FILE beside reach, or set %s", EnvCredentials)
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Mode().IsRegular() && info.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("credentials %s: others than its owner may read it (mode %04o): chmod 600 %s: %w", path, info.Mode().Perm(), path, fs.ErrPermission)
	}
	text, err := userfile.Read(ctx, path, mostCredentials)
	if err != nil {
		return nil, err
	}
	out, why := parse(text)
	if why != "" {
		return nil, fmt.Errorf("credentials %s: %s", path, why)
	}
	return out, nil
}

// parse reads keys and values; why says what is wrong, by its line alone.
func parse(text []byte) (out credentials, why string) {
	root, err := yamldoc.Parse("", text)
	if err != nil || root == nil || root.Kind != yamldoc.MappingNode {
		return nil, "want lines such as `community: ...`, or `user: ...`, `auth: sha256` and `auth_password: ...`"
	}
	out = make(credentials)
	for _, p := range root.Pairs {
		known := false
		for _, key := range credentialKeys {
			known = known || key == p.Key
		}
		switch {
		case !known:
			return nil, fmt.Sprintf("line %d: the key is none of %s", p.Line, strings.Join(credentialKeys, ", "))
		case p.Value == nil || p.Value.Kind != yamldoc.ScalarNode || p.Value.Text == "":
			return nil, fmt.Sprintf("line %d: want one value", p.Line)
		}
		out[p.Key] = p.Value.Text
	}
	return out, ""
}

// gnmi is what gNMI asks for. A file of authorities lies beside the fabric's, unless its
// path says where.
func (cfg Config) gnmi(ctx context.Context, c credentials, r topology.Reach) (gnmi.Access, error) {
	a := gnmi.Access{User: c["user"], Password: c["password"], TLS: c["tls"]}
	if r.User != "" {
		a.User = r.User
	}
	if ca := c["ca"]; ca != "" {
		if !filepath.IsAbs(ca) {
			ca = filepath.Join(cfg.Dir, ca)
		}
		text, err := userfile.Read(ctx, ca, mostCredentials)
		if err != nil {
			return a, fmt.Errorf("credentials: ca: %w", err)
		}
		a.CA = text
	}
	if why := a.Check(); why != "" {
		return a, errors.New("credentials: " + why)
	}
	return a, nil
}

// access is what SNMP asks for.
func (c credentials) access(r topology.Reach) (snmp.Access, error) {
	a := snmp.Access{
		Community: c["community"], User: c["user"], Auth: c["auth"], AuthPassword: c["auth_password"], Privacy: c["privacy"], PrivacyPassword: c["privacy_password"],
	}
	if r.User != "" {
		a.User = r.User
	}
	if why := a.Check(); why != "" {
		return a, errors.New("credentials: " + why)
	}
	return a, nil
}
