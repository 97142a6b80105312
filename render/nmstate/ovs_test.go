package nmstate

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/render"
)

const ovsState = `interfaces:
- name: br0
  type: ovs-interface
  state: up
  mtu: 9000
  ipv4:
    enabled: true
    dhcp: false
    address:
    - {ip: 10.0.0.1, prefix-length: 24}
- name: br0
  type: ovs-bridge
  state: up
  bridge:
    options: {stp: {enabled: false}, fail-mode: secure, datapath: netdev}
    port:
    - name: br0
    - name: bond0
      vlan: {mode: trunk, trunk-tags: [{id: 7}]}
      link-aggregation:
        mode: balance-tcp
        bond-updelay: 100
        port: [{name: eth1}, {name: eth2}]
        ovs-db: {other_config: {bond-hash-basis: "7"}}
`

func TestOVSBond(t *testing.T) {
	found, err := Read(map[string]string{"s.yml": ovsState})
	if err != nil {
		t.Fatal(err)
	}
	f, err := fabric.Parse("f.yaml", found.FabricFile("h"))
	if err != nil {
		t.Fatalf("%v\n%s", err, found.FabricFile("h"))
	}
	n := f.Hosts[0].Network
	b, _ := n.OVSBond("bond0")
	want := netstate.OVSBond{Mode: netstate.OVSBalanceTCP, LACP: "active", Basis: 7}
	if diff := cmp.Diff(want, b.Options); diff != "" || !slices.Equal(b.Interfaces, []string{"eth1", "eth2"}) || !n.Bridges[0].OVS || n.Bridges[0].MTU != 9000 || len(n.Bridges[0].Addresses) != 1 {
		t.Errorf("%s\n%s", diff, found.FabricFile("h"))
	}
	for _, want := range []string{"datapath", "vlan", "bond-updelay"} {
		if !slices.ContainsFunc(found.Unread, func(u render.Unread) bool { return strings.Contains(u.String(), want) }) {
			t.Errorf("nothing unread says %q: %v", want, found.Unread)
		}
	}
	back := written(t, f)
	for _, want := range []string{"type: ovs-bridge", "type: ovs-interface", "mode: balance-tcp", "bond-hash-basis: \"7\"", "fail-mode: secure", "mtu: 9000", "10.0.0.1"} {
		if !strings.Contains(back.Files[0].Text, want) {
			t.Errorf("no %q in\n%s", want, back.Files[0].Text)
		}
	}
	if len(back.Warnings) > 0 {
		t.Errorf("warnings %v", back.Warnings)
	}
	again, err := Read(map[string]string{"s.yml": back.Files[0].Text})
	if err != nil {
		t.Fatal(err)
	}
	f, err = fabric.Parse("f.yaml", again.FabricFile("h"))
	if err != nil {
		t.Fatal(err)
	}
	if c, _ := f.Hosts[0].Network.OVSBond("bond0"); cmp.Diff(want, c.Options) != "" || !slices.Equal(c.Interfaces, b.Interfaces) {
		t.Errorf("written and read again: %+v\n%s", c, back.Files[0].Text)
	}
}

func written(t *testing.T, f fabric.Fabric) render.Output {
	t.Helper()
	s, err := f.State(f.Hosts[0].Name)
	if err != nil {
		t.Fatal(err)
	}
	out, err := Write(render.Input{Host: f.Hosts[0], State: s})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// What nmstate's words for the modes leave open.
func TestOVSModes(t *testing.T) {
	for _, c := range []struct{ mode, lacp, want, warning string }{
		{"active-backup", "\"off\"", "mode: active-backup", ""},
		{"active-backup", "active", "mode: lacp", ""},
		{"active-backup", "passive", "mode: lacp", "actively or not at all"},
		{"balance-slb", "\"off\"", "mode: balance-slb", ""},
		{"balance-slb", "active", "mode: balance-slb", "turns LACP off"},
		{"balance-tcp", "active", "mode: balance-tcp", ""},
		{"balance-tcp", "passive", "mode: balance-tcp", "LACP actively"},
	} {
		f, err := fabric.Parse("f.yaml", []byte("linerate: v1\nhosts: {h: {network: {ethernets: {a: {}, b: {}}, bonds: {bond0: {interfaces: [a, b], parameters: {mode: "+c.mode+
			"}, openvswitch: {lacp: "+c.lacp+"}}}, bridges: {br0: {interfaces: [bond0], openvswitch: {}}}}}}\n"))
		if err != nil {
			t.Fatal(err)
		}
		out := written(t, f)
		var warnings []string
		for _, w := range out.Warnings {
			warnings = append(warnings, w.Why)
		}
		if !strings.Contains(out.Files[0].Text, c.want) || (c.warning == "") != (len(warnings) == 0) || !strings.Contains(strings.Join(warnings, "\n"), c.warning) {
			t.Errorf("%s, lacp %s: %q\n%s", c.mode, c.lacp, warnings, out.Files[0].Text)
		}
	}
}
