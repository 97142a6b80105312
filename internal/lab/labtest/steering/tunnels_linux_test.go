package steering

import (
	"bytes"
	"crypto/ecdh"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netlink/nl"

	"github.com/linerate/linerate/internal/kernel/rtnl"
	"github.com/linerate/linerate/internal/lab/labtest/floor"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict/tunnel"
)

// tunnelFlows are enough that a hash which tells them apart uses both links: all on one
// by chance are 2 in 2^64.
const (
	tunnelFlows = 64
	perFlow     = 16
)

// outerOf is a host's outer address, insideOf the tunnel's.
func outerOf(host int) netip.Addr  { return netip.AddrFrom4([4]byte{192, 0, 2, byte(host)}) }
func insideOf(host int) netip.Addr { return netip.AddrFrom4([4]byte{172, 16, 0, byte(host)}) }

// TestTunnels: of flows inside a tunnel that leaves by a bond, a hash tells apart what
// tunnel.Seen says: VXLAN's and Geneve's outer ports spread with layer3+4, all flows of
// GRE, IP in IP and WireGuard take one link, and encap3+4 spreads a host's own.
func TestTunnels(t *testing.T) {
	for _, policy := range []netstate.HashPolicy{netstate.Layer34, netstate.Layer23, netstate.Encap23, netstate.Encap34} {
		t.Run(policy.String(), func(t *testing.T) {
			var sides [2]floor.Space
			for i, name := range []string{"tunnel-a", "tunnel-b"} {
				sides[i] = floor.NewSpace(t, name)
			}
			for i := range 2 {
				floor.Must(t, sides[0].Builder.Veth(port(i), sides[1].Builder, port(i)))
			}
			for i, s := range sides {
				floor.Must(t, s.Builder.Bond("bond0", rtnl.BondSpec{Mode: netstate.BalanceXOR, HashPolicy: &policy, Miimon: 20 * time.Millisecond}, []string{port(0), port(1)}))
				floor.Must(t, s.Builder.Address("bond0", netip.PrefixFrom(outerOf(i+1), 24)))
			}
			for _, s := range sides {
				floor.Await(t, s, "bond0", 2, 30*time.Second)
			}
			for _, what := range []netstate.Tunnel{{Kind: "vxlan"}, {Kind: "vxlan", OnePort: true}, {Kind: "geneve"}, {Kind: "gre"}, {Kind: "ipip"}, {Kind: "wireguard"}} {
				t.Run(fmt.Sprintf("%s one port %t", what.Kind, what.OnePort), func(t *testing.T) { throughTunnel(t, sides, policy, what) })
			}
		})
	}
}

// throughTunnel sends the flows and holds the links' counters against Seen, and the
// tunnel as it is read back, with its room, against what was made.
func throughTunnel(t *testing.T, sides [2]floor.Space, policy netstate.HashPolicy, what netstate.Tunnel) {
	for i := range sides {
		err := sides[i].NS.Do(func() error { return makeTunnel(what, i) })
		if errors.Is(err, syscall.EOPNOTSUPP) {
			t.Skipf("this kernel has no %s", what.Kind)
		}
		floor.Must(t, err)
		t.Cleanup(func() { _ = sides[i].Builder.Delete("tun7") })
		floor.Must(t, sides[i].Builder.Address("tun7", netip.PrefixFrom(insideOf(i+1), 24)))
	}
	h := observed(t, sides[0])
	l, _ := h.Link("tun7")
	if l.Tunnel == nil || l.Tunnel.Kind != what.Kind || l.Tunnel.OnePort != what.OnePort {
		t.Fatalf("read back: %+v", l.Tunnel)
	}
	if under, ok := tunnel.Below(h, l); what.Kind != "wireguard" && (!ok || under.Base.Name != "bond0" || under.Narrow != "" || under.Fits != l.MTU) {
		t.Errorf("under it: %+v (%t); the kernel gave it an MTU of %d", under, ok, l.MTU)
	}
	var before, after netstate.Host
	floor.Must(t, sides[0].NS.Do(func() error {
		first, err := net.Dial("udp", netip.AddrPortFrom(insideOf(2), 9).String()) // neighbours, and WireGuard's handshake
		if err != nil {
			return err
		}
		defer first.Close()
		_, _ = first.Write([]byte("first"))
		time.Sleep(500 * time.Millisecond)
		before = read(t)
		for range tunnelFlows {
			c, err := net.Dial("udp", netip.AddrPortFrom(insideOf(2), 9).String())
			if err != nil {
				return err
			}
			for range perFlow {
				_, _ = c.Write(make([]byte, 512)) // refused where nobody listens
			}
			c.Close()
		}
		time.Sleep(200 * time.Millisecond) // WireGuard's workers
		after = read(t)
		return nil
	}))
	var sent []uint64
	for i := range 2 {
		a, _ := before.Link(port(i))
		b, _ := after.Link(port(i))
		sent = append(sent, b.Counters.TxBytes-a.Counters.TxBytes)
	}
	all := sent[0] + sent[1]
	if all < tunnelFlows*perFlow*512 {
		t.Fatalf("the tunnel carries nothing: %d bytes sent", sent)
	}
	sight, why := tunnel.Seen(*l.Tunnel, policy, true)
	apart := sight == tunnel.ByChance
	least := float64(slices.Min(sent)) / float64(all)
	t.Logf("%d bytes by each link; %s", sent, why)
	if apart != (least > 0.15) || !apart && least > 0.03 {
		t.Errorf("%d bytes by each link, the smaller part %.2f; want both in use: %t (%s)", sent, least, apart, why)
	}
}

func observed(t *testing.T, s floor.Space) (h netstate.Host) {
	t.Helper()
	floor.Must(t, s.NS.Do(func() error { h = read(t); return nil }))
	return h
}

// read is the links of the namespace that the thread is in.
func read(t *testing.T) (h netstate.Host) {
	t.Helper()
	handle, err := rtnl.Open()
	floor.Must(t, err)
	defer handle.Close()
	h.Links, err = handle.Links()
	floor.Must(t, err)
	return h
}

// makeTunnel makes tun7 of host 0 or 1 to the other.
func makeTunnel(what netstate.Tunnel, host int) error {
	local, remote := net.IP(outerOf(host+1).AsSlice()), net.IP(outerOf(2-host).AsSlice())
	attrs := netlink.NewLinkAttrs()
	attrs.Name = "tun7"
	var l netlink.Link
	switch what.Kind {
	case "vxlan":
		bond, err := netlink.LinkByName("bond0")
		if err != nil {
			return err
		}
		v := &netlink.Vxlan{LinkAttrs: attrs, VxlanId: 7, VtepDevIndex: bond.Attrs().Index, SrcAddr: local, Group: remote, Port: 4789, Learning: true}
		if what.OnePort {
			v.PortLow, v.PortHigh = 40000, 40001
		}
		l = v
	case "geneve":
		l = &netlink.Geneve{LinkAttrs: attrs, ID: 7, Remote: remote, Dport: 6081}
	case "gre":
		l = &netlink.Gretun{LinkAttrs: attrs, Local: local, Remote: remote, Ttl: 64, PMtuDisc: 1}
	case "ipip":
		l = &netlink.Iptun{LinkAttrs: attrs, Local: local, Remote: remote, Ttl: 64, PMtuDisc: 1}
	case "wireguard":
		l = &netlink.Wireguard{LinkAttrs: attrs}
	}
	if err := netlink.LinkAdd(l); err != nil {
		return err
	}
	if what.Kind == "wireguard" {
		if err := meet(host, remote); err != nil {
			return err
		}
	}
	return netlink.LinkSetUp(l)
}

// Commands and attributes of include/uapi/linux/wireguard.h.
const (
	wgSetDevice, wgVersion                = 1, 1
	wgIfname, wgPrivate, wgListen, wgPeer = 2, 3, 6, 8
	peerKey, peerEndpoint, peerAllowed    = 1, 4, 9
	allowedFamily, allowedIP, allowedMask = 1, 2, 3
	nested, wgPort, genericFamily         = 0x8000, 51820, 16
)

// meet tells tun7 its key and its one peer.
func meet(host int, remote net.IP) error {
	key := func(host int) (*ecdh.PrivateKey, error) {
		return ecdh.X25519().NewPrivateKey(bytes.Repeat([]byte{byte(0x40 + host)}, 32))
	}
	own, err := key(host)
	if err != nil {
		return err
	}
	other, err := key(1 - host)
	if err != nil {
		return err
	}
	family, err := netlink.GenlFamilyGet("wireguard")
	if err != nil {
		return err
	}
	req := nl.NewNetlinkRequest(int(family.ID), syscall.NLM_F_ACK)
	req.AddData(&nl.Genlmsg{Command: wgSetDevice, Version: wgVersion})
	req.AddData(nl.NewRtAttr(wgIfname, append([]byte("tun7"), 0)))
	req.AddData(nl.NewRtAttr(wgPrivate, own.Bytes()))
	req.AddData(nl.NewRtAttr(wgListen, nl.Uint16Attr(wgPort)))
	endpoint := binary.NativeEndian.AppendUint16(nil, syscall.AF_INET)
	endpoint = append(append(binary.BigEndian.AppendUint16(endpoint, wgPort), remote.To4()...), make([]byte, 8)...)
	peers := nl.NewRtAttr(wgPeer|nested, nil)
	peer := peers.AddRtAttr(nested, nil)
	peer.AddRtAttr(peerKey, other.PublicKey().Bytes())
	peer.AddRtAttr(peerEndpoint, endpoint)
	one := peer.AddRtAttr(peerAllowed|nested, nil).AddRtAttr(nested, nil)
	one.AddRtAttr(allowedFamily, nl.Uint16Attr(syscall.AF_INET))
	one.AddRtAttr(allowedIP, make([]byte, 4))
	one.AddRtAttr(allowedMask, []byte{0})
	req.AddData(peers)
	_, err = req.Execute(genericFamily, 0)
	return err
}
