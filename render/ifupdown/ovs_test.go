package ifupdown

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/render"
)

const ovsNetwork = `      ethernets: {eno1: {}, eno2: {}}
      bonds:
        bond0: {interfaces: [eno1, eno2], parameters: {mode: balance-slb}, openvswitch: {lacp: active, other-config: {bond-hash-basis: "7"}}}
      bridges:
        vmbr0: {interfaces: [bond0], addresses: [10.0.0.5/24], openvswitch: {}}
      vlans:
        vlan20: {id: 20, link: vmbr0, addresses: [10.0.20.5/24]}
`

// A host without files gets what Debian's own script takes; what is written reads back
// as it was.
func TestOVSFresh(t *testing.T) {
	out, err := Write(wantedHost(t, ovsNetwork))
	if err != nil {
		t.Fatal(err)
	}
	want := `auto lo
iface lo inet loopback

auto eno1
iface eno1 inet manual

auto eno2
iface eno2 inet manual

allow-vmbr0 bond0
iface bond0 inet manual
    ovs_type OVSBond
    ovs_bridge vmbr0
    ovs_bonds eno1 eno2
    ovs_options bond_mode=balance-slb lacp=active other_config:bond-hash-basis=7

allow-vmbr0 vlan20
iface vlan20 inet static
    ovs_type OVSIntPort
    ovs_bridge vmbr0
    ovs_options tag=20
    address 10.0.20.5/24

allow-ovs vmbr0
iface vmbr0 inet static
    ovs_type OVSBridge
    ovs_ports bond0 vlan20
    address 10.0.0.5/24
`
	if diff := cmp.Diff(want, out.Files[0].Text); diff != "" || len(out.Warnings) > 0 {
		t.Errorf("warnings %v (-want +got):\n%s", out.Warnings, diff)
	}
	found, text := readText(t, map[string]string{mainFile: out.Files[0].Text})
	if len(found.Unread)+len(found.Warnings) > 0 {
		t.Errorf("read again: unread %v, warnings %v", found.Unread, found.Warnings)
	}
	f, err := fabric.Parse("f.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	in := wantedHost(t, ovsNetwork)
	was, _ := in.Host.Network.OVSBond("bond0")
	is, _ := f.Hosts[0].Network.OVSBond("bond0")
	if diff := cmp.Diff(was.Options, is.Options); diff != "" || !cmp.Equal(was.Interfaces, is.Interfaces) || !f.Hosts[0].Network.Bridges[0].OVS {
		t.Errorf("read again (-was +is):\n%s\n%s", diff, text)
	}
}

// TestOVSUpdate changes a mode and a member of a Proxmox host: those lines, and what
// the fabric does not speak of stays.
func TestOVSUpdate(t *testing.T) {
	const old = `auto eno1
iface eno1 inet manual

auto eno2
iface eno2 inet manual

auto bond0
iface bond0 inet manual
	ovs_bonds eno1 eno3
	ovs_type OVSBond
	ovs_bridge vmbr0
	ovs_options vlan_mode=native-untagged bond_mode=balance-tcp other_config:bond-hash-basis=7 lacp=active
#uplink

auto vmbr0
iface vmbr0 inet static
	address 10.0.0.5/24
	ovs_type OVSBridge
	ovs_ports bond0 vlan20 tap101i0
	ovs_mtu 9000

auto vlan20
iface vlan20 inet static
	address 10.0.20.5/24
	ovs_type OVSIntPort
	ovs_bridge vmbr0
	ovs_options tag=20
`
	in := wantedHost(t, strings.Replace(ovsNetwork, "addresses: [10.0.0.5/24]", "mtu: 1500, addresses: [10.0.0.5/24]", 1))
	in.Old = map[string]string{mainFile: old}
	out, err := Write(in)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.NewReplacer("ovs_bonds eno1 eno3", "ovs_bonds eno1 eno2", "bond_mode=balance-tcp", "bond_mode=balance-slb", "ovs_mtu 9000", "ovs_mtu 1500").Replace(old)
	if diff := cmp.Diff(want, out.Files[0].Text); diff != "" || len(out.Warnings) > 0 {
		t.Errorf("warnings %v (-want +got):\n%s", out.Warnings, diff)
	}
	in = wantedHost(t, "      ethernets: {eno1: {}, eno2: {}}\n      bonds: {bond0: {interfaces: [eno1, eno2], parameters: {mode: 802.3ad}}}\n      bridges: {vmbr0: {interfaces: [bond0], addresses: [10.0.0.5/24]}}\n")
	in.Old = map[string]string{mainFile: old}
	if out, err = Write(in); err != nil {
		t.Fatal(err)
	}
	bond, _, _ := strings.Cut(out.Files[0].Text, "auto vmbr0")
	if strings.Contains(bond, "ovs_") || !strings.Contains(bond, "bond-slaves eno1 eno2") {
		t.Errorf("a bond that is the kernel's now:\n%s", out.Files[0].Text)
	}
}

// Whatever word of a file is missing or another, what is found is a fabric, and can be
// written over the file.
func TestOVSCut(t *testing.T) {
	const text = `allow-ovs br0
iface br0 inet static
 address 10.0.0.5/24
 ovs_type OVSBridge
 ovs_ports bond0 v20 eno3
allow-br0 bond0 v20 eno3
iface bond0 inet manual
 ovs_type OVSBond
 ovs_bridge br0
 ovs_bonds eno1 eno2
 ovs_options bond_mode=balance-slb lacp=active other_config:a=b
iface v20 inet manual
 ovs_type OVSIntPort
 ovs_bridge br0
 ovs_options tag=20
iface eno3 inet manual
 ovs_type OVSPort
 ovs_bridge br0
`
	words := strings.SplitAfter(text, " ")
	for i := range words {
		for _, other := range []string{"", "x ", "br0 ", "bond0 ", "OVSBond\n", "lacp=x ", "bond_mode=802.3ad "} {
			cut := strings.Join(words[:i], "") + other + strings.Join(words[i+1:], "")
			found, err := Read(map[string]string{mainFile: cut})
			if err != nil {
				continue
			}
			f, err := fabric.Parse("f.yaml", found.FabricFile("h"))
			if err != nil {
				t.Fatalf("%v of\n%s\n%s", err, cut, found.FabricFile("h"))
			}
			state, err := f.State("h")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := Write(render.Input{Host: f.Hosts[0], State: state, Old: map[string]string{mainFile: cut}}); err != nil {
				t.Fatalf("%v of\n%s", err, cut)
			}
		}
	}
}
