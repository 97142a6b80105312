package formats

import (
	"strings"
	"testing"

	"github.com/linerate/linerate/render"
)

// TestNetplanRefuses: what netplan refuses is told at its place, by the kind of thing
// that is wrong (netplan 1.2.2), and its neighbour that netplan takes is not.
func TestNetplanRefuses(t *testing.T) {
	const manager = "renderer: NetworkManager\nethernets:\n"
	for name, c := range map[string]struct{ text, want, taken string }{
		"a switch that is none":         {"ethernets:\n e: {ipv6-privacy: perhaps}\n", "3:21: ethernets.e.ipv6-privacy", "ethernets:\n e: {ipv6-privacy: Y}\n"},
		"a number below nothing":        {"ethernets:\n e: {routes: [{to: 10.0.0.0/8, via: 10.1.1.1, congestion-window: -1}]}\n", "3:67: ethernets.e.routes[0].congestion-window", "ethernets:\n e: {routes: [{to: 10.0.0.0/8, via: 10.1.1.1, congestion-window: 0}]}\n"},
		"a word of none":                {"ethernets:\n e: {infiniband-mode: both}\n", "3:24: ethernets.e.infiniband-mode", "ethernets:\n e: {infiniband-mode: connected}\n"},
		"a list that is a word":         {"ethernets:\n e: {link-local: ipv4}\n", "3:19: ethernets.e.link-local", "ethernets:\n e: {link-local: [ipv4]}\n"},
		"a word of none in a list":      {"ethernets:\n e: {optional-addresses: [dhcp4, static, some]}\n", "3:43: ethernets.e.optional-addresses", "ethernets:\n e: {optional-addresses: [dhcp4, static]}\n"},
		"a token of IPv4":               {"ethernets:\n e: {ipv6-address-token: 1.2.3.4}\n", "3:27: ethernets.e.ipv6-address-token", "ethernets:\n e: {ipv6-address-token: '::2'}\n"},
		"a token and a way to make one": {"ethernets:\n e: {ipv6-address-token: '::2', ipv6-address-generation: eui64}\n", "3:27: e.ipv6-address-token", ""},
		"an override of none":           {"ethernets:\n e: {dhcp4: true, dhcp4-overrides: {use-dsn: no}}\n", "3:47: ethernets.e.dhcp4-overrides.use-dsn", "ethernets:\n e: {dhcp4: true, dhcp4-overrides: {use-dns: no}}\n"},
		"an override's kind":            {"ethernets:\n e: {dhcp4: true, dhcp4-overrides: {route-metric: low}}\n", "3:52: ethernets.e.dhcp4-overrides.route-metric", "ethernets:\n e: {dhcp4: true, dhcp4-overrides: {use-domains: route}}\n"},
		"two overrides":                 {"ethernets:\n e: {dhcp4: true, dhcp6: true, dhcp4-overrides: {use-dns: no}}\n", "3:60: e.dhcp6-overrides.use-dns", "ethernets:\n e: {dhcp4: true, dhcp6: true, dhcp4-overrides: {use-dns: yes}}\n"},
		"RA overrides":                  {"ethernets:\n e: {ra-overrides: {use-domains: some}}\n", "3:35: ethernets.e.ra-overrides.use-domains", "ethernets:\n e: {ra-overrides: {use-domains: route, table: 5}}\n"},
		"a lifetime":                    {"ethernets:\n e: {addresses: [10.0.0.1/24: {lifetime: 1}]}\n", "3:43: ethernets.e.addresses[0].lifetime", "ethernets:\n e: {addresses: [10.0.0.1/24: {lifetime: 0, label: 'e:1'}]}\n"},
		"drivers of none":               {"ethernets:\n e: {match: {driver: []}}\n", "3:23: ethernets.e.match.driver", "ethernets:\n e: {match: {driver: [ixgbe, ice]}}\n"},
		"a section's renderer":          {"ethernets:\n renderer: bogus\n e: {dhcp4: true}\n", "3:13: ethernets.renderer", "ethernets:\n renderer: networkd\n e: {dhcp4: true}\n"},
		"a card's filter of a port":     {"ethernets:\n e: {renderer: sriov}\n", "3:17: ethernets.e.renderer", ""},
		"ARP to IPv6":                   {"ethernets: {e: {}, f: {}}\nbonds:\n b: {interfaces: [e, f], parameters: {arp-ip-targets: ['2001:db8::1']}}\n", "4:57: bonds.b.parameters.arp-ip-targets", "ethernets: {e: {}, f: {}}\nbonds:\n b: {interfaces: [e, f], parameters: {arp-ip-targets: [10.0.0.1]}}\n"},
		"two primaries":                 {"ethernets: {e: {}, f: {}}\nbonds:\n b:\n  interfaces: [e, f]\n  parameters:\n   primary: e\n   primary: f\n   mode: active-backup\n", `8:5: duplicate key "primary"`, ""},
		"a cost of no port":             {"ethernets: {e: {}}\nbridges:\n b: {interfaces: [e], parameters: {path-cost: {f: 5}}}\n", "4:52: b.parameters.path-cost.f", "ethernets: {e: {}}\nbridges:\n b: {interfaces: [e], parameters: {path-cost: {e: 5}}}\n"},
		"a port's cost of two bridges":  {"ethernets: {e: {}}\nbridges:\n a: {interfaces: [e], parameters: {path-cost: {e: 5}}}\n b: {parameters: {path-cost: {e: 5}}}\n", "5:35: b.parameters.path-cost.e", ""},
		"a cost that is a word":         {"ethernets: {e: {}}\nbridges:\n b: {interfaces: [e], parameters: {path-cost: {e: aa}}}\n", "4:52: bridges.b.parameters.path-cost.e", ""},
		"a port's priority":             {"ethernets: {e: {}}\nbridges:\n b: {interfaces: [e], parameters: {port-priority: {e: 64}}}\n", "4:56: bridges.b.parameters.port-priority.e", "ethernets: {e: {}}\nbridges:\n b: {interfaces: [e], parameters: {port-priority: {e: 63}, stp: off}}\n"},
		"a bridge's own word":           {"ethernets: {e: {}}\nbridges:\n b: {interfaces: [e], parameters: {stpp: on}}\n", "4:43: bridges.b.parameters.stpp", ""},
		"NetworkManager's off":          {manager + " e: {activation-mode: off}\n", "4:24: e.activation-mode", manager + " e: {activation-mode: manual}\n"},
		"NetworkManager's IPv6 MTU":     {manager + " e: {ipv6-mtu: 2000}\n", "4:17: e.ipv6-mtu", manager + " e: {renderer: networkd, ipv6-mtu: 2000}\n"},
		"NetworkManager's driver":       {manager + " e: {match: {driver: ixgbe}}\n", "4:23: e.match.driver", manager + " e: {match: {driver: ixgbe}, set-name: e}\n"},
		"NetworkManager's lifetime":     {manager + " e: {addresses: [10.0.0.1/24: {lifetime: 0}]}\n", "4:19: e.addresses[0]", manager + " e: {addresses: [10.0.0.1/24]}\n"},
		"NetworkManager's route":        {manager + " e: {routes: [{to: 10.0.0.0/8, type: throw}]}\n", "4:39: e.routes[0].type", "ethernets:\n e: {routes: [{to: 10.0.0.0/8, type: throw}]}\n"},
		"NetworkManager's rule":         {manager + " e: {routing-policy: [{to: 10.0.0.0/8, table: 5}]}\n", "4:24: e.routing-policy[0]", manager + " e: {routing-policy: [{to: 10.0.0.0/8, table: 5, priority: 7}]}\n"},
		"an address of networkd's":      {"ethernets:\n e: {macaddress: stable}\n", "3:19: e.macaddress", "ethernets:\n e: {macaddress: random}\n"},
		"another program's keys":        {"ethernets:\n e: {networkmanager: {name: x}}\n", "3:23: e.networkmanager", manager + " e: {networkmanager: {name: x}}\n"},
		"a VRF without a table":         {"ethernets: {e: {}}\nvrfs:\n v: {interfaces: [e]}\n", "4:6: v.table", "ethernets: {e: {}}\nvrfs:\n v: {interfaces: [e], table: 7}\n"},
		"a port of two VRFs":            {"ethernets: {e: {}}\nvrfs:\n v: {interfaces: [e], table: 7}\n w: {interfaces: [e], table: 8}\n", "5:20: w.interfaces", ""},
		"a VRF's other table":           {"ethernets: {e: {}}\nvrfs:\n v: {table: 7, routing-policy: [{from: 10.0.0.1, table: 8}]}\n", "4:58: v.routing-policy[0].table", ""},
		"a pair of one":                 {"virtual-ethernets:\n a: {peer: a}\n", "3:13: a.peer", "virtual-ethernets:\n a: {peer: b}\n b: {peer: a}\n"},
		"a tunnel of no kind":           {"tunnels:\n t: {remote: 10.0.0.1}\n", "3:6: t.mode", "tunnels:\n t: {mode: gre, remote: 10.0.0.1}\n"},
		"a tunnel's family":             {"tunnels:\n t: {mode: gre, remote: '2001:db8::1'}\n", "3:26: t.remote", "tunnels:\n t: {mode: ip6gre, remote: '2001:db8::1'}\n"},
		"a VXLAN of no number":          {"tunnels:\n t: {mode: vxlan, remote: 10.0.0.1}\n", "3:6: t.id", "tunnels:\n t: {mode: vxlan, id: 9, remote: 10.0.0.1}\n"},
	} {
		t.Run(name, func(t *testing.T) {
			read := func(text string) []string {
				found, err := Read(render.FormatNetplan, map[string]string{"x/a.yaml": "network:\n" + indented(text)})
				if err != nil {
					t.Fatal(err)
				}
				var unread []string
				for _, u := range found.Unread {
					unread = append(unread, u.String())
				}
				return unread
			}
			if got := read(c.text); len(got) != 1 || !strings.HasPrefix(strings.ReplaceAll(got[0], ": network.", ": "), "x/a.yaml:"+c.want) {
				t.Errorf("%q, want one at %s", got, c.want)
			}
			if c.taken == "" {
				return
			}
			if got := read(c.taken); len(got) > 0 {
				t.Errorf("netplan takes it: %q", got)
			}
		})
	}
}

func indented(text string) string {
	return " " + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n ") + "\n"
}
