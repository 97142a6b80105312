package paste

import (
	"strings"
	"testing"
)

// homeCases are outputs of small systems: own data.
var homeCases = []struct {
	name, text string
	want       []string // HOST: SUBJECT KEY=VALUE
}{
	{"lsusb -t", `ann@mini:~$ lsusb -t
/:  Bus 02.Port 1: Dev 1, Class=root_hub, Driver=xhci_hcd/4p, 5000M
/:  Bus 01.Port 1: Dev 1, Class=root_hub, Driver=xhci_hcd/10p, 480M
    |__ Port 2: Dev 3, If 0, Class=Vendor Specific Class, Driver=ax88179_178a, 480M
    |__ Port 4: Dev 2, If 0, Class=Human Interface Device, Driver=usbhid, 1.5M
`,
		[]string{"mini: usb ax88179_178a, device 3 speed=480",
			"mini: usb ax88179_178a, device 3 driver=ax88179_178a"}},
	{"lsusb of DSM", `admin@nas920:~$ lsusb
|__usb1          1d6b:0002:0404 09  2.00  480MBit/s 0mA 1IF  (Linux 4.4.302+ xhci-hcd xHCI Host Controller 0000:00:15.0) hub
  |__1-2         0bda:8156:3104 00  2.10  480MBit/s 256mA 1IF  (Realtek USB 10/100/1G/2.5G LAN 000000001)
  |__1-4         f400:f400:0100 00  2.00  480MBit/s 200mA 1IF  (Synology DiskStation 7F0091AB1C2F3D04)
|__usb2          1d6b:0003:0404 09  3.00 5000MBit/s 0mA 1IF  (Linux 4.4.302+ xhci-hcd xHCI Host Controller 0000:00:15.0) hub
`,
		[]string{"nas920: usb 1-2 Realtek USB 10/100/1G/2.5G LAN 000000001 speed=480",
			"nas920: usbbus usb2 speed=5000"}},
	{"USB in a log", `$ dmesg | grep -iE "usb|r8152"
[    5.120331] usb 1-3: new high-speed USB device number 4 using xhci_hcd
[    5.250012] usb 1-3: New USB device found, idVendor=0bda, idProduct=8156, bcdDevice=31.04
[    5.250020] usb 1-3: Product: USB 10/100/1G/2.5G LAN
[    5.250023] usb 1-3: Manufacturer: Realtek
[    6.110331] r8152 1-3:1.0 eth1: v1.12.13
`,
		[]string{": usb 1-3 speed=480",
			": usb 1-3 driver=r8152"}},
	{"RouterOS queues", `[admin@ccr] > /queue simple print
Flags: X - disabled, I - invalid; D - dynamic
 0    name="wan-fair" target=192.168.0.0/16 parent=none packet-marks="" priority=8/8
      queue=default-small/default-small limit-at=0/0 max-limit=500M/500M burst-limit=0/0
      burst-threshold=0/0 burst-time=0s/0s bucket-size=0.1/0.1

[admin@ccr] > /queue simple print stats
Flags: X - disabled, I - invalid; D - dynamic
 0    name="wan-fair" target=192.168.0.0/16 rate=11.2Mbps/496.8Mbps total-rate=0bps
      packet-rate=21033/41350 total-packet-rate=0 queued-bytes=0/60560
      total-queued-bytes=0 queued-packets=0/40 total-queued-packets=0
      bytes=4120331190/90331201933 total-bytes=0 packets=8120331/77120331
      dropped=0/1820331

[admin@ccr] > /ip firewall filter print where action=fasttrack-connection
Flags: X - disabled, I - invalid; D - dynamic
 3 X  chain=forward action=fasttrack-connection hw-offload=yes connection-state=established,related
`,
		[]string{"ccr: queue wan-fair limit_down=500000000",
			"ccr: queue wan-fair rate_down=496800000",
			"ccr: queue wan-fair dropped_down=1820331",
			"ccr: queue wan-fair target=192.168.0.0/16",
			"ccr: host fasttrack=off"}},
	{"RouterOS queue tree and export", `[admin@hap] > /queue/tree/print stats
Flags: X, I
 0    name="download" parent=bridge packet-mark=dl rate=96.1Mbps packet-rate=8 200 queued-bytes=70 100 queued-packets=50 bytes=920 331 201 packets=81 220 dropped=23 110
[admin@hap] > /queue/tree/export
# 2024-11-03 10:12:11 by RouterOS 7.16.1
/queue tree
add max-limit=100M name=download packet-mark=dl parent=bridge queue=default
`,
		[]string{"hap: queue download limit_down=100000000",
			"hap: queue download rate_down=96100000",
			"hap: queue download dropped_down=23"}},
	{"RouterOS resources and profile", `[admin@office-a] > /system resource print
             uptime: 6w1d2h
            version: 7.14.2 (stable)
         free-memory: 176.2MiB
                cpu: MIPS 1004Kc V2.15
          cpu-count: 4
      cpu-frequency: 880MHz
           cpu-load: 97%
  architecture-name: mmips
         board-name: hEX S

[admin@office-a] > /tool profile cpu=all duration=5
Columns: NAME, CPU, USAGE
NAME            CPU  USAGE
wireguard         0  72%
networking        0  21.5%
management        0  4.5%
wireguard         1  78.5%
networking        1  18%
wireguard         2  80%
networking        2  17.5%
wireguard         3  77%
networking        3  19.5%

[admin@office-a] > /tool ping 10.99.0.2 count=4 size=1400 do-not-fragment
  SEQ HOST                                     SIZE TTL TIME       STATUS
    0 10.99.0.2                                1400  64 6ms412us
    1 10.99.0.2                                1400  64 6ms380us
    2 10.99.0.2                                1400  64 6ms977us
    3 10.99.0.2                                1400  64 6ms401us
    sent=4 received=4 packet-loss=0% min-rtt=6ms380us avg-rtt=6ms542us max-rtt=6ms977us
`,
		[]string{"office-a: host cpu_load=97",
			"office-a: host board=hEX S"}},
	{"RouterOS counters", `[admin@crs309] > /interface ethernet print stats where name~"sfp-sfpplus[12]"
                      name:   sfp-sfpplus1 sfp-sfpplus2
            driver-rx-byte: 90 331 201 119            0
          driver-rx-packet:     70 331 220            0
                  rx-bytes: 91 220 331 902 88 120 331 220
              rx-too-short:              0            0
                  rx-pause:              0            0
              rx-fcs-error:              0      204 331
           rx-align-error:              0            0
               rx-fragment:              0          118
               rx-overflow:              0            0
                  tx-bytes: 88 020 331 221 91 019 220 331
                  tx-pause:              0            0
                   tx-drop:              0            0
`,
		[]string{"crs309: port sfp-sfpplus2 rx_crc=204331",
			"crs309: port sfp-sfpplus1 rx_crc=0",
			"crs309: port sfp-sfpplus2 tx_bytes=91019220331"}},
	{"RouterOS rates and offload", `
[me@rb5009] > /interface bridge port print where interface=bond-qnap
Flags: I - INACTIVE; H - HW-OFFLOAD
Columns: INTERFACE, BRIDGE, HW, PVID, PRIORITY, HORIZON
#    INTERFACE  BRIDGE  HW   PVID  PRIORITY  HORIZON
6 H  bond-qnap  bridge  yes     1  0x80      none

[me@rb5009] > /interface monitor-traffic ether2,ether3 once
                         name:    ether2   ether3
        rx-packets-per-second:     2 103    1 988
           rx-bits-per-second: 1.1Mbps 1039.4kbps
        tx-packets-per-second:    81 274       11
           tx-bits-per-second: 986.1Mbps  8.1kbps
`,
		[]string{"rb5009: link bond-qnap hw_offload=yes",
			"rb5009: port ether2 seen_tx_bps=986100000",
			"rb5009: port ether3 seen_tx_bps=8100"}},
	{"RouterOS ethernet monitor", `[admin@sw] > /interface ethernet monitor ether5 once
                      name: ether5
                    status: link-ok
          auto-negotiation: done
                      rate: 100Mbps
               full-duplex: yes
           tx-flow-control: no
           rx-flow-control: no
               advertising: 10M-half,10M-full,100M-half,100M-full,1000M-half,1000M-full
  link-partner-advertising: 10M-half,10M-full,100M-half,100M-full,1000M-full
`,
		[]string{"sw: port ether5 speed=100",
			"sw: port ether5 status=link-ok",
			"sw: port ether5 partner_modes=10M-half,10M-full,100M-half,100M-full,1000M-full"}},
	{"qm config", `root@pve5:~# qm config 131
agent: 1
boot: order=scsi0
cores: 8
cpu: host
memory: 16384
name: bkp01
net0: virtio=BC:24:11:00:53:31,bridge=vmbr0,queues=8,rate=100,tag=30
numa: 0
onboot: 1
ostype: l26
scsi0: local-zfs:vm-131-disk-0,iothread=1,size=64G
scsihw: virtio-scsi-single
`,
		[]string{"pve5: vnic 131/net0 model=virtio",
			"pve5: vnic 131/net0 limit_bps=838860800",
			"pve5: guest 131 name=bkp01"}},
	{"pct config", `root@pve:~# cat /etc/pve/lxc/105.conf
arch: amd64
cores: 2
hostname: jelly
memory: 2048
net0: name=eth0,bridge=vmbr0,firewall=1,hwaddr=BC:24:11:00:53:77,ip=dhcp,rate=12.5,type=veth
ostype: debian
rootfs: local-zfs:subvol-105-disk-0,size=8G
`,
		[]string{"pve: vnic 105/net0 limit_bps=104857600",
			"pve: vnic 105/net0 bridge=vmbr0"}},
	{"domiftune", `[root@kvm1 ~]# virsh domiftune web1 vnet3
inbound.average: 12500
inbound.peak   : 0
inbound.burst  : 0
inbound.floor  : 0
outbound.average: 12500
outbound.peak  : 0
outbound.burst : 0
`,
		[]string{"kvm1: vnic web1/vnet3 limit_bps=100000000"}},
	{"libvirt's XML", `[root@kvm1 ~]# virsh dumpxml old1 | sed -n '/<interface/,/<\/interface/p'
    <interface type='bridge'>
      <mac address='52:54:00:00:53:11'/>
      <source bridge='br0'/>
      <target dev='vnet4'/>
      <model type='rtl8139'/>
      <alias name='net0'/>
      <address type='pci' domain='0x0000' bus='0x00' slot='0x03' function='0x0'/>
    </interface>
`,
		[]string{"kvm1: vnic old1/net1 model=rtl8139"}},
	{"traffic shaping of ESXi", `[root@esx:~] esxcli network vswitch standard portgroup policy shaping get -p "VM Network"
   Enabled: true
   Average Bandwidth: 102400 Kbps
   Peak Bandwidth: 102400 Kbps
   Burst Size: 102400 Kib
   Override Vswitch Shaping: true
`,
		[]string{"esx: vnic VM Network limit_bps=102400000"}},
	{"path selection of ESXi", `[root@esx-b:~] esxcli storage nmp device list -d naa.6589cfc000000e5a53d2b1c0a5b10e11
naa.6589cfc000000e5a53d2b1c0a5b10e11
   Device Display Name: TrueNAS iSCSI Disk (naa.6589cfc000000e5a53d2b1c0a5b10e11)
   Storage Array Type: VMW_SATP_ALUA
   Storage Array Type Device Config: {implicit_support=on; explicit_support=off; explicit_allow=on; alua_followover=on; action_OnRetryErrors=off; {TPG_id=1,TPG_state=AO}}
   Path Selection Policy: VMW_PSP_MRU
   Path Selection Policy Device Config: Current Path=vmhba64:C0:T0:L3
   Path Selection Policy Device Custom Config:
   Working Paths: vmhba64:C0:T0:L3
   Is USB: false

[root@esx-b:~] esxcli iscsi networkportal list | egrep "^vmhba|Vmknic|Compliant|IPv4:|Current Speed|Path Status"
vmhba64
   Vmknic: vmk1
   IPv4: 10.71.1.22
   Current Speed: 10000
   Compliant Status: compliant
   Path Status: active
vmhba64
   Vmknic: vmk2
   IPv4: 10.71.2.22
   Current Speed: 10000
   Compliant Status: compliant
   Path Status: last path

[root@esx-b:~] esxcli storage core path list -d naa.6589cfc000000e5a53d2b1c0a5b10e11 | egrep "Runtime|State:|Target Transport"
   Runtime Name: vmhba64:C0:T0:L3
   State: active
   Target Transport Details: IQN=iqn.2005-10.org.freenas.ctl:vm Alias= Session=00023d000001 PortalTag=1
   Runtime Name: vmhba64:C1:T0:L3
   State: active
   Target Transport Details: IQN=iqn.2005-10.org.freenas.ctl:vm Alias= Session=00023d000002 PortalTag=1
`,
		[]string{"esx-b: lun naa.6589cfc000000e5a53d2b1c0a5b10e11 psp=MRU",
			"esx-b: lun naa.6589cfc000000e5a53d2b1c0a5b10e11 paths=2",
			"esx-b: lun naa.6589cfc000000e5a53d2b1c0a5b10e11 working=vmhba64:C0:T0:L3",
			"esx-b: vmk vmk2 path_status=last path"}},
	{"netsh tcp", `C:\Windows\system32>netsh interface tcp show global
Querying active state...

TCP Global Parameters
----------------------------------------------
Receive-Side Scaling State          : enabled
Receive Window Auto-Tuning Level    : disabled
Add-On Congestion Control Provider  : default
ECN Capability                      : disabled
RFC 1323 Timestamps                 : disabled
Initial RTO                         : 1000
Receive Segment Coalescing State    : enabled
Non Sack Rtt Resiliency             : disabled
Max SYN Retransmissions             : 4
Fast Open                           : disabled
Fast Open Fallback                  : enabled
HyStart                             : enabled
Proportional Rate Reduction         : enabled
Pacing Profile                      : off
`,
		[]string{": host autotuning=disabled",
			": host rss_global=enabled"}},
	{"netsh interfaces", `C:\> netsh interface ipv4 show interfaces

Idx     Met         MTU          State                Name
---  ----------  ----------  ------------  ---------------------------
  1          75  4294967295  connected     Loopback Pseudo-Interface 1
 14          25        1500  connected     WLAN
 18          35        1500  connected     Ethernet 2
`,
		[]string{": link WLAN metric=25",
			": link Ethernet 2 metric=35"}},
	{"TCP settings of PowerShell", `PS C:\Users\x> Get-NetTCPSetting | ft SettingName,AutoTuningLevelLocal,CongestionProvider

SettingName      AutoTuningLevelLocal CongestionProvider
-----------      -------------------- ------------------
Automatic
InternetCustom   Disabled             CUBIC
DatacenterCustom Normal               DCTCP
Internet         Disabled             CUBIC
`,
		[]string{": host autotuning=disabled"}},
	{"metrics and addresses of PowerShell", `PS C:\Users\me> Get-NetIPInterface -AddressFamily IPv4 -ConnectionState Connected | ft ifIndex,InterfaceAlias,NlMtu,InterfaceMetric

ifIndex InterfaceAlias              NlMtu(Bytes) InterfaceMetric
------- --------------              ------------ ---------------
     19 Ethernet 4                          1500             500
     12 Wi-Fi                               1500              30
      1 Loopback Pseudo-Interface 1   4294967295              75

PS C:\Users\me> Find-NetRoute -RemoteIPAddress 192.168.70.9 | ft InterfaceAlias,IPAddress,NextHop

InterfaceAlias IPAddress      NextHop
-------------- ---------      -------
Wi-Fi          192.168.70.133
Wi-Fi                         0.0.0.0

PS C:\Users\me> Get-NetIPAddress -AddressFamily IPv4 | ft IPAddress,InterfaceAlias,PrefixLength

IPAddress      InterfaceAlias              PrefixLength
---------      --------------              ------------
192.168.70.60  Ethernet 4                            24
192.168.70.133 Wi-Fi                                 24
127.0.0.1      Loopback Pseudo-Interface 1            8

PS C:\Users\me> Get-SmbMultichannelConnection
PS C:\Users\me> Get-SmbClientConfiguration | fl EnableMultiChannel

EnableMultiChannel : False

`,
		[]string{": link Ethernet 4 metric=500",
			": link Wi-Fi metric=30",
			": host chosen_link=Wi-Fi",
			": host smb_multichannel=false",
			": link Wi-Fi address 192.168.70.133/24=inet"}},
	{"team members of Windows", `PS C:\> Get-NetLbfoTeamMember -Team VMTEAM

Name                    : LAN1
InterfaceDescription    : Intel(R) I350 Gigabit Network Connection
Team                    : VMTEAM
AdministrativeMode      : Active
OperationalStatus       : Active
TransmitLinkSpeed(Gbps) : 1
ReceiveLinkSpeed(Gbps)  : 1
FailureReason           : NoFailure

Name                    : LAN2
InterfaceDescription    : Intel(R) I350 Gigabit Network Connection #2
Team                    : VMTEAM
AdministrativeMode      : Active
OperationalStatus       : Failed
TransmitLinkSpeed(Gbps) : 1
ReceiveLinkSpeed(Gbps)  : 1
FailureReason           : LacpNegotiationIssue
`,
		[]string{": link LAN2 failure=LacpNegotiationIssue",
			": link LAN2 speed=1000",
			": link LAN1 team_status=Active"}},
	{"bandwidth of Hyper-V", `PS C:\> Get-VMNetworkAdapter -VMName sql1 | fl VMName,Name,SwitchName,IsLegacy,BandwidthSetting,MaximumBandwidth

VMName           : sql1
Name             : Network Adapter
SwitchName       : vSw10G
IsLegacy         : False
MaximumBandwidth : 500000000
`,
		[]string{": vnic sql1/Network Adapter limit_bps=500000000"}},
	{"pciconf", `root@OPNsense:~ # pciconf -lvc igc1
igc1@pci0:3:0:0:	class=0x020000 rev=0x04 hdr=0x00 vendor=0x8086 device=0x125c subvendor=0x8086 subdevice=0x0000
    vendor     = 'Intel Corporation'
    device     = 'Ethernet Controller I226-V'
    class      = network
    subclass   = ethernet
    cap 01[40] = powerspec 3  supports D0 D3  current D0
    cap 05[50] = MSI supports 1 message, 64 bit, vector masks
    cap 11[70] = MSI-X supports 5 messages, enabled
                 Table in map 0x1c[0x0], PBA in map 0x1c[0x2000]
    cap 10[a0] = PCI-Express 2 endpoint max data 256(512) FLR RO NS
                 max read 512
                 link x1(x1) speed 5.0(5.0) ASPM L1(L1)
`,
		[]string{"OPNsense: link igc1 aspm=L1",
			"OPNsense: link igc1 bus=0000:03:00.0",
			"OPNsense: pci 0000:03:00.0 sta_width=1"}},
	{"tcpdump", `[2.7.2-RELEASE][root@fw]/root: tcpdump -ni ix0 -c 5 'tcp and host 10.0.0.50 and greater 1600'
tcpdump: verbose output suppressed, use -v[v]... for full protocol decode
listening on ix0, link-type EN10MB (Ethernet), snapshot length 262144 bytes
21:02:11.120331 IP 10.0.0.50.51822 > 198.51.100.20.443: Flags [.], seq 1:5841, ack 1, win 502, length 5840
21:02:11.120348 IP 10.0.0.50.51822 > 198.51.100.20.443: Flags [.], seq 5841:13141, ack 1, win 502, length 7300
21:02:11.331902 IP 10.0.0.50.51822 > 198.51.100.20.443: Flags [.], seq 1:2921, ack 1, win 502, length 2920
21:02:11.733190 IP 10.0.0.50.51822 > 198.51.100.20.443: Flags [.], seq 1:4381, ack 1, win 502, length 4380
21:02:12.540331 IP 10.0.0.50.51822 > 198.51.100.20.443: Flags [.], seq 1461:4381, ack 1, win 502, length 2920
5 packets captured
`,
		[]string{"fw: capture ix0 longest=7300",
			"fw: capture ix0 to=198.51.100.20"}},
	{"ifconfig -v of a lagg", `root@tank[~]# ifconfig -v lagg0
lagg0: flags=8843<UP,BROADCAST,RUNNING,SIMPLEX,MULTICAST> metric 0 mtu 1500
	options=4e507bb<RXCSUM,TXCSUM,VLAN_MTU,VLAN_HWTAGGING,JUMBO_MTU,VLAN_HWCSUM,TSO4,TSO6,LRO,VLAN_HWFILTER,VLAN_HWTSO,RXCSUM_IPV6,TXCSUM_IPV6>
	ether 0c:c4:7a:00:53:a0
	inet 10.44.1.5 netmask 0xffffff00 broadcast 10.44.1.255
	laggproto lacp lagghash l2,l3,l4
	lagg options:
		flags=10<LACP_STRICT>
		flowid_shift: 16
	lagg statistics:
		active ports: 2
		flapping: 0
	lag id: [(8000,0C-C4-7A-00-53-A0,01CB,0000,0000),
		 (8000,74-AC-B9-00-53-01,0002,0000,0000)]
	laggport: igb0 flags=1c<ACTIVE,COLLECTING,DISTRIBUTING> state=3d<ACTIVITY,AGGREGATION,SYNC,COLLECTING,DISTRIBUTING>
		[(8000,0C-C4-7A-00-53-A0,01CB,8000,0001),
		 (8000,74-AC-B9-00-53-01,0002,0080,0005)]
	laggport: igb1 flags=1c<ACTIVE,COLLECTING,DISTRIBUTING> state=3d<ACTIVITY,AGGREGATION,SYNC,COLLECTING,DISTRIBUTING>
		[(8000,0C-C4-7A-00-53-A0,01CB,8000,0002),
		 (8000,74-AC-B9-00-53-01,0002,0080,0006)]
	laggport: igb2 flags=0<> state=45<ACTIVITY,AGGREGATION,DEFAULTED>
		[(8000,0C-C4-7A-00-53-A0,01CB,8000,0003),
		 (FFFF,00-00-00-00-00-00,0000,FFFF,0000)]
	laggport: igb3 flags=0<> state=45<ACTIVITY,AGGREGATION,DEFAULTED>
		[(8000,0C-C4-7A-00-53-A0,01CB,8000,0004),
		 (FFFF,00-00-00-00-00-00,0000,FFFF,0000)]
	groups: lagg
	media: Ethernet autoselect
	status: active
	nd6 options=9<PERFORMNUD,IFDISABLED>

`,
		[]string{"tank: link igb2 actor_state=69",
			"tank: link igb2 bundled=no",
			"tank: link igb0 bundled=yes"}},
	{"iw", `[mk@t14 ~]$ iw dev wlp3s0 link
Connected to 2c:91:ab:00:53:11 (on wlp3s0)
	SSID: xxxxxxxx
	freq: 2437
	RX: 220331902 bytes (312033 packets)
	TX: 1203319022 bytes (880331 packets)
	signal: -77 dBm
	rx bitrate: 39.0 MBit/s MCS 4
	tx bitrate: 52.0 MBit/s MCS 5

	bss flags:	short-preamble short-slot-time
	dtim period:	1
	beacon int:	100
[mk@t14 ~]$ iw dev wlp3s0 station dump | egrep "tx retries|tx failed|tx packets"
	tx packets:	880331
	tx retries:	401220
`,
		[]string{"t14: link wlp3s0 wifi_tx=52.0",
			"t14: link wlp3s0 wifi_signal=-77",
			"t14: link wlp3s0 wifi_retries=401220"}},
	{"iwconfig", `pi@raspi:~ $ iwconfig wlan0
wlan0     IEEE 802.11  ESSID:"xx"
          Mode:Managed  Frequency:2.412 GHz  Access Point: 00:11:22:33:44:55
          Bit Rate=65 Mb/s   Tx-Power=31 dBm
          Retry short limit:7   RTS thr:off   Fragment thr:off
          Power Management:on
          Link Quality=40/70  Signal level=-70 dBm
          Rx invalid nwid:0  Rx invalid crypt:0  Rx invalid frag:0
          Tx excessive retries:12  Invalid misc:0   Missed beacon:0
`,
		[]string{"raspi: link wlan0 wifi_tx=65",
			"raspi: link wlan0 wifi_mhz=2412"}},
	{"netsh wlan", `PS C:\Users\me> netsh wlan show interfaces

There is 1 interface on the system:

    Name                   : Wi-Fi
    Description            : Intel(R) Wi-Fi 6 AX201 160MHz
    GUID                   : aaaa-bbb
    Physical address       : 94:e2:3c:00:53:27
    State                  : connected
    SSID                   : xx
    BSSID                  : e2:cb:ac:00:53:ff
    Network type           : Infrastructure
    Radio type             : 802.11n
    Authentication         : WPA2-Personal
    Channel                : 6
    Receive rate (Mbps)    : 72.2
    Transmit rate (Mbps)   : 72.2
    Signal                 : 41%
    Profile                : xx
`,
		[]string{": link Wi-Fi wifi_rx=72.2",
			": link Wi-Fi wifi_percent=41"}},
	{"airport", `mac:~ bob$ /System/Library/PrivateFrameworks/Apple80211.framework/Versions/Current/Resources/airport -I
     agrCtlRSSI: -74
     agrExtRSSI: 0
    agrCtlNoise: -92
          state: running
        op mode: station
     lastTxRate: 87
        maxRate: 867
lastAssocStatus: 0
    802.11 auth: open
      link auth: wpa2-psk
           SSID: xx
            MCS: 1
        channel: 36,80
`,
		[]string{"mac: link en0 wifi_tx=87",
			"mac: link en0 wifi_signal=-74"}},
	{"zpool iostat and iostat", `admin@truenas[~]$ zpool iostat -v tank 5 2 | tail -12
                                            capacity     operations     bandwidth
pool                                      alloc   free   read  write   read  write
----------------------------------------  -----  -----  -----  -----  -----  -----
tank                                      19.9T  1.92T      2  1.21K  9.6K   238M
  raidz2-0                                19.9T  1.92T      2  1.21K  9.6K   238M
    sda                                       -      -      0    208  1.6K  39.8M
    sdb                                       -      -      0    206  1.6K  39.6M
    sdc                                       -      -      0    207  1.6K  39.7M
    sdd                                       -      -      0    206  1.6K  39.6M
    sde                                       -      -      0    208  1.6K  39.8M
    sdf                                       -      -      0    207  1.6K  39.7M

admin@truenas[~]$ iostat -dx 5 2 sda sdc | tail -3 | awk '{print $1,$8,$NF}'
Device w/s %util
sda 208.20 99.6
sdc 207.10 99.4
`,
		[]string{"truenas: pool tank used_percent=91",
			"truenas: pool tank write_bps=1996488704",
			"truenas: disk sda util=99.6",
			"truenas: vdev sdf write_bps=333027738"}},
	{"gstat", `root@core[~]# gstat -pb
dT: 1.001s  w: 1.000s
 L(q)  ops/s    r/s   kBps   ms/r    w/s   kBps   ms/w   %busy Name
   10    112      0      0    0.0    112  14211   81.2   99.8  ada0
   10    110      0      0    0.0    110  14090   84.2  100.1  ada1
    0      0      0      0    0.0      0      0    0.0    0.0  ada2
`,
		[]string{"core: disk ada0 util=99.8",
			"core: disk ada1 util=100.1"}},
	{"vzdump", `INFO: starting new backup job: vzdump 101 102 --storage pbs1 --mode snapshot --notes-template '{{guestname}}'
INFO: Starting Backup of VM 101 (qemu)
INFO: Backup started at 2025-02-11 01:00:03
INFO: status = running
INFO: VM Name: files
INFO: include disk 'scsi0' 'local-zfs:vm-101-disk-0' 500G
INFO: backup mode: snapshot
INFO: bandwidth limit: 51200 KiB/s
INFO: ionice priority: 7
INFO: creating Proxmox Backup Server archive 'vm/101/2025-02-11T00:00:03Z'
INFO: started backup task 'b6a0e1f0-9a3e-4b51-9f0e-0d53e0b1a2c4'
INFO:   0% (152.0 MiB of 500.0 GiB) in 3s, read: 50.7 MiB/s, write: 50.1 MiB/s
`,
		[]string{": limit vzdump bps=419430400"}},
	{"limits of commands", `root@nas:~# crontab -l
15 1 * * * rsync -a --bwlimit=20000 /mnt/a/ b:/mnt/b/
20 1 * * * rclone sync /srv r:m --bwlimit 8M
`,
		[]string{"nas: limit rsync bps=163840000",
			"nas: limit rclone bps=67108864"}},
	{"port statistics of a web page", `Port    State   Link Status  TxGoodPkt    TxBadPkt   RxGoodPkt    RxBadPkt   Flow Control
Port 1  Enable  1000Full     811203319    1290331    402113302    0          Off
Port 2  Enable  Link Down    0            0          0            0          Off
Port 5  Enable  10G Full     402120331    0          812493650    0          Off
`,
		[]string{"?: port 1 drops=1290331",
			"?: port 1 speed=1000",
			"?: port 5 speed=10000",
			"?: port 5 flow_control=no",
			"?: port 2 state=down"}},
	{"EdgeOS offload", `ubnt@er-x:~$ show ubnt offload

IP offload module   : loaded
IPv4
  forwarding: disabled
  vlan      : disabled
  pppoe     : disabled
  gre       : disabled
IPSec offload module: loaded
`,
		[]string{"er-x: host offload.ipv4.forwarding=disabled"}},
	{"pipes of dummynet", `[2.7.2-RELEASE][admin@pf]/root: dnctl pipe show
00001: 200.000 Mbit/s    0 ms burst 0
q131073  50 sl. 0 flows (1 buckets) sched 65537 weight 0 lmax 0 pri 0 droptail
 sched 65537 type FIFO flags 0x0 16 buckets 1 active
`,
		[]string{"pf: link pipe 00001 shaper dummynet=200000000"}},
	{"VMkernel ports", `[root@esx:~] esxcfg-vmknic -l
Interface  Port Group/DVPort/Opaque Network        IP Family IP Address                              Netmask         Broadcast       MAC Address       MTU     TSO MSS   Enabled Type                NetStack
vmk0       Management Network                      IPv4      10.0.0.5                                255.255.255.0   10.0.0.255      a0:36:9f:00:53:10 1500    65535     true    STATIC              defaultTcpipStack
vmk1       NFS                                     IPv4      10.0.0.6                                255.255.255.0   10.0.0.255      00:50:56:6b:53:11 9000    65535     true    STATIC              defaultTcpipStack
`,
		[]string{"esx: link vmk1 address 10.0.0.6/24=inet",
			"esx: link vmk1 mtu=9000"}},
	{"route of Windows", `PS C:\> Find-NetRoute -RemoteIPAddress 10.0.0.9 | ft InterfaceAlias,IPAddress,NextHop

InterfaceAlias   IPAddress    NextHop
--------------   ---------    -------
Surfshark WG     10.14.0.2
Surfshark WG                  0.0.0.0
`,
		[]string{": path 10.0.0.9 dev=Surfshark WG"}},
	{"migration and its limit", `root@pve:~# cat /etc/pve/datacenter.cfg
bwlimit: migration=102400,restore=51200
root@pve:~# tail -3 /var/log/mig.log
2024-11-03 10:11:20 migration active, transferred 3.0 GiB of 16.0 GiB VM-state, 100.1 MiB/s
2024-11-03 10:11:21 migration active, transferred 3.1 GiB of 16.0 GiB VM-state, 100.3 MiB/s
`,
		[]string{"pve: limit migration bps=838860800"}},
	{"USB of FreeBSD", `$ usbconfig
ugen0.3: <Realtek USB 10/100/1G/2.5G LAN> at usbus0, cfg=0 md=HOST spd=HIGH (480Mbps) pwr=ON (200mA)
`,
		[]string{": usb ugen0.3 Realtek USB 10/100/1G/2.5G LAN speed=480"}},
	{"CRC of a web page", `Port  Bytes Received   Bytes Sent      CRC Error Packets
1     88120331902      12033190220     0
2     9120331902       88033190220     48211
3     0                0               0
`,
		[]string{"?: port 2 rx_crc=48211"}},
}

func TestHome(t *testing.T) {
	for _, tc := range homeCases {
		t.Run(tc.name, func(t *testing.T) {
			c, facts := parsed(tc.text)
			wantFacts(t, facts, tc.want)
			lines := strings.Split(tc.text, "\n")
			for _, n := range c.NotRead {
				t.Errorf("not read, %v: %q", n.Source, lines[n.From-1:n.To])
			}
			if t.Failed() {
				t.Log(facts)
			}
			for from := range lines {
				parsed(strings.Join(lines[from:], "\n"))
				parsed(strings.Join(lines[:from], "\n"))
			}
		})
	}
}
