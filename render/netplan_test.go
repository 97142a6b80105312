package render

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/linerate/linerate/fabric"
)

func read(t *testing.T, file string) []byte {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestNetplanUnedited pastes a netplan file into a fabric in each way a user
// does and expects it back line by line, comments included, at netplan's usual
// indentation.
func TestNetplanUnedited(t *testing.T) {
	f, err := fabric.Parse("ovh.yaml", read(t, "../fabric/testdata/ovh.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	// The article indents the mapping by four, its own levels by two.
	want := strings.ReplaceAll(string(read(t, "../fabric/testdata/ovh-netplan.yaml")), "\n    ", "\n  ")
	for _, host := range f.Hosts {
		text, err := Netplan(host.Network)
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
	text, err := Netplan(n)
	if want := "network:\n  {version: 2, ethernets: {eth0: {dhcp4: true}}}\n"; err != nil || string(text) != want {
		t.Errorf("Netplan = %q, %v, want %q", text, err, want)
	}
	if _, err := fabric.ParseNetwork("again", text); err != nil {
		t.Errorf("rendered text does not parse: %v", err)
	}
}

func TestNetplanEdited(t *testing.T) {
	n, err := fabric.ParseNetwork("n", read(t, "../fabric/testdata/ovh-netplan.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	edited, err := n.WithBondParameter("bond1", "transmit-hash-policy", "layer2+3")
	if err != nil {
		t.Fatal(err)
	}
	before, _ := Netplan(n)
	after, err := Netplan(edited)
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
	if _, err := Netplan(fabric.Network{}); !errors.Is(err, ErrEmpty) {
		t.Errorf("Netplan of nothing = %v, want ErrEmpty", err)
	}
}
