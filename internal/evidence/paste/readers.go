package paste

import (
	"github.com/linerate/linerate/internal/evidence/paste/hosttext"
	"github.com/linerate/linerate/internal/evidence/paste/loadtext"
	"github.com/linerate/linerate/internal/evidence/paste/othertext"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/internal/evidence/paste/switchtext"
)

// readers are all there are, those with the surest marks first.
var readers = piece.Table{
	hosttext.ProcBond,
	loadtext.Iperf3Text,
	loadtext.Iperf2Text,
	loadtext.IperfJSON,
	loadtext.LoadTools,
	loadtext.RDMATests,
	loadtext.CopyRates,
	loadtext.Sockets,
	loadtext.KernelCounters,
	loadtext.Queues,
	loadtext.Sysctls,
	loadtext.StoragePaths,
	loadtext.Mounts,
	loadtext.MPTCP,
	loadtext.Interrupts,
	loadtext.PCICards,
	loadtext.Reach,
	hosttext.NetDev,
	loadtext.NodeMetrics,
	loadtext.CPULoad,
	loadtext.LinkRates,
	loadtext.KernelLog,
	loadtext.HostID,
	hosttext.IPLink,
	hosttext.Ethtool,
	hosttext.Ifconfig,
	hosttext.Ifupdown,
	hosttext.OpenVSwitch,
	hosttext.Bridges,
	hosttext.SysNet,
	hosttext.TeamText,
	hosttext.Units,
	hosttext.Ifcfg,
	hosttext.Nmcli,
	hosttext.Document,
	hosttext.IPWords,
	hosttext.IPBrief,
	hosttext.Neighbours,
	hosttext.IPRoute,
	hosttext.IPRule,
	hosttext.RouteTable,
	switchtext.ChannelSummary,
	switchtext.ChannelTraffic,
	switchtext.LACPTable,
	switchtext.ChannelDetail,
	switchtext.LoadBalance,
	switchtext.PortCounters,
	switchtext.PortRates,
	switchtext.PortStatus,
	switchtext.PortDescription,
	switchtext.AoscxPort,
	switchtext.PortDetail,
	switchtext.JunosLACP,
	switchtext.JunosDetail,
	switchtext.JunosSet,
	switchtext.JunosBraces,
	switchtext.ProcurveTrunks,
	switchtext.AoscxLACP,
	switchtext.ComwareLACP,
	switchtext.HuaweiTrunk,
	switchtext.OtherChannels,
	switchtext.SwitchHash,
	switchtext.RouterBond,
	switchtext.LinuxSwitch,
	switchtext.SmallSwitch,
	switchtext.LLDPTable,
	switchtext.LLDPDetail,
	switchtext.MACTable,
	switchtext.SwitchConfig,
	othertext.ESXi,
	othertext.PowerShell,
	othertext.RoutePrint,
	othertext.IPConfig,
	othertext.AIXStatistics,
	othertext.AIXAttributes,
	othertext.AIXDevices,
	othertext.ONTAP,
	othertext.BSDCounters,
	othertext.BSDCores,
	othertext.NASPanel,
}

// Nothing says that no reader knew anything in a text, and Wanted what to paste.
const (
	Nothing = "nothing in it is the output of a command, a configuration or a result that linerate reads"
	Wanted  = "paste what `cat /proc/net/bonding/bond0`, `ip -s -d link`, `iperf3 -c PEER -P 8 -V`, `ss -tin`, `ethtool`, `lspci -vv`, the network configuration or a switch's `show` commands print"
)

// Parse reads texts as one case.
func Parse(texts []piece.Text) piece.Case { return readers.Read(texts) }
