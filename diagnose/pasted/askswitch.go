package pasted

import (
	"cmp"

	"github.com/linerate/linerate/diagnose/pasted/scene"
)

// channelCommands are by maker what shows of a switch's channels: whom each member
// hears, by what the switch chooses, and what each member carries.
var channelCommands = map[string][3]string{
	"ios":      {"show etherchannel summary; show lacp neighbor", "show etherchannel load-balance", "show interfaces counters; show interfaces PORT"},
	"nxos":     {"show port-channel summary; show lacp neighbor", "show port-channel load-balance", "show port-channel traffic; show interface PORT"},
	"eos":      {"show port-channel summary; show lacp peer", "show port-channel load-balance fields", "show interfaces counters rates"},
	"junos":    {"show lacp interfaces", "show configuration forwarding-options", "show interfaces aeN extensive"},
	"procurve": {"show trunks; show lacp", "show trunks", "show interfaces port-utilization"},
	"aoscx":    {"show lacp interfaces", "show lacp aggregates", "show interface utilization"},
	"comware":  {"display link-aggregation verbose", "display link-aggregation load-sharing mode", "display counters rate outbound interface"},
	"huawei":   {"display eth-trunk", "display eth-trunk", "display interface brief"},
	"sonic":    {"show interfaces portchannel; teamdctl PORTCHANNEL state", "show switch-hash global", "show interfaces counters"},
	"cumulus":  {"cat /proc/net/bonding/*; clagctl", "cat /etc/cumulus/datapath/traffic.conf", "net show counters"},
	"routeros": {"/interface bonding monitor BOND", "/interface bonding print detail", "/interface monitor-traffic"},
}

// ofSwitches are the outputs of switches where no host's were read.
func ofSwitches(v *scene.View) (out []scene.Missing) {
	if len(v.Switches) == 0 {
		return nil
	}
	s := v.Switches[0]
	vendor, _ := s.Get("host", "vendor")
	commands, known := channelCommands[vendor.Text]
	if !known {
		commands = channelCommands["ios"]
	}
	for i, why := range []string{"which members are in the channel, and whom each hears", "by what the switch chooses a member", "twice, while it is slow: what each member carries, and its drops and errors"} {
		if i > 0 && commands[i] == commands[0] {
			continue
		}
		out = append(out, scene.Missing{Command: commands[i], Host: cmp.Or(s.Name, "the switch"), Why: why})
	}
	return out
}
