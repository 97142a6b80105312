package paste

var otherStates = []stateCase{
	{"Junos set", `admin@ex1> show configuration | display set
set version 20.2R3
set system host-name ex1
set chassis aggregated-devices ethernet device-count 2
set interfaces xe-0/0/0 ether-options 802.3ad ae0
set interfaces xe-0/0/1 gigether-options 802.3ad ae0
set interfaces xe-0/0/2 disable
set interfaces ae0 description "db1 bond0"
set interfaces ae0 mtu 9216
set interfaces ae0 aggregated-ether-options minimum-links 1
set interfaces ae0 aggregated-ether-options lacp active
set interfaces ae0 aggregated-ether-options lacp periodic fast
set interfaces ae0 native-vlan-id 999
set interfaces ae0 unit 0 family ethernet-switching interface-mode trunk
set interfaces ae0 unit 0 family ethernet-switching vlan members v100
set interfaces ae0 unit 0 family ethernet-switching vlan members v200
set interfaces xe-0/0/3 unit 0 family ethernet-switching interface-mode access
set interfaces xe-0/0/3 unit 0 family ethernet-switching vlan members office
set forwarding-options enhanced-hash-key hash-mode layer2-header
set vlans v100 vlan-id 100
set vlans v200 vlan-id 200
set vlans office vlan-id 30
`, `vendor junos
name ex1
hash enhanced-hash-key hash-mode layer2-header (layer 2, switch)
channel ae0 lacp active fast min 1 xe-0/0/0 xe-0/0/1
ae0 mtu 9216
ae0 mode trunk
ae0 native 999
ae0 vlans 100,200
ae0 description db1 bond0
xe-0/0/2 admin down
xe-0/0/3 mode access
xe-0/0/3 access 30`},
	{"Junos braces", `interfaces {
    xe-0/0/0 {
        ether-options {
            802.3ad ae0;
        }
    }
    xe-0/0/1 {
        ether-options {
            802.3ad ae0;
        }
    }
    ae0 {
        mtu 9216;
        aggregated-ether-options {
            lacp {
                passive;
                periodic slow;
            }
        }
        unit 0 {
            family ethernet-switching {
                interface-mode trunk;
                vlan {
                    members [ 100 200 ];
                }
            }
        }
    }
}
`, `channel ae0 lacp passive slow xe-0/0/0 xe-0/0/1
ae0 mtu 9216
ae0 mode trunk
ae0 vlans 100,200`},
	{"Junos lacp statistics", `admin@ex1> show lacp statistics interfaces ae0
Aggregated interface: ae0
    LACP Statistics:       LACP Rx     LACP Tx   Unknown Rx   Illegal Rx
      xe-0/0/0                 812         830            0            0
      xe-0/0/1                   0         841            0            0
`, `channel ae0 lacp xe-0/0/0 xe-0/0/1
xe-0/0/0 in_lacp 812
xe-0/0/0 out_lacp 830`},
	{"AOS-S configuration", `Running configuration:

; J9729A Configuration Editor; Created on release #WB.16.10.0009
; Ver #14:01.4f.f8.1d.9b.3f.bf.bb.ef.7c.59.fc.6b.fb.9f.fc.ff.ff.37.ef:05

hostname "agg1"
trunk 1-2 trk1 lacp
trunk 3,5 trk2 trunk
trunk-load-balance L4-based
interface 1
   name "db1 eth0"
   exit
interface 7
   disable
   speed-duplex 1000-full
   exit
vlan 1
   name "DEFAULT_VLAN"
   no untagged Trk1
   untagged 7-24,Trk2
   exit
vlan 100
   name "storage"
   tagged 7,Trk1-Trk2
   no ip address
   jumbo
   exit
vlan 200
   name "office"
   untagged Trk1
   exit
`, `vendor procurve
name agg1
hash L4-based (layer 4, switch)
channel Trk1 lacp 1 2
channel Trk2 static 3 5
Trk1 native 200
Trk1 vlans 100
Trk2 native 1
Trk2 vlans 100
7 admin down
1 description db1 eth0`},
	{"AOS-S lacp peer and interfaces", `agg1# show lacp peer

LACP Peer Information.

System ID: 9457a5-9f0000

  Local  Local                         Port      Oper    LACP     Tx
  Port   Trunk  System ID      Port  Priority    Key     Mode     Timer
  ------ ------ -------------- ----- --------- ------- -------- -----
  1      Trk1   020000-000a01  1     255       9       Active   Slow
  2      Trk1   020000-000a01  2     255       9       Active   Slow

agg1# show interfaces 1

 Status and Counters - Port Counters for port 1

  Name  : db1 eth0
  MAC Address      : 9457a5-9f00ff
  Link Status      : Up
  Totals (Since boot or last clear) :
   Bytes Rx        : 77,120,031         Bytes Tx        : 88,112,233
   Unicast Rx      : 880,012            Unicast Tx      : 991,200
   Bcast/Mcast Rx  : 1,200              Bcast/Mcast Tx  : 1,900
  Errors (Since boot or last clear) :
   FCS Rx          : 2,203              Drops Tx        : 41,007
   Alignment Rx    : 0                  Collisions Tx   : 0
   Runts Rx        : 3                  Late Colln Tx   : 0
   Giants Rx       : 1                  Excessive Colln : 0
   Total Rx Errors : 2,210              Deferred Tx     : 0
  Others (Since boot or last clear) :
   Discard Rx      : 7                  Out Queue Len   : 0
   Unknown Protos  : 0
  Rates (5 minute weighted average) :
   Total Rx (bps) : 2000000             Total Tx (bps) : 941000000
   Unicast Rx (Pkts/sec) : 0            Unicast Tx (Pkts/sec) : 0
   B/Mcast Rx (Pkts/sec) : 0            B/Mcast Tx (Pkts/sec) : 0
   Utilization Rx  :  0.20 %            Utilization Tx  : 94.10 %
`, `vendor procurve
system 94:57:a5:9f:00:00
channel Trk1 lacp 1 2
partner of 1: active slow 02:00:00:00:0a:01 key 9 port 1 state 0
1 oper up
1 description db1 eth0
1 in_bytes 77120031
1 out_bytes 88112233
1 crc 2203
1 out_drops 41007
1 runts 3
1 giants 1
1 in_errors 2210
1 in_drops 7
1 out 941 Mbit/s`},
	{"AOS-CX configuration", `sw8325# show running-config
Current configuration:
!
!Version ArubaOS-CX GL.10.09.1010
!export-password: default
hostname sw8325
vsx
    inter-switch-link lag 256
    role primary
interface lag 10 multi-chassis
    no shutdown
    description db1 bond0
    no routing
    vlan trunk native 999
    vlan trunk allowed 100,200
    lacp mode active
    lacp rate fast
    hash l4-src-dst
interface 1/1/1
    no shutdown
    mtu 9198
    lag 10
interface 1/1/2
    shutdown
    no routing
    vlan access 30
`, `vendor aoscx
name sw8325
channel lag10 lacp active fast hash l4-src-dst 1/1/1
lag10 mode trunk
lag10 native 999
lag10 vlans 100,200
1/1/1 mtu 9198
1/1/2 admin down
1/1/2 access 30`},
	{"AOS-CX brief and vsx", `sw8325# show interface brief
--------------------------------------------------------------------------------------------------------
Port           Native  Mode   Type           Enabled Status  Reason                  Speed   Description
               VLAN                                                                  (Mb/s)
--------------------------------------------------------------------------------------------------------
1/1/1          999     trunk  SFP+SR         yes     up                              10000   db1 eth0
1/1/2          30      access 1GbT           no      down    Administratively down   --      --
lag10          999     trunk  --             yes     up      --                      10000   db1 bond0
sw8325# show vsx status
VSX Operational State
---------------------
  ISL channel             : In-Sync
  ISL mgmt channel        : operational
  Config Sync Status      : In-Sync
  NAE                     : peer_reachable
  HTTPS Server            : peer_reachable

Attribute           Local               Peer
------------        --------            --------
ISL link            lag256              lag256
ISL version         2                   2
System MAC          02:00:00:00:01:00   02:00:00:00:02:00
Platform            8325                8325
Software Version    GL.10.09.1010       GL.10.09.1010
Device Role         primary             secondary
`, `vendor aoscx
1/1/1 oper up
1/1/1 speed 10.0 Gbit/s
1/1/1 mode trunk
1/1/1 native 999
1/1/2 admin down
1/1/2 oper down
1/1/2 access 30
pair vsx peer state In-Sync`},
	{"Comware configuration", `<sw5>display current-configuration
 version 7.1.070, Release 6635
 sysname sw5
#
 link-aggregation global load-sharing mode source-mac destination-mac
#
interface Bridge-Aggregation10
 port link-type trunk
 port trunk permit vlan 100 200 to 210
 port trunk pvid vlan 999
 link-aggregation mode dynamic
 link-aggregation selected-port minimum 2
#
interface Ten-GigabitEthernet1/0/1
 port link-type trunk
 port trunk permit vlan 100 200 to 210
 jumboframe enable 9216
 lacp period short
 port link-aggregation group 10
#
interface Ten-GigabitEthernet1/0/3
 port access vlan 30
 shutdown
#
return
`, `vendor comware
name sw5
hash source-mac destination-mac (layer 2, switch)
channel BAGG10 lacp fast min 2 XGE1/0/1
BAGG10 mode trunk
BAGG10 vlans 100,200-210
BAGG10 native 999
XGE1/0/1 mtu 9216
XGE1/0/3 access 30
XGE1/0/3 admin down`},
	{"Dell OS9 configuration", `Dell#show running-config
Current Configuration ...
! Version 9.14(2.9)
!
hostname s4048
!
load-balance ip-selection dest-ip source-ip
hash-algorithm lag xor16
!
interface TenGigabitEthernet 1/1
 no ip address
 mtu 9216
!
 port-channel-protocol LACP
  port-channel 10 mode active
 no shutdown
!
interface Port-channel 10
 description db1 bond0
 no ip address
 mtu 9216
 portmode hybrid
 switchport
 minimum-links 1
 lacp long-timeout
 no shutdown
!
interface Port-channel 11
 switchport
 channel-member TenGigabitEthernet 1/3,1/4
!
interface Vlan 100
 tagged Port-channel 10-11
 tagged TenGigabitEthernet 1/5
 no shutdown
!
interface Vlan 200
 untagged Port-channel 10
`, `vendor os9
name s4048
hash ip-selection dest-ip source-ip lag xor16 (layer 3, switch)
channel Po10 lacp active slow min 1 Te1/1
channel Po11 static Te1/3 Te1/4
Po10 vlans 100
Po10 native 200
Po11 vlans 100
Te1/1 mtu 9216
Te1/5 vlans 100`},
	{"Dell OS10 configuration", `OS10# show running-configuration
! Version 10.5.2.3
!
hostname s5248
!
load-balancing ip-selection destination-ip source-ip protocol l4-destination-port l4-source-port
!
interface port-channel10
 description "db1 bond0"
 no shutdown
 switchport mode trunk
 switchport access vlan 1
 switchport trunk allowed vlan 100,200
 mtu 9216
 vlt-port-channel 10
!
interface ethernet1/1/1
 no shutdown
 channel-group 10 mode active
 no switchport
 mtu 9216
 lacp rate fast
!
`, `vendor os10
name s5248
hash ip-selection destination-ip source-ip protocol l4-destination-port l4-source-port (layer 4, switch)
channel port-channel10 lacp active fast pair 10 ethernet1/1/1
port-channel10 vlans 100,200
port-channel10 mtu 9216
ethernet1/1/1 mtu 9216`},
	{"SONiC config_db.json", `{
    "DEVICE_METADATA": {
        "localhost": {
            "hostname": "tor1",
            "hwsku": "ACS-MSN2700",
            "mac": "02:00:00:00:01:00",
            "platform": "x86_64-mlnx_msn2700-r0",
            "type": "ToRRouter"
        }
    },
    "PORT": {
        "Ethernet0": {"admin_status": "up", "alias": "etp1", "description": "db1 eth0", "lanes": "0,1", "mtu": "9100", "speed": "25000"},
        "Ethernet4": {"admin_status": "down", "alias": "etp2", "lanes": "4,5", "mtu": "1500", "speed": "25000"}
    },
    "PORTCHANNEL": {
        "PortChannel0010": {"admin_status": "up", "fast_rate": "true", "lacp_key": "auto", "min_links": "1", "mtu": "9100"}
    },
    "PORTCHANNEL_MEMBER": {
        "PortChannel0010|Ethernet0": {},
        "PortChannel0010|Ethernet4": {}
    },
    "SWITCH_HASH": {
        "GLOBAL": {"lag_hash": ["SRC_IP", "DST_IP", "L4_SRC_PORT", "L4_DST_PORT"], "lag_hash_algorithm": "CRC"}
    },
    "VLAN": {"Vlan100": {"vlanid": "100"}, "Vlan200": {"vlanid": "200"}},
    "VLAN_MEMBER": {
        "Vlan100|PortChannel0010": {"tagging_mode": "tagged"},
        "Vlan200|PortChannel0010": {"tagging_mode": "untagged"}
    }
}
`, `vendor sonic
name tor1
system 02:00:00:00:01:00
hash SRC_IP DST_IP L4_SRC_PORT L4_DST_PORT CRC (layer 4, switch)
channel PortChannel0010 lacp fast min 1 Ethernet0 Ethernet4
PortChannel0010 mtu 9100
PortChannel0010 vlans 100
PortChannel0010 native 200
Ethernet0 speed 25.0 Gbit/s
Ethernet0 mtu 9100
Ethernet4 admin down
Ethernet4 mtu 1500`},
	{"SONiC dump of the database", `{
    "SFLOW|global": {"admin_state": "up"},
    "PORT|Ethernet0": {"admin_status": "up", "alias": "etp1", "lanes": "0,1", "mtu": "9100", "speed": "25000"},
    "PORTCHANNEL|PortChannel0010": {"admin_status": "up", "mtu": "9100", "min_links": "2"},
    "PORTCHANNEL_MEMBER|PortChannel0010|Ethernet0": {"NULL": "NULL"},
    "SWITCH_HASH|GLOBAL": {"lag_hash@": "SRC_MAC,DST_MAC", "lag_hash_algorithm": "CRC"}
}
`, `vendor sonic
hash SRC_MAC DST_MAC CRC (layer 2, switch)
channel PortChannel0010 lacp min 2 Ethernet0
Ethernet0 mtu 9100`},
	{"NX-OS by hand", `!RANCID-CONTENT-TYPE: cisco-nx
!
hostname n9k2
!
feature lacp
interface port-channel 6
  lacp min-links 2
!
interface Ethernet1/10
  no switchport
  channel-group 6
!
interface Ethernet1/11
  channel-group 7 mode passive
`, `vendor nxos
name n9k2
channel Po6 static min 2 Eth1/10
channel Po7 lacp passive Eth1/11`},
	{"EOS of many kinds", `!RANCID-CONTENT-TYPE: arista
!
transceiver qsfp default-mode 4x10G
!
hostname leaf3
!
no aaa root
!
interface Port-Channel5
   description DC1_L2LEAF1_Po1
   switchport
   switchport trunk allowed vlan 110,201
   switchport mode trunk
   mlag 5
   storm-control broadcast level 1
   comment
   Comment of somebody
   EOF

!
interface Port-Channel8.101
   description a subinterface
   encapsulation dot1q vlan 101
   ip address 192.0.2.3/31
!
interface Port-Channel10
   description SRV01_bond0
   switchport trunk allowed vlan 2-3000
   evpn ethernet-segment
      identifier 0000:0000:0404:0404:0303
      route-target import 04:04:03:03:02:02
   shape rate 50 percent
!
interface Ethernet15
   channel-group 5 mode active
   lacp timer fast
   lacp timer multiplier 30
!
interface Management1
   vrf MGMT
   ip address 192.0.2.122/24
!
end
`, `vendor eos
name leaf3
channel Po5 lacp active fast pair 5 Et15
Po5 vlans 110,201
Po10 vlans 2-3000`},
	{"SONiC counters and lldp", `admin@tor1:~$ show interfaces counters
  IFACE    STATE    RX_OK       RX_BPS    RX_UTIL    RX_ERR    RX_DRP    RX_OVR    TX_OK       TX_BPS    TX_UTIL    TX_ERR    TX_DRP    TX_OVR
---------  -------  --------  ----------  ---------  --------  --------  --------  --------  ----------  ---------  --------  --------  --------
Ethernet0        U   880,012  250.00 KB/s      0.01%     2,210         7         0   991,200  117.63 MB/s      3.76%         0    41,007         0
Ethernet4        X         0    0.00 B/s      0.00%         0         0         0         0    0.00 B/s      0.00%         0         0         0
admin@tor1:~$ show lldp table
Capability codes: (R) Router, (B) Bridge, (O) Other
LocalPort    RemoteDevice    RemotePortID       Capability    RemotePortDescr
-----------  --------------  -----------------  ------------  -----------------
Ethernet0    db1             02:00:00:00:0a:01  BR            eth0
--------------------------------------------------
Total entries displayed:  1
`, `vendor sonic
Ethernet0 in_errors 2210
Ethernet0 in_drops 7
Ethernet0 out_drops 41007
Ethernet0 out 941 Mbit/s
at Ethernet0: db1 port 02:00:00:00:0a:01 chassis`},
	{"Cumulus NCLU", `cumulus@leaf01:mgmt:~$ net show configuration commands
net del all

net add hostname leaf01
net add bond bond10 bond slaves swp1,swp2
net add bond bond10 bond lacp-rate slow
net add bond bond10 bond min-links 1
net add bond bond10 clag id 10
net add bond bond10 mtu 9216
net add bond bond10 bridge vids 100,200
net add bond bond10 bridge pvid 999
net add interface swp1 mtu 9216
net add bridge bridge ports bond10
net commit
`, `vendor cumulus
name leaf01
channel bond10 lacp slow min 1 pair 10 swp1 swp2
bond10 mtu 9216
bond10 vlans 100,200
bond10 native 999
swp1 mtu 9216`},
	{"Cumulus, typed", `cumulus@leaf01:~$ net add bond bond1 bond slaves swp1
cumulus@leaf01:~$ net add bond bond1 clag id 1
cumulus@leaf01:~$ net pending
cumulus@leaf01:~$ net commit
cumulus@leaf01:~$ nv set interface bond5 bond member swp3-4
`, `vendor cumulus
channel bond1 lacp pair 1 swp1
channel bond5 lacp swp3 swp4`},
	{"RouterOS, typed", `[admin@gw1] > /interface bonding add slaves=ether1,ether2 name=bond1 mode=802.3ad
[admin@gw1] > /interface bonding add slaves=ether3,ether4 name=bond2 mode=balance-xor
[admin@gw1] > /ip address print
`, `vendor routeros
channel bond1 lacp ether1 ether2
channel bond2 static ether3 ether4`},
	{"Cumulus NVUE", `cumulus@leaf01:mgmt:~$ nv config show -o commands
nv set system hostname leaf01
nv set interface bond10 bond member swp1-2
nv set interface bond10 bond lacp-rate fast
nv set interface bond10 bond mlag id 10
nv set interface bond10 bridge domain br_default vlan 100,200
nv set interface bond10 bridge domain br_default untagged 999
nv set interface bond10 link mtu 9216
nv set interface bond11 bond member swp3
nv set interface bond11 bond mode static
nv set interface swp1 link mtu 9216
nv set system forwarding lag-hash source-port off
`, `vendor cumulus
name leaf01
channel bond10 lacp fast pair 10 swp1 swp2
channel bond11 static swp3
bond10 mtu 9216
bond10 vlans 100,200
bond10 native 999
swp1 mtu 9216`},
	{"RouterOS export", `# 2026-11-26 10:00:00 by RouterOS 7.12
# software id = ABCD-EFGH
/interface bonding
add mode=802.3ad mtu=9000 name=bond1 slaves=sfp-sfpplus1,sfp-sfpplus2 \
    transmit-hash-policy=layer-2 lacp-rate=1sec min-links=1
add mode=balance-xor name=bond2 slaves=ether3,ether4
`, `vendor routeros
channel bond1 lacp fast min 1 hash layer2 sfp-sfpplus1 sfp-sfpplus2
bond1 mtu 9000
channel bond2 static ether3 ether4`},
}
