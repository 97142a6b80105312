package paste

// systemCases are outputs of hosts that run no Linux: own data.
var systemCases = []struct {
	name, text string
	want       []string // HOST: SUBJECT KEY=VALUE
}{
	{"ESXi cards", `[root@esx1:~] esxcli network nic list
Name    PCI Device    Driver  Admin Status  Link Status  Speed  Duplex  MAC Address         MTU  Description
------  ------------  ------  ------------  -----------  -----  ------  -----------------  ----  -----------
vmnic0  0000:02:00.0  ntg3    Up            Up            1000  Full    00:00:5e:00:53:54  1500  Some 1000Base-T
vmnic1  0000:02:00.1  ntg3    Up            Down             0  Half    00:00:5e:00:53:55  1500  Some 1000Base-T
`,
		[]string{"esx1: link vmnic0 speed=1000",
			"esx1: link vmnic0 driver=ntg3",
			"esx1: link vmnic1 carrier=no",
			"esx1: link vmnic1 speed=unknown",
			"esx1: link vmnic0 bus=0000:02:00.0",
			"esx1: host os=esxi",
			"esx1: link vmnic0 mac=00:00:5e:00:53:54"}},
	{"old ESX", `[root@esx0 root]# esxcfg-nics -l
Name    PCI      Driver      Link Speed    Duplex MTU    Description
vmnic0  02:00.00 bnx2        Up   100Mbps  Full   1500   Some 1000Base-T
[root@esx0 root]# esxcfg-vswitch -l
Switch Name    Num Ports   Used Ports  Configured Ports  MTU     Uplinks
vSwitch0       64          14          64                1500    vmnic0,vmnic1

  PortGroup Name      VLAN ID  Used Ports  Uplinks
  VM Network          20       5           vmnic0,vmnic1
`,
		[]string{"esx0: link vmnic0 speed=100",
			"esx0: link vSwitch0 mtu=1500",
			"esx0: link vmnic1 master=vSwitch0",
			"esx0: portgroup VM Network vlan=20"}},
	{"ESXi virtual switches", `~ # esxcli network vswitch standard policy failover get -v vSwitch1
   Load Balancing: iphash
   Network Failure Detection: link
   Notify Switches: true
   Failback: true
   Active Adapters: vmnic1, vmnic0
   Standby Adapters:
   Unused Adapters: vmnic2
~ # esxcli storage nfs list
Volume Name  Host          Share      Accessible  Mounted  Read-Only  Hardware Acceleration
-----------  ------------  ---------  ----------  -------  ---------  ---------------------
ds1          192.0.2.54    /vol/ds1   true        true     false      Not Supported
~ # esxcli network vswitch standard list
vSwitch0
   Name: vSwitch0
   Class: etherswitch
   Num Ports: 1536
   MTU: 9000
   CDP Status: listen
   Uplinks: vmnic1, vmnic0
   Portgroups: VM Network, Management Network
`,
		[]string{": link vSwitch1 load_balance=iphash",
			": link vSwitch1 active=vmnic1 vmnic0",
			": link vSwitch1 unused=vmnic2",
			": link vSwitch0 mtu=9000"}},
	{"esxtop", `[root@esx1:~] esxtop -b -n 1
   PORT-ID              USED-BY  TEAM-PNIC DNAME              PKTTX/s  MbTX/s   PSZTX    PKTRX/s  MbRX/s   PSZRX %DRPTX %DRPRX
  33554434           Management        n/a vSwitch0              0.00    0.00    0.00       0.00    0.00    0.00   0.00   0.00
  33554436               vmnic0          - vSwitch0           8120.11   94.10 1500.00    4120.00    2.10   66.00   0.00   0.00
  67108870        1234:vm1.eth0     vmnic0 vSwitch0           8120.11   94.10 1500.00    4120.00    2.10   66.00   0.00   0.00
`,
		[]string{"esx1: vport 1234:vm1.eth0 uplink=vmnic0",
			"esx1: link vmnic0 seen_tx_bps=94100000"}},
	{"ESXi LACP and counters", `[root@esx1:~] esxcli network vswitch dvs vmware lacp status get
DVSwitch: dvSwitch-1
   Flags: S - Device is sending Slow LACPDUs, F - Device is sending fast LACPDUs, A - Device is in active mode, P - Device is in passive mode
   LAGID: 119451
   Mode: Active
   Nics:
         vmnic2
                 Local Information:
                         Admin Key: 9
                         Flags: SA
                         Oper Key: 9
                         Port Number: 32769
                         Port State: ACT,AGG,SYN,COL,DIST,
                 Partner Information:
                         Age: 00:00:11
                         Device ID: 00:00:5e:00:53:e1
                         Flags: SA
                         Oper Key: 12
                         Port State: ACT,AGG,SYN,COL,DIST,
                 State: Bundled
         vmnic3
                 Local Information:
                         Port State: ACT,AGG,DEF,
                 State: Independent
[root@esx1:~] esxcli network nic stats get -n vmnic0
NIC statistics for vmnic0
   Packets received: 12
   Packets sent: 13
   Bytes received: 14
   Bytes sent: 15
   Receive CRC errors: 3
`,
		[]string{"esx1: link vmnic2 bundled=yes",
			"esx1: link vmnic2 partner_mac=00:00:5e:00:53:e1",
			"esx1: link vmnic2 partner_key=12",
			"esx1: link vmnic3 actor_state=69",
			"esx1: link vmnic3 bundled=no",
			"esx1: link vmnic3 master=lag-119451",
			"esx1: link vmnic0 rx_crc=3"}},
	{"Windows teams", `PS C:\> Get-NetLbfoTeam


Name                   : SAN
Members                : {SLOT 3 Port 1, SLOT 3 Port 2}
TeamNics               : SAN
TeamingMode            : Lacp
LoadBalancingAlgorithm : Dynamic
Status                 : Up



PS C:\> Get-VMSwitchTeam | fl

Name                           : SETswitch
Id                             : 1111
NetAdapterInterfaceDescription : {Some Ethernet 25G, Some Ethernet 25G
                                 #2}
TeamingMode                    : SwitchIndependent
LoadBalancingAlgorithm         : HyperVPort
`,
		[]string{": link SAN kind=lbfo",
			": link SAN mode=Lacp",
			": link SAN load_balance=Dynamic",
			": link SLOT 3 Port 2 master=SAN",
			": link SETswitch kind=set",
			": link SETswitch load_balance=HyperVPort",
			": link Some Ethernet 25G#2 master=SETswitch"}},
	{"Windows cards", `PS C:\> Get-NetAdapter

Name                      InterfaceDescription                    ifIndex Status       MacAddress             LinkSpeed
----                      --------------------                    ------- ------       ----------             ---------
SLOT 3 Port 1             Broadcom NetXtreme E-Series...               12 Up           00-00-5E-00-53-01        10 Gbps
SLOT 3 Port 2             Broadcom NetXtreme E-Series...#2              7 Disconnected 00-00-5E-00-53-02          0 bps
PS C:\> Get-NetAdapter | fl Name,LinkSpeed,MtuSize

Name      : SLOT 3 Port 1
LinkSpeed : 10 Gbps
MtuSize   : 9014

Name      : SLOT 3 Port 2
LinkSpeed : 1 Gbps
MtuSize   : 1500
PS C:\> Get-NetAdapterRss -Name "SLOT 3 Port 1"

Name                                            : SLOT 3 Port 1
InterfaceDescription                            : Broadcom NetXtreme
Enabled                                         : True
NumberOfReceiveQueues                           : 4
Profile                                         : NUMAStatic
BaseProcessor: [Group:Number]                   : 0:0
RssProcessorArray: [Group:Number/NUMA Distance] : 0:0/0  0:2/0
IndirectionTable: [Group:Number]                :
`,
		[]string{": link SLOT 3 Port 1 speed=10000",
			": link SLOT 3 Port 1 mac=00:00:5e:00:53:01",
			": link SLOT 3 Port 1 ifindex=12",
			": link SLOT 3 Port 1 mtu=9014",
			": link SLOT 3 Port 1 channels=4",
			": link SLOT 3 Port 1 rss=on",
			": link SLOT 3 Port 2 carrier=no"}},
	{"Windows SMB and counters", `PS C:\> Get-SmbMultichannelConnection

Server Name Selected Client IP    Server IP     Client Interface Index Server Interface Index Client RSS Capable Client RDMA Capable
----------- -------- ---------    ---------     ---------------------- ---------------------- ------------------ -------------------
fs9         True     192.0.2.11   192.0.2.9     12                     4                      True               False
fs9         True     198.51.100.11 198.51.100.9 7                      9                      True               False

PS C:\> Get-NetAdapterStatistics

Name                             ReceivedBytes ReceivedUnicastPackets       SentBytes SentUnicastPackets
----                             ------------- ----------------------       --------- ------------------
SLOT 2 Port 1                     812203311220              561220331    903312203311          612203311
PS C:\> Get-NetAdapter | ft Name,Status,LinkSpeed

Name          Status LinkSpeed
----          ------ ---------
SLOT 2 Port 1 Up     10 Gbps
PS C:\> Get-SmbMultichannelConnection | fl *

ServerName              : fs9
Selected                : True
ClientIpAddress         : 192.0.2.11
ServerIpAddress         : 192.0.2.9
ClientInterfaceIndex    : 12
ClientRSSCapable        : False
CurrentChannels         : 1
MaxChannels             : 4
`,
		[]string{": smb 192.0.2.11 192.0.2.9 channels=1",
			": smb 198.51.100.11 198.51.100.9 rss=true",
			": link SLOT 2 Port 1 rx_bytes=812203311220",
			": link SLOT 2 Port 1 tx_packets=612203311",
			": link SLOT 2 Port 1 speed=10000"}},
	{"ipconfig", `C:\>ipconfig /all

Windows IP Configuration

   Host Name . . . . . . . . . . . . : hv1
   Primary Dns Suffix  . . . . . . . :

Ethernet adapter SLOT 3 Port 1:

   Connection-specific DNS Suffix  . :
   Description . . . . . . . . . . . : Broadcom NetXtreme
   Physical Address. . . . . . . . . : 00-00-5E-00-53-01
   DHCP Enabled. . . . . . . . . . . : No
   IPv4 Address. . . . . . . . . . . : 192.0.2.11(Preferred)
   Subnet Mask . . . . . . . . . . . : 255.255.255.0
   Default Gateway . . . . . . . . . : 192.0.2.1
`,
		[]string{": link SLOT 3 Port 1 address 192.0.2.11/24=inet",
			": link SLOT 3 Port 1 mac=00:00:5e:00:53:01",
			": link SLOT 3 Port 1 gateway=192.0.2.1"}},
	{"German ipconfig", `Ethernet-Adapter LAN1:

   Verbindungsspezifisches DNS-Suffix:
   Physische Adresse . . . . . . . . : 00-00-5E-00-53-07
   IPv4-Adresse  . . . . . . . . . . : 192.0.2.12(Bevorzugt)
   Subnetzmaske  . . . . . . . . . . : 255.255.255.128
   Standardgateway . . . . . . . . . : 192.0.2.1
`,
		[]string{": link LAN1 address 192.0.2.12/25=inet",
			": link LAN1 gateway=192.0.2.1"}},
	{"AIX", `aix1:/# lsattr -El ent8
adapter_names   ent2,ent3      EtherChannel Adapters                                          True
backup_adapter  NONE           Adapter used when whole channel fails                          True
hash_mode       default        Determines how outgoing adapter is chosen                      True
mode            8023ad         EtherChannel mode of operation                                 True
aix1:/# entstat -d ent8
ETHERNET STATISTICS (ent8) :
Device Type: IEEE 802.3ad Link Aggregation
Hardware Address: 00:00:5e:00:53:08

Transmit Statistics:                          Receive Statistics:
--------------------                          -------------------
Packets: 812203311                            Packets: 790331122
Bytes: 1120331220331                          Bytes: 61203311220
Transmit Errors: 0                            Receive Errors: 7
                                              Bad Packets: 0

General Statistics:
-------------------
Adapter Data Rate: 20000
Driver Flags: Up Broadcast Running
	Simplex 64BitSupport

Number of adapters: 2
Operating mode: Standard mode (IEEE 802.3ad)
IEEE 802.3ad Link Aggregation Statistics:
	Aggregation status: Aggregated
	Received LACPDUs: 34021
Hash mode: Destination IP address

-------------------------------------------------------------

ETHERNET STATISTICS (ent2) :
Device Type: 10 Gigabit Ethernet Adapter (ct3)
Media Speed Running: 10000 Mbps Full Duplex
Packets: 812101220                            Packets: 395120331
aix1:/# lsdev -Cc adapter
ent0  Available 00-00  10 Gigabit Ethernet Adapter (ct3)
ent8  Available        EtherChannel / IEEE 802.3ad Link Aggregation
`,
		[]string{"aix1: link ent8 hash_mode=default",
			"aix1: link ent8 mode=8023ad",
			"aix1: link ent3 master=ent8",
			"aix1: link ent8 tx_packets=812203311",
			"aix1: link ent8 rx_bytes=61203311220",
			"aix1: link ent8 rx_errors=7",
			"aix1: link ent8 hash_words=Destination IP address",
			"aix1: link ent2 speed=10000",
			"aix1: link ent8 rx_lacp=34021",
			"aix1: link ent8 speed=20000",
			"aix1: link ent0 status=available"}},
	{"ONTAP", `cluster1::> system node run -node node-1 -command ifstat e0f
-- interface  e0f  (12 days, 3 hours, 11 minutes, 20 seconds) --

RECEIVE
 Total frames:      912m | Frames/second:     868  | Total bytes:      1180g
 Bytes/second:    1124k  | Total errors:    80112k | Errors/minute:     4579
 No buffer:           0  | Pause:               0  | Bus overruns:     80112k
TRANSMIT
 Total frames:      433m | Frames/second:     412  | Total bytes:     91822m
LINK INFO
 Speed:             10000M | Duplex:            full | Flowcontrol:      full
cluster1::> network port ifgrp show
         Port       Distribution                   Active
Node     IfGrp      Function     MAC Address       Ports   Ports
-------- ---------- ------------ ----------------- ------- -------------------
node1
         a0a        ip           02:00:5e:00:53:01 partial e0c, e0d
cluster1::> network port show
                                                  Speed(Mbps) Health
Port      IPspace      Broadcast Domain Link MTU  Admin/Oper  Status
--------- ------------ ---------------- ---- ---- ----------- --------
e0a       Cluster      Cluster          up   9000 auto/10000  healthy
e0c       Default      Default          down 1500 auto/-      degraded
`,
		[]string{"cluster1: link e0f rx_bus_overruns=80112000",
			"cluster1: link e0f seen_rx_bps=8992000",
			"cluster1: link e0f speed=10000",
			"cluster1: link e0f tx_packets=433000000",
			"cluster1: link a0a load_balance=ip",
			"cluster1: link a0a participation=partial",
			"cluster1: link e0d master=a0a",
			"cluster1: link e0a mtu=9000",
			"cluster1: link e0c speed=unknown"}},
	{"FreeBSD", `root@fbsd:~ # netstat -i
Name    Mtu Network       Address              Ipkts Ierrs Idrop    Opkts Oerrs  Coll
ix0    9000 <Link#1>      00:00:5e:00:53:01   812203     5     7   912033     0     0
lagg0  9000 <Link#4>      00:00:5e:00:53:01  1612203     5     7  1912033     0     0
lagg0     - 192.0.2.0/24  192.0.2.9          1612203     -     -  1912033     -     -
root@fbsd:~ # netstat -I ix0 -w 2
            input            ix0           output
   packets  errs idrops      bytes    packets  errs      bytes colls
    812203     0     0  2500000000     400000     0   25000000     0
root@fbsd:~ # vmstat -i
interrupt                          total       rate
irq264: ix0:rxq0                 8122031       4411
irq265: ix0:rxq1                     331          0
Total                            8122362       4411
root@fbsd:~ # top -P
CPU 0:  0.0% user,  0.0% nice,  1.2% system, 98.8% interrupt,  0.0% idle
CPU 1:  0.4% user,  0.0% nice,  2.0% system,  0.0% interrupt, 97.6% idle
`,
		[]string{"fbsd: link ix0 rx_errors=5",
			"fbsd: link ix0 rx_dropped=7",
			"fbsd: link ix0 mtu=9000",
			"fbsd: link ix0 seen_rx_bps=10000000000",
			"fbsd: link ix0 seen_tx_bps=100000000",
			"fbsd: irq ix0:rxq0 rate=4411"}},
	{"a NAS's page", `Bond 1
Network status: 2000 Mbps, Full duplex, MTU 1500
Mode: Adaptive load balancing
`,
		[]string{": link Bond 1 speed=2000",
			": link Bond 1 mtu=1500"}},
}
