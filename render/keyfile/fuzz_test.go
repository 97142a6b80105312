package keyfile

import (
	"errors"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/render"
)

// FuzzReadKeyfile reads any text as a connection: it must not fail but by an
// error, and what it makes of it must be a fabric file that renders and reads
// back as the same.
func FuzzReadKeyfile(f *testing.F) {
	text, err := os.ReadFile("testdata/full.yaml")
	if err != nil {
		f.Fatal(err)
	}
	file, err := fabric.Parse("full.yaml", text)
	if err != nil {
		f.Fatal(err)
	}
	out, err := Write(render.Input{Host: file.Hosts[0]})
	if err != nil {
		f.Fatal(err)
	}
	for _, one := range out.Files {
		f.Add(one.Text)
	}
	f.Add("[connection]\ntype=bond\n[bond]\nmode=7\nmiimon=\\\n")
	f.Add("[connection]\ntype=vlan\n[vlan]\nid=5\nparent=a b\n[ipv4]\nroute1=0/0,,\nrouting-rule1=from\n")
	f.Fuzz(func(t *testing.T, text string) {
		found, err := Read(map[string]string{"x.nmconnection": text})
		var problems yamldoc.Problems
		if errors.Is(err, render.ErrEmpty) || errors.As(err, &problems) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if _, err := fabric.Parse("again", found.FabricFile("h")); err != nil {
			t.Fatalf("%v\n%s", err, found.FabricFile("h"))
		}
		k, _ := parse(text)
		if _, bad := parse(k.String()); len(bad) > len(text) {
			t.Error("written back, it reads otherwise")
		}
	})
}

// TestKeyfilesReadBack reads what is written and expects the fabric that it
// was written from.
func TestKeyfilesReadBack(t *testing.T) {
	in := input(t, "testdata/full.yaml", "rbx")
	first := written(t, in)
	files := map[string]string{}
	for _, f := range first.Files {
		files[f.Path] = f.Text
	}
	found, err := Read(files)
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range found.Unread {
		t.Errorf("not read: %s", u)
	}
	text := string(found.FabricFile("rbx"))
	again := inputOf(t, "again.yaml", text, "rbx")
	again.Old = files
	second := written(t, again)
	if diff := cmp.Diff(first.Files, second.Files); diff != "" {
		t.Errorf("written, read and written (-first +second):\n%s\n%s", diff, text)
	}
}

// TestKeyfileInPlace changes one option of a file that somebody wrote, and
// expects all else of it to stay: its name, UUID, comments and unknown keys.
func TestKeyfileInPlace(t *testing.T) {
	const old = `# the storage network
[connection]
id=Storage bond
uuid=2b1d1ad0-8f9c-4c0e-b66d-7d6a2a3e5f10
type=bond
interface-name=bond0
zone=trusted

[bond]
# agreed with the switch
mode=802.3ad
miimon=100
lp_interval=5
xmit_hash_policy=layer2

[ipv4]
method=manual
address1=10.0.0.2/24
address2=10.0.0.9/24
dns-priority=7
`
	in := inputOf(t, "f", `linerate: v1
hosts: {h: {network: {version: 2, ethernets: {a: {}, b: {}}, bonds: {bond0: {interfaces: [a, b], addresses: [10.0.0.2/24], link-local: [],
  parameters: {mode: 802.3ad, transmit-hash-policy: layer3+4, mii-monitor-interval: 100}}}}}}
`, "h")
	in.Old = map[string]string{"/etc/NetworkManager/system-connections/storage.nmconnection": old}
	out := written(t, in)
	const want = `# the storage network
[connection]
id=Storage bond
uuid=2b1d1ad0-8f9c-4c0e-b66d-7d6a2a3e5f10
type=bond
interface-name=bond0
zone=trusted

[bond]
# agreed with the switch
mode=802.3ad
miimon=100
lp_interval=5
xmit_hash_policy=layer3+4

[ipv4]
method=manual
address1=10.0.0.2/24
dns-priority=7

[ipv6]
method=disabled
`
	got := ""
	for _, f := range out.Files {
		if f.Path == "/etc/NetworkManager/system-connections/storage.nmconnection" {
			got = f.Text
		}
	}
	if got != want {
		t.Errorf("changed in place (-want +got):\n%s", cmp.Diff(want, got))
	}
	removed := false
	for _, w := range out.Warnings {
		removed = removed || w.Where == "bond0" && w.Key == "ipv4.address2"
	}
	if !removed {
		t.Errorf("the address that goes is not named: %v", out.Warnings)
	}
}
