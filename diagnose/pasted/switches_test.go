package pasted

import (
	"strings"
	"testing"

	"github.com/linerate/linerate/record"
)

// A bond of one host, and texts of the switch that it is cabled to.
const (
	jumboBond = `root@db1:~# ip -d link show bond0
7: bond0: <BROADCAST,MULTICAST,MASTER,UP,LOWER_UP> mtu 9000 qdisc noqueue state UP mode DEFAULT group default qlen 1000
    link/ether 02:00:00:00:0a:01 brd ff:ff:ff:ff:ff:ff promiscuity 0 minmtu 68 maxmtu 65535
    bond mode 802.3ad miimon 100 updelay 0 downdelay 0 use_carrier 1 xmit_hash_policy layer3+4 lacp_rate fast
2: eno1: <BROADCAST,MULTICAST,SLAVE,UP,LOWER_UP> mtu 9000 qdisc mq master bond0 state UP mode DEFAULT group default qlen 1000
3: eno2: <BROADCAST,MULTICAST,SLAVE,UP,LOWER_UP> mtu 9000 qdisc mq master bond0 state UP mode DEFAULT group default qlen 1000
`
	channelConfig = `sw1#show running-config
interface Port-channel10
 description db1 bond0
 switchport trunk allowed vlan 100,200
 switchport mode trunk
!
interface TenGigabitEthernet1/0/1
 description db1 eno1
 switchport trunk allowed vlan 100,200
 switchport mode trunk
 channel-group 10 mode active
!
interface TenGigabitEthernet1/0/2
 description db1 eno2
 switchport trunk allowed vlan 100,200
 switchport mode trunk
 channel-group 10 mode active
!
`
	channelUp = `sw1#show etherchannel summary
Group  Port-channel  Protocol    Ports
------+-------------+-----------+-----------------------------------------------
10     Po10(SU)        LACP      Te1/0/1(P)      Te1/0/2(P)
`
)

func errorsOf(port, drops string) string {
	return "sw1#show interfaces " + port + "\n" + port + ` is up, line protocol is up (connected)
  MTU 1500 bytes, BW 10000000 Kbit/sec, DLY 10 usec,
  Full-duplex, 10Gb/s, media type is 10GBase-SR
  Input queue: 0/2000/0/0 (size/max/drops/flushes); Total output drops: ` + drops + `
     88001200 packets input, 77120031000 bytes, 0 no buffer
     0 runts, 0 giants, 0 throttles
     0 input errors, 0 CRC, 0 frame, 0 overrun, 0 ignored
     99120012 packets output, 88112233445 bytes, 0 underruns
`
}

// TestSwitches is what a switch's own words decide, and what they do not.
func TestSwitches(t *testing.T) {
	suspended := strings.Replace(channelUp, "Te1/0/2(P)", "Te1/0/2(s)", 1)
	for _, c := range []struct {
		name, text string
		cause      record.Cause
		least      float64
		says       []string
	}{
		{"a member is suspended", suspended, record.LACPDown, 0.8, []string{"Te1/0/2", "suspended it", "no LACP frame"}},
		{"a member stands alone", strings.Replace(channelUp, "Te1/0/2(P)", "Te1/0/2(I)", 1), record.LACPDown, 0.8, []string{"individual", "no LACP partner answered"}},
		{"a member waits", strings.Replace(channelUp, "Te1/0/2(P)", "Te1/0/2(H)", 1), record.LACPDown, 0.55, []string{"hot standby", "max-bundle"}},
		{"its VLANs are the reason", strings.Replace(channelConfig, "eno2\n switchport trunk allowed vlan 100,200", "eno2\n switchport trunk allowed vlan 100", 1) + suspended, record.LACPDown, 0.88, []string{"VLANs 100, and Po10 has 100,200"}},
		{"unlike its channel, by the configuration", strings.Replace(channelConfig, "eno2\n switchport trunk allowed vlan 100,200", "eno2\n switchport trunk allowed vlan 100", 1), record.LACPDown, 0.6, []string{"Te1/0/2", "not like its channel"}},
		{"a static channel and an LACP bond", jumboBond + strings.ReplaceAll(channelConfig, "mode active", "mode on"), record.LACPDown, 0.78, []string{"static (mode on)", "channel-group N mode active"}},
		{"an LACP channel and a static bond", strings.ReplaceAll(jumboBond, "802.3ad", "balance-xor") + channelConfig, record.LACPDown, 0.78, []string{"never answers LACP"}},
		{"ports take less than the bond sends", jumboBond + channelConfig + channelUp + errorsOf("TenGigabitEthernet1/0/1", "0"), record.MTU, 0.75, []string{"9000", "1500", "system mtu"}},
		{"one member drops", channelConfig + "sw1#show etherchannel load-balance\nEtherChannel Load-Balancing Configuration:\n        src-mac\n\n" + errorsOf("TenGigabitEthernet1/0/1", "410077") + errorsOf("TenGigabitEthernet1/0/2", "12"), record.HashImbalance, 0.75, []string{"Te1/0/1 alone", "hash"}},
		{"a hash of MACs, and whose setting it is", channelUp + "sw1#show etherchannel load-balance\nEtherChannel Load-Balancing Configuration:\n        src-mac\n\n", record.SingleLink, 0.45, []string{"MAC addresses", "every channel of it"}},
	} {
		check(t, []shows{{c.name, c.text, c.cause, c.least, c.says, nil}})
	}
	for name, text := range map[string]string{
		"both agree":                    jumboBond + strings.ReplaceAll(channelConfig, " channel-group", " mtu 9198\n channel-group"),
		"rates that differ are allowed": jumboBond + strings.ReplaceAll(channelConfig, " channel-group", " mtu 9198\n lacp rate normal\n channel-group"),
		"an MTU of what is routed":      jumboBond + "! device: leaf1 (DCS-7050SX3, EOS-4.27.3F)\ninterface Port-Channel10\n   mtu 1500\n!\ninterface Ethernet1\n   channel-group 10 mode active\n!\n",
	} {
		for _, f := range judge(text).Findings {
			if f.Confidence >= 0.5 && f.Cause != record.Unknown && f.Cause != Healthy {
				t.Errorf("%s: %s %.2f: %s", name, f.Cause, f.Confidence, f.Text)
			}
		}
	}
}
