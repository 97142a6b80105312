package networkd

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/render"
)

func place(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestKernelNetworkdBuilds gives the files to systemd-networkd on a kernel
// with bonding, and expects the bond, its options, its VLAN, routes, rules and
// queueing discipline to be as the fabric wants them.
func TestKernelNetworkdBuilds(t *testing.T) {
	if exec.Command("unshare", "-n", "ip", "link", "add", "bond7", "type", "bond").Run() != nil {
		t.Skip("no bonding in this kernel: make smoke runs this in one that has")
	}
	dir, err := os.MkdirTemp("/run", "linerate") // the lab's other directories are read-only
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	etc := filepath.Join(dir, "etc")
	out := written(t, input(t, "testdata/kernel.yaml", "a"))
	for _, f := range out.Files {
		place(t, filepath.Join(etc, filepath.Base(f.Path)), f.Text)
	}
	for _, d := range []string{dir, etc} {
		if err := os.Chmod(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	ctx, stop := context.WithTimeout(context.Background(), 2*time.Minute)
	defer stop()
	text, err := exec.CommandContext(ctx, "unshare", "-n", "-m", "testdata/networkd-build", etc).CombinedOutput()
	if err != nil {
		t.Fatalf("networkd: %v\n%s", err, text)
	}
	got := strings.Join(strings.Fields(string(text)), " ")
	for _, want := range []string{
		"option mode 802.3ad 4", "option lacp_rate fast 1", "option miimon 50", "option updelay 100", "option xmit_hash_policy layer3+4 1",
		"option min_links 1", "option ad_select bandwidth 1", "option ad_actor_sys_prio 1000", "option ad_user_port_key 5",
		"inet 10.7.0.2/24", "inet 10.7.0.3/24", "inet 10.8.0.2/24", "mtu 9000", "802.1Q id 100", "bond7.100@bond7",
		"10.9.0.0/16 via 10.7.0.1 dev bond7 table 101 proto static metric 5", "1101: from 10.7.0.3 lookup 101", "qdisc qdisc fq",
		"maxrate 1Gbit", "nexthop via 192.0.2.1 dev out weight 1", "nexthop via 10.7.0.9 dev bond7 weight 2",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not what there is", want)
		}
	}
	for _, port := range []string{"left", "right"} {
		if !strings.Contains(got, port) {
			t.Errorf("%s is no port", port)
		}
	}
	if t.Failed() {
		t.Logf("%s", text)
	}
}

// input is a test fabric's host as the command renders it.
func input(t *testing.T, file, host string) render.Input {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return inputOf(t, file, string(text), host)
}

func inputOf(t *testing.T, file, text, host string) render.Input {
	t.Helper()
	f, err := fabric.Parse(file, []byte(text))
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	h, _ := f.Host(host)
	s, err := f.State(host)
	if err != nil {
		t.Fatal(err)
	}
	return render.Input{Host: h, State: s}
}

func written(t *testing.T, in render.Input) render.Output {
	t.Helper()
	out, err := Write(in)
	if err != nil {
		t.Fatal(err)
	}
	return out
}
