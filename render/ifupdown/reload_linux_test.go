package ifupdown

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/linerate/linerate/internal/bondopt"
	"github.com/linerate/linerate/netstate"
)

// TestReloads: what a reload of ifupdown2 would take down is foreseen, and what it leaves
// up is not told.
func TestReloads(t *testing.T) {
	const file = "auto bond0\niface bond0 inet static\n  address 192.0.2.5/24\n  bond-slaves eth0 eth1\n  bond-mode 802.3ad\n  bond-miimon 100\n  bond-xmit-hash-policy layer3+4\n"
	host := func(change func(*netstate.Bond)) netstate.Host {
		b := netstate.Bond{Mode: netstate.LACP, HashPolicy: netstate.Layer34, Miimon: 100, Ports: []string{"eth0", "eth1"}}
		change(&b)
		h := netstate.Host{Name: "h", Links: []netstate.Link{{Name: "bond0", Kind: "bond", Up: true, Bond: &b}}}
		for _, port := range []string{"eth0", "eth1", "eth2"} {
			h.Links = append(h.Links, netstate.Link{Name: port, Up: true})
		}
		return h
	}
	for name, c := range map[string]struct {
		change func(*netstate.Bond)
		more   string
		want   []string
	}{
		"as its files say":     {func(*netstate.Bond) {}, "", nil},
		"another hash":         {func(b *netstate.Bond) { b.HashPolicy = netstate.Layer2 }, "", []string{"ifreload would take bond0 down and up: its files say xmit_hash_policy layer3+4, and the host has layer2"}},
		"another mode":         {func(b *netstate.Bond) { b.Mode = netstate.BalanceXOR }, "", []string{"ifreload would take bond0 down and up: its files say mode 802.3ad, and the host has balance-xor"}},
		"least links":          {func(*netstate.Bond) {}, "  bond-min-links 2\n", []string{"its files say min_links 2, and the host has 0"}},
		"a monitor, live":      {func(b *netstate.Bond) { b.Miimon = 50 }, "", nil},
		"what no file says":    {func(b *netstate.Bond) { b.MinLinks, b.LACPRate = 1, netstate.LACPFast }, "", nil},
		"a port to come":       {func(b *netstate.Bond) { b.Ports = []string{"eth0"} }, "", []string{"ifreload would take eth1 down and up, to make it a port of bond0"}},
		"a port too many":      {func(b *netstate.Bond) { b.Ports = []string{"eth0", "eth1", "eth2"} }, "", []string{"ifreload would take eth2 out of bond0"}},
		"a bond of other ways": {func(*netstate.Bond) {}, "auto bond9\niface bond9 inet manual\n  bond-slaves eth8 eth9\n", nil},
	} {
		t.Run(name, func(t *testing.T) {
			got := Reloads(map[string]string{"/etc/network/interfaces": file + c.more}, host(c.change))
			if len(got) != len(c.want) {
				t.Fatalf("%q, want %q", got, c.want)
			}
			for i, want := range c.want {
				if !strings.Contains(got[i], want) {
					t.Errorf("%q, want %q", got[i], want)
				}
			}
		})
	}
}

// TestReloadsAsIfupdown2: the options for which the table says that ifupdown2 takes the
// bond down are those of its own list.
func TestReloadsAsIfupdown2(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(programs(t), "ifupdown2/usr/share/ifupdown2/addons/bond.py"))
	if err != nil {
		t.Fatal(err)
	}
	list := regexp.MustCompile(`(?s)_bond_down_nl_attributes_list = \((.*?)\)`).FindSubmatch(text)
	if list == nil {
		t.Fatal("ifupdown2 has no such list any more")
	}
	var theirs, ours []string
	for _, m := range regexp.MustCompile(`IFLA_BOND_(\w+)`).FindAllSubmatch(list[1], -1) {
		theirs = append(theirs, strings.TrimPrefix(strings.ToLower(string(m[1])), "ad_"))
	}
	for _, o := range bondopt.Options() {
		if s, _ := o.Saying(bondopt.Ifupdown2); s.Downs {
			ours = append(ours, o.Name)
		}
	}
	slices.Sort(theirs)
	slices.Sort(ours)
	if len(theirs) < 4 || !slices.Equal(theirs, ours) {
		t.Errorf("ifupdown2 takes bonds down for %q, the table says %q", theirs, ours)
	}
}
