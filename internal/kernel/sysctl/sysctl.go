// Package sysctl reads and writes kernel tunables by their dotted keys and
// knows whom each belongs to: one network namespace or the whole machine. It
// must never decide which value is right.
package sysctl

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/linerate/linerate/netstate"
)

// ErrGlobal is the answer to a write, from inside a namespace, of a key that
// belongs to the whole machine.
var ErrGlobal = errors.New("the key belongs to the whole machine and not to this namespace")

// root is where the tunables are, relative to /.
const root = "proc/sys"

// Path is the file of a key, relative to /: "proc/sys/net/ipv4/tcp_rmem".
// Either separator is understood, as sysctl(8) does: the one that comes first
// separates, the other is part of a name, so that both
// net.ipv4.conf.eth0/100.rp_filter and net/ipv4/conf/eth0.100/rp_filter name
// the link eth0.100. A key that is empty, has an empty part, "." or ".." or a
// character outside [A-Za-z0-9_:@-] and the separators is fs.ErrInvalid.
func Path(key string) (string, error) {
	parts, err := split(key)
	if err != nil {
		return "", err
	}
	return root + "/" + path.Join(parts...), nil
}

func split(key string) ([]string, error) {
	separator, other := ".", "/"
	if i := strings.IndexAny(key, "./"); i >= 0 && key[i] == '/' {
		separator, other = other, separator
	}
	parts := strings.Split(key, separator)
	for i, p := range parts {
		if separator == "." {
			p = strings.ReplaceAll(p, other, ".")
		}
		if p == "" || p == "." || p == ".." || strings.ContainsFunc(p, notInName) {
			return nil, fmt.Errorf("parse sysctl key %.80q: %w", key, fs.ErrInvalid)
		}
		parts[i] = p
	}
	return parts, nil
}

func notInName(r rune) bool {
	switch {
	case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
		return false
	}
	return !strings.ContainsRune("_:@.-", r)
}

// Canonical is the dotted form of a key: what Path's file is called in a
// fabric file and in a netstate.Host. Errors are Path's.
func Canonical(key string) (string, error) {
	parts, err := split(key)
	if err != nil {
		return "", err
	}
	for i, p := range parts {
		parts[i] = strings.ReplaceAll(p, ".", "/")
	}
	return strings.Join(parts, "."), nil
}

// Fold gives a value as netstate keeps it: without surrounding blanks, inner
// blanks folded to one space.
func Fold(value string) string { return strings.Join(strings.Fields(value), " ") }

// Read gives the current values, blanks folded, by canonical key. A key that
// this kernel or namespace does not have is left out and is no error; one that
// may not be read, or is no key, is part of the error beside the others'
// values. Namespaced keys are the calling thread's namespace's.
func Read(keys ...string) (map[string]netstate.Sysctl, error) { return readLive(keys) }

// ReadFrom is Read over a captured tree whose root holds proc/sys.
func ReadFrom(tree fs.FS, keys ...string) (map[string]netstate.Sysctl, error) {
	return readWith(func(file string) ([]byte, error) { return fs.ReadFile(tree, file) }, keys)
}

func readWith(read func(file string) ([]byte, error), keys []string) (map[string]netstate.Sysctl, error) {
	values := make(map[string]netstate.Sysctl, len(keys))
	var problems []error
	for _, key := range keys {
		file, err := Path(key)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		text, err := read(file)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			problems = append(problems, fmt.Errorf("read sysctl %s: %w", key, err))
			continue
		}
		canonical, _ := Canonical(key)
		values[canonical] = netstate.Sysctl{Value: Fold(string(text)), Scope: ScopeOf(canonical)}
	}
	return values, errors.Join(problems...)
}

// Write sets a key to a value. inNamespace says that the calling thread is in
// another network namespace than the machine's first: then a global key is
// refused with ErrGlobal. A key that does not exist is fs.ErrNotExist, one
// that may not be written fs.ErrPermission, a value with a line break
// fs.ErrInvalid; a value the kernel refuses is its own error (EINVAL). Needs
// CAP_NET_ADMIN, for global keys CAP_SYS_ADMIN or root.
func Write(key, value string, inNamespace bool) error {
	file, err := Path(key)
	if err != nil {
		return err
	}
	if strings.ContainsAny(value, "\n\x00") {
		return fmt.Errorf("write sysctl %s: value %.40q: %w", key, value, fs.ErrInvalid)
	}
	if inNamespace && ScopeOf(key) == netstate.ScopeGlobal {
		return fmt.Errorf("write sysctl %s: %w", key, ErrGlobal)
	}
	if err := writeLive(file, value); err != nil {
		return fmt.Errorf("write sysctl %s: %w", key, err)
	}
	return nil
}
