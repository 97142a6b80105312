package snippet

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/linerate/linerate/internal/bondopt"
	"github.com/linerate/linerate/netstate"
)

func TestOwnBond(t *testing.T) {
	for _, c := range []struct{ system, bond, mode, policy, want string }{
		{bondopt.ESXi, "vSwitch0", "iphash", "", "esxcli network vswitch standard policy failover set -v vSwitch0 -l iphash -a p0,p1"},
		{bondopt.ESXi, "dvs", "lacp", "srcDestIp", "# in vSphere: the LAG of distributed switch dvs, load balancing srcDestIp; the port group's only active uplink is the LAG"},
		{bondopt.Windows, "Team", "Lacp", "TransportPorts", "Set-NetLbfoTeam -Name 'Team' -TeamingMode Lacp -LoadBalancingAlgorithm TransportPorts"},
		{bondopt.Windows, "it's", "SET", "Dynamic", "Set-VMSwitchTeam -Name 'it''s' -LoadBalancingAlgorithm Dynamic"},
		{bondopt.FreeBSD, "lagg0", "lacp", "l3,l4", "ifconfig lagg0 laggproto lacp lagghash l3,l4\n# to stay: the same words in ifconfig_lagg0 of /etc/rc.conf"},
		{bondopt.FreeBSD, "lagg0", "failover", "", "ifconfig lagg0 laggproto failover\n# to stay: the same words in ifconfig_lagg0 of /etc/rc.conf"},
		{bondopt.AIX, "ent2", "8023ad", "src_dst_port", "chdev -P -l ent2 -a mode=8023ad -a hash_mode=src_dst_port\n# smitty etherchannel; it counts from the next start on"},
		{bondopt.Linux, "bond0", "802.3ad", "layer3+4", ""},
	} {
		got := OwnBond(c.system, c.bond, netstate.OwnRule{Mode: c.mode, Policy: c.policy}, []string{"p0", "p1"})
		if diff := cmp.Diff(c.want, strings.Join(got, "\n")); diff != "" {
			t.Errorf("%s %s (-want +got):\n%s", c.system, c.mode, diff)
		}
	}
	for _, s := range bondopt.Systems() {
		for _, mode := range s.Modes {
			if len(OwnBond(s.Name, "b", netstate.OwnRule{Mode: mode.Word, Policy: s.Policies[0].Word}, []string{"p0", "p1"})) == 0 {
				t.Errorf("%s %s has no line", s.Name, mode.Word)
			}
		}
	}
}
