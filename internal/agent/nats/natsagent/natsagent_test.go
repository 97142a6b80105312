package natsagent

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/nats/claim"
)

func TestLost(t *testing.T) {
	status := func(caps string) string { return "Name:\tlinerate\nCapEff:\t" + caps + "\n" }
	for _, c := range []struct {
		caps string
		uid  int
		want []string
	}{
		{"000001ffffffffff", 0, nil},
		{"0000000000000000", 65534, []string{"CAP_NET_ADMIN", "CAP_NET_RAW", "CAP_SYS_ADMIN", "not root"}},
		{"0000000000003000", 65534, []string{"CAP_SYS_ADMIN", "not root"}}, // AmbientCapabilities of the network
		{"0000000000003000", 0, []string{"CAP_SYS_ADMIN"}},
		{"rubbish", 0, []string{"CAP_NET_ADMIN", "CAP_NET_RAW", "CAP_SYS_ADMIN"}},
	} {
		got := lostBy(status(c.caps), c.uid)
		if len(got) != len(c.want) {
			t.Errorf("%s as user %d: %q, want %q", c.caps, c.uid, got, c.want)
			continue
		}
		for i, want := range c.want {
			if !strings.Contains(got[i], want) {
				t.Errorf("%s as user %d: %q, want %q", c.caps, c.uid, got[i], want)
			}
		}
	}
}

// score reads systemd's verdict on a unit.
var score = regexp.MustCompile(`Overall exposure level for (\S+): ([0-9.]+) `)

// The units are as well closed as docs/fleet.md says.
// TestRoom: whoever may change a host finds room in it, whatever others take; and what is
// let go is no more than was accounted for.
func TestRoom(t *testing.T) {
	r := room{most: 100}
	who := func(name string, role agentapi.Role) claim.Identity { return claim.Identity{Name: name, Role: role} }
	ann, bob, adm := who("ann", agentapi.RoleWatch), who("bob", agentapi.RoleMeasure), who("adm", agentapi.RoleChange)
	for _, step := range []struct {
		who  claim.Identity
		n    int
		want bool
	}{{ann, 50, true}, {ann, 1, false}, {bob, 25, true}, {bob, 1, false}, {adm, 25, true}, {adm, 1, false}} {
		if got := r.take(step.who, step.n); got != step.want {
			t.Errorf("%d of %s: %v", step.n, step.who.Name, got)
		}
	}
	r.owe(adm, 7)
	for who, n := range map[claim.Identity]int{ann: 50, bob: 25, adm: 32} {
		r.owe(who, -n)
	}
	if r.all != 0 || len(r.of) != 0 {
		t.Errorf("%d are left of %v", r.all, r.of)
	}
}

func TestUnits(t *testing.T) {
	program, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Skip("no systemd-analyze here: install systemd")
	}
	doc, err := os.ReadFile("../../../../docs/fleet.md")
	if err != nil {
		t.Fatal(err)
	}
	units, err := filepath.Glob("../../../../deploy/systemd/*.service")
	if err != nil || len(units) != 2 {
		t.Fatalf("%v, %v", units, err)
	}
	for _, unit := range units {
		out, err := exec.Command(program, "security", "--offline=true", "--no-pager", unit).CombinedOutput()
		m := score.FindStringSubmatch(string(out))
		if m == nil {
			t.Fatalf("%s: %v\n%s", unit, err, out)
		}
		claimed := regexp.MustCompile(regexp.QuoteMeta("`"+filepath.Base(unit)+"`") + `[^|\n]*\| ([0-9.]+) `).FindSubmatch(doc)
		if claimed == nil {
			t.Errorf("docs/fleet.md does not say %s's score of %s", unit, m[2])
			continue
		}
		got, err := strconv.ParseFloat(m[2], 64)
		want, fault := strconv.ParseFloat(string(claimed[1]), 64)
		// Releases of systemd weigh a little differently.
		if err != nil || fault != nil || got > want+0.5 {
			t.Errorf("%s: systemd says %s, the document %s", unit, m[2], claimed[1])
		}
		t.Logf("%s: %s", m[1], m[2])
	}
}
