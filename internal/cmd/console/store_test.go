package console

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestStorePlace: where a command's store is.
func TestStorePlace(t *testing.T) {
	env := map[string]string{"XDG_STATE_HOME": "/state", "HOME": "/home/x"}
	con := &Console{Getenv: func(key string) string { return env[key] }}
	own := "/state/linerate/history.db"
	if os.Geteuid() == 0 {
		own = "/var/lib/linerate/history.db"
	}
	for word, want := range map[string]string{"": "", "none": "", "default": own, "a.db": "a.db", "postgres://h/d": "postgres://h/d"} {
		if got, err := con.storePlace(word); err != nil || got != want {
			t.Errorf("%q: %q, %v", word, got, err)
		}
	}
	env[EnvStore] = filepath.Join(t.TempDir(), "history.db")
	if k := con.Keeper(context.Background(), ""); k.place != env[EnvStore] {
		t.Errorf("%+v", k)
	}
	if k := con.Keeper(context.Background(), "none"); k.place != "" {
		t.Errorf("%+v", k)
	}
}

func TestSince(t *testing.T) {
	now := time.Date(2026, 3, 31, 12, 0, 0, 0, time.UTC)
	for s, want := range map[string]time.Time{
		"": {}, "30d": now.AddDate(0, 0, -30), "12h": now.Add(-12 * time.Hour), "2w": now.AddDate(0, 0, -14), "90m": now.Add(-90 * time.Minute), "1.5d": now.Add(-36 * time.Hour), "45s": now.Add(-45 * time.Second),
		"2026-01-31": time.Date(2026, 1, 31, 0, 0, 0, 0, time.UTC), "2026-01-31T10:00:00+02:00": time.Date(2026, 1, 31, 8, 0, 0, 0, time.UTC), "1y": now.Add(-365 * 24 * time.Hour),
	} {
		if got, err := ParseSince("since", s, now); err != nil || !got.Equal(want) {
			t.Errorf("%q: %v, %v", s, got, err)
		}
	}
	for _, s := range []string{"30", "yesterday", "-3d", "NaNd", "1e300y", "2026-13-01", "d"} {
		if got, err := ParseSince("since", s, now); err == nil || !strings.Contains(err.Error(), "--since: want a time in m, h, d, w or y, or a date") {
			t.Errorf("%q: %v, %v", s, got, err)
		}
	}
}
