package paste

import (
	"slices"

	"github.com/linerate/linerate/internal/evidence/paste/hostid"
	"github.com/linerate/linerate/internal/evidence/paste/hosttext"
	"github.com/linerate/linerate/internal/evidence/paste/loadtext"
	"github.com/linerate/linerate/internal/evidence/paste/othertext"
	"github.com/linerate/linerate/internal/evidence/paste/pathtext"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/internal/evidence/paste/runtext"
	"github.com/linerate/linerate/internal/evidence/paste/saidtext"
	"github.com/linerate/linerate/internal/evidence/paste/switchtext"
)

// readers are all there are, those with the surest marks first.
var readers = piece.Table{
	hosttext.ProcBond,
	switchtext.SonicConfig,
	switchtext.LinuxCounters,
	othertext.OwnLimits,
	othertext.GuestCards,
	othertext.LAGStatus,
	othertext.USB,
	othertext.Disks,
	othertext.DRBD,
	hosttext.LinkRemains,
	hosttext.BestPaths,
	hosttext.LACPFrames,
	hosttext.RefusedMTU,
	hosttext.FunctionRates,
	hosttext.BondStates,
	hosttext.FlowHash,
	hosttext.PollThreads,
	switchtext.PolicyCounters,
	switchtext.PolicyConfig,
	switchtext.NextHops,
	switchtext.PeerLinks,
	switchtext.BriefLoad,
	switchtext.HashFields,
	switchtext.Switchport,
	switchtext.TrunkTable,
	loadtext.Captures,
	loadtext.PacketFilter,
	loadtext.SocketWords,
	loadtext.TestScripts,
	loadtext.Services,
	runtext.Iperf3Text,
	runtext.Iperf2Text,
	runtext.IperfJSON,
	runtext.LoadTools,
	runtext.RDMATests,
	runtext.CopyRates,
	loadtext.TCPInfo,
	loadtext.Sockets,
	loadtext.KernelCounters,
	loadtext.Queues,
	loadtext.TypedQueues,
	loadtext.Sysctls,
	loadtext.StoragePaths,
	loadtext.Mounts,
	loadtext.Exports,
	othertext.ClusterStorage,
	loadtext.MPTCP,
	loadtext.Interrupts,
	loadtext.PCICards,
	loadtext.Reach,
	hosttext.WireGuard,
	hosttext.NetDev,
	hosttext.NetstatLinks,
	loadtext.NodeMetrics,
	loadtext.CPULoad,
	othertext.VMStat,
	loadtext.LinkRates,
	switchtext.SwitchLog,
	loadtext.KernelLog,
	hostid.Reader,
	loadtext.CloudWords,
	hosttext.IPLink,
	hosttext.Optics,
	hosttext.Lshw,
	hosttext.Ethtool,
	hosttext.Ifconfig,
	hosttext.Ifupdown,
	hosttext.OpenVSwitch,
	hosttext.Bridges,
	hosttext.SysNet,
	hosttext.TeamText,
	hosttext.BondOptions,
	hosttext.Units,
	hosttext.Ifcfg,
	hosttext.Nmcli,
	hosttext.Unindented,
	hosttext.Document,
	hosttext.IPWords,
	hosttext.IPBrief,
	hosttext.Neighbours,
	hosttext.IPRoute,
	hosttext.IPRule,
	hosttext.GivenRules,
	hosttext.GPUTopology,
	hosttext.RouteTable,
	switchtext.ChannelSummary,
	switchtext.ChannelLists,
	switchtext.FortinetAggregate,
	switchtext.ChannelTraffic,
	switchtext.LACPCounters,
	switchtext.LACPTable,
	switchtext.ChannelDetail,
	switchtext.LoadBalance,
	switchtext.PortCounters,
	switchtext.PortRates,
	switchtext.SonicStatus,
	switchtext.PortStatus,
	switchtext.PortDescription,
	switchtext.AoscxPort,
	switchtext.PortDetail,
	switchtext.JunosLACP,
	switchtext.JunosDetail,
	switchtext.JunosSet,
	switchtext.JunosBraces,
	switchtext.GroupMasks,
	switchtext.SwitchSystem,
	switchtext.SystemID,
	switchtext.ProcurvePeer,
	switchtext.ProcurvePort,
	switchtext.ProcurveBrief,
	switchtext.ProcurveTrunks,
	switchtext.AoscxBrief,
	switchtext.RouterNeighbours,
	switchtext.AoscxLACP,
	switchtext.ComwareLACP,
	switchtext.ComwareHash,
	switchtext.DisplayBrief,
	switchtext.HuaweiTrunk,
	switchtext.DisplayInterface,
	switchtext.OtherChannels,
	switchtext.SwitchHash,
	switchtext.RouterBond,
	switchtext.LinuxSwitch,
	switchtext.SmallSwitch,
	switchtext.LLDPTable,
	switchtext.LLDPDetail,
	switchtext.CDPDetail,
	switchtext.MACTable,
	switchtext.CumulusCommands,
	switchtext.SonicCommands,
	switchtext.SwitchConfig,
	othertext.Multipathing,
	othertext.ESXi,
	othertext.Netsh,
	othertext.Wireless,
	othertext.OffloadSettings,
	othertext.PowerShell,
	othertext.RoutePrint,
	othertext.IPConfig,
	othertext.AIXStatistics,
	othertext.AIXAttributes,
	othertext.AIXDevices,
	othertext.GroupStatus,
	othertext.ONTAP,
	othertext.TCPCounters,
	othertext.BSDCounters,
	othertext.BSDCores,
	othertext.NASPanel,
	othertext.PCIConf,
	othertext.Dummynet,
	othertext.WebPorts,
	othertext.EdgeOffload,
	othertext.RouterOS,
	othertext.Solaris, othertext.AggregationKeys,
	othertext.AIXOptions,
	saidtext.Rates,
	loadtext.Questions,
	pathtext.PathWords,
	pathtext.Asked,
}

// Nothing says that no reader knew anything in a text, and Wanted what to paste.
const (
	Nothing = "nothing in it is the output of a command, a configuration or a result that linerate reads"
	Wanted  = "paste what `cat /proc/net/bonding/bond0`, `ip -s -d link`, `iperf3 -c PEER -P 8 -V`, `ss -tin`, `ethtool`, `lspci -vv`, the network configuration or a switch's `show` commands print"
)

// subjects are the topics of questions that linerate knows: with one of them a text that
// has no output is a question, and the answer says what to send.
var subjects = []string{"bundle", "large", "iperf", "rates", piece.Throughput}

// Answerable reports a case of which something was read, or which asks what linerate
// knows something of, or a text of which it knows that it is no case.
func Answerable(c piece.Case) bool {
	return len(c.Read)+len(c.Described) > 0 || slices.ContainsFunc(subjects, func(key string) bool { _, told := c.Topics[key]; return told }) ||
		slices.ContainsFunc(c.Hosts, func(h *piece.Host) bool { _, carried := h.Get("said", "carried_bps"); return carried })
}

// Parse reads texts as one case.
func Parse(texts []piece.Text) piece.Case { return readers.Read(texts) }
