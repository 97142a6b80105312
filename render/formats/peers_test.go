package formats

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/render"
)

// The findings of peers' own tests, by number, and the tests of each:
//
//	1 rules without their selectors  internal/wanted TestDiscoveredCases, TestPeersWritten, TestPeersRefused
//	2, 7 bonds of few ports          internal/wanted TestBondOfFewPorts, TestPortOfTheHostsBond; TestPeersWritten
//	3 ports that are released        internal/wanted TestReleasedPortsAddresses
//	4 IPv6 that delivers nothing     internal/wanted TestUndeliveredRoutes; TestPeersWritten
//	5 files of any place             TestReadAnywhere
//	6 search domains of IPv4         render/keyfile TestKeyfileSearchWithoutIPv6
//	8 what discover left out         internal/lab/labtest/discovering, internal/wanted TestDiscoveredCases
//	9 --pacing                       internal/traffic/iperf3client TestPacingOfSession
//	10 a VLAN on a new dummy         internal/wanted TestNewOnNew; TestPeersWritten
//	11 the newest options            TestPeersWritten, TestPeersRefused; internal/wanted TestPortOptions
//	12a MPTCP of an iperf3 server    internal/traffic/iperf3client TestMultipath
//	12b bounds too narrow            internal/run/campaign TestBoundsTooNarrow
//	12c credentials                  internal/traffic/iperf3client TestBadOpening
//	12d segment sizes                internal/traffic/iperf3 TestParametersCheck
//	12e bytes and blocks             internal/traffic/iperf3server TestIperf3: what came, over the time in which it came
//	12f, 12g, 12h, 12i, 12k, 12q     render/keyfile TestKeyfileEndpointsOfAllAddresses, TestAbsentIsWarnedOf, TestPeersRefused, TestPeersWritten
//	12i min_links, 12j no targets    internal/wanted TestFewerPortsThanNeeded, TestNoARPTargets
//	12l the schema                   fabric TestSchemaTakesGoodFiles
//	12m completion                   internal/cmd/root TestCompletion
//	12n groups of nexthop objects    internal/kernel/rtnl TestKernelNexthopGroups
//	12o drop-ins                     TestPeersDropInsAreRead
//	12p subflows of who opens        diagnose/trial TestSubnets

// ofNetwork is a host h with a network section, and what stands beside it.
func ofNetwork(network, beside string) string {
	return fmt.Sprintf("linerate: v1\nhosts: {h: {network: {%s}%s}}\n", network, beside)
}

// TestPeersRefused are statements that netplan, nmstate or the kernel refuse, and that
// once were rendered without a word, by the finding's number.
func TestPeersRefused(t *testing.T) {
	const ports = "ethernets: {eth1: {}, eth2: {}}, bonds: {b: {interfaces: [eth1, eth2], parameters: {mode: %s}}}"
	for name, c := range map[string]struct{ text, want string }{
		"12h a rule of no family":           {ofNetwork("ethernets: {e: {routing-policy: [{table: 50, priority: 3}]}}", ""), "2:56: hosts.h.network.ethernets.e.routing-policy[0]: has neither from nor to"},
		"1 a rule with a mark alone":        {ofNetwork("ethernets: {e: {routing-policy: [{mark: 7, table: 50, priority: 3}]}}", ""), "has neither from nor to"},
		"12h a blackhole with a next hop":   {ofNetwork("ethernets: {e: {addresses: [192.0.2.1/24], routes: [{to: 10.0.0.0/8, via: 192.0.2.9, type: blackhole}]}}", ""), "has no via (fib_create_info)"},
		"12k a delay of notices beside ARP": {ofNetwork(fmt.Sprintf(ports, "active-backup, arp-interval: 100, arp-ip-targets: [192.0.2.1]"), ", bonding: {b: {peer_notif_delay: 100}}"), "peer_notif_delay of b is 100, which needs mii-monitor-interval"},
		"11 an option of another mode":      {ofNetwork(fmt.Sprintf(ports, "active-backup"), ", bonding: {b: {lacp_strict: on}}"), "lacp_strict is not for mode active-backup"},
		"12i a group's MAC address":         {ofNetwork("ethernets: {e: {macaddress: '01:00:5e:00:00:01'}}", ""), "is a group's address"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := fabric.Parse("f.yaml", []byte(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

// TestPeersWritten are statements that each format once could not say, or said
// otherwise: each is in the files, or a warning names it.
func TestPeersWritten(t *testing.T) {
	bond := func(interfaces, more string) string {
		return "ethernets: {eth1: {}, eth2: {}}, bonds: {bond0: {interfaces: [" + interfaces + "], addresses: [192.0.2.7/24]" + more + "}}"
	}
	all := []render.Format{render.FormatNetplan, render.FormatNetworkd, render.FormatIfcfg, render.FormatKeyfile, render.FormatIfupdown, render.FormatNmstate, render.FormatIproute2}
	for name, c := range map[string]struct {
		text   string
		in     string // of the files, in words of the formats
		option string // else of a warning
	}{
		"2, 7 a bond with one port":     {ofNetwork(bond("eth1", ""), ""), "192.0.2.7", ""},
		"7 a bond without ports":        {ofNetwork(bond("", ""), ""), "192.0.2.7", ""},
		"7 a bond whose ports come":     {ofNetwork("ethernets: {eth1: {}}, bonds: {bond0: {addresses: [192.0.2.7/24]}}", ""), "192.0.2.7", ""},
		"10 a VLAN on a new dummy":      {ofNetwork("dummy-devices: {d0: {}}, vlans: {d0.101: {id: 101, link: d0}}", ""), "101", ""},
		"11 lacp_strict":                {ofNetwork(bond("eth1, eth2", ", parameters: {mode: 802.3ad, mii-monitor-interval: 100}"), ", bonding: {bond0: {lacp_strict: on}}"), "lacp_strict", "lacp_strict"},
		"11 a port's actor_port_prio":   {ofNetwork(bond("eth1, eth2", ", parameters: {mode: 802.3ad, mii-monitor-interval: 100}"), ", bonding: {bond0: {ad_select: actor_port_prio}}, links: {eth1: {actor_port_prio: 1000}}"), "actor_port_prio 1000", "actor_port_prio"},
		"11 a port's queue_id":          {ofNetwork(bond("eth1, eth2", ", parameters: {mode: active-backup}"), ", links: {eth1: {queue_id: 2}}"), "queue", "queue_id"},
		"4 IPv6 that goes nowhere":      {ofNetwork("ethernets: {eth1: {addresses: ['2001:db8::1/64'], routes: [{to: '2001:db8:a::/64', type: unreachable}]}}", ""), "2001:db8:a::", "routes"},
		"12q a route's first window":    {ofNetwork("ethernets: {eth1: {addresses: [192.0.2.7/24], routes: [{to: 10.0.0.0/8, via: 192.0.2.1, congestion-window: 20}]}}", ""), "20", "congestion-window"},
		"1 a rule by mark, of a family": {ofNetwork("ethernets: {eth1: {addresses: [192.0.2.7/24], routing-policy: [{from: 0.0.0.0/0, mark: 32, table: 50, priority: 3}]}}", ""), "32|0x20", "mark"},
	} {
		for _, format := range all {
			t.Run(name+" "+string(format), func(t *testing.T) {
				out, err := Write(format, inputOf(t, "f.yaml", c.text, "h"))
				if err != nil {
					t.Fatal(err)
				}
				text := golden(out)
				files, _, _ := strings.Cut(text, "## warning:")
				said := slices.ContainsFunc(strings.Split(c.in, "|"), func(in string) bool { return strings.Contains(files, in) })
				for _, w := range out.Warnings {
					said = said || c.option != "" && strings.Contains(w.Key+" "+w.Why, c.option)
				}
				if !said {
					t.Errorf("neither %q in the files nor a warning:\n%s", c.in, text)
				}
			})
		}
	}
}

// Peers 12o: drop-ins that this program wrote beside netplan's files are read with them.
func TestPeersDropInsAreRead(t *testing.T) {
	text := ofNetwork("ethernets: {eth1: {}, eth2: {}}, bonds: {bond0: {interfaces: [eth1, eth2], parameters: {mode: 802.3ad}}}",
		", bonding: {bond0: {ad_actor_sys_prio: 7}}, links: {eth1: {rings: {rx: 4096}, coalesce: {rx-usecs: 8}, qdisc: fq}}")
	out := mustRender(t, render.FormatNetplan, inputOf(t, "f.yaml", text, "h"))
	found, err := Read(render.FormatNetplan, byPath(out.Files))
	if err != nil {
		t.Fatal(err)
	}
	back := string(found.FabricFile("h"))
	for _, want := range []string{"ad_actor_sys_prio", "4096", "rx-usecs", "qdisc: fq"} {
		if !strings.Contains(back, want) {
			t.Errorf("%s is lost:\n%s\n%s", want, golden(out), back)
		}
	}
	if len(found.Unread) > 0 {
		t.Errorf("unread: %v", found.Unread)
	}
}
