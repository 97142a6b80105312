package changing

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/internal/agent/fleet"
	"github.com/linerate/linerate/internal/lab"
	"github.com/linerate/linerate/internal/lab/labtest/floor"
	"github.com/linerate/linerate/internal/run/change"
	"github.com/linerate/linerate/netstate"
)

// opened plans a change of the file's hosts.
func (g ground) opened(roots map[string]string, persist string) *change.Change {
	g.t.Helper()
	text, err := os.ReadFile(g.file)
	floor.Must(g.t, err)
	f, err := fabric.Parse(g.file, text)
	floor.Must(g.t, err)
	c, err := change.Open(g.t.Context(), change.Config{Fabric: f, Fleet: fleet.Config{Version: "test", JournalDir: g.journal}, Roots: roots, Persist: persist,
		Tell: func(line string) { g.t.Log(line) }})
	floor.Must(g.t, err)
	g.t.Cleanup(func() { floor.Must(g.t, c.Close()) })
	return c
}

// secondHostRefuses: what the second host does not do, the first must not
// keep.
func secondHostRefuses(t *testing.T) {
	g := newGround(t, topology(t), twoBonds("mode: 802.3ad, transmit-hash-policy: layer3+4", ", mtu: 9000"))
	t.Run("changed meanwhile", func(t *testing.T) {
		c := g.opened(nil, "")
		ip(t, "beta", "link set bond0 mtu 1400")
		before := g.both()
		if _, err := c.Apply(t.Context(), change.Options{}); err == nil || errors.Is(err, change.ErrRolledBack) || !strings.Contains(err.Error(), "changed since the plan") {
			t.Errorf("error %v", err)
		}
		g.unchanged(before)
		ip(t, "beta", "link set bond0 mtu 1500")
	})
	t.Run("a step fails", func(t *testing.T) {
		in(t, "beta", "sysctl -qw net.ipv6.conf.bond0.disable_ipv6=1")
		before := g.both()
		g.write(strings.Replace(twoBonds("mode: 802.3ad, transmit-hash-policy: layer3+4", ", mtu: 9000"), "10.0.0.2/24", `10.0.0.2/24, "fd00::2/64"`, 1))
		if _, errs := g.fails("apply", g.file, "--yes"); !strings.Contains(errs, "fd00::2/64") {
			t.Errorf("the step is not named:\n%s", errs)
		}
		g.unchanged(before)
	})
}

// allOrNoneKeep: a file that somebody edits on the second host while the
// change is being proven keeps the first from being confirmed.
func allOrNoneKeep(t *testing.T) {
	g := newGround(t, topology(t), twoBonds("mode: 802.3ad, transmit-hash-policy: layer3+4", ""))
	before := g.both()
	roots := map[string]string{"alpha": t.TempDir(), "beta": t.TempDir()}
	dir := "etc/systemd/network"
	for _, r := range roots {
		floor.Must(t, os.MkdirAll(filepath.Join(r, dir), 0o755))
	}
	written := func(host string) int {
		files, err := os.ReadDir(filepath.Join(roots[host], dir))
		floor.Must(t, err)
		return len(files)
	}
	c := g.opened(roots, "networkd")
	out, err := c.Apply(t.Context(), change.Options{Unconfirmed: true})
	floor.Must(t, err)
	if n := written("alpha") + written("beta"); n != 0 {
		t.Errorf("%d files are there before the change is confirmed", n)
	}
	var mine string
	for _, h := range c.Hosts() {
		if h.Name == "beta" {
			mine = filepath.Join(roots["beta"], h.Plan.Files[0].Path)
		}
	}
	floor.Must(t, os.WriteFile(mine, []byte("# mine\n"), 0o644))
	if err := c.Keep(&out); !errors.Is(err, change.ErrRolledBack) || !strings.Contains(err.Error(), filepath.Base(mine)) {
		t.Errorf("kept, or not for the file's sake: %v", err)
	}
	g.unchanged(before)
	if written("alpha") != 0 || written("beta") != 1 {
		t.Errorf("%d files on alpha, %d on beta", written("alpha"), written("beta"))
	}
	floor.Must(t, os.Remove(mine))

	c = g.opened(roots, "networkd")
	if out, err = c.Apply(t.Context(), change.Options{}); err != nil || !out.Confirmed {
		t.Errorf("not kept: %+v, %v", out, err)
	}
	for name, h := range g.both() {
		if mustLink(t, h, "bond0").Bond.HashPolicy != netstate.Layer34 || written(name) == 0 {
			t.Errorf("%s: the change or its files are missing", name)
		}
	}
	for _, h := range out.Hosts {
		g.must(0, "journal", "--host", "netns:"+lab.Namespace(h.Host))
	}
}
