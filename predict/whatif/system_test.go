package whatif

import (
	"testing"

	"github.com/linerate/linerate/internal/bondopt"
	"github.com/linerate/linerate/netstate"
)

// A change is in the words of the bond's own system, or in Linux's where the system
// has the same.
func TestOwnWords(t *testing.T) {
	for _, c := range []struct {
		system, mode, policy string
		option, word         string
		want                 netstate.OwnRule
	}{
		{bondopt.FreeBSD, "lacp", "l2", bondopt.HashPolicy, "layer3+4", netstate.OwnRule{Mode: "lacp", Policy: "l3,l4"}},
		{bondopt.AIX, "8023ad", "default", bondopt.HashPolicy, "src_dst_port", netstate.OwnRule{Mode: "8023ad", Policy: "src_dst_port"}},
		{bondopt.Windows, "Lacp", "IPAddresses", bondopt.HashPolicy, "transportports", netstate.OwnRule{Mode: "Lacp", Policy: "TransportPorts"}},
		{bondopt.Windows, "SET", "Dynamic", bondopt.HashPolicy, "TransportPorts", netstate.OwnRule{Mode: "SET", Policy: "Dynamic"}},
		{bondopt.ESXi, "portid", "", bondopt.HashPolicy, "layer3+4", netstate.OwnRule{Mode: "portid"}},
		{bondopt.ESXi, "portid", "", bondopt.Mode, "iphash", netstate.OwnRule{Mode: "iphash"}},
		{bondopt.FreeBSD, "lacp", "l2", bondopt.Mode, "failover", netstate.OwnRule{Mode: "failover"}},
	} {
		b := netstate.Bond{Own: &netstate.OwnRule{Mode: c.mode, Policy: c.policy}}
		before := b.Own
		setOwn(&netstate.Host{Kernel: netstate.Kernel{OS: c.system}}, &b, c.option, c.word)
		if *b.Own != c.want {
			t.Errorf("%s %s: %+v, want %+v", c.system, c.word, *b.Own, c.want)
		}
		if *before != (netstate.OwnRule{Mode: c.mode, Policy: c.policy}) {
			t.Errorf("%s: the fabric's own was changed", c.system)
		}
	}
	for _, word := range []string{"TransportPorts", "src_dst_port", "l3,l4"} {
		if _, err := readPolicy(word); err != nil {
			t.Errorf("%s: %v", word, err)
		}
	}
	if _, err := readPolicy("nonsense"); err == nil {
		t.Error("nonsense is taken")
	}
}
