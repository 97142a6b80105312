package fabric

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/linerate/linerate/netstate"
)

const ovsFile = `linerate: v1
hosts:
  a:
    network:
      version: 2
      ethernets: {eno1: {}, eno2: {mtu: 9000}}
      bonds:
        bond0:
          interfaces: [eno1, eno2]
          openvswitch: {lacp: active, other-config: {bond-hash-basis: "7"}}
          parameters: {mode: balance-tcp}
      bridges:
        br0: {interfaces: [bond0], addresses: [10.0.0.1/24], openvswitch: {}}
`

func TestOVSBond(t *testing.T) {
	f, err := Parse("fabric.yaml", []byte(ovsFile))
	if err != nil {
		t.Fatal(err)
	}
	if n := f.Hosts[0].Network; len(n.Bonds) != 0 || len(n.OVSBonds) != 1 || !n.Bridges[0].OVS {
		t.Fatalf("%d bonds of the kernel's, %d of Open vSwitch", len(n.Bonds), len(n.OVSBonds))
	}
	s := state(t, f, "a")
	l, _ := s.Link("bond0")
	want := netstate.Link{Name: "bond0", Kind: netstate.KindOVSBond, MTU: 1500, Up: true, Carrier: true, Master: "br0",
		OVS: &netstate.OVSBond{Mode: netstate.OVSBalanceTCP, LACP: "active", Ports: []string{"eno1", "eno2"}, Basis: 7}}
	if diff := cmp.Diff(want, l, compare); diff != "" {
		t.Errorf("bond0 (-want +got):\n%s", diff)
	}
	ports, _, bond := s.Below("br0")
	if bond != nil || len(ports) != 2 || ports[0].Name != "eno1" || ports[0].Port != nil {
		t.Errorf("below br0: %+v, a bond of the kernel's: %v", ports, bond)
	}
}

// Which definitions netplan hands to Open vSwitch.
func TestOVSWhose(t *testing.T) {
	for _, c := range []struct {
		bond string
		ovs  bool
	}{
		{"parameters: {mode: balance-slb}", true},
		{"openvswitch: {}", true},
		{"openvswitch: {}, parameters: {mode: active-backup}", true},
		{"openvswitch: {lacp: passive}", true},
		{"openvswitch: {external-ids: {a: b}, other-config: {c: d}}", false},
		{"parameters: {mode: active-backup}", false},
		{"{}", false},
	} {
		body := strings.Replace(c.bond, "{}", "parameters: {}", map[bool]int{true: 1, false: 0}[c.bond == "{}"])
		n, err := ParseNetwork("n.yaml", []byte("version: 2\nethernets: {a: {}, b: {}}\nbonds: {bond0: {interfaces: [a, b], "+body+"}}\n"))
		if err != nil || len(n.OVSBonds) == 1 != c.ovs || len(n.Bonds) == 1 == c.ovs {
			t.Errorf("%s: %d of Open vSwitch, %d of the kernel's: %v", c.bond, len(n.OVSBonds), len(n.Bonds), err)
		}
	}
	for bond, want := range map[string]string{
		"openvswitch: {lacp: active}, parameters: {mode: 802.3ad}":     "802.3ad is no mode of Open vSwitch",
		"openvswitch: {lacp: fast}":                                    "fast",
		"openvswitch: {}, addresses: [10.0.0.1/24]":                    "which has no addresses",
		"openvswitch: {}, interfaces: [c]":                             `interface "c" is not defined`,
		"openvswitch: {}, parameters: {mode: active-backup-balance-x}": "is not known",
	} {
		body := "interfaces: [a, b], " + bond
		if strings.Contains(bond, "interfaces") {
			body = bond
		}
		_, err := ParseNetwork("n.yaml", []byte("version: 2\nethernets: {a: {}, b: {}}\nbonds: {bond0: {"+body+"}}\n"))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", bond, err)
		}
	}
}

// The kernel of a host does not know the bond: the file's word is put on what is there.
func TestOVSMerge(t *testing.T) {
	f, err := Parse("fabric.yaml", []byte(ovsFile))
	if err != nil {
		t.Fatal(err)
	}
	observed := netstate.Host{Name: "a", Links: []netstate.Link{
		{Name: "eno1", Up: true, Carrier: true, MTU: 1500, Master: "ovs-system"}, {Name: "eno2", Up: true, MTU: 9000, Master: "ovs-system"},
		{Name: "ovs-system", Kind: netstate.KindOVSBridge}, {Name: "br0", Kind: netstate.KindOVSBridge, Up: true, Carrier: true, MTU: 1500},
	}}
	merged, differences := Merge(state(t, f, "a"), f.Hosts[0], observed)
	ports, _, _ := merged.Below("br0")
	if len(ports) != 1 || ports[0].Name != "eno1" {
		t.Errorf("below br0: %+v, though eno2 has no carrier", ports)
	}
	for _, d := range differences {
		if strings.Contains(d.What, "bond0") {
			t.Errorf("%v", d)
		}
	}
	// What the switch itself says counts, and where the file says otherwise is told.
	seen := netstate.OVSBond{Mode: netstate.OVSBalanceSLB, LACP: netstate.OVSLACPActive, Ports: []string{"eno1", "eno2"}, Disabled: []string{"eno1"}}
	live := observed
	live.Links = append(slices.Clone(observed.Links), netstate.Link{Name: "bond0", Kind: netstate.KindOVSBond, Master: "br0", Up: true, OVS: &seen})
	merged, differences = Merge(state(t, f, "a"), f.Hosts[0], live)
	if l, _ := merged.Link("bond0"); l.OVS == nil || l.OVS.Mode != netstate.OVSBalanceSLB || !slices.Equal(l.OVS.Disabled, []string{"eno1"}) {
		t.Errorf("bond0 is %+v", l.OVS)
	}
	if text := differencesText(differences); !strings.Contains(text, "mode of bond0") || strings.Contains(text, "link bond0") {
		t.Errorf("differences: %s", text)
	}
	observed.Links = observed.Links[1:]
	if _, differences := Merge(state(t, f, "a"), f.Hosts[0], observed); !strings.Contains(differencesText(differences), "link bond0") {
		t.Errorf("a bond without one of its members is not told of: %v", differences)
	}
}

func differencesText(all []Difference) string {
	var b strings.Builder
	for _, d := range all {
		b.WriteString(d.String() + "\n")
	}
	return b.String()
}
