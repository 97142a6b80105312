package measure

import (
	"testing"
)

func TestParseListener(t *testing.T) {
	for arg, want := range map[string]struct {
		host, name string
		port       uint16
	}{
		"storage":            {"storage", "storage", 5201},
		"storage:5202":       {"storage", "storage:5202", 5202},
		"192.0.2.9":          {"192.0.2.9", "192.0.2.9", 5201},
		"192.0.2.9:5201":     {"192.0.2.9", "192.0.2.9", 5201},
		"2001:db8::1":        {"2001:db8::1", "2001:db8::1", 5201},
		"[2001:db8::1]":      {"2001:db8::1", "2001:db8::1", 5201},
		"[2001:db8::1]:5300": {"2001:db8::1", "[2001:db8::1]:5300", 5300},
	} {
		got, err := parseListener(arg)
		if err != nil || got.host != want.host || got.port != want.port || got.name() != want.name {
			t.Errorf("%s: %+v, named %s: %v", arg, got, got.name(), err)
		}
	}
	for _, arg := range []string{":5201", "host:", "host:0", "host:65536", "host:x", "[::1", "::1]:5201", "[]:5201", "a b", "[host]x:1"} {
		if got, err := parseListener(arg); err == nil {
			t.Errorf("%s was read as %+v", arg, got)
		}
	}
	for arg, want := range map[string]bool{"local:": false, "netns:a": false, "ssh://a": false, "fabric.yaml": false, "dir/x": false, "local": true, "a": true, "a:1": true} {
		if isListener(arg) != want {
			t.Errorf("%s: listener is %v", arg, !want)
		}
	}
}
