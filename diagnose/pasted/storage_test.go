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
		{"OVS by source MAC", replaced(port, "MODE", "balance-slb"), record.SingleLink, 0.65, []string{"bond7", "balance-tcp"}, nil},
		{"OVS by flow", replaced(port, "MODE", "balance-tcp"), record.Unknown, 0, nil, nil},
	})
}

// TestClusterStorage: how a cluster mounts and moves its data.
func TestClusterStorage(t *testing.T) {
	const class = "apiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata:\n  name: vol-nfs\nprovisioner: nfs.csi.k8s.io\nparameters:\n  server: 198.51.100.20\n  share: /export/k8s\nreclaimPolicy: Delete\nmountOptions:\n  - nfsvers=4.2\n  - hard\n"
	const bond = "\nbond0            UP             02:00:5e:00:53:01 <BROADCAST,MULTICAST,MASTER,UP,LOWER_UP>\n# cat /sys/class/net/bond0/bonding/mode\n802.3ad 4\n"
	const smb = "# cat /proc/fs/cifs/DebugData\nDisplay Internal CIFS Data Structures for Debugging\n---------------------------------------------------\nCIFS Version 2.43\nFeatures: DFS,SMB_DIRECT,STATS,DEBUG\nCIFSMaxBufSize: 16384\nActive VFS Requests: 0\n\nServers:\n1) ConnectionId: 0x1 Hostname: files\nClientGUID: 9E2C\nNumber of credits: 512,1,1 Dialect 0x311\nTCP status: 1 Instance: 1\nLocal Users To Server: 1 SecMode: 0x1 Req On Wire: 0\n\n\tSessions:\n\t1) Address: 198.51.100.20 Uses: 1 Capability: 0x300047\tSession Status: 1\n\tSecurity type: RawNTLMSSP  SessionId: 0x1\n\tUser: 0 Cred User: 0\nEXTRA\n\tShares:\n\t0) IPC: \\\\files\\IPC$ Mounts: 1 DevInfo: 0x0 Attributes: 0x0\n\n\tServer interfaces: 2\n\t1)\tSpeed: 10Gbps\n\t\tCapabilities: rss\n\t\tIPv4: 198.51.100.20\n\t\t[CONNECTED]\n\t2)\tSpeed: 10Gbps\n\t\tCapabilities: rss\n\t\tIPv4: 198.51.101.20\n"
	check(t, []shows{
		{"a class without nconnect", class, record.SingleLink, 0.4, []string{"StorageClass vol-nfs", "nconnect"}, nil},
		{"a class without nconnect and a bond", class + bond, record.SingleLink, 0.6, []string{"mountOptions"}, nil},
		{"a class with nconnect", class + "  - nconnect=8\n", record.Unknown, 0, nil, nil},
		{"a class of block storage", "apiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata:\n  name: fast\nprovisioner: rbd.csi.ceph.com\nmountOptions:\n  - discard\n", record.Unknown, 0, nil, nil},
		{"SMB, one channel of two interfaces", replaced(smb, "EXTRA", ""), record.SingleLink, 0.7, []string{"one channel", "multichannel"}, nil},
		{"SMB, one channel of a host with one card", replaced(smb, "EXTRA", "") + "# ip -br link\nlo               UNKNOWN        00:00:00:00:00:00 <LOOPBACK,UP,LOWER_UP>\nens5             UP             02:00:5e:00:53:01 <BROADCAST,MULTICAST,UP,LOWER_UP>\n", record.Unknown, 0, nil, nil},
		{"SMB, several channels", replaced(smb, "EXTRA", "\n\tExtra Channels: 3 \n\n\t\tChannel: 2 ConnectionId: 0x2\n\t\tNumber of credits: 510,1,1 Dialect 0x311\n"), record.Unknown, 0, nil, nil},
		{"migration through SSH", "# cat /etc/pve/datacenter.cfg\nkeyboard: de\nmigration: network=198.51.100.0/24\n", record.SenderCPU, 0.5, []string{"SSH", "insecure"}, nil},
		{"migration in the open", "# cat /etc/pve/datacenter.cfg\nmigration: type=insecure,network=198.51.100.0/24\n", record.Unknown, 0, nil, nil},
	})
}

// TestAddressesThatMove: FreeBSD's log of ARP, and balance-alb below a bridge.
func TestAddressesThatMove(t *testing.T) {
	const one = "arp: 198.51.100.9 moved from 02:00:5e:00:53:01 to 02:00:5e:00:53:02 on igb0\n"
	const other = "arp: 198.51.100.9 moved from 02:00:5e:00:53:02 to 02:00:5e:00:53:01 on igb0\n"
	const alb = "auto bond0\niface bond0 inet manual\n\tbond-slaves eno1 eno2\n\tbond-mode balance-alb\n\tbond-miimon 100\n\n"
	check(t, []shows{
		{"by turns", one + other + one + other, record.AsymmetricRoute, 0.6, []string{"198.51.100.9", "ARP"}, nil},
		{"once, as a failover does", one, record.Unknown, 0, nil, nil},
		{"over several hosts, as a virtual address does", one + "arp: 198.51.100.9 moved from 02:00:5e:00:53:02 to 02:00:5e:00:53:07 on igb0\narp: 198.51.100.9 moved from 02:00:5e:00:53:07 to 02:00:5e:00:53:01 on igb0\n", record.Unknown, 0, nil, nil},
		{"alb below a bridge", alb + "auto br0\niface br0 inet static\n\taddress 198.51.100.4/24\n\tbridge-ports bond0\n", record.SingleLink, 0.6, []string{"bridge", "guests"}, nil},
		{"alb with its own address", alb, record.SingleLink, 0.45, []string{"behind a router"}, []string{"guests"}},
	})
}
