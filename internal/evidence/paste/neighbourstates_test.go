package paste

// neighbourStates are tables of neighbours, a few columns each, as each maker has them.
var neighbourStates = []stateCase{
	{"FASTPATH remote devices", `(es1) #show lldp remote-device all

LLDP Remote Device Summary

Local
Interface  RemID   Chassis ID          Port ID             System Name
---------  ------  ------------------  ------------------  ------------------
0/1        1       02:00:00:00:0A:00   02:00:00:00:0A:01   db1
0/2
0/24       3       02:00:00:00:0C:00   0/24                core1
`, `at 0/1: db1 port 02:00:00:00:0A:01 chassis 02:00:00:00:0a:00
at 0/24: core1 port 0/24 chassis 02:00:00:00:0c:00`},
	{"FastIron LLDP table", `icx1#show lldp neighbors
Lcl Port Chassis ID      Port ID         Port Description            System Name
1/1/1    0200.0000.0a00  0200.0000.0a01  eth0                        db1~
1/2/1    0200.0000.0c00  0200.0000.0c18  10GigabitEthernet1/2/1      core1
`, `at 1/1/1: db1~ port 0200.0000.0a01 chassis 02:00:00:00:0a:00
at 1/2/1: core1 port 0200.0000.0c18 chassis 02:00:00:00:0c:00`},
	{"EXOS LLDP table", `Neighbor    Neighbor             Neighbor             TTL    Age    Neighbor
Port      Chassis ID           Port ID              TTL    Age    System Name
=============================================================================
1         02:00:00:00:0a:00    02:00:00:00:0a:01    120    12     db1
49        02:00:00:00:0c:00    1:49                 120    9      core1
=============================================================================
NOTE: The Chassis ID and/or Port ID might be truncated to fit the screen.
`, `at 1: db1 port 02:00:00:00:0a:01 chassis 02:00:00:00:0a:00
at 49: core1 port 1:49 chassis 02:00:00:00:0c:00`},
	{"Huawei brief", `<hw1>display lldp neighbor brief
Local Intf       Neighbor Dev             Neighbor Intf             Exptime(s)
XGE0/0/1         db1                      0200-0000-0a01            102
XGE0/0/24        core1                    XGE0/0/24                 98
`, `at XGE0/0/1: db1 port 0200-0000-0a01 chassis
at XGE0/0/24: core1 port XGE0/0/24 chassis`},
	{"IOS-XR LLDP in full", `RP/0/RSP0/CPU0:xr1#show lldp neighbors detail
Thu Nov 26 10:00:00.000 UTC

------------------------------------------------
Local Interface: TenGigE0/0/0/1
Chassis id: 0200.0000.0a00
Port id: 0200.0000.0a01
Port Description: eth0
System Name: db1

System Description:
Debian GNU/Linux 12 (bookworm)

Time remaining: 102 seconds
Hold Time: 120 seconds
System Capabilities: B,R
Enabled Capabilities: R
Management Addresses:
  IPv4 address: 192.0.2.21

Peer MAC Address: 02:00:00:00:0a:01


Total entries displayed: 1
`, `at Te0/0/0/1: db1 port 0200.0000.0a01 chassis 02:00:00:00:0a:00`},
	{"IOS CDP table", `sw1#show cdp neighbors
Capability Codes: R - Router, T - Trans Bridge, B - Source Route Bridge
                  S - Switch, H - Host, I - IGMP, r - Repeater, P - Phone,
                  D - Remote, C - CVTA, M - Two-port Mac Relay

Device ID        Local Intrfce     Holdtme    Capability  Platform  Port ID
sw2.example.net  Gig 1/0/24        137              S I   WS-C3850- Gig 1/0/23
sw3-with-a-very-long-name.example.net
                 Ten 1/1/1         150              S I   C9300-48T Ten 1/1/2

Total cdp entries displayed : 2
`, `at Gi1/0/24: sw2.example.net port Gig 1/0/23 chassis
at Te1/1/1: sw3-with-a-very-long-name.example.net port Ten 1/1/2 chassis`},
	{"NX-OS CDP table", `n9k1# show cdp neighbors
Capability Codes: R - Router, T - Trans-Bridge, B - Source-Route-Bridge
                  S - Switch, H - Host, I - IGMP, r - Repeater,
                  V - VoIP-Phone, D - Remotely-Managed-Device,
                  s - Supports-STP-Dispute

Device-ID          Local Intrfce  Hldtme Capability  Platform      Port ID
n9k2(FDO00000000)  Eth1/49        157    R S I s     N9K-C93180YC- Eth1/49

Total entries displayed: 1
`, `at Eth1/49: n9k2 port Eth1/49 chassis`},
	{"AOS-S remote devices", `agg1# show lldp info remote-device

 LLDP Remote Devices Information

  LocalPort | ChassisId                 PortId                 PortDescr SysName
  --------- + ------------------------- ---------------------- --------- ------------------
  1         | 02 00 00 00 0a 00         02 00 00 00 0a 01      eth0      db1
  24        | 94 57 a5 9f 00 00         49                     49        core1
`, `at 1: db1 port 02:00:00:00:0a:01 chassis 02:00:00:00:0a:00
at 24: core1 port 49 chassis 94:57:a5:9f:00:00`},
	{"AOS-S remote device in full", `agg1# show lldp info remote-device 1

 LLDP Remote Device Information Detail

  Local Port   : 1
  ChassisType  : mac-address
  ChassisId    : 02 00 00 00 0a 00
  PortType     : mac-address
  PortId       : 02 00 00 00 0a 01
  SysName      : db1
  System Descr : Debian GNU/Linux 12 (bookworm)
  PortDescr    : eth0
  Pvid         :

  System Capabilities Supported  : bridge, router
  System Capabilities Enabled    : router

  Remote Management Address
     Type    : ipv4
     Address : 192.0.2.21
`, `at 1: db1 port 02:00:00:00:0a:01 chassis 02:00:00:00:0a:00`},
	{"Dell LLDP table", `s5248# show lldp neighbors
Loc PortID          Rem Host Name     Rem Port Id                     Rem Chassis Id
---------------------------------------------------------------------------------------
ethernet1/1/1       db1               02:00:00:00:0a:01               02:00:00:00:0a:00
ethernet1/1/49      s5249             ethernet1/1/49                  02:00:00:00:0c:00
`, `at ethernet1/1/1: db1 port 02:00:00:00:0a:01 chassis 02:00:00:00:0a:00
at ethernet1/1/49: s5249 port ethernet1/1/49 chassis 02:00:00:00:0c:00`},
	{"Cumulus LLDP table", `cumulus@leaf01:mgmt:~$ net show lldp

LocalPort  Speed  Mode        RemoteHost  RemotePort
---------  -----  ----------  ----------  -----------------
eth0       1G     Mgmt        oob-switch  swp10
swp1       25G    BondMember  db1         02:00:00:00:0a:01
swp49      100G   BondMember  leaf02      swp49
`, `at swp1: db1 port 02:00:00:00:0a:01 chassis
at swp49: leaf02 port swp49 chassis`},
	{"Junos LLDP in full", `admin@ex1> show lldp neighbors interface xe-0/0/0
LLDP Neighbor Information:
Local Information:
Index: 8 Time to live: 120 Time mark: Thu Nov 26 10:00:00 2026 Age: 12 secs
Local Interface    : xe-0/0/0
Parent Interface   : ae0
Local Port ID      : 516
Ageout Count       : 0

Neighbour Information:
Chassis type       : Mac address
Chassis ID         : 02:00:00:00:0a:00
Port type          : Mac address
Port ID            : 02:00:00:00:0a:01
Port description   : eth0
System name        : db1

System Description : Debian GNU/Linux 12 (bookworm)

System capabilities
        Supported: Bridge Router
        Enabled  : Router

Management address
        Address Type      : IPv4(1)
        Address           : 192.0.2.21
`, `at xe-0/0/0: db1 port 02:00:00:00:0a:01 chassis 02:00:00:00:0a:00`},
}
