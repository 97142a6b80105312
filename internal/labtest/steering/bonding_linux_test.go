package steering

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"os"
	"syscall"
	"testing"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/kernel/rtnl"
	"github.com/linerate/linerate/internal/labtest/stage"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/steer"
)

// flowsPerCase is how many random flows each policy, link count and family
// is checked with.
const flowsPerCase = 500

// TestSteerAgreesWithKernel sends one frame of each random flow through a
// bond and asks the kernel's per-slave counters which link it took.
func TestSteerAgreesWithKernel(t *testing.T) {
	for _, policy := range []netstate.HashPolicy{netstate.Layer2, netstate.Layer23, netstate.Layer34, netstate.VLANSrcMAC} {
		for _, links := range []int{2, 3, 4, 5} {
			t.Run(fmt.Sprintf("%s/%d links", policy, links), func(t *testing.T) {
				b := newTestBond(t, policy, links)
				for _, v4 := range []bool{true, false} {
					random := rand.New(rand.NewPCG(uint64(links), uint64(policy)))
					wrong := 0
					for range flowsPerCase {
						f := randomFrame(random, v4, policy)
						want := b.bundle.Place(f)
						got := b.send(t, f, v4)
						if !want.Known || want.Link != got {
							if wrong++; wrong <= 5 {
								t.Errorf("%v: steer says %q (%s), the kernel sent it by %q", f, want.Link, want.Why, got)
							}
						}
					}
					t.Logf("%s, %d links, IPv4 %v: %d of %d flows as predicted", policy, links, v4, flowsPerCase-wrong, flowsPerCase)
				}
			})
		}
	}
}

// testBond is a balance-xor bond in a namespace of its own, whose cables end
// in a second one.
type testBond struct {
	handle  *rtnl.Handle
	bundle  steer.Bundle
	ports   []string
	socket  int
	ifindex int
	before  []uint64
}

func newTestBond(t *testing.T, policy netstate.HashPolicy, links int) *testBond {
	t.Helper()
	near, far := stage.NewSpace(t, "steer-near"), stage.NewSpace(t, "steer-far")
	b := &testBond{}
	for i := range links {
		port, end := fmt.Sprintf("p%d", i), fmt.Sprintf("q%d", i)
		stage.Must(t, near.Builder.Veth(port, far.Builder, end))
		stage.Must(t, far.Builder.Up(end))
		b.ports = append(b.ports, port)
	}
	stage.Must(t, near.Builder.Bond("bond0", rtnl.BondSpec{Mode: netstate.BalanceXOR, HashPolicy: &policy, Miimon: 100e6}, b.ports))
	stage.Must(t, near.NS.Do(func() (err error) {
		if b.handle, err = rtnl.Open(); err != nil {
			return err
		}
		if b.socket, err = syscall.Socket(syscall.AF_PACKET, syscall.SOCK_RAW|syscall.SOCK_CLOEXEC, 0); err != nil {
			return err
		}
		return b.awaitPorts(links)
	}))
	t.Cleanup(func() {
		b.handle.Close()
		syscall.Close(b.socket)
	})
	b.before = b.counts(t)
	return b
}

// awaitPorts waits until the bond has seen all its links come up.
func (b *testBond) awaitPorts(links int) error {
	for range 200 {
		all, err := b.handle.Links()
		if err != nil {
			return err
		}
		h := netstate.Host{Links: all, Kernel: netstate.Kernel{OS: "linux", Release: release()}}
		if usable := h.UsablePorts("bond0"); len(usable) == links {
			bond, _ := h.Link("bond0")
			b.ifindex = bond.Index
			b.bundle, err = steer.BundleOf(h, "bond0")
			return err
		}
		stage.Pause()
	}
	return fmt.Errorf("the bond's %d links did not come up", links)
}

func release() string {
	text, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		return ""
	}
	return string(text[:len(text)-1])
}

func (b *testBond) counts(t *testing.T) []uint64 {
	t.Helper()
	all, err := b.handle.Counters(b.ports)
	if err != nil {
		t.Fatal(err)
	}
	out := make([]uint64, len(all))
	for i, c := range all {
		out[i] = c.Counters.TxPackets
	}
	return out
}

// send sends the frame until exactly one port has moved by one: a stray frame
// of the kernel's own makes a reading void, not wrong.
func (b *testBond) send(t *testing.T, f flow.Frame, v4 bool) string {
	t.Helper()
	wire, protocol := encode(f, v4)
	for range 10 {
		to := &syscall.SockaddrLinklayer{Protocol: protocol<<8 | protocol>>8, Ifindex: b.ifindex, Halen: 6}
		copy(to.Addr[:], wire[:6])
		if err := syscall.Sendto(b.socket, wire, 0, to); err != nil {
			t.Fatal(err)
		}
		now := b.counts(t)
		moved, at := uint64(0), ""
		for i := range now {
			if now[i] != b.before[i] {
				moved += now[i] - b.before[i]
				at = b.ports[i]
			}
		}
		b.before = now
		if moved == 1 {
			return at
		}
	}
	t.Fatal("the counters never moved by one frame alone")
	return ""
}

func randomFrame(r *rand.Rand, v4 bool, policy netstate.HashPolicy) flow.Frame {
	f := flow.Frame{Tuple: flow.Tuple{Proto: flow.UDP, Sport: uint16(r.Uint32()), Dport: uint16(r.Uint32())}}
	if r.IntN(2) == 0 {
		f.Proto = flow.TCP
	}
	for i := range f.SrcMAC {
		f.SrcMAC[i], f.DstMAC[i] = byte(r.Uint32()), byte(r.Uint32())
	}
	f.SrcMAC[0], f.DstMAC[0] = 2, 2 // locally administered, unicast
	if v4 {
		f.Src, f.Dst = randomV4(r), randomV4(r)
		f.Fragment = r.IntN(10) == 0
		return f
	}
	f.Src, f.Dst = randomV6(r), randomV6(r)
	return f
}

func randomV4(r *rand.Rand) netip.Addr {
	var a [4]byte
	binary.BigEndian.PutUint32(a[:], r.Uint32())
	a[0] = 10
	return netip.AddrFrom4(a)
}

func randomV6(r *rand.Rand) netip.Addr {
	var a [16]byte
	binary.BigEndian.PutUint64(a[:], r.Uint64())
	binary.BigEndian.PutUint64(a[8:], r.Uint64())
	a[0], a[1] = 0xfd, 0
	return netip.AddrFrom16(a)
}

// Ethertypes (IEEE 802 numbers).
const (
	etherIPv4 = 0x0800
	etherIPv6 = 0x86dd
)

// encode is the frame on the wire with an empty payload; checksums are left
// out, since nothing receives it.
func encode(f flow.Frame, v4 bool) (wire []byte, protocol uint16) {
	wire = append(append(wire, f.DstMAC[:]...), f.SrcMAC[:]...)
	transport := make([]byte, 20)
	binary.BigEndian.PutUint16(transport, f.Sport)
	binary.BigEndian.PutUint16(transport[2:], f.Dport)
	transport[12] = 5 << 4
	if v4 {
		ip := make([]byte, 20)
		ip[0], ip[8], ip[9] = 0x45, 64, byte(f.Proto)
		binary.BigEndian.PutUint16(ip[2:], uint16(len(ip)+len(transport)))
		if f.Fragment {
			ip[6] = 0x20 // more fragments
		}
		src, dst := f.Src.As4(), f.Dst.As4()
		copy(ip[12:], src[:])
		copy(ip[16:], dst[:])
		wire = binary.BigEndian.AppendUint16(wire, etherIPv4)
		return append(append(wire, ip...), transport...), etherIPv4
	}
	ip := make([]byte, 40)
	ip[0], ip[6], ip[7] = 0x60, byte(f.Proto), 64
	binary.BigEndian.PutUint16(ip[4:], uint16(len(transport)))
	src, dst := f.Src.As16(), f.Dst.As16()
	copy(ip[8:], src[:])
	copy(ip[24:], dst[:])
	wire = binary.BigEndian.AppendUint16(wire, etherIPv6)
	return append(append(wire, ip...), transport...), etherIPv6
}
