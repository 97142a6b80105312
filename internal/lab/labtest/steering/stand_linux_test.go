package steering

import (
	"encoding/binary"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/kernel/rtnl"
	"github.com/linerate/linerate/internal/lab/labtest/floor"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/steer"
)

// stand is two namespaces with cables between them; a bond is made of the near
// ends, and the far ends are watched.
type stand struct {
	near, far floor.Space
	handle    *rtnl.Handle // reads the near side
	out, eyes int          // packet sockets: sends near, sees all of far
	ends      map[int]int  // cable by ifindex of its far end
	sent      uint32
}

// mostLinks is how many cables a stand has.
const mostLinks = 8

func port(i int) string { return "p" + strconv.Itoa(i) }
func end(i int) string  { return "q" + strconv.Itoa(i) }

func newStand(t *testing.T) *stand {
	t.Helper()
	s := &stand{near: floor.NewSpace(t, "steer-near"), far: floor.NewSpace(t, "steer-far"), ends: map[int]int{}}
	for i := range mostLinks {
		floor.Must(t, s.near.Builder.Veth(port(i), s.far.Builder, end(i)))
		floor.Must(t, s.far.Builder.Up(end(i)))
	}
	floor.Must(t, s.near.NS.Do(func() (err error) {
		if s.handle, err = rtnl.Open(); err != nil {
			return err
		}
		s.out, err = packetSocket(0)
		return err
	}))
	floor.Must(t, s.far.NS.Do(func() (err error) {
		if s.eyes, err = packetSocket(syscall.ETH_P_ALL); err != nil {
			return err
		}
		h, err := rtnl.Open()
		if err != nil {
			return err
		}
		defer h.Close()
		links, err := h.Links()
		for _, l := range links {
			if i, err := strconv.Atoi(strings.TrimPrefix(l.Name, "q")); err == nil {
				s.ends[l.Index] = i
			}
		}
		return err
	}))
	patience := syscall.Timeval{Sec: 3}
	floor.Must(t, syscall.SetsockoptTimeval(s.eyes, syscall.SOL_SOCKET, syscall.SO_RCVTIMEO, &patience))
	floor.Must(t, syscall.SetsockoptInt(s.eyes, syscall.SOL_SOCKET, syscall.SO_RCVBUFFORCE, 4<<20))
	t.Cleanup(func() {
		s.handle.Close()
		syscall.Close(s.out)
		syscall.Close(s.eyes)
	})
	return s
}

func packetSocket(protocol uint16) (int, error) {
	return syscall.Socket(syscall.AF_PACKET, syscall.SOCK_RAW|syscall.SOCK_CLOEXEC, int(swapped(protocol)))
}

// swapped is a number in network byte order.
func swapped(v uint16) uint16 {
	return binary.NativeEndian.Uint16(binary.BigEndian.AppendUint16(nil, v))
}

// state is the near side as steer reads it.
func (s *stand) state(t *testing.T) netstate.Host {
	t.Helper()
	var links []netstate.Link
	floor.Must(t, s.near.NS.Do(func() (err error) { // the order of slaves is in the thread's /proc
		links, err = s.handle.Links()
		return err
	}))
	return netstate.Host{Links: links, Kernel: netstate.Kernel{
		OS: "linux", Release: release(t), BigEndian: binary.NativeEndian.Uint16([]byte{0, 1}) == 1,
	}}
}

func release(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("/proc/sys/kernel/osrelease")
	floor.Must(t, err)
	return strings.TrimSpace(string(text))
}

// bond makes bond0 of the ports, in that order, and waits for all of them; it
// goes when the test does.
func (s *stand) bond(t *testing.T, spec rtnl.BondSpec, ports []string) steer.Bundle {
	t.Helper()
	spec.Miimon = 20e6
	t.Cleanup(func() { _ = s.near.Builder.Delete("bond0") })
	floor.Must(t, s.near.Builder.Bond("bond0", spec, ports))
	return s.await(t, ports)
}

// await waits until the bond uses just these ports, and is what steer then
// reads.
func (s *stand) await(t *testing.T, want []string) steer.Bundle {
	t.Helper()
	var usable []string
	for range 500 {
		h := s.state(t)
		if usable = h.UsablePorts("bond0"); slices.Equal(usable, want) {
			floor.Pause() // the driver renews its array after it says so
			b, err := steer.BundleOf(h, "bond0")
			floor.Must(t, err)
			return b
		}
		floor.Pause()
	}
	t.Fatalf("the bond uses %v, want %v", usable, want)
	return steer.Bundle{}
}

func (s *stand) index(t *testing.T, name string) int {
	t.Helper()
	h := s.state(t)
	l, ok := h.Link(name)
	if !ok {
		t.Fatalf("no link %s", name)
	}
	return l.Index
}

// parcel is a frame and the link to hand it to.
type parcel struct {
	frame flow.Frame
	wire  []byte
	via   int
}

// mark ends every frame sent, before its number.
var mark = [4]byte{0xb0, 0x2d, 0x1e, 0x5a}

// send sends the frames and says for each on which cables it arrived, and how
// often; copies is how many are waited for.
func (s *stand) send(t *testing.T, parcels []parcel, copies int) []map[string]int {
	t.Helper()
	const burst = 64 // what sockets and backlogs hold without loss
	seen := make([]map[string]int, len(parcels))
	for first := 0; first < len(parcels); first += burst {
		last := min(first+burst, len(parcels))
		base := s.sent
		for _, p := range parcels[first:last] {
			s.post(t, p)
		}
		s.collect(t, base, seen[first:last], copies)
	}
	return seen
}

func (s *stand) post(t *testing.T, p parcel) {
	t.Helper()
	wire := binary.BigEndian.AppendUint32(append(slices.Clip(p.wire), mark[:]...), s.sent)
	s.sent++
	protocol := binary.BigEndian.Uint16(wire[12:])
	if protocol < 0x600 {
		protocol = syscall.ETH_P_802_2 // a length
	}
	to := &syscall.SockaddrLinklayer{Protocol: swapped(protocol), Ifindex: p.via, Halen: 6}
	copy(to.Addr[:], wire[:6])
	if err := syscall.Sendto(s.out, wire, 0, to); err != nil {
		t.Fatalf("send %v: %v", p.frame, err)
	}
}

// collect reads until so many copies of every frame from base on have come.
func (s *stand) collect(t *testing.T, base uint32, seen []map[string]int, copies int) {
	t.Helper()
	buf := make([]byte, 2048)
	for i := range seen {
		seen[i] = map[string]int{}
	}
	missing := len(seen) * copies
	for missing > 0 {
		n, from, err := syscall.Recvfrom(s.eyes, buf, 0)
		if err == syscall.EINTR {
			continue
		}
		if err != nil {
			t.Fatalf("%d of %d frames did not arrive: %v", missing, len(seen)*copies, err)
		}
		cable, ours := s.ends[from.(*syscall.SockaddrLinklayer).Ifindex]
		if i := numbered(buf[:n], base, len(seen)); i >= 0 && ours { // not a far bond's second look at it
			missing--
			seen[i][port(cable)]++
		}
	}
}

// numbered is which of n frames from base on this is; -1 for another's.
func numbered(frame []byte, base uint32, n int) int {
	if len(frame) < 8 || [4]byte(frame[len(frame)-8:]) != mark {
		return -1
	}
	i := int(binary.BigEndian.Uint32(frame[len(frame)-4:]) - base)
	if i >= n {
		return -1
	}
	return i
}

// onlyLink is the one cable that a frame arrived on, once.
func onlyLink(seen map[string]int) string {
	if len(seen) == 1 {
		for name, n := range seen {
			if n == 1 {
				return name
			}
		}
	}
	return fmt.Sprint(seen)
}
