package talos

import (
	"errors"
	"strings"
	"testing"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/internal/bondopt"
	"github.com/linerate/linerate/render"
)

// read reads one configuration, which must come to a fabric.
func read(t *testing.T, config string) (text, unread string) {
	t.Helper()
	found, err := Read(map[string]string{"machine.yaml": config})
	if err != nil {
		t.Fatal(err)
	}
	text = string(found.FabricFile("h"))
	if _, err := fabric.Parse("f.yaml", []byte(text)); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	var b strings.Builder
	for _, u := range found.Unread {
		b.WriteString(u.String() + "\n")
	}
	return text, b.String()
}

func bond(lines ...string) string {
	return "apiVersion: v1alpha1\nkind: BondConfig\nname: bond0\nlinks: [a, b]\n" + strings.Join(lines, "\n") + "\n"
}

// TestBondOptions: every key of a BondConfig is a bond's option, and is read.
func TestBondOptions(t *testing.T) {
	values := map[string]string{
		"mode": "active-backup", "primary": "a", "arp_ip_target": "[192.0.2.1]", "ns_ip6_target": "['2001:db8::1']", "arp_validate": "filter-active", "xmit_hash_policy": "layer2+3",
		"lacp_rate": "fast", "ad_select": "count", "lacp_active": `"off"`, "fail_over_mac": "active", "primary_reselect": "failure", "arp_all_targets": "all", "use_carrier": "true",
		"ad_actor_system": "02:00:00:00:00:01", "all_slaves_active": "1", "tlb_dynamic_lb": "1",
	}
	for _, o := range bondopt.Options() {
		said, ok := o.Saying(bondopt.Talos)
		if !ok || o.Name == "use_carrier" {
			continue
		}
		mode, value := "active-backup", values[o.Name]
		if len(o.Modes) > 0 {
			mode = o.Modes[0].String()
		}
		if value == "" {
			value = "200"
		}
		if o.Name == "mode" {
			value = mode
		}
		lines := []string{"bondMode: " + mode, said.Name + ": " + value}
		if o.Name == "mode" {
			lines = lines[:1]
		}
		if strings.HasPrefix(o.Name, "arp") || strings.HasPrefix(o.Name, "ns_") {
			lines = append(lines, "arpInterval: 100", "arpIpTargets: [192.0.2.1]")
			if o.Name == "arp_interval" || o.Name == "arp_ip_target" {
				lines = lines[:2]
			}
		}
		text, unread := read(t, bond(lines...))
		if unread != "" {
			t.Errorf("%s: %s", said.Name, unread)
		}
		found := strings.Contains(text, o.Name+":")
		if name, _, ok := fabric.ParameterOf(nil, o.Name, strings.Trim(value, `"`)); ok {
			found = found || strings.Contains(text, name+":")
		}
		if !found {
			t.Errorf("%s is not read:\n%s", said.Name, text)
		}
	}
}

func TestDefaults(t *testing.T) {
	for _, c := range []struct {
		config     string
		want, none string
		unread     string
	}{
		{bond("bondMode: balance-alb"), `tlb_dynamic_lb: "0"`, "mii-monitor", ""},
		{bond("bondMode: balance-tlb", "tlbLogicalLb: 1"), `tlb_dynamic_lb: "1"`, `"0"`, ""},
		{bond("bondMode: balance-rr", "packetsPerSlave: 0", "resendIGMP: 0"), "balance-rr", "packets-per", ""},
		{bond("bondMode: 802.3ad", "useCarrier: false"), "802.3ad", "use_carrier", "Talos sets 1"},
		{bond("bondMode: lacp"), "bond0", "lacp", "bondMode"},
		{bond("bondMode: 802.3ad", "nonsense: 3"), "802.3ad", "nonsense", "no such option"},
		{"machine:\n  network:\n    interfaces:\n    - interface: bond0\n      bond: {interfaces: [a, b], mode: balance-tlb, tlbDynamicLb: 1}\n", `tlb_dynamic_lb: "1"`, "\"0\"", ""},
		{"machine:\n  network:\n    interfaces:\n    - interface: enp1s0f0np0xx\n      vlans: [{vlanId: 12}]\n", "enp1", "enp1s0f0np0xx.12", ""},
		{"machine:\n  network:\n    interfaces:\n    - interface: br0\n      bridge: {interfaces: [a], stp: {enabled: true}}\n    - interface: b\n      bridgePort: {master: br0}\n", "- b", "x", ""},
	} {
		text, unread := read(t, c.config)
		if !strings.Contains(text, c.want) || strings.Contains(text, c.none) || !strings.Contains(unread, c.unread) || c.unread == "" && unread != "" {
			t.Errorf("%s comes to\n%s%s", c.config, text, unread)
		}
	}
}

func TestIs(t *testing.T) {
	for text, want := range map[string]bool{
		"apiVersion: v1alpha1\nkind: BondConfig\nname: b\n":                             true,
		"a: 1\n---\napiVersion: v1alpha1\nkind: 'LinkConfig'\n":                         true,
		"version: v1alpha1\nmachine:\n  type: worker\n":                                 true,
		"machine:\n  network:\n    interfaces: []\n":                                    true,
		"network:\n  version: 2\n":                                                      false,
		"interfaces:\n- name: eth0\n  type: ethernet\n":                                 false,
		"kind: ConfigMap\n":                                                             false,
		"machine: x\n":                                                                  false,
		"apiVersion: nmstate.io/v1\nkind: NodeNetworkState\nstatus:\n  currentState:\n": false,
	} {
		if Is(text) != want {
			t.Errorf("%q: %v", text, !want)
		}
	}
	if _, err := Read(map[string]string{"a.yaml": "machine:\n  type: worker\n"}); !errors.Is(err, render.ErrEmpty) {
		t.Errorf("no network: %v", err)
	}
}

// FuzzRead: no text is a panic, and what is read is a fabric.
func FuzzRead(f *testing.F) {
	f.Add(bond("bondMode: 802.3ad", "miimon: 100", "addresses: [{address: 192.0.2.1/24}]", "routes: [{gateway: 'fe80::1'}]") + "---\nkind: VLANConfig\nname: v\nvlanID: 3\nparent: bond0\n")
	f.Add("machine:\n  network:\n    interfaces:\n    - deviceSelector: {driver: x}\n      dhcp: true\n      vlans: [{vlanId: 1, addresses: [10.0.0.1/8]}]\n      bond: {deviceSelectors: [{hardwareAddr: '52:54:00:00:00:01'}]}\n")
	f.Add("kind: BondConfig\nname: b\nlinks: [b, c, ../x]\nbondMode: [1]\n---\nkind: LinkAliasConfig\nname: b\nselector: {match: 'mac(link.permanent_addr) == \"52:54:00:00:00:01\"'}\n")
	f.Add("kind: DHCPv4Config\nname: e\nrouteMetric: x\n---\nkind: ResolverConfig\nnameservers: [{address: 1.1.1.1}]\n---\nkind: RoutingRuleConfig\nname: '7'\ntable: '9'\n---\nkind: BlackholeRouteConfig\nname: 1.1.1.1/32\n")
	f.Fuzz(func(t *testing.T, text string) {
		Is(text)
		found, err := Read(map[string]string{"machine.yaml": text})
		if err != nil {
			return
		}
		if _, err := fabric.Parse("f.yaml", found.FabricFile("h")); err != nil {
			t.Errorf("%v\n%s", err, found.FabricFile("h"))
		}
	})
}
