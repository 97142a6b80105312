package change

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/internal/agent/fleet"
	"github.com/linerate/linerate/internal/host/apply/testjournal"
	"github.com/linerate/linerate/internal/kernel/netns"
)

// TestKernelOrphan: a change whose process and guard were killed, or whose machine
// lost its power, does not stand in the way of the next one: it is rolled back before
// the host is read. While its guard lives it does stand in the way, and `plan`, which
// changes nothing, leaves it as it is.
func TestKernelOrphan(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("making a network namespace needs root")
	}
	const space = "linerate-wave-a"
	for name, tt := range map[string]struct {
		was, is string // in the entry
		reboot  bool
	}{
		"killed":   {`"start_ticks": \d+`, `"start_ticks": 1`, false},
		"rebooted": {`"boot": "[^"]*"`, `"boot": "before"`, true},
	} {
		t.Run(name, func(t *testing.T) {
			journal := testjournal.Dir(t)
			_ = netns.Delete(space) // of a test that was killed
			if _, err := netns.Create(space); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = netns.Delete(space) })
			cfg := Config{Fleet: fleet.Config{Version: "test", JournalDir: journal, Unguarded: true}, Persist: PersistNone}
			open := func(value string, recover bool) *Change {
				f, err := fabric.Parse("one.yaml", []byte("linerate: v1\nhosts:\n  a: {reach: \"netns:"+space+"\", network: {version: 2}, sysctl: {net.ipv4.tcp_fin_timeout: \""+value+"\"}}\n"))
				if err != nil {
					t.Fatal(err)
				}
				cfg.Fabric, cfg.Recover = f, recover
				c, err := Open(t.Context(), cfg)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { _ = c.Close() })
				return c
			}
			if _, err := open("30", false).Apply(t.Context(), Options{Unconfirmed: true, Deadline: time.Hour}); err != nil {
				t.Fatal(err)
			}
			if c := open("31", true); c.Hosts()[0].Pending == nil {
				t.Error("a change that somebody looks after was rolled back")
			}
			files, err := filepath.Glob(filepath.Join(journal, "*.json"))
			if err != nil || len(files) != 1 {
				t.Fatal(files, err)
			}
			text, err := os.ReadFile(files[0])
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(files[0], regexp.MustCompile(tt.was).ReplaceAll(text, []byte(tt.is)), 0o600); err != nil {
				t.Fatal(err)
			}
			if tt.reboot {
				set(t, "a", "60")
			}
			if c := open("31", false); c.Hosts()[0].Pending == nil {
				t.Error("a plan rolled a change back")
			}
			c := open("31", true)
			if p := c.Hosts()[0]; p.Pending != nil || len(p.Plan.Steps) != 1 || p.Plan.Steps[0].Old != "60" {
				t.Fatalf("pending %v, plan %+v", p.Pending, p.Plan.Steps)
			}
			if _, err := c.Apply(t.Context(), Options{Unconfirmed: true, Deadline: time.Minute}); err != nil {
				t.Fatal(err)
			}
		})
	}
}
