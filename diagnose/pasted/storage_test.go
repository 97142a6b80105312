package pasted

import (
	"testing"

	"github.com/linerate/linerate/record"
)

// TestSessions: one iSCSI session is one connection, where there are links for more.
func TestSessions(t *testing.T) {
	const (
		one    = "# iscsiadm -m session\ntcp: [1] 198.51.100.7:3260,1 iqn.2003-01.org.example:vol1 (non-flash)\n"
		two    = one + "tcp: [2] 198.51.101.7:3260,1 iqn.2003-01.org.example:vol1 (non-flash)\n"
		single = "# ip -br link\nlo               UNKNOWN        00:00:00:00:00:00 <LOOPBACK,UP,LOWER_UP>\nens5             UP             02:00:5e:00:53:01 <BROADCAST,MULTICAST,UP,LOWER_UP>\n"
		pair   = single + "ens6             UP             02:00:5e:00:53:02 <BROADCAST,MULTICAST,UP,LOWER_UP>\n"
		esx    = "[root@esx1:~] esxcli iscsi session list\nvmhba64,iqn.2003-01.com.example:arr,00023d000001\n   Adapter: vmhba64\n   Target: iqn.2003-01.com.example:arr\n   ISID: 00023d000001\n   TargetPortalGroupTag: 1\n   MaxConnections: 1\n   TSIH: 12\n"
		esx2   = esx + "\nvmhba64,iqn.2003-01.com.example:arr,00023d000002\n   Adapter: vmhba64\n   Target: iqn.2003-01.com.example:arr\n   ISID: 00023d000002\n   TargetPortalGroupTag: 1\n   MaxConnections: 1\n   TSIH: 13\n"
		win    = "PS C:\\> Get-IscsiSession\n\nInitiatorNodeAddress    : iqn.1991-05.com.microsoft:hv1\nInitiatorPortalAddress  : 0.0.0.0\nIsConnected             : True\nNumberOfConnections     : 1\nTargetNodeAddress       : iqn.2003-01.org.example:vol1\n"
		mpio   = "PS C:\\> mpclaim -s -d 1\n\nMPIO Disk1: 02 Paths, POLICY, Symmetric Access\n    Controlling DSM: Microsoft DSM\n    SN: 6005076300808000\n    Supported Load Balance Policies: FOO RR RRWS LQD WP LB\n\n    Path ID          State              SCSI Address      Weight\n    ---------------------------------------------------------------------------\n    0000000077030000 Active/Optimized   003|000|000|000   0\n    0000000077030001 STATE   003|000|001|000   0\n"
	)
	check(t, []shows{
		{"one session, two cards", one + pair, record.SingleLink, 0.65, []string{"one iSCSI session", "MPIO"}, nil},
		{"one session, one card", one + single, record.Unknown, 0, nil, nil},
		{"a session for each card", two + pair, record.Unknown, 0, nil, nil},
		{"one session of ESXi", esx, record.SingleLink, 0.5, []string{"one iSCSI session"}, nil},
		{"two sessions of ESXi", esx2, record.Unknown, 0, nil, nil},
		{"one of Windows", win, record.SingleLink, 0.5, []string{"one iSCSI session"}, nil},
		{"mpclaim, fail over", replaced(mpio, "POLICY", "Fail Over Only", "STATE", "Standby"), record.SingleLink, 0.8, []string{"Fail Over Only", "mpclaim"}, []string{"esxcli"}},
		{"mpclaim, round robin", replaced(mpio, "POLICY", "Round Robin", "STATE", "Active/Optimized"), record.Unknown, 0, nil, nil},
	})
}

// TestBundlesOfOthers: by what the bundles of other systems choose a link.
func TestBundlesOfOthers(t *testing.T) {
	const group = "cl1::> network port ifgrp show -node cl1-01 -ifgrp a0a -instance\n\n                 Node: cl1-01\n Interface Group Name: a0a\nDistribution Function: FUNCTION\n        Create Policy: multimode_lacp\n   Port Participation: full\n        Network Ports: e0c, e0d\n             Up Ports: e0c, e0d\n"
	const port = "# ovs-vsctl list port bond7\n_uuid               : 99edfd09-13d5-47f1-95fb-2d36edc6d284\nbond_downdelay      : 0\nbond_mode           : MODE\nlacp                : active\nname                : \"bond7\"\nother_config        : {}\n"
	check(t, []shows{
		{"ONTAP by MAC", replaced(group, "FUNCTION", "mac"), record.SingleLink, 0.75, []string{"-distr-func port"}, []string{"/proc"}},
		{"ONTAP by port", replaced(group, "FUNCTION", "port"), record.Unknown, 0, nil, nil},
		{"OVS by source MAC", replaced(port, "MODE", "balance-slb"), record.SingleLink, 0.75, []string{"bond7", "balance-tcp"}, nil},
		{"OVS by flow", replaced(port, "MODE", "balance-tcp"), record.Unknown, 0, nil, nil},
	})
}
