package paste

var ciscoStates = []stateCase{
	{"IOS-XE configuration", `sw1#show running-config
Building configuration...

Current configuration : 9216 bytes
!
version 17.9
service timestamps log datetime msec
hostname sw1
!
system mtu 9198
port-channel load-balance src-mac
lacp system-priority 100
!
vlan 100
 name storage
!
interface Port-channel10
 description db1 bond0
 switchport trunk native vlan 999
 switchport trunk allowed vlan 100,200
 switchport trunk allowed vlan add 300-310
 switchport mode trunk
 port-channel min-links 2
!
interface GigabitEthernet1/0/1
 description db1 eth0
 switchport trunk allowed vlan 100
 switchport mode trunk
 mtu 9198
 lacp rate fast
 channel-group 10 mode active
 spanning-tree portfast trunk
!
interface GigabitEthernet1/0/2
 switchport mode access
 switchport access vlan 100
 shutdown
 speed 1000
 duplex full
 channel-group 11 mode on
!
end
`, `vendor ios
name sw1
mtu 9198
hash src-mac (layer 2, switch)
channel Po10 lacp active fast min 2 Gi1/0/1
channel Po11 static Gi1/0/2
Po10 vlans 100,200,300-310
Po10 native 999
Po10 mode trunk
Gi1/0/1 vlans 100
Gi1/0/1 mtu 9198
Gi1/0/2 admin down
Gi1/0/2 access 100
Gi1/0/2 speed 1.00 Gbit/s
Gi1/0/2 duplex full
not Gi1/0/2 oper down`},
	{"IOS switchport and trunk", `sw1#show interfaces gi1/0/1 switchport
Name: Gi1/0/1
Switchport: Enabled
Administrative Mode: trunk
Operational Mode: trunk (member of bundle Po10)
Administrative Trunking Encapsulation: dot1q
Negotiation of Trunking: On
Access Mode VLAN: 1 (default)
Trunking Native Mode VLAN: 999 (native)
Voice VLAN: none
Trunking VLANs Enabled: 100,200
Pruning VLANs Enabled: 2-1001

Name: Gi1/0/3
Switchport: Enabled
Administrative Mode: static access
Operational Mode: static access
Access Mode VLAN: 30 (office)
Trunking Native Mode VLAN: 1 (default)
sw1#show interfaces trunk

Port        Mode             Encapsulation  Status        Native vlan
Po10        on               802.1q         trunking      999

Port        Vlans allowed on trunk
Po10        100,200

Port        Vlans allowed and active in management domain
Po10        100

Port        Vlans in spanning tree forwarding state and not pruned
Po10        100
`, `Gi1/0/1 mode trunk
Gi1/0/1 native 999
Gi1/0/1 vlans 100,200
Gi1/0/3 mode access
Gi1/0/3 access 30
Po10 mode trunk
Po10 native 999
Po10 vlans 100,200
channel Po10 Gi1/0/1`},
	{"IOS lacp and members", `sw1>show etherchannel summary
Flags:  D - down        P - bundled in port-channel
        I - stand-alone s - suspended
        H - Hot-standby (LACP only)
        R - Layer3      S - Layer2
        U - in use      f - failed to allocate aggregator

Number of channel-groups in use: 1
Number of aggregators:           1

Group  Port-channel  Protocol    Ports
------+-------------+-----------+-----------------------------------------------
10     Po10(SU)        LACP      Gi1/0/1(P)      Gi1/0/2(s)      Gi1/0/3(I)
                                 Gi1/0/4(H)      Gi1/0/5(D)      Gi1/0/6(w)
sw1>show lacp internal
Flags:  S - Device is requesting Slow LACPDUs
        F - Device is requesting Fast LACPDUs
        A - Device is in Active mode       P - Device is in Passive mode

Channel group 10
                            LACP port     Admin     Oper    Port        Port
Port      Flags   State     Priority      Key       Key     Number      State
Gi1/0/1   SA      bndl      32768         0xA       0xA     0x102       0x3D
sw1>show lacp neighbor
Flags:  S - Device is requesting Slow LACPDUs
        F - Device is requesting Fast LACPDUs
        A - Device is in Active mode       P - Device is in Passive mode

Channel group 10 neighbors

Partner's information:

                  LACP port                        Admin  Oper   Port    Port
Port      Flags   Priority  Dev ID          Age    key    Key    Number  State
Gi1/0/1   FA      255       0200.0000.0a01  12s    0x0    0x9    0x1     0x3F
`, `channel Po10 lacp active slow Gi1/0/1=bundled Gi1/0/2=suspended Gi1/0/3=standalone Gi1/0/4=hot-standby Gi1/0/5=down Gi1/0/6=waiting
actor of Gi1/0/1: active slow key 10 port 258 state 61
partner of Gi1/0/1: active fast 02:00:00:00:0a:01 key 9 port 1 state 63`},
	{"IOS interface with errors", `sw1#show interfaces GigabitEthernet1/0/2
GigabitEthernet1/0/2 is up, line protocol is up (connected)
  Hardware is Gigabit Ethernet, address is 0200.0000.0102 (bia 0200.0000.0102)
  Description: db1 eth1
  MTU 1500 bytes, BW 1000000 Kbit/sec, DLY 10 usec,
     reliability 255/255, txload 1/255, rxload 1/255
  Encapsulation ARPA, loopback not set
  Keepalive set (10 sec)
  Full-duplex, 1000Mb/s, media type is 10/100/1000BaseTX
  input flow-control is off, output flow-control is unsupported
  ARP type: ARPA, ARP Timeout 04:00:00
  Last input never, output 00:00:01, output hang never
  Last clearing of "show interface" counters never
  Input queue: 0/75/0/0 (size/max/drops/flushes); Total output drops: 41007
  Queueing strategy: fifo
  Output queue: 0/40 (size/max)
  5 minute input rate 2000000 bits/sec, 900 packets/sec
  5 minute output rate 941000000 bits/sec, 81000 packets/sec
     880012 packets input, 77120031 bytes, 0 no buffer
     Received 1200 broadcasts (900 multicasts)
     3 runts, 1 giants, 0 throttles
     2210 input errors, 2203 CRC, 0 frame, 0 overrun, 0 ignored
     0 watchdog, 900 multicast, 12 pause input
     0 input packets with dribble condition detected
     99120012 packets output, 88112233445 bytes, 0 underruns
     0 output errors, 0 collisions, 2 interface resets
     0 unknown protocol drops
     0 lost carrier, 0 no carrier, 44 pause output
`, `Gi1/0/2 oper up
Gi1/0/2 speed 1.00 Gbit/s
Gi1/0/2 duplex full
Gi1/0/2 mtu 1500
Gi1/0/2 crc 2203
Gi1/0/2 in_errors 2210
Gi1/0/2 runts 3
Gi1/0/2 giants 1
Gi1/0/2 out_drops 41007
Gi1/0/2 in_pause 12
Gi1/0/2 out_pause 44
Gi1/0/2 in_bytes 77120031
Gi1/0/2 out_bytes 88112233445
Gi1/0/2 out 941 Mbit/s`},
	{"CDP detail", `sw1#show cdp neighbors detail
-------------------------
Device ID: sw2.example.net
Entry address(es):
  IP address: 192.0.2.12
Platform: cisco WS-C3850-24T,  Capabilities: Router Switch IGMP
Interface: GigabitEthernet1/0/24,  Port ID (outgoing port): GigabitEthernet1/0/23
Holdtime : 137 sec

Version :
Cisco IOS Software [Denali], Catalyst L3 Switch Software, Version 16.3.6, RELEASE SOFTWARE (fc3)

advertisement version: 2
Native VLAN: 1
Duplex: full
Management address(es):
  IP address: 192.0.2.12
-------------------------
Device ID: ap7
Entry address(es):
Platform: cisco AIR-AP2802I,  Capabilities: Trans-Bridge
Interface: GigabitEthernet1/0/7,  Port ID (outgoing port): GigabitEthernet0
Holdtime : 160 sec
`, `at Gi1/0/24: sw2.example.net port GigabitEthernet1/0/23 chassis
at Gi1/0/7: ap7 port GigabitEthernet0 chassis`},
	{"NX-OS configuration", `n9k1# show running-config
!Command: show running-config
!Running configuration last done at: Thu Nov 26 10:00:00 2026
version 9.3(8) Bios:version 07.69
hostname n9k1
feature lacp
feature vpc
port-channel load-balance src-dst ip-l4port
vpc domain 10
  peer-keepalive destination 192.0.2.2 source 192.0.2.1

interface port-channel10
  description db1 bond0
  switchport mode trunk
  switchport trunk native vlan 999
  switchport trunk allowed vlan 100,200
  mtu 9216
  lacp min-links 1
  no lacp suspend-individual
  vpc 10

interface Ethernet1/1
  switchport mode trunk
  switchport trunk allowed vlan 100,200
  mtu 9216
  lacp rate fast
  channel-group 10 force mode active
  no shutdown

interface Ethernet1/2
  switchport access vlan 30
  shutdown
`, `vendor nxos
name n9k1
hash src-dst ip-l4port (layer 4, switch)
channel Po10 lacp active fast min 1 pair 10 Eth1/1
Po10 mtu 9216
Po10 vlans 100,200
Eth1/1 mtu 9216
Eth1/1 admin up
Eth1/2 access 30
Eth1/2 admin down`},
	{"NX-OS lacp, vpc, hash, status", `n9k1# show lacp neighbor interface port-channel 10
Flags:  S - Device is sending Slow LACPDUs F - Device is sending Fast LACPDUs
        A - Device is in Active mode       P - Device is in Passive mode
port-channel10 neighbors
Partner's information
            Partner                Partner                     Partner
Port        System ID              Port Number     Age         Flags
Eth1/1      65535,2-0-0-0-a-1      0x1             612         SA

            LACP Partner           Partner                     Partner
            Port Priority          Oper Key                    Port State
            255                    0x9                         0x3d
n9k1# show lacp counters
NOTE: Clear lacp counters to get accurate statistics

------------------------------------------------------------------------------
                             LACPDUs                      Markers/Resp LACPDUs
Interface               Sent                Recv                  Recv Sent  Pkts Err
------------------------------------------------------------------------------
port-channel10
Ethernet1/1                92                 85                     0      0    0
Ethernet1/2                79                 87                     0      0    0
n9k1# show vpc
Legend:
                (*) - local vPC is down, forwarding via vPC peer-link

vPC domain id                     : 10
Peer status                       : peer adjacency formed ok
vPC keep-alive status             : peer is alive
Configuration consistency status  : success
Per-vlan consistency status       : success
Type-2 consistency status         : success
vPC role                          : primary
Number of vPCs configured         : 1
Peer Gateway                      : Disabled
Dual-active excluded VLANs        : -

vPC Peer-link status
---------------------------------------------------------------------
id    Port   Status Active vlans
--    ----   ------ --------------------------------------------------
1     Po1    up     1,100,200

vPC status
----------------------------------------------------------------------
id    Port   Status Consistency Reason                     Active vlans
--    ----   ------ ----------- ------                     ------------
10    Po10   up     success     success                    100,200
n9k1# show interface status

--------------------------------------------------------------------------------
Port          Name               Status    Vlan      Duplex  Speed   Type
--------------------------------------------------------------------------------
Eth1/1        db1 eth0           connected trunk     full    10G     10Gbase-SR
Eth1/2        --                 disabled  30        auto    auto    10Gbase-SR
Po10          db1 bond0          connected trunk     full    a-10G   --
`, `vendor nxos
partner of Eth1/1: active slow 02:00:00:00:0a:01 key 9 port 1 state 61
channel Po10 lacp pair 10 Eth1/1 Eth1/2
Eth1/1 in_lacp 85
Eth1/1 out_lacp 92
Eth1/1 speed 10.0 Gbit/s
Eth1/1 duplex full
pair vpc peer peer adjacency formed ok state`},
	{"EOS configuration", `leaf1#show running-config
! Command: show running-config
! device: leaf1 (DCS-7050SX3-48YC8, EOS-4.27.3F)
!
hostname leaf1
!
port-channel load-balance trident fields ip source-ip destination-ip source-port destination-port
!
interface Port-Channel10
   description db1 bond0
   switchport trunk native vlan 999
   switchport trunk allowed vlan 100,200
   switchport mode trunk
   port-channel min-links 1
   mlag 10
!
interface Ethernet1
   mtu 9214
   channel-group 10 mode active
   lacp timer fast
!
interface Ethernet2
   shutdown
   switchport access vlan 30
!
end
`, `vendor eos
name leaf1
hash trident fields ip source-ip destination-ip source-port destination-port (layer 4, switch)
channel Po10 lacp active fast min 1 pair 10 Et1
Po10 vlans 100,200
Et1 mtu 9214
Et2 admin down
Et2 access 30`},
	{"EOS lacp peer, mlag, trunk", `leaf1#show lacp peer
State: A = Active, P = Passive; S=ShortTimeout, L=LongTimeout;
       G = Aggregable, I = Individual; s+=InSync, s-=OutOfSync;
       C = Collecting, X = state machine expired,
       D = Distributing, d = default neighbor state
                 |                        Partner
 Port    Status  | Sys-id                    Port#   State     OperKey  PortPri
------ ----------|------------------------- ------- --------- --------- -------
Port Channel Port-Channel10:
 Et1     Bundled | FFFF,02-00-00-00-0a-01        1   ASGs+CD    0x0009      255
leaf1#show mlag
MLAG Configuration:
domain-id                          :                  pod1
local-interface                    :              Vlan4094
peer-address                       :             192.0.2.2
peer-link                          :       Port-Channel100
peer-config                        :            consistent

MLAG Status:
state                              :                Active
negotiation status                 :             Connected
peer-link status                   :                    Up
local-int status                   :                    Up
system-id                          :     02:1c:73:00:00:01
dual-primary detection             :              Disabled

MLAG Ports:
Disabled                           :                     0
Configured                         :                     0
Inactive                           :                     0
Active-partial                     :                     0
Active-full                        :                     1
leaf1#show interfaces trunk
Port            Mode            Status          Native vlan
Po10            trunk           trunking        999

Port            Vlans allowed
Po10            100,200

Port            Vlans allowed and active in management domain
Po10            100,200

Port            Vlans in spanning tree forwarding state
Po10            100,200
`, `vendor eos
channel Po10 lacp Et1=bundled
partner of Et1: active fast 02:00:00:00:0a:01 key 9 port 1 state 63
Po10 vlans 100,200
Po10 native 999
pair mlag peer Connected state Active`},
}
