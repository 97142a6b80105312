package paste

// switchCases are outputs of switches: own data, in the forms of several makers.
var switchCases = []struct {
	name, text string
	want       []string // HOST: SUBJECT KEY=VALUE; "?" a switch that nobody names
}{
	{"IOS summary", `sw1#sh etherchannel summary
Flags:  D - down        P - bundled in port-channel
        I - stand-alone s - suspended
        U - in use      f - failed to allocate aggregator

        M - not in use, minimum links not met

Number of channel-groups in use: 3
Number of aggregators:           3

Group  Port-channel  Protocol    Ports
------+-------------+-----------+-----------------------------------------------
1      Po1(SU)           LACP    Gi1/0/11(P) Gi1/0/12(s)
                                 Te1/1/1(I)
2      Po2(SD)           -
12     Po12(SU)          -       Gi1/0/1(bndl)  Gi1/0/2(P)
`,
		[]string{"sw1: host vendor=ios",
			"sw1: channel Po1 protocol=lacp",
			"sw1: channel Po1 members=Gi1/0/11 Gi1/0/12 Te1/1/1",
			"sw1: channel Po1 up=1",
			"sw1: channel Po1 state=up",
			"sw1: port Gi1/0/11 bundled=yes",
			"sw1: port Gi1/0/12 bundled=suspended",
			"sw1: port Te1/1/1 bundled=individual",
			"sw1: channel Po2 protocol=none",
			"sw1: channel Po2 state=down",
			"sw1: channel Po12 protocol=static",
			"sw1: channel Po12 up=2"}},
	{"IOS summary, filtered and without its blanks", `sw1#show etherchannel summary | include Po1
1 Po1(SU) LACP Gi1/0/1(P) Gi1/0/2(D)
`,
		[]string{"sw1: channel Po1 members=Gi1/0/1 Gi1/0/2",
			"sw1: port Gi1/0/2 bundled=no",
			"sw1: channel Po1 up=1"}},
	{"NX-OS summary, whose groups look like the numbers of lines", `n9k# show port-channel summary
Flags:  D - Down        P - Up in port-channel (members)
        s - Suspended   r - Module-removed
        U - Up (port-channel)
--------------------------------------------------------------------------------
Group Port-       Type     Protocol  Member Ports
      Channel
--------------------------------------------------------------------------------
1     Po1(SU)     Eth      LACP      Eth1/1(P)    Eth1/2(P)
2     Po2(SU)     Eth      NONE      Eth1/3(P)
3     Po3(SD)     Eth      NONE      --
4     Po4(SU)     Eth      LACP      Eth1/5(P)    Eth1/6(P)    Eth1/7(P)
                                     Eth1/8(H)
5     Po5(SU)     Eth      LACP      Eth1/9(P)
`,
		[]string{"n9k: host vendor=nxos",
			"n9k: channel Po4 members=Eth1/5 Eth1/6 Eth1/7 Eth1/8",
			"n9k: channel Po4 up=3",
			"n9k: channel Po3 protocol=none",
			"n9k: channel Po2 protocol=static",
			"n9k: port Eth1/8 flag=H"}},
	{"EOS summary", `leaf5#show port-channel summary | include Po
  P - bundled in Po        s - suspended              G - Aggregable
   Po51(U)            LACP(a)        Et5(PSG+) Et6(G-)
   Po52(U)            Static         Et7(P)
   Po53(D)            LACP(pF*)      Et8(D)
`,
		[]string{"leaf5: host vendor=eos",
			"leaf5: channel Po51 up=1",
			"leaf5: channel Po51 mode=active",
			"leaf5: port Et6 bundled=no",
			"leaf5: channel Po52 protocol=static",
			"leaf5: channel Po53 fallback=in effect",
			"leaf5: channel Po53 mode=passive"}},
	{"OS10 summary", `os10# show port-channel summary
Flags:  D - Down    I - member up but inactive    P - member up and active
        U - Up (port-channel)    F - Fallback Activated    IND - LACP Individual
--------------------------------------------------------------------------------
Group  Port-Channel           Type     Protocol   Member Ports
--------------------------------------------------------------------------------
10     port-channel10    (U)     Eth      DYNAMIC    1/1/1(P) 1/1/2(D)
`,
		[]string{"os10: host vendor=os10",
			"os10: channel port-channel10 up=1"}},
	{"OS9 channels", `os9#show interfaces port-channel brief
LAG Mode Status Uptime Ports
L 10 L2 up 01:02:03 Te 0/1 (Up)
                    Te 0/2 (Down)
`,
		[]string{"os9: channel Po10 members=Te0/1 Te0/2",
			"os9: channel Po10 up=1"}},
	{"SONiC", `admin@sonic:~$ show interfaces portchannel
Flags: A - active, I - inactive, Up - up, Dw - Down, N/A - not available,
       S - selected, D - deselected, * - not synced
  No.  Team Dev         Protocol     Ports
-----  ---------------  -----------  ---------------------------
 0010  PortChannel0010  LACP(A)(Up)  Ethernet0(S) Ethernet4(D)
admin@sonic:~$ show interfaces status
  Interface            Lanes    Speed    MTU    FEC    Alias             Vlan    Oper    Admin             Type    Asym PFC
-----------  ---------------  -------  -----  -----  -------  ---------------  ------  -------  ---------------  ----------
  Ethernet0                0      10G   9100    N/A    Eth1/1  PortChannel0010      up       up   SFP/SFP+/SFP28         N/A
`,
		[]string{"sonic: channel PortChannel0010 up=1",
			"sonic: port Ethernet0 speed=10000",
			"sonic: port Ethernet0 mtu=9100",
			"sonic: port Ethernet4 bundled=no"}},
	{"Cumulus", `cumulus@sw1:~$ net show bonds
State   Name   Spd  MTU   Mode     LLDP                  Summary
-----   ----   ---  ----  -------  --------------------  ---------------------
UP      bond1  20G  9216  802.3ad  host1 (swp1)          Bond Members: swp1(UP),swp2(UP)
`,
		[]string{"sw1: link bond1 speed=20000",
			"sw1: link bond1 mtu=9216",
			"sw1: link swp2 master=bond1"}},
	{"IOS LACP neighbours", `sw1#show lacp neighbor
Flags:  S - Device is requesting Slow LACPDUs
        F - Device is requesting Fast LACPDUs

Channel group 1 neighbors

                  LACP port                        Admin  Oper   Port    Port
Port      Flags   Priority  Dev ID          Age    key    Key    Number  State
Gi1/0/1   FA      255       0000.5e00.53a3  25s    0x0    0xF    0x1     0x3F
Gi1/0/2   SP      255       0000.5e00.53a4  19s    0x0    0xF    0x2     0x3C
sw1#show lacp internal
Channel group 1
Port      Flags   State     Priority      Key       Key     Number      State
Gi1/0/1   SA      bndl      32768         0x1       0x1     0x102       0x3D
Gi1/0/2   SA      susp      32768         0x1       0x1     0x103       0x5
`,
		[]string{"sw1: port Gi1/0/1 partner_mac=00:00:5e:00:53:a3",
			"sw1: port Gi1/0/1 partner_state=63",
			"sw1: port Gi1/0/1 partner_key=15",
			"sw1: port Gi1/0/1 partner_lacp_rate=fast",
			"sw1: port Gi1/0/2 partner_mode=passive",
			"sw1: port Gi1/0/2 bundled=suspended",
			"sw1: port Gi1/0/2 actor_state=5",
			"sw1: channel Po1 members=Gi1/0/1 Gi1/0/2"}},
	{"NX-OS LACP neighbours", `n9k# show lacp neighbor interface port-channel 10
port-channel10 neighbors
Partner's information
            Partner                Partner                     Partner
Port        System ID              Port Number     Age         Flags
Eth1/1      65535,2-0-0-0-a-1      0x1             612         SA

            LACP Partner           Partner                     Partner
            Port Priority          Oper Key                    Port State
            255                    0x9                         0x3d
`,
		[]string{"n9k: port Eth1/1 partner_mac=02:00:00:00:0a:01",
			"n9k: port Eth1/1 partner_key=9",
			"n9k: port Eth1/1 partner_state=61",
			"n9k: port Eth1/1 channel=Po10"}},
	{"EOS LACP peers", `leaf5#show lacp peer
State: A = Active, P = Passive; S=ShortTimeout, L=LongTimeout;
       G = Aggregable, I = Individual; s+=InSync, s-=OutOfSync;
       C = Collecting, X = state machine expired,
       D = Distributing, d = default neighbor state
                 |                        Partner
  Port    Status | Sys-id                    Port#   State     OperKey  PortPri
 ------ ---------|------------------------- ------- --------- --------- -------
Port Channel Port-Channel51:
  Et5    Bundled | FFFF,00-00-5e-00-53-a1         1   ALGs+CD    0x000f     255
`,
		[]string{"leaf5: port Et5 partner_mac=00:00:5e:00:53:a1",
			"leaf5: port Et5 partner_key=15",
			"leaf5: port Et5 bundled=yes",
			"leaf5: port Et5 partner_state=61",
			"leaf5: channel Po51 members=Et5"}},
	{"IOS load balance", `sw1#show etherchannel load-balance
EtherChannel Load-Balancing Configuration:
        src-mac

EtherChannel Load-Balancing Addresses Used Per-Protocol:
Non-IP: Source MAC address
  IPv4: Source MAC address
`,
		[]string{"sw1: host load_balance=src-mac",
			"sw1: host load_balance_ipv4=Source MAC address"}},
	{"old IOS load balance", `EtherChannel Load-Balancing Operational State (src-dst-ip):
Non-IP: Source XOR Destination MAC address
  IPv4: Source XOR Destination IP address
`,
		[]string{"?: host load_balance=src-dst-ip"}},
	{"NX-OS load balance", `n9k# show port-channel load-balance
System config:
  Non-IP: src-dst mac
  IP: src-dst ip-l4port rotate 0
Port Channel Load-Balancing Configuration for all modules:
Module 1:
  Non-IP: src-dst mac
  IP: src-dst mac rotate 0
n5k# show port-channel load-balance
Port Channel Load-Balancing Configuration:
System: source-dest-ip

Port Channel Load-Balancing Addresses Used Per-Protocol:
Non-IP: source-dest-mac
IP: source-dest-ip source-dest-mac
`,
		[]string{"n9k: host load_balance=src-dst ip-l4port rotate 0",
			"n5k: host load_balance=source-dest-ip"}},
	{"NX-OS traffic", `n9k# show port-channel traffic interface port-channel 2
NOTE: Clear the port-channel member counters to get accurate statistics

ChanId      Port Rx-Ucst Tx-Ucst Rx-Mcst Tx-Mcst Rx-Bcst Tx-Bcst
------ --------- ------- ------- ------- ------- ------- -------
     2    Eth1/3  50.71%  99.98%  50.00%  50.21%   0.00%   0.00%
`,
		[]string{"n9k: port Eth1/3 tx_share=99.98",
			"n9k: port Eth1/3 channel=Po2"}},
	{"what a switch says of one flow", `n9k# show port-channel load-balance forwarding-path interface port-channel 10 src-ip 192.0.2.1 dst-ip 192.0.2.2
Missing params will be substituted by 0's.
        Outgoing port id: Ethernet1/2
sw1#show platform software fed switch active etherchannel 10 load-balance ip-protocol-port-v4 192.0.2.1 198.51.100.7 6 40000 5201
Dest Port: : TenGigabitEthernet1/0/2
`,
		[]string{"n9k: host hash_says=Eth1/2",
			"sw1: host hash_says=Te1/0/2"}},
	{"channel's details", `sw1#show etherchannel 1 port-channel
                Port-channels in the group:
                ---------------------------

Port-channel: Po1    (Primary Aggregator)

Age of the Port-channel   = 0d:00h:01m:15s
Port state          = Port-channel Ag-Inuse
Protocol            =   LACP

Ports in the Port-channel:

Index   Load   Port        EC state        No of bits
------+------+------+------------------+-----------
  0     55     Gi1/0/1      Active             4
  1     AA     Gi1/0/2      Active             4
n9k# show port-channel database
port-channel10
    Last membership update is successful
    2 ports in total, 1 ports up
    First operational port is Ethernet1/1
    Ports:   Ethernet1/1     [active ] [up] *
             Ethernet1/2     [passive] [down]
`,
		[]string{"sw1: port Gi1/0/2 load_mask=AA",
			"sw1: channel Po1 protocol=lacp",
			"sw1: channel Po1 members=Gi1/0/1 Gi1/0/2",
			"n9k: channel Po10 up=1",
			"n9k: port Eth1/2 mode=passive"}},
	{"IOS interface, filtered", `acc1#sh int gi1/0/14 | i line|Desc|MTU|error|drops|CRC
GigabitEthernet1/0/14 is up, line protocol is up (connected) 
  Description: h1 ens2f1
  MTU 1500 bytes, BW 1000000 Kbit/sec, DLY 10 usec, 
  Input queue: 0/75/0/0 (size/max/drops/flushes); Total output drops: 12
     1120 input errors, 1120 CRC, 0 frame, 0 overrun, 0 ignored
  5 minute input rate 1000 bits/sec, 1 packets/sec
     0 output errors, 0 collisions, 1 interface resets
`,
		[]string{"acc1: port Gi1/0/14 mtu=1500",
			"acc1: port Gi1/0/14 rx_crc=1120",
			"acc1: port Gi1/0/14 drops=12",
			"acc1: port Gi1/0/14 seen_rx_bps=1000",
			"acc1: port Gi1/0/14 bandwidth=1000",
			"acc1: port Gi1/0/14 description=h1 ens2f1"}},
	{"one line of an interface that the command names", `acc1#sh int gi1/0/14 | i CRC
     1120 input errors, 1121 CRC, 0 frame, 0 overrun, 0 ignored
`,
		[]string{"acc1: port Gi1/0/14 rx_crc=1121"}},
	{"NX-OS interface", `n9k# show interface ethernet 1/7
Ethernet1/7 is up
admin state is up, Dedicated Interface
  Belongs to Po7
  Hardware: 100/1000/10000/25000 Ethernet, address: 0000.5e00.5307 (bia 0000.5e00.5307)
  Description: j1
  MTU 9216 bytes, BW 10000000 Kbit, DLY 10 usec
  reliability 255/255, txload 1/255, rxload 1/255
  Encapsulation ARPA, medium is broadcast
  Port mode is trunk
  full-duplex, 10 Gb/s, media type is 10G
  30 seconds input rate 8811000000 bits/sec, 730000 packets/sec
  30 seconds output rate 1112 bits/sec, 0 packets/sec
  RX
    102331 unicast packets  41 multicast packets  12 broadcast packets
    102396 input packets  9120441 bytes
    12 jumbo packets  0 storm suppression bytes
    0 runts  2114 giants  5 CRC  0 no buffer
    7 input error  0 short frame  0 overrun   0 underrun  0 ignored
  TX
    99120 unicast packets  912 multicast packets  3 broadcast packets
    99199 output packets  11111 bytes
    0 output error  0 collision  0 deferred  0 late collision
    0 lost carrier  0 no carrier  0 babble  33 output discard
    0 Tx pause
`,
		[]string{"n9k: port Eth1/7 mtu=9216",
			"n9k: port Eth1/7 speed=10000",
			"n9k: port Eth1/7 drops=33",
			"n9k: port Eth1/7 rx_crc=5",
			"n9k: port Eth1/7 rx_giants=2114",
			"n9k: port Eth1/7 channel=Po7",
			"n9k: port Eth1/7 seen_rx_bps=8811000000",
			"n9k: port Eth1/7 tx_bytes=11111",
			"n9k: port Eth1/7 rx_errors=7"}},
	{"EOS interface and rates", `leaf5#show interfaces counters rates
Port      Name        Intvl   In Mbps      %  In Kpps  Out Mbps      % Out Kpps
Et5       h9          5:00     8820.1  88.9%      790     441.0   4.4%      390
leaf5#show interfaces Et5
Ethernet5 is up, line protocol is up (connected)
  Hardware is Ethernet, address is 0000.5e00.5305 (bia 0000.5e00.5305)
  Member of Port-Channel51
  Ethernet MTU 9214 bytes, BW 10000000 kbit
  Full-duplex, 10Gb/s, auto negotiation: off, uni-link: n/a
  Up 12 days, 3 hours
  5 minutes input rate 8.82 Gbps (88.9% with framing overhead), 790000 packets/sec
  5 minutes output rate 441 Mbps (4.4% with framing overhead), 39000 packets/sec
     112 packets input, 1212 bytes
     Received 1 broadcasts, 2 multicast
     0 runts, 0 giants
     3 input errors, 3 CRC, 0 alignment, 0 symbol, 0 input discards
     0 PAUSE input
     888 packets output, 9999 bytes
     0 output errors, 0 collisions
     0 late collision, 0 deferred, 44 output discards
leaf5#show running-config section load-balance
port-channel load-balance trident fields ip source-ip destination-ip source-port destination-port
`,
		[]string{"leaf5: port Et5 seen_rx_bps=8820000000",
			"leaf5: port Et5 seen_tx_bps=441000000",
			"leaf5: port Et5 drops=44",
			"leaf5: port Et5 rx_crc=3",
			"leaf5: port Et5 channel=Po51",
			"leaf5: port Et5 mtu=9214",
			"leaf5: host load_balance=trident fields ip source-ip destination-ip source-port destination-port"}},
	{"interfaces' status", `acc1#show int status
Port      Name               Status       Vlan       Duplex  Speed Type
Gi1/0/1   h1 eth0            connected    30         a-full a-1000 10/100/1000BaseTX
Gi1/0/2                      notconnect   30           auto   auto 10/100/1000BaseTX
Te1/1/1                      connected    trunk        full    10G SFP-10GBase-SR
Po1       h1                 connected    trunk      a-full a-1000 
leaf5#show interfaces status
Port       Name   Status       Vlan     Duplex Speed  Type            Flags Encapsulation
Et1               connected    1        full   10G    10GBASE-CR                         
Et2        h2     notconnect   1        auto   auto   Not Present                        
`,
		[]string{"acc1: port Gi1/0/1 speed=1000",
			"acc1: port Gi1/0/1 description=h1 eth0",
			"acc1: port Gi1/0/2 state=down",
			"acc1: port Te1/1/1 speed=10000",
			"acc1: channel Po1 speed=1000",
			"leaf5: port Et1 speed=10000",
			"leaf5: port Et2 status=notconnect"}},
	{"descriptions and counters", `sw6>show interfaces description
Interface                      Status         Protocol Description
Gi0/1                          up             up       m6a eth0
Gi0/2                          admin down     down     
sw6>show interfaces counters errors

Port        Align-Err     FCS-Err    Xmit-Err     Rcv-Err  UnderSize  OutDiscards
Gi0/1               0           5           0           5          0            9
`,
		[]string{"sw6: port Gi0/1 description=m6a eth0",
			"sw6: port Gi0/2 state=down",
			"sw6: port Gi0/1 rx_crc=5",
			"sw6: port Gi0/1 drops=9"}},
	{"counters of a channel's members", `sw1#show interfaces port-channel 10 counters etherchannel
Port              OutOctets   OutUcastPkts   OutMcastPkts   OutBcastPkts
Po10            2017991774        1800031         988368              0
Te1/0/1         2008999511        1790016         494235              0
`,
		[]string{"sw1: channel Po10 tx_bytes=2017991774",
			"sw1: port Te1/0/1 tx_packets=1790016"}},
	{"MAC tables", `acc1#show mac address-table
          Mac Address Table
-------------------------------------------

Vlan    Mac Address       Type        Ports
----    -----------       --------    -----
 All    0100.0ccc.cccc    STATIC      CPU
  30    0000.5e00.5301    DYNAMIC     Gi1/0/1
  30    0000.5e00.5302    DYNAMIC     Po2
Total Mac Addresses for this criterion: 3
hp2530# show mac-address

 Status and Counters - Port Address Table

  MAC Address       Port  VLAN
  ----------------- ----- ----
  00005e-005301     21    1
  00005e-005302     Trk1  20
`,
		[]string{"acc1: mac 00:00:5e:00:53:02 port=Po2",
			"acc1: mac 00:00:5e:00:53:01 vlan=30",
			"hp2530: mac 00:00:5e:00:53:01 port=21",
			"hp2530: mac 00:00:5e:00:53:01 vlan=1",
			"hp2530: mac 00:00:5e:00:53:02 port=Trk1"}},
	{"IOS configuration", `acc1#show run int gi1/0/1
Building configuration...

Current configuration : 141 bytes
!
interface GigabitEthernet1/0/1
 description h1
 switchport access vlan 20
 switchport mode access
 channel-group 12 mode on
 spanning-tree portfast
end
acc1#show run | section port-channel load
port-channel load-balance src-mac
interface Port-channel12
 description db6
 mtu 9000
interface range GigabitEthernet1/0/5 - 6
 channel-group 13 mode active
`,
		[]string{"acc1: port Gi1/0/1 channel=Po12",
			"acc1: port Gi1/0/1 mode=on",
			"acc1: port Gi1/0/1 description=h1",
			"acc1: channel Po12 protocol=static",
			"acc1: host load_balance=src-mac",
			"acc1: channel Po12 mtu=9000"}},
	{"Junos LACP", `qfx1> show lacp interfaces
Aggregated interface: ae0
    LACP state:       Role   Exp   Def  Dist  Col  Syn  Aggr  Timeout  Activity
      xe-0/0/0       Actor    No    No   Yes  Yes  Yes   Yes     Fast    Active
      xe-0/0/0     Partner    No    No   Yes  Yes  Yes   Yes     Slow    Active
      xe-0/0/1       Actor    No   Yes    No   No   No   Yes     Fast    Active
      xe-0/0/1     Partner    No   Yes    No   No   No   Yes     Fast   Passive
    LACP protocol:        Receive State  Transmit State          Mux State
      xe-0/0/0                  Current   Slow periodic Collecting distributing
      xe-0/0/1                Defaulted   Fast periodic           Detached
`,
		[]string{"qfx1: channel ae0 members=xe-0/0/0 xe-0/0/1",
			"qfx1: channel ae0 up=1",
			"qfx1: port xe-0/0/1 bundled=no",
			"qfx1: port xe-0/0/0 partner_state=61",
			"qfx1: port xe-0/0/1 actor_state=71",
			"qfx1: port xe-0/0/1 receive_state=Defaulted"}},
	{"Junos interfaces", `admin@ex> show interfaces ae0 extensive
Physical interface: ae0, Enabled, Physical link is Up
  Interface index: 128, SNMP ifIndex: 501, Generation: 131
  Description: to h1
  Link-level type: Ethernet, MTU: 9216, Speed: 20Gbps, BPDU Error: None
  Current address: 00:00:5e:00:53:c0, Hardware address: 00:00:5e:00:53:c0
  Traffic statistics:
   Input  bytes  :            123456789             8811112 bps
   Output bytes  :            223456789             1112 bps
  Input rate     : 8811112 bps (112 pps)
  Output rate    : 1112 bps (1 pps)
  Input errors:
    Errors: 1, Drops: 2, Framing errors: 3, Runts: 0, Giants: 0
  Output errors:
    Carrier transitions: 1, Errors: 5, Drops: 6, MTU errors: 0
  Logical interface ae0.0 (Index 71) (SNMP ifIndex 502)
    Statistics        Packets        pps         Bytes          bps
    Link:
      xe-0/0/0.0
        Input :             0          0             0            0
      xe-0/0/1.0
        Input :             0          0             0            0
`,
		[]string{"ex: channel ae0 mtu=9216",
			"ex: channel ae0 speed=20000",
			"ex: channel ae0 seen_rx_bps=8811112",
			"ex: channel ae0 rx_frame=3",
			"ex: channel ae0 drops=6",
			"ex: channel ae0 members=xe-0/0/0 xe-0/0/1"}},
	{"Junos configuration with braces", `admin@ex> show configuration interfaces
ae0 {
    description "h1";
    mtu 9216;
    aggregated-ether-options {
        lacp {
            active;
            periodic fast;
        }
    }
}
xe-0/0/5 {
    ether-options {
        802.3ad ae0;
    }
}
admin@ex> show configuration forwarding-options
enhanced-hash-key {
    hash-mode {
        layer2-header;
    }
}
`,
		[]string{"ex: channel ae0 lacp_rate=fast",
			"ex: channel ae0 mode=active",
			"ex: port xe-0/0/5 channel=ae0",
			"ex: host load_balance=enhanced-hash-key hash-mode layer2-header"}},
	{"Junos set lines", `set interfaces xe-0/0/2 ether-options 802.3ad ae1
set interfaces ae1 aggregated-ether-options lacp passive
set interfaces ae1 mtu 9216
set forwarding-options enhanced-hash-key hash-mode layer2-header
`,
		[]string{"?: port xe-0/0/2 channel=ae1",
			"?: channel ae1 mode=passive",
			"?: channel ae1 mtu=9216",
			"?: host load_balance=enhanced-hash-key hash-mode layer2-header"}},
	{"AOS-S", `hp# show trunks

 Load Balancing Method:  L3-based (default)

  Port   | Name                             Type       | Group Type
  ------ + -------------------------------- ---------- + ----- --------
  21     |                                  100/1000T  | Trk1  LACP
  22     | db1 eth1                         10GbE-SR   | Trk1  LACP
  23     |                                  100/1000T  | Trk2  Trunk
  24     |                                  100/1000T  | Trk2  Trunk
hp# show run
trunk 25-26 trk3 lacp
hp# show lacp

          LACP      Trunk     Port                LACP      Admin   Oper
   Port   Enabled   Group     Status    Partner   Status    Key     Key
   -----  -------   -------   -------   -------   -------   ------  ------
   21     Active    Trk1      Up        Yes       Success   0       290
   22     Active    Trk1      Up        No        Success   0       290
`,
		[]string{"hp: host load_balance=L3-based (default)",
			"hp: channel Trk1 members=21 22",
			"hp: channel Trk2 protocol=static",
			"hp: port 22 description=db1 eth1",
			"hp: channel Trk3 members=25 26",
			"hp: port 22 partner=no",
			"hp: port 22 bundled=no",
			"hp: channel Trk1 up=1"}},
	{"AOS-CX", `cx1# show lacp aggregates
Aggregate-name        : lag10
Aggregated-interfaces : 1/1/1 1/1/2
Heartbeat rate        : slow
Hash                  : l3-src-dst
Aggregate mode        : active
cx1# show lacp interfaces
State abbreviations :
A - Active        P - Passive      F - Aggregable I - Individual
S - Short-timeout L - Long-timeout N - InSync     O - OutofSync
C - Collecting    D - Distributing
X - State m/c expired              E - Default neighbor state

Actor details of all interfaces:
----------------------------------------------------------------------------------
Intf    Aggr       Port  Port  State   System-ID         System Aggr Forwarding
        Name       Id    Pri           Mac               Pri    Key  State
----------------------------------------------------------------------------------
1/1/1   lag10      17    1     ALFNCD  00:00:5e:00:53:01 65534  10   up
1/1/2   lag10      18    1     ALFOE   00:00:5e:00:53:01 65534  10   lacp-block
Partner details of all interfaces:
----------------------------------------------------------------------------------
1/1/1   lag10      1     255   ALFNCD  00:00:5e:00:53:aa 65535  15  
cx1# show interface 1/1/1
Interface 1/1/1 is up
 Admin state is up
 Link state: up for 3 days
 Description: h1
 Hardware: Ethernet, MAC Address: 00:00:5e:00:53:05
 MTU 9198
 Type 10G-BT
 Full-duplex
 qos trust none
 Speed 10000 Mb/s
 VLAN Mode: access
 Rate collection interval: 300 seconds

 Rate                                 RX                   TX        Total (RX+TX)
 ---------------- -------------------- -------------------- --------------------
 Mbits / sec                    812.00                 0.02               812.02
 KPkts / sec                    70.00                 0.00                70.02
cx1# show running-config interface lag10
interface lag 10
    no shutdown
    no routing
    vlan trunk native 1
    vlan trunk allowed 100,200
    lacp mode active
    hash l4-src-dst
interface 1/1/1
    no shutdown
    mtu 9198
    lag 10
`,
		[]string{"cx1: channel lag10 members=1/1/1 1/1/2",
			"cx1: channel lag10 lacp_rate=slow",
			"cx1: port 1/1/2 bundled=no",
			"cx1: port 1/1/1 partner_mac=00:00:5e:00:53:aa",
			"cx1: port 1/1/1 actor_state=61",
			"cx1: port 1/1/1 mtu=9198",
			"cx1: port 1/1/1 seen_rx_bps=812000000",
			"cx1: channel lag10 hash=l4-src-dst",
			"cx1: port 1/1/1 speed=10000"}},
	{"Comware", `[H3C]display link-aggregation verbose Bridge-Aggregation 10
Loadsharing Type: Shar -- Loadsharing, NonS -- Non-Loadsharing
Port: A -- Auto
Port Status: S -- Selected, U -- Unselected, I -- Individual
Flags:  A -- LACP_Activity, B -- LACP_Timeout, C -- Aggregation,
        D -- Synchronization, E -- Collecting, F -- Distributing,
        G -- Defaulted, H -- Expired

Aggregate Interface: Bridge-Aggregation10
Aggregation Mode: Dynamic
Loadsharing Type: Shar
System ID: 0x8000, 0000-5e00-53e1
Local:
  Port                Status   Priority Index    Oper-Key               Flag
  XGE1/0/1(R)         S        32768    1        1                      {ACDEF}
  XGE1/0/2            U        32768    2        1                      {ACG}
Remote:
  Actor               Priority Index    Oper-Key SystemID               Flag
  XGE1/0/1            255      1        9        0xffff, 0200-0000-0a01 {ACDEF}
  XGE1/0/2            32768    0        0        0x8000, 0000-0000-0000 {EF}
<H3C>display link-aggregation summary
Aggregation Interface Type:
BAGG -- Bridge-Aggregation, BLAGG -- Blade-Aggregation, RAGG -- Route-Aggregation, SCH-B -- Schannel-Bundle
Aggregation Mode: S -- Static, D -- Dynamic
Loadsharing Type: Shar -- Loadsharing, NonS -- Non-Loadsharing
Actor System ID: 0x8000, 0000-5e00-53e1

AGG        AGG   Partner ID              Selected  Unselected  Individual  Share
Interface  Mode                          Ports     Ports       Ports       Type
--------------------------------------------------------------------------------
BAGG10     D     0xffff, 0200-0000-0a01  1         1           0           Shar
BAGG11     S     None                    2         0           0           Shar
`,
		[]string{"H3C: channel BAGG10 members=XGE1/0/1 XGE1/0/2",
			"H3C: channel BAGG10 up=1",
			"H3C: port XGE1/0/2 partner_mac=00:00:00:00:00:00",
			"H3C: port XGE1/0/1 partner_key=9",
			"H3C: channel BAGG11 protocol=static",
			"H3C: port XGE1/0/1 actor_state=61"}},
	{"Comware configuration", `<H3C>display current-configuration interface
interface Bridge-Aggregation10
 link-aggregation mode dynamic
#
interface Ten-GigabitEthernet1/0/1
 port link-mode bridge
 port link-aggregation group 10
 jumboframe enable 9216
#
return
`,
		[]string{"H3C: channel BAGG10 protocol=lacp",
			"H3C: port XGE1/0/1 channel=BAGG10",
			"H3C: port XGE1/0/1 mtu=9216"}},
	{"Huawei", `<HW>display eth-trunk 1
Eth-Trunk1's state information is:
Local:
LAG ID: 1                   WorkingMode: LACP
Preempt Delay: Disabled     Hash arithmetic: According to SIP-XOR-DIP
System Priority: 32768      System ID: 0000-5e00-5301
Least Active-linknumber: 1  Max Active-linknumber: 8
Operate status: up          Number Of Up Port In Trunk: 2
--------------------------------------------------------------------------------
ActorPortName          Status   PortType PortPri PortNo PortKey PortState Weight
XGigabitEthernet0/0/1  Selected 10GE     32768   1      305     10111100  1
XGigabitEthernet0/0/2  Unselect 10GE     32768   2      305     10100000  1

Partner:
--------------------------------------------------------------------------------
ActorPortName          SysPri   SystemID        PortPri PortNo PortKey PortState
XGigabitEthernet0/0/1  65535    0000-5e00-53aa  255     1      15      10111100
XGigabitEthernet0/0/2  0        0000-0000-0000  0       0      0       10100011
`,
		[]string{"HW: channel Eth-Trunk1 hash=SIP-XOR-DIP",
			"HW: channel Eth-Trunk1 up=1",
			"HW: port XGE0/0/1 actor_state=61",
			"HW: port XGE0/0/2 partner_mac=00:00:00:00:00:00",
			"HW: channel Eth-Trunk1 protocol=lacp",
			"HW: port XGE0/0/1 speed=10000"}},
	{"RouterOS", `[admin@MikroTik] > /interface bonding print
Flags: X - disabled, R - running
 0  R name="bond1" mtu=9000 slaves=sfp-sfpplus1,sfp-sfpplus2
      mode=802.3ad lacp-rate=30secs transmit-hash-policy=layer-2
      min-links=0
[admin@MikroTik] > /interface bonding export
/interface bonding
add lacp-rate=1sec mode=802.3ad name=bond2 slaves=ether1,ether2 \
    transmit-hash-policy=layer-3-and-4
[admin@MikroTik] > /interface bonding monitor bond1
            active-ports: sfp-sfpplus1,sfp-sfpplus2
          inactive-ports:
          lacp-system-id: 00:00:5E:00:53:01
    partner-system-id: 00:00:5E:00:53:02
`,
		[]string{"MikroTik: link bond1 mode=802.3ad",
			"MikroTik: link bond1 xmit_hash_policy=layer2",
			"MikroTik: link bond1 lacp_rate=slow",
			"MikroTik: link sfp-sfpplus2 master=bond1",
			"MikroTik: link bond2 xmit_hash_policy=layer3+4",
			"MikroTik: link bond2 lacp_rate=fast",
			"MikroTik: link bond1 active_ports=sfp-sfpplus1 sfp-sfpplus2",
			"MikroTik: link bond1 partner_system_id=00:00:5e:00:53:02"}},
	{"small switches", `sg300#show interfaces port-channel
Load balancing: src-dst-mac.
Gathering information...
Channel  Ports
-------  -----
Po1      Active: gi7,gi8 Inactive: gi9
netgear# show port-channel 1
Local Interface................................ 0/3/1
Channel Name................................... ch1
Link State..................................... Up
Admin Mode..................................... Enabled
Type........................................... Static
Load Balance Option............................ 3
(Src/Dest MAC, VLAN, EType, incoming port)

Mbr     Device/       Port      Port
Ports   Timeout       Speed     Active
------- ------------- --------- -------
0/1     actor/long    Auto      True
        partner/long
0/2     actor/long    Auto      False
        partner/long
sg300#show lacp gi8 parameters
gi8 LACP parameters:
  Actor
         system mac addr:            00:00:5e:00:53:0b
         port Oper key:              1000
         port Oper timeout:          LONG
         LACP Activity:              ACTIVE
  Partner
         system mac addr:            00:00:00:00:00:00
`,
		[]string{"sg300: channel Po1 members=gi7 gi8 gi9",
			"sg300: channel Po1 up=2",
			"sg300: host load_balance=src-dst-mac",
			"netgear: channel 0/3/1 hash=3",
			"netgear: channel 0/3/1 members=0/1 0/2",
			"netgear: port 0/2 bundled=no",
			"sg300: port gi8 lacp_rate=slow",
			"sg300: port gi8 partner_mac=00:00:00:00:00:00"}},
	{"IOS-XR bundle", `RP/0/RSP0/CPU0:xr1# show bundle Bundle-Ether 2
Bundle-Ether2
  Status:                                    Up
  Local links <active/standby/configured>:   1 / 0 / 2
  Load-balancing:                            Default
  LACP:                                      Operational

  Port                  Device          State       Port ID        B/W, kbps
  --------------------  --------------- ----------- -------------- -----------
  Gi0/0/0/1             Local           Active      0x8000, 0x0001     1000000
  Gi0/0/0/2             Local           Configured  0x8000, 0x0002     1000000
`,
		[]string{"xr1: channel BE2 up=1",
			"xr1: channel BE2 protocol=lacp",
			"xr1: port Gi0/0/0/2 bundled=no"}},
	{"Dell and Cumulus hashes", `os9#show hash-algorithm
stack-unit 0 Port-Set 0
Seed 20260
Hg-Seed 77001
EcmpAlgo- crc32MSB LagAlgo- crc32LSB HgAlgo- crc16
root@sw2:~# grep lag_hash /etc/cumulus/datapath/traffic.conf
lag_hash_config.source_port = true
`,
		[]string{"os9: host hash_algorithm=crc32LSB",
			"os9: host hash_seed=20260",
			"sw2: host lag_hash.source_port=true"}},
}
