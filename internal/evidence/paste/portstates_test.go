package paste

// portStates are ports as each maker prints one, and what else stands around channels.
var portStates = []stateCase{
	{"EOS interface", `leaf1#show interfaces Ethernet1
Ethernet1 is up, line protocol is up (connected)
  Hardware is Ethernet, address is 0200.0000.0201 (bia 0200.0000.0201)
  Description: db1 eth0
  Member of Port-Channel10
  Ethernet MTU 9214 bytes, BW 10000000 kbit
  Full-duplex, 10Gb/s, auto negotiation: off, uni-link: n/a
  Up 6 days, 1 hour, 12 minutes, 3 seconds
  Loopback Mode : None
  3 link status changes since last clear
  Last clearing of "show interface" counters 6 days, 1:12:03 ago
  5 minutes input rate 2.00 Mbps (0.0% with framing overhead), 900 packets/sec
  5 minutes output rate 9.41 Gbps (94.1% with framing overhead), 810000 packets/sec
     880012 packets input, 77120031 bytes
     Received 10 broadcasts, 1200 multicast
     3 runts, 1 giants
     2210 input errors, 2203 CRC, 0 alignment, 0 symbol, 7 input discards
     12 PAUSE input
     991200 packets output, 88112233 bytes
     Sent 10 broadcasts, 900 multicast
     0 output errors, 0 collisions
     0 late collision, 0 deferred, 41007 output discards
     44 PAUSE output
`, `Et1 oper up
Et1 mtu 9214
Et1 speed 10.0 Gbit/s
Et1 duplex full
Et1 crc 2203
Et1 in_errors 2210
Et1 runts 3
Et1 giants 1
Et1 in_drops 7
Et1 out_drops 41007
Et1 in_pause 12
Et1 out_pause 44
Et1 in_bytes 77120031
Et1 out_bytes 88112233
Et1 in 2.00 Mbit/s
Et1 out 9.41 Gbit/s
channel Po10 Et1`},
	{"IOS-XE summary with the newer legend", `rt1#show etherchannel summary
Flags:  D - down        P/bndl - bundled in port-channel
        I - stand-alone s/susp - suspended
        H - Hot-standby (LACP only)
        R - Layer3      S - Layer2
        U - in use      f - failed to allocate aggregator

        M - not in use, minimum links not met
        u - unsuitable for bundling
        w - waiting to be aggregated
        d - default port

        A - formed by Auto LAG

Number of channel-groups in use: 2
Number of aggregators:           2

Group  Port-channel  Protocol    Ports
------+-------------+-----------+-----------------------------------------------
1	Po1(RU)		LACP	Te0/0/1(bndl) Te0/0/2(hot-sby)
2	Po2(RM)		LACP	Te0/0/3(susp)

RU - L3 port-channel UP State
SU - L2 port-channel UP state
P/bndl -  Bundled
S/susp  - Suspended
`, `channel Po1 lacp Te0/0/1=bundled Te0/0/2=hot-standby
channel Po2 lacp Te0/0/3=suspended
Po1 oper up
Po2 oper down`},
	{"IOS detail", `sw1#show etherchannel detail
                Channel-group listing:
                ----------------------

Group: 10
----------
Group state = L2
Ports: 2   Maxports = 16
Port-channels: 1 Max Port-channels = 16
Protocol:   LACP
Minimum Links: 1


                Ports in the group:
                -------------------
Port: Gi1/0/1
------------

Port state    = Up Mstr Assoc In-Bndl
Channel group = 10          Mode = Active          Gcchange = -
Port-channel  = Po10        GC   =   -             Pseudo port-channel = Po10
Port index    = 0           Load = 0x00            Protocol =   LACP

Flags:  S - Device is sending Slow LACPDUs   F - Device is sending fast LACPDUs.
        A - Device is in active mode.        P - Device is in passive mode.

Local information:
                            LACP port     Admin     Oper    Port        Port
Port      Flags   State     Priority      Key       Key     Number      State
Gi1/0/1   SA      bndl      32768         0xA       0xA     0x102       0x3D

Partner's information:

                  LACP port                        Admin  Oper   Port    Port
Port      Flags   Priority  Dev ID          Age    key    Key    Number  State
Gi1/0/1   SA      255       0200.0000.0a01   4s    0x0    0x9    0x1     0x3D

Age of the port in the current state: 0d:00h:01m:11s

Port: Gi1/0/2
------------

Port state    = Up Sngl-port-Bndl Mstr Not-in-Bndl
Channel group = 10          Mode = Active          Gcchange = -
Port-channel  = null        GC   =   -             Pseudo port-channel = Po10
Port index    = 0           Load = 0x00            Protocol =   LACP

Age of the port in the current state: 0d:00h:01m:11s

                Port-channels in the group:
                ---------------------------

Port-channel: Po10    (Primary Aggregator)

------------

Age of the Port-channel   = 6d:01h:12m:03s
Logical slot/port   = 12/10          Number of ports = 1
HotStandBy port = null
Port state          = Port-channel Ag-Inuse
Protocol            =   LACP
Port security       = Disabled
Fast-switchover     = disabled
Fast-switchover Dampening = disabled

Ports in the Port-channel:

Index   Load   Port     EC state        No of bits
------+------+------+------------------+-----------
  0     00     Gi1/0/1  Active             0

Time since last port bundled:    0d:00h:01m:11s    Gi1/0/1
Time since last port Un-bundled: 0d:00h:02m:00s    Gi1/0/2

Last applied Hash Distribution Algorithm: Fixed
`, `channel Po10 lacp active slow min 1 Gi1/0/1=bundled Gi1/0/2=out
actor of Gi1/0/1: active slow key 10 port 258 state 61
partner of Gi1/0/1: active slow 02:00:00:00:0a:01 key 9 port 1 state 61`},
	{"Comware interface", `<sw5>display interface Ten-GigabitEthernet1/0/1
Ten-GigabitEthernet1/0/1
Current state: UP
Line protocol state: UP
IP packet frame type: Ethernet II, hardware address: 0200-0000-0501
Description: db1 eth0
Bandwidth: 10000000 kbps
Loopback is not set
Media type is optical fiber, Port hardware type is 10G_BASE_SR_SFP
10Gbps-speed mode, full-duplex mode
Link speed type is autonegotiation, link duplex type is autonegotiation
Flow-control is not enabled
Maximum frame length: 9216
Allow jumbo frame to pass
Broadcast max-ratio: 100%
PVID: 999
MDI type: Automdix
Port link-type: Trunk
 VLAN Passing:   100, 200
 VLAN permitted: 100, 200
 Trunk port encapsulation: IEEE 802.1q
Port priority: 0
Last link flapping: 6 days 1 hours 12 minutes
Last clearing of counters: Never
Current system time:2026-11-26 10:00:00
Last 300 second input: 900 packets/sec 250000 bytes/sec 0%
Last 300 second output: 81000 packets/sec 117625000 bytes/sec 9%
Input (total):  881222 packets, 77120031 bytes
        880012 unicasts, 10 broadcasts, 1200 multicasts, 12 pauses
Input (normal):  881222 packets, - bytes
        880012 unicasts, 10 broadcasts, 1200 multicasts, 12 pauses
Input:  2210 input errors, 3 runts, 1 giants, 0 throttles
        2203 CRC, 0 frame, - overruns, 0 aborts
        - ignored, - parity errors
Output (total): 992110 packets, 88112233 bytes
        991200 unicasts, 10 broadcasts, 900 multicasts, 44 pauses
Output (normal): 992110 packets, - bytes
        991200 unicasts, 10 broadcasts, 900 multicasts, 44 pauses
Output: 41007 output errors, - underruns, - buffer failures
        0 aborts, 0 deferred, 0 collisions, 0 late collisions
        0 lost carrier, - no carrier
`, `vendor comware
XGE1/0/1 oper up
XGE1/0/1 speed 10.0 Gbit/s
XGE1/0/1 duplex full
XGE1/0/1 mtu 9216
XGE1/0/1 mode trunk
XGE1/0/1 native 999
XGE1/0/1 vlans 100,200
XGE1/0/1 in_errors 2210
XGE1/0/1 crc 2203
XGE1/0/1 runts 3
XGE1/0/1 giants 1
XGE1/0/1 out_errors 41007
XGE1/0/1 in_bytes 77120031
XGE1/0/1 out_bytes 88112233
XGE1/0/1 in_pause 12
XGE1/0/1 out_pause 44
XGE1/0/1 out 941 Mbit/s`},
	{"AOS-S trunks and brief", `agg1# show trunks

 Load Balancing Method:  L3-based (default)

  Port   | Name                             Type       | Group Type
  ------ + -------------------------------- ---------- + ------ --------
  1      | db1 eth0                         10GbE-SR   | Trk1   LACP
  2      | db1 eth1                         10GbE-SR   | Trk1   LACP

agg1# show lacp

                           LACP

          LACP      Trunk     Port                LACP      Admin   Oper
   Port   Enabled   Group     Status    Partner   Status    Key     Key
   ----   -------   -------   -------   -------   -------   ------  ------
   1      Active    Trk1      Up        Yes       Success   0       290
   2      Active    Trk1      Blocked   No        Failure   0       290

agg1# show interfaces brief

 Status and Counters - Port Status

                          | Intrusion                           MDI  Flow Bcast
  Port         Type       | Alert     Enabled Status Mode       Mode Ctrl Limit
  ------------ ---------- + --------- ------- ------ ---------- ---- ---- -----
  1-Trk1       10GbE-SR   | No        Yes     Up     10GigFD    NA   off  0
  2-Trk1       10GbE-SR   | No        Yes     Down   10GigFD    NA   off  0
  7            100/1000T  | No        No      Down   1000FDx    MDI  off  0
`, `vendor procurve
hash L3-based (default) (layer 3, switch)
channel Trk1 lacp active 1=bundled 2=down
1 oper up
1 speed 10.0 Gbit/s
7 admin down
7 oper down`},
	{"Dell OS10 channels and port", `s5248# show port-channel summary
Flags:  D - Down    I - member up but inactive    P - member up and active
        U - Up (port-channel)    F - Fallback Activated    IND - LACP Individual
--------------------------------------------------------------------------------
Group Port-Channel           Type     Protocol  Member Ports
--------------------------------------------------------------------------------
10    port-channel10  (U)    Eth      DYNAMIC   1/1/1(P) 1/1/2(I)
s5248# show interface ethernet 1/1/1
Ethernet 1/1/1 is up, line protocol is up
Port is part of Port-channel 10
Hardware is Eth, address is 02:00:00:00:0c:01
    Current address is 02:00:00:00:0c:01
Pluggable media present, SFP28 type is SFP28 25GBASE-SR
Interface index is 11
Internet address is not set
Mode of IPv4 Address Assignment: not set
    Interface IPv6 oper status: Disabled
IP Unreachables status: Disabled
MTU 9216 bytes, IP MTU 9184 bytes
LineSpeed 25G, Auto-Negotiation off, Link-Training on
Configured FEC is cl91-rs, Negotiated FEC is cl91-rs
Flowcontrol rx off tx off
ARP type: ARPA, ARP Timeout: 60
Last clearing of "show interface" counters: 6 days 01:12:03
Queuing strategy: fifo
Input statistics:
     880012 packets, 77120031 octets
     10 64-byte pkts, 20 over 64-byte pkts, 30 over 127-byte pkts
     40 over 255-byte pkts, 50 over 511-byte pkts, 60 over 1023-byte pkts
     1200 Multicasts, 10 Broadcasts, 878802 Unicasts
     3 runts, 1 giants, 0 throttles
     2203 CRC, 0 overrun, 7 discarded
Output statistics:
     991200 packets, 88112233 octets
     10 64-byte pkts, 20 over 64-byte pkts, 30 over 127-byte pkts
     40 over 255-byte pkts, 50 over 511-byte pkts, 60 over 1023-byte pkts
     900 Multicasts, 10 Broadcasts, 990290 Unicasts
     0 throttles, 41007 discarded, 0 Collisions,  wred drops
Rate Info(interval 30 seconds):
     Input 2 Mbits/sec, 900 packets/sec, 0% of line rate
     Output 941 Mbits/sec, 81000 packets/sec, 4% of line rate
Time since last interface status change: 6 days 01:12:03
`, `channel port-channel10 lacp ethernet1/1/1=bundled ethernet1/1/2=standalone
ethernet1/1/1 oper up
ethernet1/1/1 mtu 9216
ethernet1/1/1 speed 25.0 Gbit/s
ethernet1/1/1 crc 2203
ethernet1/1/1 in_drops 7
ethernet1/1/1 out_drops 41007
ethernet1/1/1 in_bytes 77120031
ethernet1/1/1 out 941 Mbit/s`},
	{"SONiC hash and Cumulus pair", `admin@tor1:~$ show switch-hash global
+--------+-------------------------------------+
| Hash   | Configuration                       |
+========+=====================================+
| ECMP   | +-------------------+-------------+ |
|        | | Hash Field        | Algorithm   | |
|        | |-------------------+-------------| |
|        | | DST_MAC           | CRC         | |
|        | +-------------------+-------------+ |
+--------+-------------------------------------+
| LAG    | +-------------------+-------------+ |
|        | | Hash Field        | Algorithm   | |
|        | |-------------------+-------------| |
|        | | DST_MAC           | CRC         | |
|        | | SRC_MAC           |             | |
|        | +-------------------+-------------+ |
+--------+-------------------------------------+
cumulus@leaf01:mgmt:~$ clagctl
The peer is alive
     Our Priority, ID, and Role: 32768 02:00:00:00:0d:01 primary
    Peer Priority, ID, and Role: 32768 02:00:00:00:0d:02 secondary
          Peer Interface and IP: peerlink.4094 169.254.1.2 (linklocal)
                      Backup IP: 192.0.2.12 (active)
                     System MAC: 02:00:00:00:0d:00

CLAG Interfaces
Our Interface      Peer Interface     CLAG Id   Conflicts              Proto-Down Reason
----------------   ----------------   -------   --------------------   -----------------
          bond10   bond10             10        -                      -
`, `vendor sonic
hash DST_MAC SRC_MAC CRC (layer 2, switch)`},
}
