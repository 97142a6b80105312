package pasted

import (
	"fmt"
	"strings"
	"testing"

	"github.com/linerate/linerate/diagnose/pasted/scene"
	"github.com/linerate/linerate/record"
)

// The texts have the form of teamdctl(8) of libteam 1.32 (cli_stdout, teamdctl.c).
func teamPortText(name, summary, watch, runner string) string {
	return fmt.Sprintf("  %s\n    link watches:\n      link summary: %s\n      instance[link_watch_0]:\n        name: %s\n        link: %s\n        down count: 0\n%s", name, summary, watch, summary, runner)
}

func teamState(runner, tail string, ports ...string) string {
	return "# teamdctl team0 state\nsetup:\n  runner: " + runner + "\nports:\n" + strings.Join(ports, "") + tail
}

func lacpText(id int, selected, state string) string {
	of := ""
	if selected == "yes" {
		of = ", Selected"
	}
	return fmt.Sprintf("    runner:\n      aggregator ID: %d%s\n      selected: %s\n      state: %s\n", id, of, selected, state)
}

func lacpJSON(port, partner, key, selected string) string {
	return fmt.Sprintf(`"%s": {"link": {"up": true, "speed": 10000, "duplex": "full"}, "link_watches": {"up": true}, "runner": {"selected": %s, "state": "current",
 "aggregator": {"id": %d, "selected": %s}, "partner_lacpdu_info": {"system": "%s", "key": %s, "state": 61}}}`, port, selected, len(selected), selected, partner, key)
}

func dump(ports ...string) string {
	return "# teamdctl team0 state dump\n{\n\"ports\": {\n" + strings.Join(ports, ",\n") + "},\n\"runner\": {\"active\": true, \"fast_rate\": false},\n\"setup\": {\"runner_name\": \"lacp\"},\n\"team_device\": {\"ifinfo\": {\"ifname\": \"team0\"}}\n}\n"
}

func streams(ports ...int) string {
	var b strings.Builder
	b.WriteString("# iperf3 -c 192.168.10.2 -P 4\nConnecting to host 192.168.10.2, port 5201\n")
	for i, p := range ports {
		fmt.Fprintf(&b, "[%3d] local 192.168.10.1 port %d connected to 192.168.10.2 port 5201\n", 5+2*i, p)
	}
	b.WriteString("[SUM]   0.00-10.00  sec  11.0 GBytes  9.42 Gbits/sec    0             sender\n")
	return b.String()
}

const teamJSON = "# teamdctl team0 config dump\n{\n  \"device\": \"team0\",\n  \"ports\": {\"e1\": {}, \"e2\": {}},\n  \"runner\": {\"name\": \"loadbalance\"%s}\n}\n"

// TestTeams: what a team's state and configuration show, and what they do not.
func TestTeams(t *testing.T) {
	rates := "runner:\n  active: yes\n  fast rate: yes\n"
	l4 := fmt.Sprintf(teamJSON, `, "tx_hash": ["l3", "l4"]`)
	for _, c := range []struct {
		name, text string
		cause      record.Cause
		least      float64
		says, not  []string
	}{
		{"a port without partner", teamState("lacp", rates, teamPortText("e1", "up", "ethtool", lacpText(3, "yes", "current")), teamPortText("e2", "up", "ethtool", lacpText(4, "no", "defaulted"))),
			record.LACPDown, 0.8, []string{"e2", "defaulted", "LACP group"}, nil},
		{"two switches", dump(lacpJSON("e1", "00:1c:73:00:00:01", "10", "true"), lacpJSON("e2", "00:1c:73:00:00:02", "10", "false")), record.LACPDown, 0.9, []string{"two switches", "e2"}, []string{"not up"}},
		{"two groups of one switch", dump(lacpJSON("e1", "00:1c:73:00:00:01", "10", "true"), lacpJSON("e2", "00:1c:73:00:00:01", "11", "false")), record.LACPDown, 0.9, []string{"two groups"}, []string{"two switches"}},
		{"both selected", dump(lacpJSON("e1", "00:1c:73:00:00:01", "10", "true"), lacpJSON("e2", "00:1c:73:00:00:01", "10", "true")), scene.Healthy, 0.5, []string{"team0"}, nil},
		{"a port without link", teamState("loadbalance", "", teamPortText("e1", "up", "ethtool", ""), teamPortText("e2", "down", "ethtool", "")), record.SingleLink, 0.8, []string{"e2 has no link"}, nil},
		{"a port that gets no answer", teamState("loadbalance", "", teamPortText("e1", "up", "arp_ping", ""), teamPortText("e2", "down", "arp_ping", "")), record.SingleLink, 0.6, []string{"no answer", "target_host"}, []string{"has no link"}},
		{"the default hash", fmt.Sprintf(teamJSON, "") + streams(40000, 40002, 40004, 40006), record.SingleLink, 0.6, []string{"eth ipv4 ipv6", "l4"}, []string{"/proc/net/bonding"}},
		{"even ports", l4 + streams(40000, 40002, 40004, 40006), record.HashImbalance, 0.7, []string{"even", "--cport"}, []string{"layer3+4"}},
		{"ports that spread", l4 + streams(40000, 40001, 40002, 40003), record.Unknown, 0, nil, []string{"same port"}},
		{"moved by load", fmt.Sprintf(teamJSON, `, "tx_balancer": {"name": "basic"}`) + streams(40000, 40002, 40004, 40006), record.Unknown, 0, nil, []string{"tx_hash"}},
		{"one port by design", teamState("activebackup", "runner:\n  active port: e1\n", teamPortText("e1", "up", "ethtool", ""), teamPortText("e2", "up", "ethtool", "")), record.SingleLink, 0.4, []string{"active-backup", `"lacp"`}, []string{"restarts team0"}},
	} {
		check(t, []shows{{c.name, c.text, c.cause, c.least, c.says, c.not}})
	}
}
