package probing

import (
	"encoding/binary"
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/lab/labtest/floor"
)

// trunk is a host's ports at a switch, and which of them a flow to the host takes.
type trunk struct {
	ports []string
	link  func(flow.Tuple) int
}

// carried counts what a switch switched of each flow: its payload in bytes, by the port it came in by and
// the port it left by. Acknowledgements have none.
type carried struct {
	mu    sync.Mutex
	bytes map[way]uint64
}

// way is a flow's through the switch.
type way struct {
	flow    flow.Tuple
	in, out string
}

// since are the ways that took more payload than that since they were last asked for.
func (c *carried) since(least uint64) []way {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []way
	for w, bytes := range c.bytes {
		if bytes > least {
			all = append(all, w)
		}
	}
	clear(c.bytes)
	return all
}

func (c *carried) add(w way, payload int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.bytes[w] += uint64(max(payload, 0))
}

// port is one that the switch listens and sends at.
type port struct {
	name  string
	fd    int
	trunk int
}

// frameHeader is struct virtio_net_hdr, which carries what the kernel knows of a frame that
// is larger than the MTU or has no check sum yet (packet(7), PACKET_VNET_HDR).
const frameHeader = 10

// hashSwitch switches between two trunks in user space until the test ends: what comes in by
// one leaves by the link of the other that its hash says, what is no TCP or UDP by the first.
// It counts what it switched.
func hashSwitch(t *testing.T, space floor.Space, trunks [2]trunk) *carried {
	t.Helper()
	counts := &carried{bytes: make(map[way]uint64)}
	var ports []port
	var first [2]int
	floor.Must(t, space.NS.Do(func() error {
		for i, tr := range trunks {
			first[i] = len(ports)
			for _, name := range tr.ports {
				l, err := net.InterfaceByName(name)
				if err != nil {
					return err
				}
				all := binary.NativeEndian.Uint16(binary.BigEndian.AppendUint16(nil, unix.ETH_P_ALL))
				fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
				if err != nil {
					return err
				}
				ports = append(ports, port{name, fd, i})
				for option, value := range map[int]int{unix.PACKET_VNET_HDR: 1, unix.PACKET_IGNORE_OUTGOING: 1} {
					if err := unix.SetsockoptInt(fd, unix.SOL_PACKET, option, value); err != nil {
						return err
					}
				}
				if err := unix.Bind(fd, &unix.SockaddrLinklayer{Protocol: all, Ifindex: l.Index}); err != nil {
					return err
				}
				member := unix.PacketMreq{Ifindex: int32(l.Index), Type: unix.PACKET_MR_PROMISC}
				if err := unix.SetsockoptPacketMreq(fd, unix.SOL_PACKET, unix.PACKET_ADD_MEMBERSHIP, &member); err != nil {
					return err
				}
			}
		}
		return nil
	}))
	var over atomic.Bool
	done := make(chan struct{})
	t.Cleanup(func() {
		over.Store(true)
		<-done
		for _, p := range ports {
			_ = unix.Close(p.fd)
		}
	})
	go func() {
		defer close(done)
		wait := make([]unix.PollFd, len(ports))
		for i, p := range ports {
			wait[i] = unix.PollFd{Fd: int32(p.fd), Events: unix.POLLIN}
		}
		buf := make([]byte, 1<<17)
		for !over.Load() {
			if n, err := unix.Poll(wait, 100); err != nil || n == 0 {
				continue
			}
			for i, p := range ports {
				for wait[i].Revents != 0 {
					n, err := unix.Read(p.fd, buf)
					if err != nil || n <= frameHeader {
						break
					}
					far, at := 1-p.trunk, 0
					if tuple, payload, ok := tupleOf(buf[frameHeader:n]); ok {
						at = trunks[far].link(tuple)
						counts.add(way{tuple, p.name, trunks[far].ports[at]}, payload)
					}
					_, _ = unix.Write(ports[first[far]+at].fd, buf[:n]) // what a full queue does not take is lost, as at any switch
				}
			}
		}
	}()
	return counts
}

// tupleOf reads a frame's flow, and how much payload it has; false where it is no TCP or UDP of IPv4.
func tupleOf(b []byte) (t flow.Tuple, payload int, ok bool) {
	const ethernet = 14
	if len(b) < ethernet+20 || binary.BigEndian.Uint16(b[12:]) != unix.ETH_P_IP {
		return t, 0, false
	}
	ip := b[ethernet:]
	ports := int(ip[0]&15) * 4
	header := 8
	switch t.Proto = flow.Proto(ip[9]); {
	case t.Proto == flow.TCP && len(ip) >= ports+20:
		header = int(ip[ports+12]>>4) * 4
	case t.Proto != flow.UDP || len(ip) < ports+header:
		return t, 0, false
	}
	t.Src, t.Dst = netip.AddrFrom4([4]byte(ip[12:16])), netip.AddrFrom4([4]byte(ip[16:20]))
	t.Sport, t.Dport = binary.BigEndian.Uint16(ip[ports:]), binary.BigEndian.Uint16(ip[ports+2:])
	return t, int(binary.BigEndian.Uint16(ip[2:])) - ports - header, true
}
