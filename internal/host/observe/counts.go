package observe

import (
	"github.com/linerate/linerate/internal/kernel/procfs"
	"github.com/linerate/linerate/netstate"
)

// protocolCounters are the counters of /proc/net/netstat and snmp that tell of
// trouble with memory, filters and lost datagrams.
var protocolCounters = [...]struct{ group, name string }{
	{"TcpExt", "IPReversePathFilter"},
	{"TcpExt", "TCPMemoryPressures"},
	{"TcpExt", "PruneCalled"},
	{"TcpExt", "RcvPruned"},
	{"TcpExt", "TCPRcvQDrop"},
	{"TcpExt", "TCPZeroWindowDrop"},
	{"TcpExt", "ListenOverflows"},
	{"TcpExt", "ListenDrops"},
	{"IpExt", "InPkts"},
	{"Ip", "InReceives"},
	{"Ip", "FragFails"},
	{"Ip", "ReasmFails"},
	{"Udp", "RcvbufErrors"},
	{"Udp", "SndbufErrors"},
	{"Udp", "InErrors"},
}

// protocolsOf picks them, by group and name; zero ones are left out.
func protocolsOf(tables ...map[string]map[string]int64) map[string]uint64 {
	var found map[string]uint64
	for _, c := range protocolCounters {
		for _, t := range tables {
			if v := t[c.group][c.name]; v != 0 {
				if found == nil {
					found = make(map[string]uint64)
				}
				found[c.group+"."+c.name] = uint64(v)
			}
		}
	}
	return found
}

func softnetOf(rows []procfs.Softnet) []netstate.Softnet {
	var all []netstate.Softnet
	for _, r := range rows {
		all = append(all, netstate.Softnet{Core: r.CPU, Processed: r.Processed, Dropped: r.Dropped, Squeezed: r.TimeSqueeze})
	}
	return all
}

// coreNodes is each core's memory node by core; nil where there is one only.
func coreNodes(nodes map[int]int) []int {
	several := false
	top := -1
	for core, node := range nodes {
		several = several || node != nodes[0]
		top = max(top, core)
	}
	if !several || top < 0 || top >= mostCores {
		return nil
	}
	all := make([]int, top+1)
	for core, node := range nodes {
		all[core] = node
	}
	return all
}

// mostCores bounds what a machine may have.
const mostCores = 8192

// counts adds what a captured tree tells of the receive path and the
// protocols.
func (c *captured) counts() {
	if rows, err := procfs.ParseSoftnet([]byte(c.text("proc/net/softnet_stat"))); err == nil {
		c.host.Softnet = softnetOf(rows)
	}
	var tables []map[string]map[string]int64
	for _, file := range []string{"proc/net/netstat", "proc/net/snmp"} {
		if t, err := procfs.ParseNetstat([]byte(c.text(file))); err == nil {
			tables = append(tables, t)
		}
	}
	c.host.Protocols = protocolsOf(tables...)
}
