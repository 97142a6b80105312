package change

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/ask"
	"github.com/linerate/linerate/internal/agent/fleet"
	"github.com/linerate/linerate/internal/host/apply/testjournal"
	"github.com/linerate/linerate/internal/kernel/netns"
)

const waited = "/proc/sys/net/ipv4/tcp_fin_timeout"

// TestKernelWaves: a wave whose host has changed meanwhile is refused and no other is
// begun; what the canary and the waves before have confirmed stays, and goes back by
// the group's name.
func TestKernelWaves(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("making a network namespace needs root")
	}
	text, journal := "linerate: v1\nhosts:\n", testjournal.Dir(t)
	for _, name := range []string{"a", "b", "c", "d"} {
		space := "linerate-wave-" + name
		_ = netns.Delete(space) // of a test that was killed
		if _, err := netns.Create(space); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = netns.Delete(space) })
		text += "  " + name + ": {reach: \"netns:" + space + "\", network: {version: 2}, sysctl: {net.ipv4.tcp_fin_timeout: \"30\"}}\n"
	}
	f, err := fabric.Parse("four.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	var told []string
	c, err := Open(t.Context(), Config{Fabric: f, Fleet: fleet.Config{Version: "test", JournalDir: journal, Unguarded: true}, Persist: PersistNone, Tell: func(line string) {
		told = append(told, line)
		if strings.HasPrefix(line, "wave 2") { // somebody is faster
			set(t, "c", "45")
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	waves, err := c.Waves([]string{"b"}, 2)
	if err != nil || fmt.Sprint(waves) != "[[b] [a c] [d]]" {
		t.Fatalf("%v, %v", waves, err)
	}
	out, err := c.ApplyWaves(t.Context(), waves, Options{Group: "20261123T083000.000Z", Title: "apply in waves"})
	if err == nil || !strings.Contains(err.Error(), "changed since the plan") || !strings.Contains(err.Error(), "wave 2 of 3") {
		t.Errorf("error %v", err)
	}
	if !out[0].Confirmed || out[1].Confirmed || !out[1].Begun || out[2].Begun {
		t.Errorf("outcomes %+v", out)
	}
	if got, want := values(t), "60 30 45 60"; got != want {
		t.Errorf("values %s, want %s: %v", got, want, told)
	}
	h, err := fleet.Dial(t.Context(), "b", "netns:linerate-wave-b", fleet.Config{JournalDir: journal, Unguarded: true})
	if err != nil {
		t.Fatal(err)
	}
	defer h.Close()
	if _, err := ask.Call(t.Context(), h, agentapi.Rollback, agentapi.RollbackRequest{Group: "20261123T083000.000Z"}); err != nil {
		t.Error(err)
	}
	if got, want := values(t), "60 60 45 60"; got != want {
		t.Errorf("values %s after the rollback, want %s", got, want)
	}
}

func values(t *testing.T) string {
	t.Helper()
	var all []string
	for _, name := range []string{"a", "b", "c", "d"} {
		var text []byte
		err := netns.Named("linerate-wave-" + name).Do(func() (err error) {
			text, err = os.ReadFile(waited)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, strings.TrimSpace(string(text)))
	}
	return strings.Join(all, " ")
}

func set(t *testing.T, name, value string) {
	t.Helper()
	err := netns.Named("linerate-wave-" + name).Do(func() error { return os.WriteFile(waited, []byte(value), 0o600) })
	if err != nil {
		t.Error(errors.Join(errors.New("set "+name), err))
	}
}
