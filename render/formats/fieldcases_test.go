package formats

import (
	"slices"
	"strings"
	"testing"

	"github.com/linerate/linerate/render"
)

// The cases of the study of real files, by their numbers, and their tests:
//
//	 1 any place                          TestReadAnywhere, TestFieldFiles/netplan-elsewhere
//	 2, 8, 9 iperf's rows and seconds     internal/evidence/resultfile TestAsFound
//	 3 -b of iperf3 3.7 to 3.10           the same, TestIPerf3Evidence
//	 4 metrics of static default routes   TestFieldFiles/nm-static-metric, .../ifcfg-static-metric
//	 5 no interface-name                  TestFieldFiles/nm-no-interface-name
//	 6 what was not read is no zero       internal/host/observe TestCapturedModeUnread, TestCapturedPartsUnread; diagnose/trial
//	 7 LACP without root, N/A, failures   diagnose/host TestBondKinds, TestLACPWhy
//	10 openvswitch, renderer sriov        TestFieldFiles/netplan-ovs-bond, TestNetplanRefuses/a_card's_filter_of_a_port
//	11 one thing refuses the whole host   TestFieldCases, TestFieldFiles/nm-numeric and others
//	12 places of errors                   TestReadPlaces
//	13 a conversion says no more          TestFieldConversions
//	14 what netplan refuses               TestFieldCases, TestNetplanRefuses, TestFieldFiles/netplan-bad-values
//	15 formats that were not read         TestFieldFiles, internal/evidence/unpack TestHosts
//	16 named tables, noise                TestFieldCases

// TestFieldCases are single values of real files, by the case's number: the rest of the
// host is read, and the value is said or named.
func TestFieldCases(t *testing.T) {
	for name, c := range map[string]struct {
		format               render.Format
		files                map[string]string
		says, unread, silent []string
	}{
		"11 an address of InfiniBand": {render.FormatNetplan, netplanFile("ethernets: {ib: {match: {macaddress: '11:22:33:44:55:66:77:88:99:00:11:22:33:44:55:66:77:88:99:00'}, set-name: ib0, dhcp4: true}, e: {mtu: 1400}}"),
			[]string{"e: {mtu: 1400}"}, []string{"network.ethernets.ib.match.macaddress"}, []string{"ib: {dhcp4", "ib:\n"}},
		"11 a VRF's next hop": {render.FormatNetplan, netplanFile("ethernets: {e: {addresses: [192.0.2.2/24]}}, vrfs: {v: {table: 1005, interfaces: [e], routes: [{to: default, via: 192.0.2.1}]}}"),
			[]string{"via: 192.0.2.1"}, nil, nil},
		"11 patterns and drivers": {render.FormatNetplan, netplanFile("ethernets: {a: {match: {driver: ixgbe}, dhcp4: true}, n: {match: {name: 'enp1s0f*'}, mtu: 9000}}"),
			[]string{"driver: ixgbe", "enp1s0f*"}, nil, nil},
		"11 two default gateways": {render.FormatNetplan, netplanFile("ethernets: {a: {addresses: [192.0.2.2/24], gateway4: 192.0.2.1}, b: {addresses: [198.51.100.2/24], gateway4: 198.51.100.1}}"),
			[]string{"gateway4: 192.0.2.1", "gateway4: 198.51.100.1"}, nil, nil},
		"14 one device in two bridges": {render.FormatNetplan, netplanFile("ethernets: {a: {}}, bridges: {x: {interfaces: [a]}, y: {interfaces: [a]}}"),
			[]string{"x: {interfaces: [a]}"}, []string{"network.bridges.y.interfaces"}, nil},
		"14 a rule of two families": {render.FormatNetplan, netplanFile("ethernets: {a: {dhcp4: true, routing-policy: [{from: 192.0.2.1, to: '2001:db8::1', table: 5}]}}"),
			[]string{"dhcp4: true"}, []string{"network.ethernets.a.routing-policy"}, []string{"2001:db8"}},
		"14 a rule of nothing": {render.FormatNetplan, netplanFile("ethernets: {a: {dhcp4: true, routing-policy: [{table: 50}]}}"),
			[]string{"dhcp4: true"}, []string{"network.ethernets.a.routing-policy"}, []string{"table: 50"}},
		"14 another renderer": {render.FormatNetplan, netplanFile("ethernets: {a: {}}, vlans: {v: {id: 5, link: a, renderer: foo}}"),
			[]string{"id: 5"}, []string{"network.vlans.v.renderer"}, []string{"foo"}},
		"16 a table by name": {render.FormatNetworkd, map[string]string{
			"etc/systemd/network/a.network": "[Match]\nName=e\n[Network]\nAddress=192.0.2.2/24\n[Route]\nDestination=10.0.0.0/8\nGateway=192.0.2.1\nTable=storage\n",
			"etc/iproute2/rt_tables":        "255 local\n254 main\n201 storage\n"},
			[]string{"table: 201"}, nil, nil},
		"16 a table by a name of nobody": {render.FormatNetworkd, map[string]string{
			"etc/systemd/network/a.network": "[Match]\nName=e\n[Network]\nAddress=192.0.2.2/24\n[Route]\nDestination=10.0.0.0/8\nGateway=192.0.2.1\nTable=storage\n"},
			[]string{"192.0.2.2/24"}, []string{"[Route] Table"}, []string{"10.0.0.0/8"}},
		"16 keys that change nothing": {render.FormatKeyfile, map[string]string{"e.nmconnection": "[connection]\nid=e\nuuid=1\ntype=ethernet\ninterface-name=e\nautoconnect-priority=-999\ntimestamp=1\n\n[ethernet]\n\n[ipv4]\nmethod=auto\nmay-fail=false\n\n[user]\norg.freedesktop.NetworkManager.origin=nm-initrd-generator\n"},
			[]string{"dhcp4: true"}, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			found, err := Read(c.format, c.files)
			if err != nil {
				t.Fatal(err)
			}
			text := string(found.FabricFile("h"))
			says(t, text, c.says, c.silent)
			for _, want := range c.unread {
				if !slices.ContainsFunc(found.Unread, func(u render.Unread) bool { return strings.HasPrefix(u.Key, want) }) {
					t.Errorf("nothing says %q: %v", want, found.Unread)
				}
			}
			if len(c.unread) == 0 && len(found.Unread) > 0 {
				t.Errorf("unread: %v", found.Unread)
			}
		})
	}
}

func netplanFile(network string) map[string]string {
	return map[string]string{"x.yaml": "network: {version: 2, " + network + "}\n"}
}

// TestFieldConversions: what one system's files say is what the other's do, and nothing
// else, by the case's number.
func TestFieldConversions(t *testing.T) {
	for name, c := range map[string]struct {
		from, to  render.Format
		files     map[string]string
		has, lack []string
	}{
		"13 no sysctls":                      {render.FormatNetplan, render.FormatNetworkd, netplanFile("ethernets: {e: {dhcp4: true}}"), []string{"DHCP=ipv4"}, []string{"sysctl", "kernel."}},
		"13 the metric of networkd":          {render.FormatNetworkd, render.FormatNetworkd, map[string]string{"a.network": "[Match]\nName=e\n[Network]\nDHCP=ipv4\n"}, []string{"RouteMetric=1024"}, nil},
		"13 carrier as it is":                {render.FormatNetworkd, render.FormatNetworkd, map[string]string{"a.network": "[Match]\nName=e\n[Network]\nDHCP=ipv4\nConfigureWithoutCarrier=no\n"}, nil, []string{"ConfigureWithoutCarrier=yes"}},
		"14 off is always down":              {render.FormatNetplan, render.FormatNetworkd, netplanFile("ethernets: {e: {dhcp4: true, activation-mode: off}}"), []string{"ActivationPolicy=always-down"}, []string{"ActivationPolicy=off"}},
		"11 a driver's and a pattern's":      {render.FormatNetplan, render.FormatNetworkd, netplanFile("ethernets: {a: {match: {driver: ixgbe}, dhcp4: true}, n: {match: {name: 'enp1s0f*'}, mtu: 9000}}"), []string{"Driver=ixgbe", "Name=enp1s0f*"}, nil},
		"5 any Ethernet device":              {render.FormatKeyfile, render.FormatNetworkd, map[string]string{"any.nmconnection": "[connection]\nid=any\ntype=ethernet\n\n[ipv4]\nmethod=auto\n"}, []string{"DHCP=", "[Match]\nType=ether\n"}, []string{"Name=any", "Name=*"}},
		"11 Type=ether, as it is":            {render.FormatNetworkd, render.FormatNetworkd, map[string]string{"20-wired.network": "[Match]\nType=ether\n[Network]\nDHCP=yes\n"}, []string{"[Match]\nType=ether\n"}, []string{"Name=*"}},
		"11 an address that is not read":     {render.FormatNetplan, render.FormatNetworkd, netplanFile("ethernets: {ib0: {match: {macaddress: '11:22:33:44:55:66:77:88:99:00:11:22:33:44:55:66:77:88:99:00'}, dhcp4: true}, e: {mtu: 1400}}"), []string{"Name=e"}, []string{"Name=ib0"}},
		"11 a bond of a port known by match": {render.FormatNetplan, render.FormatNetworkd, netplanFile("ethernets: {lan: {match: {name: 'enp1s0f*'}, mtu: 9000}}, bonds: {bond0: {interfaces: [lan], parameters: {mode: 802.3ad}}}"), []string{"Name=enp1s0f*", "Bond=bond0"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			found, err := Read(c.from, c.files)
			if err != nil {
				t.Fatal(err)
			}
			text := golden(mustRender(t, c.to, inputOf(t, "f.yaml", string(found.FabricFile("h")), "h")))
			for _, want := range c.has {
				if !strings.Contains(text, want) {
					t.Errorf("no %q in\n%s", want, text)
				}
			}
			for _, never := range c.lack {
				if strings.Contains(text, never) {
					t.Errorf("%q in\n%s", never, text)
				}
			}
		})
	}
}
