package amend

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/plan"
)

const untuned = `# two hosts, by hand
linerate: v1
hosts:
  rbx:   # the old one
    reach: ssh://root@192.0.2.11
    network:
      version: 2
      ethernets:
        ens2f0: {}   # to the first switch
        ens2f1: {mtu: 1500}
        wan: {match: {name: "enp*"}}
      bonds:
        bond1:
          interfaces: [ens2f0, ens2f1]
          # chosen by somebody
          parameters: {mode: 802.3ad, transmit-hash-policy: layer2}
      vlans: {lan: {id: 1904, link: bond1, addresses: [10.119.250.103/16]}}
    sysctl:
      net.ipv4.tcp_rmem: "4096 131072 6291456"  # as shipped
  lim: {network: {version: 2, ethernets: {eth0: {addresses: [10.119.250.104/16]}}}}
paths:
  - {between: [rbx, lim], rtt: 8.9ms}
`

const tuned = `# two hosts, by hand
linerate: v1
hosts:
  rbx:   # the old one
    reach: ssh://root@192.0.2.11
    network:
      version: 2
      ethernets:
        ens2f0: {mtu: 9000}   # to the first switch
        ens2f1: {mtu: 9000}
        wan: {match: {name: "enp*"}}
      bonds:
        bond1:
          interfaces: [ens2f0, ens2f1]
          # chosen by somebody
          parameters: {mode: 802.3ad, transmit-hash-policy: layer3+4}
          mtu: 9000
      vlans: {lan: {mtu: 9000, id: 1904, link: bond1, addresses: [10.119.250.103/16]}}
    sysctl:
      net.ipv4.tcp_rmem: 4096 131072 33554432  # as shipped
      net.ipv4.tcp_congestion_control: bbr
    links:
      ens2f0:
        offloads:
          gro: on
        rings:
          rx: 4096
        qdisc: fq maxrate 10000000000bit
      wan:
        channels:
          combined: 4
    bonding:
      bond1:
        lacp_active: "off"
    mptcp:
      subflows: 8
      endpoints:
        - {address: 10.119.250.103, dev: lan, flags: [subflow]}
  lim: {sysctl: {net.ipv4.tcp_wmem: 4096 16384 33554432}, network: {version: 2, ethernets: {eth0: {addresses: [10.119.250.104/16]}}}}
paths:
  - {between: [rbx, lim], rtt: 8.9ms}
`

// TestAmend puts each kind of change where the file says such things, and
// touches nothing else.
func TestAmend(t *testing.T) {
	file, err := fabric.Parse("f.yaml", []byte(untuned))
	if err != nil {
		t.Fatal(err)
	}
	const rmem = "net.ipv4.tcp_rmem"
	mtu := func(link string) plan.Step {
		return plan.Step{Kind: plan.LinkMTU, Link: link, Old: "1500", New: "9000"}
	}
	steps := map[string][]plan.Step{
		"rbx": {
			{Kind: plan.BondOption, Link: "bond1", Key: "xmit_hash_policy", Old: "layer2", New: "layer3+4"},
			{Kind: plan.Sysctl, Key: rmem, Old: "4096 131072 6291456", New: "4096 131072 16777216"},
			{Kind: plan.LinkState, Link: "bond1", Old: plan.Up, New: plan.Down},
			mtu("ens2f0"), mtu("ens2f1"), mtu("bond1"), mtu("lan"),
			{Kind: plan.LinkState, Link: "bond1", Old: plan.Down, New: plan.Up},
			{Kind: plan.Sysctl, Key: rmem, Old: "4096 131072 16777216", New: "4096 131072 33554432"},
			{Kind: plan.Sysctl, Key: "net.ipv4.tcp_congestion_control", Old: "cubic", New: "bbr"},
			{Kind: plan.Sysctl, Key: "net.ipv4.tcp_sack", Old: "1", New: "0"},
			{Kind: plan.Sysctl, Key: "net.ipv4.tcp_sack", Old: "0", New: "1"},
			{Kind: plan.Offload, Link: "ens2f0", Key: "gro", Old: "off", New: "on"},
			{Kind: plan.Ring, Link: "ens2f0", Key: "rx", Old: "512", New: "4096"},
			{Kind: plan.Qdisc, Link: "ens2f0", Old: plan.DefaultQdisc, New: "fq maxrate 10000000000bit"},
			{Kind: plan.Channel, Link: "enp3s0", Key: "combined", Old: "1", New: "4"},
			{Kind: plan.BondOption, Link: "bond1", Key: "lacp_active", Old: "on", New: "off"},
			{Kind: plan.MPTCPLimit, Key: "subflows", Old: "2", New: "8"},
			{Kind: plan.MPTCPEndpoint, Endpoint: &netstate.MPTCPEndpoint{Addr: netip.MustParseAddr("10.119.250.103"), Link: "lan", Flags: netstate.MPTCPSubflow}, Old: plan.Absent, New: plan.Present},
			mtu("eth7"),
			{Kind: plan.PortOrder, Link: "bond1", Old: "ens2f0,ens2f1", New: "ens2f1,ens2f0"},
		},
		"lim": {{Kind: plan.Sysctl, Key: "net.ipv4.tcp_wmem", Old: "4096 16384 4194304", New: "4096 16384 33554432"}},
	}
	got, unsaid, kept, err := Fabric(file, untuned, steps)
	if err != nil || !kept {
		t.Fatalf("kept %v, %v:\n%s", kept, err, got)
	}
	if diff := cmp.Diff(tuned, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if len(unsaid) != 2 || !strings.Contains(unsaid[0].Words(), "the file defines no eth7") || !strings.Contains(unsaid[1].Words(), "bond1 ports") {
		t.Errorf("unsaid: %+v", unsaid)
	}
	again, _, _, err := Fabric(file, got, steps)
	if err != nil || again != got {
		t.Errorf("a second time, %v:\n%s", err, cmp.Diff(got, again))
	}
	if same, _, _, err := Fabric(file, untuned, nil); err != nil || same != untuned {
		t.Errorf("no steps, %v:\n%s", err, cmp.Diff(untuned, same))
	}
}
