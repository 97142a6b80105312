package root

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/kernel/netns"
)

func TestDiscoverThisHost(t *testing.T) {
	o := run(t, "", "discover", "local:", "--quiet")
	if o.status != console.ExitDone || o.stderr != "" {
		t.Fatalf("exit %d: %s", o.status, o.stderr)
	}
	f, err := fabric.Parse("discovered.yaml", []byte(o.stdout))
	if err != nil {
		t.Fatalf("%v\n%s", err, o.stdout)
	}
	if len(f.Hosts) != 1 || f.Hosts[0].Name != console.ThisHost() || f.Hosts[0].Reach != "local:" {
		t.Errorf("hosts %+v", f.Hosts)
	}
	doc := document(t, run(t, "", "discover", "local:", "--json"))
	wantKeys(t, "document", doc, "file fabric")
}

func TestDiscoverKeepsAFile(t *testing.T) {
	name := file(t, "fabric.yaml", "mine\n")
	refused(t, "", console.ExitUsage, "discover: "+name+" exists", "--force", "discover", "local:", "-o", name)
	if text, err := os.ReadFile(name); err != nil || string(text) != "mine\n" {
		t.Errorf("the file holds %q, %v", text, err)
	}
	o := run(t, "", "discover", "local:", "-o", name, "--force")
	if o.status != console.ExitDone || o.stdout != "" || !strings.Contains(o.stderr, name+" is written") {
		t.Errorf("exit %d, stdout %q, stderr %q", o.status, o.stdout, o.stderr)
	}
	if text, _ := os.ReadFile(name); !strings.HasPrefix(string(text), "linerate: v1\n") {
		t.Errorf("the file holds %q", text)
	}
	fresh := filepath.Join(t.TempDir(), "new", "fabric.yaml")
	refused(t, "", console.ExitUsage, "discover: "+fresh+": no directory "+filepath.Dir(fresh), "mkdir -p", "discover", "local:", "-o", fresh)
}

func TestDiscoverRefuses(t *testing.T) {
	for _, c := range []struct {
		args       []string
		status     int
		line, hint string
	}{
		{[]string{"discover"}, console.ExitUsage, "discover: want one HOST or more", "ssh://user@host"},
		{[]string{"discover", "local:", "beta"}, console.ExitUsage, "host beta: a bare name may be a host, a network namespace or a file", "ssh://root@beta"},
		{[]string{"discover", "local:", "local:"}, console.ExitUsage, "host local: is named twice", ""},
		{[]string{"discover", "netns:linerate-no-such"}, console.ExitUnreachable, "reach linerate-no-such: ", "ip netns list"},
	} {
		refused(t, "", c.status, c.line, c.hint, c.args...)
	}
}

// ip runs iproute2, or skips the test where it is not there or may not.
func ip(t *testing.T, args ...string) {
	t.Helper()
	if _, err := exec.LookPath("ip"); err != nil {
		t.Skip("no ip here: install iproute2")
	}
	if out, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
		t.Fatalf("ip %s: %v: %s", strings.Join(args, " "), err, out)
	}
}

// TestKernelDiscover discovers two namespaces joined by a veth, with the
// round trip between them.
func TestKernelDiscover(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("making network namespaces needs root")
	}
	hosts := []string{"linerate-cli-a", "linerate-cli-b"}
	for _, h := range hosts {
		_ = netns.Delete(h) // of a test that was killed
		if _, err := netns.Create(h); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = netns.Delete(h) })
	}
	ip(t, "-n", hosts[0], "link", "add", "eth0", "type", "veth", "peer", "name", "eth0", "netns", hosts[1])
	for i, h := range hosts {
		ip(t, "-n", h, "addr", "add", []string{"10.77.0.1/24", "10.77.0.2/24"}[i], "dev", "eth0")
		ip(t, "-n", h, "link", "set", "eth0", "up")
	}
	name := filepath.Join(t.TempDir(), "fabric.yaml")
	o := run(t, "", "discover", "netns:"+hosts[0], "netns:"+hosts[1], "-o", name)
	if o.status != console.ExitDone {
		t.Fatalf("exit %d: %s", o.status, o.stderr)
	}
	f, err := console.ReadFabric(context.Background(), name)
	if err != nil {
		t.Fatal(err)
	}
	if len(f.Paths) != 1 || f.Paths[0].From != hosts[0] || f.Paths[0].RTT <= 0 || f.Paths[0].RTT > time.Second {
		t.Errorf("paths %+v, want one with the round trip", f.Paths)
	}
	if got := f.Hosts[1].Reach; got != "netns:"+hosts[1] {
		t.Errorf("reach %q", got)
	}
}
