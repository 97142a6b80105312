package tune

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/netstate"
)

// TestA2TuneLeavesTheManagementAlone: neither the MTU nor a setting of the device
// is proposed for a link that is left out, and all of a link that is used.
func TestA2TuneLeavesTheManagementAlone(t *testing.T) {
	host := func(name, use string, n byte) netstate.Host {
		f, err := fabric.Parse("f.yaml", []byte("linerate: v1\nhosts:\n  "+name+": {reach: 'nats:"+name+"'"+use+"}\n"))
		if err != nil {
			t.Fatal(err)
		}
		h := netstate.Host{Name: name, Routes: []netstate.Route{{Dst: netip.MustParsePrefix("0.0.0.0/0"), Link: "mgmt0", Table: 254}}}
		for i, link := range []string{"ens1", "ens2", "mgmt0"} {
			h.Links = append(h.Links, netstate.Link{Name: link, Up: true, Carrier: true, MTU: 1500, MaxMTU: 9000, Speed: 1e9,
				Addresses: []netip.Prefix{netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 1, byte(i + 1), n}), 24)},
				Qdiscs:    []netstate.Qdisc{{Kind: "fq_codel", Handle: "0:", Parent: "root"}}, Offloads: map[string]bool{"gro": false}})
		}
		return fabric.InUse(f.Hosts[0], h)
	}
	for use, managed := range map[string]bool{"": false, ", use: [ens1, mgmt0]": true} {
		s := state(host("a", use, 1), host("b", use, 2))
		var all []option
		all = append(append(append(all, mtuOptions(s)...), queueOptions(s)...), offloadOptions(s)...)
		if len(all) != 3 {
			t.Fatalf("%d options", len(all))
		}
		for _, o := range all {
			if got := strings.Contains(o.change, "mgmt0"); got != managed || !strings.Contains(o.change, "ens1") || strings.Contains(o.change, "ens2") == managed {
				t.Errorf("use %q: %s", use, o.change)
			}
			for name, want := range o.hosts {
				is, _ := want.Link("mgmt0")
				was, _ := s.Fabric.Hosts[name].Link("mgmt0")
				if changed := is.MTU != was.MTU || is.Qdiscs[0] != was.Qdiscs[0] || is.Offloads["gro"] != was.Offloads["gro"]; changed != managed {
					t.Errorf("use %q: mgmt0 of %s would be %+v", use, name, is)
				}
			}
		}
	}
}
