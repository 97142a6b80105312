package fabric

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/linerate/linerate/fabric/yamldoc"
)

const editable = `# the host's bonds
version: 2
ethernets:
  eth0: {}   # left
  eth1:
    mtu: 1500   # right
bonds:
  bond0:
    interfaces: [eth0, eth1]
    # chosen with care
    parameters:
      mode: "802.3ad" # LACP
      packets-per-slave: 2
      lacp-rate: fast
  bond1: {interfaces: [eth2, eth3], parameters: {mode: 802.3ad}}
  bond2:
    interfaces: [eth4, eth5]
vlans:
  lan: {id: 7, link: bond0}
`

func editableNetwork(t *testing.T) Network {
	t.Helper()
	n, err := ParseNetwork("netplan", []byte(strings.Replace(editable, "bonds:", "  eth2: {}\n  eth3: {}\n  eth4: {}\n  eth5: {}\nbonds:", 1)))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// TestEdit changes one line of the text and leaves every other as it was.
func TestEdit(t *testing.T) {
	parameter := func(bond, name, value string) func(Network) (Network, error) {
		return func(n Network) (Network, error) { return n.WithBondParameter(bond, name, value) }
	}
	mtu := func(id string, mtu int) func(Network) (Network, error) {
		return func(n Network) (Network, error) { return n.WithMTU(id, mtu) }
	}
	for name, c := range map[string]struct {
		edit    func(Network) (Network, error)
		old, in string
	}{
		"replaced":        {parameter("bond0", "lacp-rate", "slow"), "      lacp-rate: fast", "      lacp-rate: slow"},
		"quoted":          {parameter("bond0", "mode", "balance-xor"), `mode: "802.3ad" # LACP`, "mode: balance-xor # LACP"},
		"alias":           {parameter("bond0", "packets-per-member", "1"), "packets-per-slave: 2", "packets-per-slave: 1"},
		"kernel's name":   {parameter("bond0", "xmit_hash_policy", "layer3+4"), "      lacp-rate: fast\n", "      lacp-rate: fast\n      transmit-hash-policy: layer3+4\n"},
		"kernel's value":  {parameter("bond0", "all_slaves_active", "1"), "      lacp-rate: fast\n", "      lacp-rate: fast\n      all-members-active: true\n"},
		"list":            {parameter("bond0", "arp_ip_target", "10.0.0.1,10.0.0.2"), "      lacp-rate: fast\n", "      lacp-rate: fast\n      arp-ip-targets: [10.0.0.1, 10.0.0.2]\n"},
		"flow":            {parameter("bond1", "lacp-rate", "fast"), "parameters: {mode", "parameters: {lacp-rate: fast, mode"},
		"no parameters":   {parameter("bond2", "mode", "802.3ad"), "[eth4, eth5]\n", "[eth4, eth5]\n    parameters: {mode: 802.3ad}\n"},
		"mtu replaced":    {mtu("eth1", 9000), "mtu: 1500   # right", "mtu: 9000   # right"},
		"mtu of empty":    {mtu("eth0", 9000), "eth0: {}   # left", "eth0: {mtu: 9000}   # left"},
		"mtu of a bond":   {mtu("bond2", 9000), "[eth4, eth5]\n", "[eth4, eth5]\n    mtu: 9000\n"},
		"mtu in flow":     {mtu("lan", 1400), "{id: 7", "{mtu: 1400, id: 7"},
		"mtu of one flow": {mtu("bond1", 9000), "bond1: {interfaces", "bond1: {mtu: 9000, interfaces"},
	} {
		t.Run(name, func(t *testing.T) {
			n := editableNetwork(t)
			before := n.Source
			edited, err := c.edit(n)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(before, c.old) {
				t.Fatalf("the text lacks %q", c.old)
			}
			if diff := cmp.Diff(strings.Replace(before, c.old, c.in, 1), edited.Source); diff != "" {
				t.Errorf("source (-want +got):\n%s", diff)
			}
			if n.Source != before {
				t.Error("the network edited was changed itself")
			}
		})
	}
	n := editableNetwork(t)
	edited, err := n.WithBondParameter("bond0", "transmit-hash-policy", "layer2+3")
	if err != nil {
		t.Fatal(err)
	}
	if b, _ := edited.Bond("bond0"); b.Options.HashPolicy.String() != "layer2+3" || !b.Sets("xmit_hash_policy") {
		t.Errorf("edited bond = %+v", b)
	}
}

// TestEditRewrites falls back to writing the data anew where the text shares
// an anchor.
func TestEditRewrites(t *testing.T) {
	n, err := ParseNetwork("netplan", []byte(`ethernets: {a: {}, b: {}, c: {}, d: {}}
bonds:
  bond0: {interfaces: [a, b], parameters: &p {mode: 802.3ad}}
  bond1: {interfaces: [c, d], parameters: *p}
`))
	if err != nil {
		t.Fatal(err)
	}
	edited, err := n.WithBondParameter("bond1", "lacp-rate", "fast")
	if err != nil {
		t.Fatal(err)
	}
	bond0, _ := edited.Bond("bond0")
	bond1, _ := edited.Bond("bond1")
	if bond0.Sets("lacp_rate") || !bond1.Sets("lacp_rate") {
		t.Errorf("both bonds changed or none:\n%s", edited.Source)
	}
}

func TestEditRefuses(t *testing.T) {
	n := editableNetwork(t)
	if _, err := n.WithBondParameter("bond9", "mode", "802.3ad"); err == nil {
		t.Error("an unknown bond was edited")
	}
	if _, err := n.WithBondParameter("bond0", "lacp_active", "on"); err == nil {
		t.Error("a parameter that netplan lacks was set")
	}
	if _, err := n.WithMTU("eth9", 9000); err == nil {
		t.Error("an unknown device was edited")
	}
	_, err := n.WithBondParameter("bond0", "mode", "nonsense")
	var p yamldoc.Problem
	if !errors.As(err, &p) {
		t.Errorf("a bad value gave %v, want a Problem", err)
	}
}
