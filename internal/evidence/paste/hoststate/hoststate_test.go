package hoststate_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/fabric/describe"
	"github.com/linerate/linerate/internal/bondopt"
	"github.com/linerate/linerate/internal/evidence/paste"
	"github.com/linerate/linerate/internal/evidence/paste/hoststate"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/unit"
)

const pasted = `root@nas:~# uname -r
6.1.0-32-amd64
root@nas:~# cat /proc/net/bonding/bond0
Ethernet Channel Bonding Driver: v6.1.0-32-amd64

Bonding Mode: IEEE 802.3ad Dynamic link aggregation
Transmit Hash Policy: layer2 (0)
MII Status: up
MII Polling Interval (ms): 100
Up Delay (ms): 0
Down Delay (ms): 0
Peer Notification Delay (ms): 0

802.3ad info
LACP active: on
LACP rate: slow
Min links: 0
Aggregator selection policy (ad_select): stable
System priority: 65535
System MAC address: 52:54:00:11:22:01
Active Aggregator Info:
	Aggregator ID: 2
	Number of ports: 1
	Actor Key: 9
	Partner Key: 1
	Partner Mac Address: 00:00:5e:00:53:01

Slave Interface: ens2
MII Status: up
Speed: 10000 Mbps
Duplex: full
Link Failure Count: 0
Permanent HW addr: 52:54:00:11:22:02
Slave queue ID: 0
Aggregator ID: 2

Slave Interface: ens1
MII Status: up
Speed: 10000 Mbps
Duplex: full
Link Failure Count: 3
Permanent HW addr: 52:54:00:11:22:01
Slave queue ID: 0
Aggregator ID: 1
root@nas:~# ip -s -d address show bond0
4: bond0: <BROADCAST,MULTICAST,MASTER,UP,LOWER_UP> mtu 9000 qdisc noqueue state UP group default qlen 1000
    link/ether 52:54:00:11:22:01 brd ff:ff:ff:ff:ff:ff promiscuity 0 minmtu 68 maxmtu 65535
    inet 10.1.0.5/24 brd 10.1.0.255 scope global bond0
       valid_lft forever preferred_lft forever
root@nas:~# ethtool -i ens1
driver: ixgbe
version: 6.1.0-32-amd64
firmware-version: 0x800006da
bus-info: 0000:03:00.0
root@nas:~# lspci -s 03:00.0 -vv
0000:03:00.0 Ethernet controller: Intel Corporation 82599ES 10-Gigabit SFI/SFP+ Network Connection (rev 01)
		LnkCap:	Port #0, Speed 5GT/s, Width x8, ASPM L0s, Exit Latency L0s <1us
		LnkSta:	Speed 5GT/s, Width x4 (downgraded)
root@nas:~# sysctl net.ipv4.tcp_rmem
net.ipv4.tcp_rmem = 4096 131072 6291456
root@nas:~# ping -c 3 10.1.0.7
PING 10.1.0.7 (10.1.0.7) 56(84) bytes of data.
64 bytes from 10.1.0.7: icmp_seq=1 ttl=64 time=0.210 ms

--- 10.1.0.7 ping statistics ---
3 packets transmitted, 3 received, 0% packet loss, time 2031ms
rtt min/avg/max/mdev = 0.190/0.205/0.210/0.010 ms
root@pve:~# ip address show eno1
2: eno1: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc mq state UP group default qlen 1000
    link/ether 52:54:00:11:33:01 brd ff:ff:ff:ff:ff:ff
    inet 10.1.0.7/24 brd 10.1.0.255 scope global eno1
`

// TestHosts: what is read becomes the state, in the words of one that was observed,
// and what was not read is not there.
func TestHosts(t *testing.T) {
	hosts, paths := hoststate.Hosts(paste.Parse([]piece.Text{{Name: "t", Bytes: []byte(pasted)}}))
	if len(hosts) != 2 || hosts[0].Name != "nas" || hosts[1].Name != "pve" {
		t.Fatalf("hosts %+v", hosts)
	}
	h := hosts[0]
	if h.Kernel != (netstate.Kernel{OS: "linux", Release: "6.1.0-32-amd64"}) {
		t.Errorf("kernel %+v", h.Kernel)
	}
	b, _ := h.Link("bond0")
	if b.Kind != "bond" || b.MTU != 9000 || b.MaxMTU != 65535 || len(b.Addresses) != 1 || b.Addresses[0].String() != "10.1.0.5/24" {
		t.Errorf("bond0 %+v", b)
	}
	if b.Bond == nil || b.Bond.Mode != netstate.LACP || b.Bond.HashPolicy != netstate.Layer2 || b.Bond.LACPRate != netstate.LACPSlow || b.Bond.Miimon != 100*time.Millisecond {
		t.Fatalf("bond %+v", b.Bond)
	}
	if diff := cmp.Diff([]string{"ens2", "ens1"}, b.Bond.Ports); diff != "" {
		t.Errorf("ports (-want +got):\n%s", diff)
	}
	if !b.Bond.Unread("packets_per_slave") || b.Bond.Unread("min_links") {
		t.Errorf("not read: %v", b.Bond.NotRead)
	}
	if b.Bond.AD == nil || b.Bond.AD.ID != 2 || b.Bond.AD.Ports != 1 || b.Bond.AD.PartnerMAC.String() != "00:00:5e:00:53:01" {
		t.Errorf("aggregator %+v", b.Bond.AD)
	}
	p, _ := h.Link("ens1")
	if p.Speed != 10*unit.Gbps || p.Duplex != "full" || p.Master != "bond0" || p.Driver != "ixgbe" || p.Port == nil || p.Port.Active || p.Port.FailureCount != 3 {
		t.Errorf("ens1 %+v, port %+v", p, p.Port)
	}
	if got := h.UsablePorts("bond0"); len(got) != 1 || got[0] != "ens2" {
		t.Errorf("usable %v", got)
	}
	if want := (netstate.Card{Name: "0000:03:00", Generation: 2, Lanes: 4, MaxGeneration: 2, MaxLanes: 8}); p.Card != want.Name || len(h.Cards) != 1 || h.Cards[0] != want {
		t.Errorf("card %q of %+v", p.Card, h.Cards)
	}
	if n := h.SysctlInts("net.ipv4.tcp_rmem"); len(n) != 3 || n[2] != 6291456 || len(h.Sysctls) != 1 {
		t.Errorf("sysctls %v", h.Sysctls)
	}
	if len(paths) != 1 || paths[0].RTT != 205*time.Microsecond {
		t.Errorf("paths %+v", paths)
	}
	other := hosts[1]
	if l, ok := other.Link("eno1"); !ok || l.Speed != 0 || l.Device != nil || l.Bond != nil || len(other.Links) != 1 || other.Kernel.Release != "" {
		t.Errorf("pve %+v", other)
	}
}

// TestFabrics: of every text with a host in it, the fabric that is written is read
// back, with the bonds' ports, modes and addresses as they were.
func TestFabrics(t *testing.T) {
	files, _ := filepath.Glob("../../../../diagnose/pasted/testdata/*.txt")
	more, _ := filepath.Glob("../../../../../shared/field/paste/*.txt")
	bonds, systems := 0, map[string]int{}
	for _, file := range append(files, more...) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		hosts, paths := hoststate.Hosts(paste.Parse([]piece.Text{{Name: file, Bytes: text}}))
		if len(hosts) == 0 {
			continue
		}
		f, err := fabric.Parse("fabric.yaml", describe.Write(hosts, paths, nil, fabric.Measure{}))
		if err != nil {
			t.Errorf("%s: %v", filepath.Base(file), err)
			continue
		}
		for _, h := range hosts {
			again, err := f.State(h.Name)
			if err != nil {
				t.Errorf("%s: %v", filepath.Base(file), err)
				continue
			}
			for _, l := range h.Links {
				if l.Bond == nil || l.Bond.Mode.IsZero() && l.Bond.Own == nil || len(l.Bond.Ports) == 0 {
					continue
				}
				a, ok := again.Link(l.Name)
				if !ok || a.Bond == nil {
					continue // what the file cannot say is in its comments
				}
				bonds++
				if a.Bond.Mode != l.Bond.Mode {
					t.Errorf("%s: %s of %s is %s, read %s", filepath.Base(file), l.Name, h.Name, a.Bond.Mode, l.Bond.Mode)
				}
				if diff := cmp.Diff(l.Bond.Own, a.Bond.Own); diff != "" {
					t.Errorf("%s: own words of %s (-read +written):\n%s", filepath.Base(file), l.Name, diff)
				}
				if l.Bond.Own != nil {
					systems[h.Kernel.OS]++
				}
				if diff := cmp.Diff(l.Bond.Ports, a.Bond.Ports); diff != "" {
					t.Errorf("%s: ports of %s (-read +written):\n%s", filepath.Base(file), l.Name, diff)
				}
			}
		}
	}
	if len(files) < 50 || bonds < 20 {
		t.Errorf("%d texts, %d bonds", len(files), bonds)
	}
	for _, s := range bondopt.Systems() {
		if systems[s.Name] == 0 {
			t.Errorf("no bond of %s was read", s.Name)
		}
	}
}

// What bond/show says of a bond of Open vSwitch: its own kind, whose members are no
// ports of a bond of the kernel's.
func TestOVSBond(t *testing.T) {
	const text = "root@hv:~# ovs-vsctl show\n7d2c3b1e-0000-4b2a-9a1f-000000000001\n    Bridge br0\n        Port bond0\n            Interface eno1\n            Interface eno2\n        Port br0\n            Interface br0\n                type: internal\n" +
		"root@hv:~# ovs-appctl bond/show\n---- bond0 ----\nbond_mode: balance-slb\nbond-hash-basis: 7\nlacp_status: STATUS\nlacp_fallback_ab: false\n\nmember eno1: enabled\n  active member\n  may_enable: true\n  hash 12: 412203 kB load\n\nmember eno2: disabled\n  may_enable: false\n  hash 200: 3 kB load\n"
	read := func(status string) netstate.Host {
		hosts, _ := hoststate.Hosts(paste.Parse([]piece.Text{{Name: "t", Bytes: []byte(strings.Replace(text, "STATUS", status, 1))}}))
		if len(hosts) != 1 {
			t.Fatalf("hosts %+v", hosts)
		}
		return hosts[0]
	}
	h := read("off")
	l, _ := h.Link("bond0")
	want := &netstate.OVSBond{Mode: netstate.OVSBalanceSLB, LACP: "off", Ports: []string{"eno1", "eno2"}, Active: "eno1", Disabled: []string{"eno2"}, Basis: 7, Buckets: map[uint8]string{12: "eno1", 200: "eno2"}}
	if diff := cmp.Diff(want, l.OVS); diff != "" || l.Bond != nil || l.Master != "br0" {
		t.Errorf("bond0 %+v (-want +got):\n%s", l, diff)
	}
	if p, _ := h.Link("eno1"); p.Port != nil || p.Master != "bond0" {
		t.Errorf("eno1 %+v", p)
	}
	if ports, _, _ := h.Below("br0"); len(ports) != 1 || ports[0].Name != "eno1" {
		t.Errorf("below br0 %+v", ports)
	}
	for status, lacp := range map[string]string{"negotiated": "active", "configured": "active"} {
		l, _ := read(status).Link("bond0")
		if l.OVS.LACP != lacp || l.OVS.NoPartner != (status == "configured") {
			t.Errorf("%s: %+v", status, l.OVS)
		}
	}
}
