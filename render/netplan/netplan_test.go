package netplan

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/render"
	"github.com/linerate/linerate/render/readback"
)

func read(t *testing.T, file string) []byte {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// netplanOf is the one file that is written of a network.
func netplanOf(n fabric.Network) ([]byte, error) {
	out, err := Write(render.Input{Host: fabric.Host{Network: n}})
	if err != nil {
		return nil, err
	}
	return []byte(out.Files[0].Text), nil
}

// TestNetplanUnedited pastes a netplan file into a fabric in each way a user
// does and expects it back line by line, comments included, at netplan's usual
// indentation.
func TestNetplanUnedited(t *testing.T) {
	f, err := fabric.Parse("ovh.yaml", read(t, "../../fabric/testdata/ovh.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	// The article indents the mapping by four, its own levels by two.
	want := strings.ReplaceAll(string(read(t, "../../fabric/testdata/ovh-netplan.yaml")), "\n    ", "\n  ")
	for _, host := range f.Hosts {
		text, err := netplanOf(host.Network)
		if err != nil {
			t.Fatal(err)
		}
		// The second host pasted the same file with its own addresses.
		got := strings.NewReplacer("10.119.250.103", "10.119.250.101", "c5:39:69", "c5:39:68").Replace(string(text))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("netplan of %s (-pasted +rendered):\n%s", host.Name, diff)
		}
		again, err := fabric.ParseNetwork("rendered.yaml", text)
		if err != nil {
			t.Fatalf("rendered text does not parse: %v", err)
		}
		if again.Source != host.Network.Source {
			t.Errorf("rendering twice changes the text:\n%s", cmp.Diff(host.Network.Source, again.Source))
		}
	}
}

func TestNetplanFlow(t *testing.T) {
	n, err := fabric.ParseNetwork("n", []byte("network: {version: 2, ethernets: {eth0: {dhcp4: true}}}  # short\n"))
	if err != nil {
		t.Fatal(err)
	}
	text, err := netplanOf(n)
	if want := "network:\n  {version: 2, ethernets: {eth0: {dhcp4: true}}}\n"; err != nil || string(text) != want {
		t.Errorf("netplan = %q, %v, want %q", text, err, want)
	}
	if _, err := fabric.ParseNetwork("again", text); err != nil {
		t.Errorf("rendered text does not parse: %v", err)
	}
}

func TestNetplanEdited(t *testing.T) {
	n, err := fabric.ParseNetwork("n", read(t, "../../fabric/testdata/ovh-netplan.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	edited, err := n.WithBondParameter("bond1", "transmit-hash-policy", "layer2+3")
	if err != nil {
		t.Fatal(err)
	}
	before, _ := netplanOf(n)
	after, err := netplanOf(edited)
	if err != nil {
		t.Fatal(err)
	}
	a, b := strings.Split(string(before), "\n"), strings.Split(string(after), "\n")
	if len(a) != len(b) {
		t.Fatalf("lines were added or lost:\n%s", after)
	}
	changed := 0
	for i := range a {
		if a[i] != b[i] {
			changed++
		}
	}
	if changed != 1 || !strings.Contains(string(after), "transmit-hash-policy: layer2+3") {
		t.Errorf("%d lines changed:\n%s", changed, after)
	}
}

func TestNetplanEmpty(t *testing.T) {
	if _, err := netplanOf(fabric.Network{}); !errors.Is(err, render.ErrEmpty) {
		t.Errorf("netplan of nothing = %v, want ErrEmpty", err)
	}
}

// TestNetplanTogether: several files mean what they mean together.
func TestNetplanTogether(t *testing.T) {
	merged, err := merge(readback.New(), map[string]string{
		"/etc/netplan/10-a.yaml": "network:\n  version: 2\n  ethernets:\n    eth0: {mtu: 1500, addresses: [10.0.0.1/24]}\n",
		"/run/netplan/20-b.yaml": "network:\n  ethernets:\n    eth0: {mtu: 9000, addresses: [10.0.0.2/24, 10.0.0.1/24]}\n",
		"/etc/netplan/20-b.yaml": "network: {ethernets: {eth0: {mtu: 1}}}\n",
	})
	if err != nil {
		t.Fatal(err)
	}
	n, err := fabric.ParseNetwork("netplan", []byte(yamldoc.Write(merged)))
	if err != nil {
		t.Fatal(err)
	}
	e, _ := n.Ethernet("eth0")
	if e.MTU != 9000 || len(e.Addresses) != 2 {
		t.Errorf("eth0 = %+v", e)
	}
	for _, bad := range []string{"eth0: {}", "network:\n  ethernets: {eth0: [\n"} {
		if _, err := Read(map[string]string{"/etc/netplan/a.yaml": bad}); err == nil {
			t.Errorf("%q was read", bad)
		}
	}
}
