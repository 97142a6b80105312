package rtnl

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"syscall"
	"testing"
	"time"

	"github.com/vishvananda/netlink"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/steer"
)

// burst is how many packets make one flow seen: more than the kernel sends of
// its own accord meanwhile.
const burst = 12

// takes sends a burst and says which leg's counter moved by it.
func takes(h *Handle, legs int, send func() error) (link string, err error) {
	names := make([]string, legs)
	for i := range names {
		names[i] = fmt.Sprintf("leg%d", i)
	}
	before, err := h.Counters(names)
	if err != nil {
		return "", err
	}
	for range burst {
		if err := send(); err != nil {
			return "", fmt.Errorf("send: %w", err)
		}
	}
	for range 20 {
		after, err := h.Counters(names)
		if err != nil {
			return "", err
		}
		for i := range after {
			if after[i].Counters.TxPackets-before[i].Counters.TxPackets >= burst {
				return names[i], nil
			}
		}
		time.Sleep(time.Millisecond)
	}
	return "", fmt.Errorf("no leg sent %d packets", burst)
}

func sockaddr(a netip.Addr, port uint16) syscall.Sockaddr {
	if a.Is4() {
		return &syscall.SockaddrInet4{Addr: a.As4(), Port: int(port)}
	}
	return &syscall.SockaddrInet6{Addr: a.As16(), Port: int(port)}
}

// socketOf is a socket bound as the flow says, and a packet to send: UDP, or a
// raw one for ICMP.
func socketOf(f flow.Frame) (fd int, packet []byte, err error) {
	family, kind, proto := syscall.AF_INET, syscall.SOCK_DGRAM, 0
	if f.Src.Is6() {
		family = syscall.AF_INET6
	}
	packet = []byte{0, 0, 0, 0, 0, 0, 0, 1}
	if f.ICMP != nil {
		kind, proto = syscall.SOCK_RAW, int(f.Proto)
		packet[0] = f.ICMP.Type
		if f.Src.Is4() {
			binary.BigEndian.PutUint16(packet[2:], ^(uint16(f.ICMP.Type)<<8 + 1))
		}
	}
	fd, err = syscall.Socket(family, kind|syscall.SOCK_CLOEXEC, proto)
	if err != nil {
		return -1, nil, err
	}
	if f.Src.Is6() { // an address of a local route is not enough for IPv6
		const freebind = 78
		if err := syscall.SetsockoptInt(fd, syscall.IPPROTO_IPV6, freebind, 1); err != nil {
			syscall.Close(fd)
			return -1, nil, err
		}
	}
	if err = syscall.Bind(fd, sockaddr(f.Src, f.Sport)); err != nil {
		syscall.Close(fd)
	}
	return fd, packet, err
}

// TestKernelECMPPackets sends flows of sockets and sees which leg they leave
// by. That is the truth, which both what is computed and what the kernel
// answers must meet; without a seed only the answer can.
func TestKernelECMPPackets(t *testing.T) {
	inNamespaceWithLegs(t, []int{1, 2, 3}, func() error {
		h, err := Open()
		if err != nil {
			return err
		}
		defer h.Close()
		r := rand.New(rand.NewPCG(7, 8))
		for _, tt := range []struct {
			policy steer.MultipathPolicy
			fields steer.HashFields
		}{{policy: steer.MultipathL3}, {policy: steer.MultipathL4}, {policy: steer.MultipathInner}, {steer.MultipathFields, 0x37}, {steer.MultipathFields, 0x10}} {
			for _, seed := range []uint32{0, r.Uint32() | 1} {
				if seed != 0 && noSeed() {
					continue
				}
				if err := setHash(tt.policy, tt.fields, seed); err != nil {
					return err
				}
				for _, ipv6 := range []bool{false, true} {
					if err := sendAndSee(t, h, r, ipv6); err != nil {
						return err
					}
				}
			}
		}
		return nil
	})
}

// sendAndSee sends random flows under the host's present hash.
func sendAndSee(t *testing.T, h *Handle, r *rand.Rand, ipv6 bool) error {
	const legsCount, flows = 3, 40
	m, err := observedRoute(ipv6)
	if err != nil {
		return err
	}
	var computed, answered, answers, doubtful int
	for range flows {
		f := randomFlow(r, ipv6, legsCount)
		asked := f.Tuple
		if f.ICMP != nil {
			f.Sport, f.Dport = 0, 0
		} else {
			f.Proto, f.Sport = flow.UDP, f.Sport|1024
			asked = f.Tuple
		}
		link, err := leavesBy(h, legsCount, f)
		if err != nil {
			return fmt.Errorf("%s: %w", f.Tuple, err)
		}
		answer, err := h.RouteFor(asked)
		if err != nil {
			return err
		}
		switch doubt := !ipv6 && (m.Policy == steer.MultipathFields || m.Policy == steer.MultipathL4 && f.ICMP != nil); {
		case doubt && answer.Link != link:
			doubtful++
		case doubt:
		case answer.Link == link:
			answers, answered = answers+1, answered+1
		default:
			answers++
			t.Errorf("%s %s: the kernel says %+v, left by %s", m.Name(), asked, answer, link)
		}
		switch p := m.Place(f); {
		case p.Known && p.Link == link:
			computed++
		case p.Known || m.Seed != 0:
			t.Errorf("%s %s: placed %+v, left by %s", m.Name(), f.Tuple, p, link)
		}
	}
	what := fmt.Sprintf("packets of sockets, %s %s seed %d", familyName(ipv6), m.Name(), m.Seed)
	if m.Seed != 0 {
		t.Logf("%s: computed %d of %d", what, computed, flows)
	}
	t.Logf("%s: the kernel's answer holds for %d of %d; of the %d in doubt it does not for %d", what, answered, answers, flows-answers, doubtful)
	return nil
}

// leavesBy is the leg that a socket's flow leaves by.
func leavesBy(h *Handle, legs int, f flow.Frame) (link string, err error) {
	fd, packet, err := socketOf(f)
	if err != nil {
		return "", fmt.Errorf("open socket: %w", err)
	}
	defer syscall.Close(fd)
	port := f.Dport
	if f.ICMP != nil && f.Src.Is6() {
		port = uint16(f.Proto) // a raw IPv6 socket wants its protocol there, or none
	}
	return takes(h, legs, func() error { return syscall.Sendto(fd, packet, 0, sockaddr(f.Dst, port)) })
}

// TestKernelECMPForwarded sends packets in by a link and sees which leg the
// kernel forwards them to: plain ones, fragments, tunnels and ICMP errors.
func TestKernelECMPForwarded(t *testing.T) {
	const legsCount, packets = 3, 60
	inNamespaceWithLegs(t, []int{1, 2, 3}, func() error {
		if noSeed() {
			t.Skipf("this kernel has no %s", seedKey)
		}
		in, err := inlet()
		if err != nil {
			return err
		}
		defer syscall.Close(in.fd)
		h, err := Open()
		if err != nil {
			return err
		}
		defer h.Close()
		r := rand.New(rand.NewPCG(9, 10))
		for _, tt := range []struct {
			policy steer.MultipathPolicy
			fields steer.HashFields
		}{{policy: steer.MultipathL3}, {policy: steer.MultipathInner}, {steer.MultipathFields, 0x37}, {steer.MultipathFields, 0xfff}, {steer.MultipathFields, 0xfc0}} {
			if err := setHash(tt.policy, tt.fields, r.Uint32()|1); err != nil {
				return err
			}
			for _, ipv6 := range []bool{false, true} {
				m, err := observedRoute(ipv6)
				if err != nil {
					return err
				}
				equal := 0
				for range packets {
					f := transit(r, ipv6, true)
					link, err := takes(h, legsCount, func() error { return in.send(f) })
					if err != nil {
						return fmt.Errorf("%s %+v: %w", m.Name(), f, err)
					}
					if p := m.Place(f); p.Known && p.Link == link {
						equal++
					} else {
						t.Errorf("%s %+v: placed %+v, left by %s", m.Name(), f, p, link)
					}
				}
				t.Logf("forwarded packets, %s %s: %d of %d", familyName(ipv6), m.Name(), equal, packets)
			}
		}
		return nil
	})
}

// transit is a random packet that is none of this host's own.
func transit(r *rand.Rand, ipv6, outer bool) flow.Frame {
	from := map[bool]netip.Prefix{false: netip.MustParsePrefix("11.0.0.0/8"), true: netip.MustParsePrefix("2001:abcd::/32")}
	f := flow.Frame{Forwarded: true, Tuple: flow.Tuple{Proto: flow.UDP, Src: randomIn(r, from[ipv6]), Dst: randomIn(r, farPrefix[ipv6]),
		Sport: uint16(r.IntN(65535) + 1), Dport: uint16(r.IntN(65535) + 1)}}
	if ipv6 {
		f.FlowLabel = r.Uint32N(1<<20-1) + 1
	}
	kind := r.IntN(5)
	if !outer && kind > 0 { // what is inside is plain
		return f
	}
	switch kind {
	case 0:
		f.Proto = flow.TCP
	case 1:
		inside := transit(r, r.IntN(2) == 0, false)
		f.Proto, f.Inner, f.Sport, f.Dport = 4, &inside, 0, 0
		if inside.Src.Is6() {
			f.Proto = 41
		}
	case 2:
		inside := transit(r, r.IntN(2) == 0, false)
		f.Proto, f.Inner, f.Sport, f.Dport = 47, &inside, 0, 0
	case 3:
		inside := transit(r, ipv6, false)
		f.Proto, f.ICMP, f.Inner, f.Sport, f.Dport = flow.ICMP, &flow.ICMPHeader{Type: 11}, &inside, 0, 0
		if ipv6 {
			f.Proto, f.ICMP = flow.ICMPv6, &flow.ICMPHeader{Type: 3}
		}
	case 4:
		f.Fragment = !ipv6
	}
	return f
}

// inletPort is a packet socket on the far end of a link into the host.
type inletPort struct {
	fd    int
	to    syscall.SockaddrLinklayer
	frame [12]byte // destination and source MAC address
}

func inlet() (in inletPort, err error) {
	if err := addVeth("in0", "in1"); err != nil {
		return in, err
	}
	for key, value := range map[string]uint64{"net.ipv4.ip_forward": 1, "net.ipv6.conf.all.forwarding": 1,
		"net.ipv4.conf.all.rp_filter": 0, "net.ipv4.conf.in0.rp_filter": 0} {
		if err := setSysctl(key, value); err != nil {
			return in, err
		}
	}
	host, err := netlink.LinkByName("in0")
	if err != nil {
		return in, err
	}
	far, err := netlink.LinkByName("in1")
	if err != nil {
		return in, err
	}
	copy(in.frame[:], host.Attrs().HardwareAddr)
	copy(in.frame[6:], far.Attrs().HardwareAddr)
	in.to.Ifindex = far.Attrs().Index
	in.fd, err = syscall.Socket(syscall.AF_PACKET, syscall.SOCK_RAW|syscall.SOCK_CLOEXEC, 0)
	return in, err
}

func (in inletPort) send(f flow.Frame) error {
	packet := append(in.frame[:len(in.frame):len(in.frame)], 0x08, 0x00)
	if f.Src.Is6() {
		packet[12], packet[13] = 0x86, 0xdd
	}
	return syscall.Sendto(in.fd, append(packet, packetOf(f)...), 0, &in.to)
}

// packetOf is the frame's IP packet.
func packetOf(f flow.Frame) []byte {
	var payload []byte
	switch {
	case f.ICMP != nil:
		payload = append([]byte{f.ICMP.Type, f.ICMP.Code, 0, 0, 0, 0, 0, 0}, packetOf(*f.Inner)...)
	case f.Proto == 47:
		payload = append([]byte{0, 0, 0x08, 0x00}, packetOf(*f.Inner)...)
		if f.Inner.Src.Is6() {
			payload[2], payload[3] = 0x86, 0xdd
		}
	case f.Inner != nil:
		payload = packetOf(*f.Inner)
	default:
		payload = make([]byte, 20) // a TCP header, or one of UDP and twelve bytes
		binary.BigEndian.PutUint16(payload, f.Sport)
		binary.BigEndian.PutUint16(payload[2:], f.Dport)
		if f.Proto == flow.TCP {
			payload[12] = 5 << 4
		} else {
			payload[5] = 20
		}
	}
	if f.Src.Is6() {
		h := make([]byte, 40, 40+len(payload))
		binary.BigEndian.PutUint32(h, 6<<28|f.FlowLabel)
		binary.BigEndian.PutUint16(h[4:], uint16(len(payload)))
		h[6], h[7] = byte(f.Proto), 64
		copy(h[8:], f.Src.AsSlice())
		copy(h[24:], f.Dst.AsSlice())
		return append(h, payload...)
	}
	h := make([]byte, 20, 20+len(payload))
	h[0], h[8], h[9] = 0x45, 64, byte(f.Proto)
	binary.BigEndian.PutUint16(h[2:], uint16(20+len(payload)))
	if f.Fragment {
		h[6], h[7] = 0, 100 // an offset: no first fragment
	}
	copy(h[12:], f.Src.AsSlice())
	copy(h[16:], f.Dst.AsSlice())
	var sum uint32
	for i := 0; i < len(h); i += 2 {
		sum += uint32(binary.BigEndian.Uint16(h[i:]))
	}
	binary.BigEndian.PutUint16(h[10:], ^uint16(sum+sum>>16))
	return append(h, payload...)
}
