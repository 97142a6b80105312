package pasted

import (
	"fmt"
	"strings"
	"testing"

	"github.com/linerate/linerate/record"
)

// lacpBond is /proc/net/bonding/bond0 of two 10G ports with a policy.
func lacpBond(policy string) string {
	out := "root@node1:~# cat /proc/net/bonding/bond0\nEthernet Channel Bonding Driver: v6.1.0-18-amd64\n\nBonding Mode: IEEE 802.3ad Dynamic link aggregation\nTransmit Hash Policy: " + policy + "\nMII Status: up\nMII Polling Interval (ms): 100\n\n802.3ad info\nLACP rate: slow\nActive Aggregator Info:\n\tAggregator ID: 1\n\tNumber of ports: 2\n\tPartner Mac Address: 00:1c:73:00:00:01\n"
	for i := range 2 {
		out += fmt.Sprintf("\nSlave Interface: ens1f%d\nMII Status: up\nSpeed: 10000 Mbps\nDuplex: full\nLink Failure Count: 0\nAggregator ID: 1\nActor Churn State: none\nPartner Churn State: none\n", i)
	}
	return out
}

// eight is iperf3 with eight streams between two addresses, with a sum.
func eight(from, to, sum string) string {
	out := "root@node1:~# iperf3 -c " + to + " -P 8\nConnecting to host " + to + ", port 5201\n"
	for i := range 8 {
		out += fmt.Sprintf("[%3d] local %s port %d connected to %s port 5201\n", 5+2*i, from, 40960+2*i, to)
	}
	return out + "- - - - - - - - - - - - -\n[ ID] Interval           Transfer     Bitrate         Retr\n[SUM]   0.00-10.00  sec  10.5 GBytes  " + sum + " Gbits/sec   90             sender\n[SUM]   0.00-10.00  sec  10.5 GBytes  " + sum + " Gbits/sec                  receiver\n"
}

func tunnelLink(name, mtu, detail, inside string) string {
	out := "root@node1:~# ip -d addr\n2: bond0: <BROADCAST,MULTICAST,MASTER,UP,LOWER_UP> mtu 1500 qdisc noqueue state UP\n    link/ether 3c:fd:fe:00:00:01 brd ff:ff:ff:ff:ff:ff\n    inet 192.0.2.1/24 scope global bond0\n9: " + name + ": <UP,LOWER_UP> mtu " + mtu + " qdisc noqueue state UNKNOWN mode DEFAULT group default\n    link/none  promiscuity 0\n    " + detail + "\n"
	if inside != "" {
		out += "    inet " + inside + " scope global " + name + "\n"
	}
	return out
}

// TestTunnelsOverABond: what a hash makes of a tunnel's outer packets, by what was
// pasted of the tunnel, the bond and a test through it.
func TestTunnelsOverABond(t *testing.T) {
	const wgShow = "root@node1:~# wg show\ninterface: wg0\n  public key: Hk0/u1vEOyEYTaVYkFVl0qtUXwD1mwPYxKVRsVRBTkI=\n  private key: (hidden)\n  listening port: 51820\n\npeer: L5Z8uPoRkYEvgGBNDUwcWq9ifFfnrJZVCEHRJ8WfGlE=\n  endpoint: 192.0.2.2:51820\n  allowed ips: 10.8.0.0/24\n  latest handshake: 3 seconds ago\n  transfer: 1.21 GiB received, 80.02 GiB sent\n"
	vxlan := tunnelLink("vxlan7", "1450", "vxlan id 7 remote 192.0.2.2 local 192.0.2.1 dev bond0 srcport 0 0 dstport 4789 ttl auto", "10.8.0.1/24")
	onePort := tunnelLink("vxlan7", "1450", "vxlan id 7 remote 192.0.2.2 local 192.0.2.1 dev bond0 srcport 40000 40001 dstport 4789 ttl auto", "10.8.0.1/24")
	wg := tunnelLink("wg0", "1420", "wireguard addrgenmode none", "10.8.0.1/24")
	gre := tunnelLink("gre1", "1476", "gre remote 192.0.2.2 local 192.0.2.1 ttl 255", "10.8.0.1/24")
	ipip := tunnelLink("tun9", "1480", "ipip remote 192.0.2.2 local 192.0.2.1 ttl 255", "10.8.0.1/24")
	geneve := tunnelLink("gnv0", "1450", "geneve id 7 remote 192.0.2.2 dstport 6081", "10.8.0.1/24")
	through := eight("10.8.0.1", "10.8.0.2", "9.00")
	for _, c := range []struct {
		name, text string
		cause      record.Cause
		least      float64
		says       string // in the first answer
		never      string // in none
	}{
		{"WireGuard, any policy", wg + wgShow + lacpBond("layer3+4 (1)") + through, record.SingleLink, 0.8, "several tunnels", "source ports are even"},
		{"WireGuard, layer2+3: layer3+4 does not help", wg + wgShow + lacpBond("layer2+3 (2)") + through, record.SingleLink, 0.8, "several tunnels", "xmit_hash_policy layer3+4"},
		{"GRE", gre + lacpBond("layer3+4 (1)") + through, record.SingleLink, 0.8, "encap3+4 on the bond", ""},
		{"IP in IP", ipip + lacpBond("layer3+4 (1)") + through, record.SingleLink, 0.8, "encap3+4 on the bond", ""},
		{"VXLAN by addresses", vxlan + lacpBond("layer2+3 (2)") + through, record.SingleLink, 0.8, "layer3+4 on the bond", ""},
		{"VXLAN of one port", onePort + lacpBond("layer3+4 (1)") + through, record.SingleLink, 0.8, "srcport 0 0", ""},
		{"Geneve by addresses", geneve + lacpBond("layer2 (0)") + through, record.SingleLink, 0.8, "layer3+4 on the bond", ""},
		{"VXLAN by ports: not the bond", vxlan + lacpBond("layer3+4 (1)") + through, record.SingleLink, 0.4, "the switch's hash", "layer3+4 on the bond"},
		{"GRE, read from inside", gre + lacpBond("encap3+4 (4)") + through, record.Unknown, 0, "", "may be one flow"},
		{"it spreads", vxlan + lacpBond("layer2+3 (2)") + eight("10.8.0.1", "10.8.0.2", "17.9"), record.Unknown, 0, "", "may be one flow"},
		{"WireGuard, by its allowed addresses and the route to its peer alone", "root@node1:~# ip -d link show wg0\n9: wg0: <POINTOPOINT,NOARP,UP,LOWER_UP> mtu 1420 qdisc noqueue state UNKNOWN mode DEFAULT group default qlen 1000\n    link/none  promiscuity 0\n    wireguard addrgenmode none\n" + wgShow + lacpBond("layer3+4 (1)") + "root@node1:~# ip route get 192.0.2.2\n192.0.2.2 dev bond0 src 192.0.2.1 uid 0\nroot@node1:~# iperf3 -c 10.8.0.2 -P 8\n[SUM]   0.00-10.00  sec  10.1 GBytes  8.69 Gbits/sec                  receiver\n",
			record.SingleLink, 0.8, "one outer flow", ""},
		{"beside the tunnel", wg + lacpBond("layer2+3 (2)") + eight("192.0.2.1", "192.0.2.2", "9.40"), record.SingleLink, 0.5, "layer2+3", "of wg0"},
		{"nothing measured", wg + wgShow + lacpBond("layer3+4 (1)"), record.SingleLink, 0.34, "may be one flow", ""},
	} {
		a := judge("We bonded two links and miss half of the rate.\n\n" + c.text)
		f := a.Findings[0]
		all := ""
		for _, f := range a.Findings {
			all += f.Where + " " + f.Text + "\n"
		}
		if c.cause != record.Unknown && (f.Cause != c.cause || f.Confidence < c.least || !strings.Contains(f.Where+f.Text, c.says)) || c.never != "" && strings.Contains(all, c.never) {
			t.Errorf("%s: %s at %s, %.2f: %s", c.name, f.Cause, f.Where, f.Confidence, all)
		}
	}
}

// TestWireGuardIsRead: wg show and a file of wg-quick's say where the packets go, and no
// key comes into an answer.
func TestWireGuardIsRead(t *testing.T) {
	file := "root@node1:~# cat /etc/wireguard/wg7.conf\n[Interface]\nAddress = 10.8.0.1/24\nPrivateKey = yAnz5TF+lXXJte14tji3zlMNq+hd2rYUIgJBgB3fBmk=\nMTU = 1420\n\n[Peer]\nPublicKey = xTIBA5rboUvnH4htodjb6e697QjLERt1NAB4mZqp8Dg=\nAllowedIPs = 10.8.0.2/32\nEndpoint = 192.0.2.2:51820\n"
	a := judge("We miss half of the rate.\n\n" + file + "root@node1:~# ip addr show bond0\n2: bond0: <BROADCAST,MULTICAST,MASTER,UP,LOWER_UP> mtu 1500 qdisc noqueue state UP\n    inet 192.0.2.1/24 scope global bond0\n" + lacpBond("layer3+4 (1)") + eight("10.8.0.1", "10.8.0.2", "9.00"))
	f := a.Findings[0]
	if f.Cause != record.SingleLink || !strings.Contains(f.Where, "wg7") || f.Confidence < 0.8 || !strings.Contains(f.Text, "192.0.2.2, by bond0") {
		t.Errorf("%s at %s, %.2f: %s", f.Cause, f.Where, f.Confidence, f.Text)
	}
	if strings.Contains(f.Text, "yAnz") {
		t.Error("a private key is in the answer")
	}
}
