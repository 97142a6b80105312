package snippet

import (
	"fmt"
	"strings"

	"github.com/linerate/linerate/internal/bondopt"
	"github.com/linerate/linerate/netstate"
)

// OwnBond are the lines that give a bond of a system that is not Linux its mode and
// policy, in that system's own words: esxcli, PowerShell, ifconfig(8), chdev(1). What
// no line can set is a comment that says where it is set.
func OwnBond(system, bond string, own netstate.OwnRule, ports []string) []string {
	quoted := "'" + strings.ReplaceAll(bond, "'", "''") + "'"
	switch system {
	case bondopt.ESXi:
		switch own.Mode {
		case "lacp":
			return []string{fmt.Sprintf("# in vSphere: the LAG of distributed switch %s, load balancing %s; the port group's only active uplink is the LAG", bond, own.Policy)}
		case "loadbased":
			return []string{fmt.Sprintf("# in vSphere: the port groups of distributed switch %s, Teaming and failover, Route based on physical NIC load", bond)}
		}
		return []string{fmt.Sprintf("esxcli network vswitch standard policy failover set -v %s -l %s -a %s", bond, own.Mode, strings.Join(ports, ","))}
	case bondopt.Windows:
		if own.Mode == "SET" {
			return []string{fmt.Sprintf("Set-VMSwitchTeam -Name %s -LoadBalancingAlgorithm %s", quoted, own.Policy)}
		}
		return []string{fmt.Sprintf("Set-NetLbfoTeam -Name %s -TeamingMode %s -LoadBalancingAlgorithm %s", quoted, own.Mode, own.Policy)}
	case bondopt.FreeBSD:
		line := fmt.Sprintf("ifconfig %s laggproto %s", bond, own.Mode)
		switch own.Policy {
		case "":
		case bondopt.FlowID:
			line += " " + bondopt.FlowID
		default:
			line += " lagghash " + own.Policy
		}
		return []string{line, fmt.Sprintf("# to stay: the same words in ifconfig_%s of /etc/rc.conf", rcName(bond))}
	case bondopt.AIX:
		if own.Mode == "netif_backup" && len(ports) > 1 {
			return []string{fmt.Sprintf("chdev -P -l %s -a adapter_names=%s -a backup_adapter=%s", bond, ports[0], ports[1]), "# smitty etherchannel; it counts from the next start on"}
		}
		line := fmt.Sprintf("chdev -P -l %s -a mode=%s", bond, own.Mode)
		if own.Policy != "" {
			line += " -a hash_mode=" + own.Policy
		}
		return []string{line, "# smitty etherchannel; it counts from the next start on"}
	}
	return nil
}
