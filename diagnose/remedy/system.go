package remedy

import (
	"github.com/linerate/linerate/internal/bondopt"
	"github.com/linerate/linerate/record"
)

// own is the one table of what helps on systems that are not Linux, in their own
// words. Names in capitals, and vSwitchN, laggX, entX, enX, stand for those of the
// host. Causes that it lacks have the same remedy everywhere; which links flows use
// is steer's to say.
//
// FreeBSD: tcp(4), tuning(7), ifconfig(8), setfib(1). AIX: no(1), chdev, and the
// network options of IBM's "TCP streaming workload tuning". Windows: the cmdlets of
// NetTCPIP, NetAdapter and NetLbfo. ESXi: esxcli's network namespace.
var own = map[string]map[record.Cause]string{
	bondopt.ESXi: {
		record.SingleLink:      "several addresses of the peer, or several VMkernel adapters or guests; `esxcli network vswitch standard policy failover get -v vSwitchN` shows the policy",
		record.Reordering:      "look for what spreads single packets on the way: a virtual switch keeps a flow on one uplink",
		record.ReceiveWindow:   "more sessions, or the guest's own receive buffer: the virtual switch has none",
		record.SendBuffer:      "more sessions, or the guest's own send buffer: the virtual switch has none",
		record.SenderCPU:       "more streams so that more cores share the work, larger frames; `esxtop` (n, then c) shows which world is full",
		record.ReceiverCPU:     "more streams so that more cores share the work, larger frames; `esxtop` (n, then c) shows which world is full",
		record.LACPDown:        "`esxcli network vswitch dvs vmware lacp status get` shows which uplinks are bundled: put the switch's ports of the others into the same LACP group; for IP hash into one static channel",
		record.MTU:             "`esxcli network vswitch standard set -v vSwitchN -m 9000` and `esxcli network ip interface set -i vmkN -m 9000`, or less on both ends; `vmkping -d -s 8972 PEER` proves it",
		record.Pacing:          "look for traffic shaping of the port group: `esxcli network vswitch standard policy shaping get -v vSwitchN`",
		record.Shaper:          "look for traffic shaping of the port group (`esxcli network vswitch standard policy shaping get -v vSwitchN`), then on the way",
		record.AsymmetricRoute: "a VMkernel adapter in each network, and `esxcli network ip route ipv4 list`: ESXi has no routing by source",
	},
	bondopt.Windows: {
		record.SingleLink:      "`Set-NetLbfoTeam -Name TEAM -LoadBalancingAlgorithm TransportPorts`, and several flows: SMB multichannel, or iSCSI MPIO with a session for each pair of addresses",
		record.Reordering:      "`Set-NetLbfoTeam -Name TEAM -LoadBalancingAlgorithm TransportPorts`, which never moves a flow; else look for what spreads single packets on the way",
		record.ReceiveWindow:   "`netsh interface tcp set global autotuninglevel=normal` (`Get-NetTCPSetting` shows it), or more streams",
		record.SendBuffer:      "more streams, or a larger send buffer of the program (SO_SNDBUF): Windows sizes its own",
		record.SenderCPU:       "more streams so that more cores share the work, larger frames; SMB multichannel opens several",
		record.ReceiverCPU:     "`Enable-NetAdapterRss -Name NIC` (`Get-NetAdapterRss` shows its queues) and more streams: without RSS one core takes all that a card receives",
		record.LACPDown:        "`Get-NetLbfoTeamMember -Team TEAM` shows FailureReason of each member: put the switch's ports of the others into the same LACP group",
		record.MTU:             "`Set-NetAdapterAdvancedProperty -Name NIC -RegistryKeyword '*JumboPacket' -RegistryValue 9014` on every member, or less on both ends; `ping -f -l 8972 PEER` proves it",
		record.Pacing:          "look for a QoS policy: `Get-NetQosPolicy`",
		record.Shaper:          "look for a QoS policy or a limit of the virtual card (`Get-NetQosPolicy`, `Get-VMNetworkAdapter`), then on the way",
		record.AsymmetricRoute: "`Set-NetIPInterface -InterfaceAlias NIC -InterfaceMetric 5` for the link that should carry it; Windows has no routing by source",
		record.Congestion:      "find where it drops: `Get-NetAdapterStatistics`, a cable, optics, a switch's buffers; until then more streams",
	},
	bondopt.FreeBSD: {
		record.SingleLink:      "`ifconfig laggX lagghash l3,l4`, and several flows",
		record.ReceiveWindow:   "`sysctl kern.ipc.maxsockbuf=16777216 net.inet.tcp.recvbuf_max=16777216`, to stay in /etc/sysctl.conf (TrueNAS: a tunable), or more streams",
		record.SendBuffer:      "`sysctl kern.ipc.maxsockbuf=16777216 net.inet.tcp.sendbuf_max=16777216`, to stay in /etc/sysctl.conf (TrueNAS: a tunable), or more streams",
		record.SenderCPU:       "more streams so that more cores share the work, larger frames; `top -HSP` shows which thread is full",
		record.ReceiverCPU:     "more streams so that more cores share the work, larger frames; `top -HSP` shows which thread is full, `dev.DRIVER.N.iflib.override_nrxqs` in /boot/loader.conf gives a card more queues",
		record.LACPDown:        "`ifconfig -v laggX` shows the ports whose flags are not ACTIVE,COLLECTING,DISTRIBUTING: put the switch's ports into the same LACP group",
		record.MTU:             "`ifconfig PORT mtu 9000` on every port of laggX, to stay in their ifconfig_ lines of /etc/rc.conf, or less on both ends; `ping -D -s 8972 PEER` proves it",
		record.Reordering:      "keep each flow on one port: `ifconfig laggX laggproto lacp lagghash l3,l4`, and LACP on the switch",
		record.Pacing:          "look for a limit of ipfw or pf: `ipfw pipe show`, `pfctl -s queue`",
		record.Shaper:          "look for a limit of ipfw or pf (`ipfw pipe show`, `pfctl -s queue`), then on the way",
		record.AsymmetricRoute: "a routing table of its own (setfib(1)), or pf's route-to: FreeBSD has no routing by source",
		record.Congestion:      "find where it drops: `netstat -I PORT -d`, a cable, optics, a switch's buffers; until then `sysctl net.inet.tcp.cc.algorithm=cubic`, or more streams",
	},
	bondopt.AIX: {
		record.SingleLink:      "`chdev -P -l entX -a hash_mode=src_dst_port` (smitty etherchannel), and several flows",
		record.ReceiveWindow:   "`no -p -o rfc1323=1 -o sb_max=4194304 -o tcp_recvspace=1048576`, and where use_isno is 1 `chdev -l enX -a rfc1323=1 -a tcp_recvspace=1048576`; or more streams",
		record.SendBuffer:      "`no -p -o sb_max=4194304 -o tcp_sendspace=1048576`, and where use_isno is 1 `chdev -l enX -a tcp_sendspace=1048576`; or more streams",
		record.SenderCPU:       "more streams so that more cores share the work, larger frames, `chdev -P -l entX -a large_send=yes`",
		record.ReceiverCPU:     "more streams so that more cores share the work, larger frames, `chdev -P -l entX -a large_receive=yes`",
		record.LACPDown:        "`entstat -d entX` shows each adapter's aggregation status: put the switch's ports into the same LACP group",
		record.MTU:             "jumbo_frames=yes on every adapter, use_jumbo_frame=yes on entX, then `chdev -l enX -a mtu=9000` (smitty chinet), or less on both ends",
		record.Reordering:      "keep each flow on one adapter: `chdev -P -l entX -a mode=8023ad -a hash_mode=src_dst_port` (smitty etherchannel)",
		record.AsymmetricRoute: "an address of each network on its own adapter: AIX has no routing by source (smitty route)",
		record.Congestion:      "find where it drops: `entstat -d entX`, a cable, optics, a switch's buffers; until then more streams",
	},
}
