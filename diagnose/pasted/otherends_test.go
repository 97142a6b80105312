package pasted

import (
	"strings"
	"testing"

	"github.com/linerate/linerate/record"
)

const teamLACP = `# teamdctl team0 state
setup:
  runner: lacp
ports:
  ens1f0
    link watches:
      link summary: up
    runner:
      aggregator ID: 6, Selected
      selected: yes
      state: current
  ens1f1
    link watches:
      link summary: up
    runner:
      aggregator ID: 6, Selected
      selected: SELECTED
      state: STATE
runner:
  active: yes
  fast rate: FAST
`

func team(selected, state, fast string) string {
	return strings.NewReplacer("SELECTED", selected, "STATE", state, "FAST", fast).Replace(teamLACP)
}

const roundRobinTeam = `# teamdctl team0 config dump
{
    "device": "team0",
    "ports": { "eth0": {}, "eth1": {}, "eth2": {} },
    "runner": { "name": "roundrobin" }
}
# ip -br link
eth0             UP             02:00:5e:00:53:01 <BROADCAST,MULTICAST,UP,LOWER_UP>
eth1             UP             02:00:5e:00:53:01 <BROADCAST,MULTICAST,UP,LOWER_UP>
`

// TestTeamLACP: ports of a team by what its LACP and its links say.
func TestTeamLACP(t *testing.T) {
	const lost = "[  5]   0.00-10.00  sec   991 MBytes   831 Mbits/sec  4511             sender\n"
	check(t, []shows{
		{"both current", team("yes", "current", "yes"), Healthy, 0.6, []string{"Nothing is wrong"}, nil},
		{"selected and expired", team("yes", "expired", "yes"), record.LACPDown, 0.7, []string{"expired", "fast rate"}, []string{"Nothing is wrong"}},
		{"not selected, slow rate", team("no", "defaulted", "no"), record.LACPDown, 0.8, []string{"defaulted"}, []string{"fast_rate"}},
		{"round robin with a dead port", roundRobinTeam + "eth2             DOWN           02:00:5e:00:53:01 <NO-CARRIER,BROADCAST,MULTICAST,UP>\n" + lost, record.Congestion, 0.8, []string{"eth2", "Remove"}, nil},
		{"round robin, all alive", roundRobinTeam + "eth2             UP             02:00:5e:00:53:01 <BROADCAST,MULTICAST,UP,LOWER_UP>\n" + lost, record.Reordering, 0.8, []string{"3 links"}, []string{"Remove"}},
	})
}

// TestOtherSystemsWords: a remedy is in the words of the system that was read.
func TestOtherSystemsWords(t *testing.T) {
	const bond = "# cat /sys/class/net/bond0/bonding/mode\n802.3ad 4\n"
	check(t, []shows{
		{"ProCurve, static", "trunk 1-2 trk1 trunk\nspanning-tree trk1 priority 4\n\n" + bond, record.LACPDown, 0.7, []string{"trk", "lacp"}, []string{"channel-group"}},
		{"ProCurve, LACP", "trunk 1-2 trk1 lacp\nspanning-tree trk1 priority 4\n\n" + bond, record.Unknown, 0, nil, nil},
		{"ProCurve, one static of two", "trunk 1-2 trk1 trunk\ntrunk 3-4 trk2 lacp\nspanning-tree trk1 priority 4\n\n" + bond, record.Unknown, 0, nil, nil},
		{"lagg in round robin", "lagg0: flags=8843<UP,BROADCAST,RUNNING,SIMPLEX,MULTICAST> metric 0 mtu 1500\n\tether 02:00:5e:00:53:11\n\tlaggproto roundrobin lagghash l2,l3,l4\n\tlaggport: ix1 flags=4<ACTIVE>\n\tlaggport: ix0 flags=4<ACTIVE>\n", record.Reordering, 0.5, []string{"laggproto lacp"}, []string{"xmit_hash_policy", "802.3ad"}},
	})
}

func replaced(text string, pairs ...string) string {
	return strings.NewReplacer(pairs...).Replace(text)
}

// TestDeadMembers: a member without a link, asked for in its system's words.
func TestDeadMembers(t *testing.T) {
	const lagg = "lagg0: flags=8843<UP,BROADCAST,RUNNING,SIMPLEX,MULTICAST> metric 0 mtu 1500\n\tether 02:00:5e:00:53:11\n\tlaggproto lacp lagghash l2,l3,l4\n\tlaggport: igb1 flags=STATE\n\tlaggport: igb0 flags=1c<ACTIVE,COLLECTING,DISTRIBUTING>\n\tstatus: active\n"
	const port = "igb1: flags=8843<UP,BROADCAST,RUNNING,SIMPLEX,MULTICAST> metric 0 mtu 1500\n\tether 02:00:5e:00:53:11\n\tstatus: no carrier\nigb0: flags=8843<UP,BROADCAST,RUNNING,SIMPLEX,MULTICAST> metric 0 mtu 1500\n\tether 02:00:5e:00:53:11\n\tstatus: active\n"
	check(t, []shows{
		{"of a lagg", replaced(lagg, "STATE", "0<>") + port, record.LACPDown, 0.8, []string{"igb1"}, []string{"ethtool", "/proc"}},
	})
}
