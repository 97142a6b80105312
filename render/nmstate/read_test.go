package nmstate

import (
	"slices"
	"strings"
	"testing"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/render"
)

const policy = `apiVersion: nmstate.io/v1
kind: NodeNetworkConfigurationPolicy
metadata:
  name: storage
spec:
  nodeSelector: {kubernetes.io/hostname: w1}
  desiredState:
    interfaces:
    - name: bond0
      type: bond
      state: up
      mtu: 9000
      ipv4:
        enabled: true
        address:
        - {ip: 192.0.2.5, prefix-length: 24}
      link-aggregation:
        mode: 802.3ad
        options:
          miimon: '140'
          xmit_hash_policy: layer3+4
          all_slaves_active: dropped
          num_grat_arp: 3
          balance-slb: 1
        port: [ens1, ens2]
    - name: bond0.7
      type: vlan
      state: up
      vlan: {base-iface: bond0, id: 7}
      ipv4: {enabled: true, dhcp: true, auto-dns: false}
    - name: ovs0
      type: ovs-interface
      state: up
    - name: old0
      type: dummy
      state: absent
    routes:
      config:
      - {destination: 0.0.0.0/0, next-hop-address: 192.0.2.1, next-hop-interface: bond0, metric: 50}
      - {destination: 10.0.0.0/8, next-hop-address: 192.0.2.9, next-hop-interface: ovs0}
    route-rules:
      config:
      - {ip-from: 192.0.2.5/32, route-table: 100, priority: 30}
      - {iif: bond0, route-table: 100}
    dns-resolver:
      config: {server: [9.9.9.9], search: [a.example]}
`

// TestRead reads a policy of Kubernetes and a second document in the same file.
func TestRead(t *testing.T) {
	found, err := Read(map[string]string{"policy.yaml": policy + "---\ninterfaces:\n- {name: ens9, type: ethernet, state: down, mtu: 99999999}\n"})
	if err != nil {
		t.Fatal(err)
	}
	text := string(found.FabricFile("h"))
	f, err := fabric.Parse("f.yaml", []byte(text))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	h, _ := f.Host("h")
	b, _ := h.Network.Bond("bond0")
	if b.Options.Mode.String() != "802.3ad" || b.Options.Miimon.Milliseconds() != 140 || !slices.Equal(b.Interfaces, []string{"ens1", "ens2"}) || b.MTU != 9000 {
		t.Errorf("bond0: %+v", b)
	}
	for _, want := range []string{"transmit-hash-policy: layer3+4", "192.0.2.5/24", "metric: 50", "via: 192.0.2.1", "use-dns: false", "priority: 30", "9.9.9.9", "a.example", "absent:", "gratuitous-arp: 3"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, "ovs0") || strings.Contains(text, "10.0.0.0/8") {
		t.Errorf("Open vSwitch is in\n%s", text)
	}
	for _, want := range []string{"balance-slb", "ovs0", "route-rules.config.iif", "policy.yaml:49:50"} {
		if !slices.ContainsFunc(found.Unread, func(u render.Unread) bool { return strings.Contains(u.String(), want) }) {
			t.Errorf("nothing unread says %q: %v", want, found.Unread)
		}
	}
}
