package store

import (
	"errors"
	"net/url"
	"path/filepath"
	"strings"
)

// fileName is the store's file where nobody names one.
const fileName = "history.db"

// systemDir is root's directory for what is kept.
const systemDir = "/var/lib/linerate"

// DefaultPlace is the store of a user who names none: in /var/lib/linerate for
// root, else in $XDG_STATE_HOME/linerate, which is ~/.local/state/linerate when
// it is not set. It fails for a user without a home.
func DefaultPlace(getenv func(string) string, root bool) (string, error) {
	if root {
		return filepath.Join(systemDir, fileName), nil
	}
	// What is not absolute is to be ignored (XDG Base Directory Specification).
	if dir := getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "linerate", fileName), nil
	}
	home := getenv("HOME")
	if home == "" {
		return "", errors.New("find the store: neither XDG_STATE_HOME nor HOME is set: set HOME, or name one: --store FILE")
	}
	return filepath.Join(home, ".local", "state", "linerate", fileName), nil
}

// IsURL reports the address of a PostgreSQL database, as libpq has it.
func IsURL(place string) bool {
	return strings.HasPrefix(place, "postgres://") || strings.HasPrefix(place, "postgresql://")
}

// Shown is a place as it may be printed: of a URL the user, the host and the
// database, without a password and without parameters, which may hold one too.
func Shown(place string) string {
	if !IsURL(place) {
		return place
	}
	u, err := url.Parse(place)
	if err != nil || u.Opaque != "" {
		return "postgres://..." // whatever it is, it may hold a password
	}
	shown := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}
	if name := u.User.Username(); name != "" {
		shown.User = url.User(name)
	}
	return shown.String()
}
