package host

import (
	"net/netip"
	"regexp"
	"strings"
	"testing"

	"github.com/linerate/linerate/internal/bondopt"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict"
)

// A host of another system is told what means the same there, in its own words, and
// nothing of what is Linux's.
func TestElsewhere(t *testing.T) {
	h := netstate.Host{Name: "nas", Kernel: netstate.Kernel{OS: bondopt.FreeBSD}, Sysctls: map[string]netstate.Sysctl{"net.ipv4.tcp_sack": {Value: "0"}},
		Links: []netstate.Link{
			{Name: "ix0", Up: true, Carrier: true, Duplex: "half", Speed: 100e6, MTU: 1500},
			{Name: "ix1", Up: true, Carrier: true, MTU: 1500, Counters: netstate.Counters{RxPackets: 1e6, RxErrors: 5e4, RxCRC: 5e4}},
		}}
	found := Judge(h)
	kinds := map[string]string{}
	for _, f := range found {
		kinds[f.Kind] = f.Remedy
		if regexp.MustCompile(`ethtool|sysctl|ip link|/sys/|/proc/`).MatchString(f.Remedy) {
			t.Errorf("%s: %s", f.Kind, f.Remedy)
		}
	}
	if kinds[HalfDuplex] == "" || kinds[SysctlSlow] != "" {
		t.Errorf("found %v", kinds)
	}
	h.Kernel.OS = bondopt.Linux
	if len(Judge(h)) <= len(found) {
		t.Error("Linux has no more to find")
	}
}

// Two hosts of one network with unlike MTUs: each is told in its own words.
func TestMTUElsewhere(t *testing.T) {
	host := func(name, system, address string, mtu int) netstate.Host {
		h := netstate.Host{Name: name, Kernel: netstate.Kernel{OS: system}, Links: []netstate.Link{{Name: "p0", Up: true, Carrier: true, MTU: mtu}}}
		h.Links[0].Addresses = append(h.Links[0].Addresses, netip.MustParsePrefix(address))
		return h
	}
	f := predict.Fabric{Hosts: map[string]netstate.Host{"esx": host("esx", bondopt.ESXi, "10.0.0.1/24", 9000), "plain": host("plain", bondopt.Linux, "10.0.0.2/24", 1500)}}
	found := Pairs(f, nil)
	if len(found) != 1 || found[0].Kind != PairMTU {
		t.Fatalf("found %+v", found)
	}
	if r := found[0].Remedy; !strings.Contains(r, "on plain: ip link set p0 mtu 9000") || !strings.Contains(r, "on esx: `esxcli network vswitch standard set") {
		t.Error(r)
	}
}
