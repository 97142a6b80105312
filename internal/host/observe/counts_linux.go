package observe

import (
	"github.com/linerate/linerate/internal/kernel/procfs"
	"github.com/linerate/linerate/internal/kernel/topology"
)

// counts adds what the receive path and the protocols counted, and where the
// machine's cores lie.
func (o *live) counts() {
	rows, err := procfs.ReadSoftnet()
	o.note("receive path", err)
	o.host.Softnet = softnetOf(rows)
	extended, err := procfs.Netstat()
	o.note("protocol counters", err)
	basic, err := procfs.SNMP()
	o.note("protocol counters", err)
	o.host.Protocols = protocolsOf(extended, basic)
	nodes, err := topology.Nodes("/")
	o.note("memory nodes", err)
	o.host.CoreNodes = coreNodes(nodes)
}
