package sys

import (
	"encoding/binary"
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// DatagramSender hands many datagrams to a connected socket in one call
// (sendmmsg(2)). Its slots keep what they were given until given another.
type DatagramSender struct {
	messages []unix.Mmsghdr
	parts    []unix.Iovec
}

// NewDatagramSender has room for that many messages a call.
func NewDatagramSender(slots int) *DatagramSender {
	d := &DatagramSender{messages: make([]unix.Mmsghdr, slots), parts: make([]unix.Iovec, slots)}
	for i := range d.messages {
		d.messages[i].Hdr.Iov = &d.parts[i]
		d.messages[i].Hdr.SetIovlen(1)
	}
	return d
}

// Slots is how many messages one call may send.
func (d *DatagramSender) Slots() int { return len(d.messages) }

// Set has a slot send buf, which must not be empty and must stay unchanged
// until Send returns.
func (d *DatagramSender) Set(slot int, buf []byte) {
	d.parts[slot].Base = unsafe.SliceData(buf)
	d.parts[slot].SetLen(len(buf))
}

// Send sends the slots from one to before another and returns how many of
// them the kernel took: fewer only when the next one met an error, which the
// next call returns. It blocks while the socket's send buffer is full.
func (d *DatagramSender) Send(fd, from, to int) (int, error) {
	part := d.messages[from:to]
	for {
		sent, _, errno := unix.Syscall6(unix.SYS_SENDMMSG, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(part))), uintptr(len(part)), unix.MSG_NOSIGNAL, 0, 0)
		switch errno {
		case 0:
			return int(sent), nil
		case unix.EINTR:
			continue
		}
		return 0, errno
	}
}

// DatagramReceiver takes many datagrams from a socket in one call
// (recvmmsg(2)), several of one size in one buffer where the kernel joined
// them (UDP_GRO).
type DatagramReceiver struct {
	messages []unix.Mmsghdr
	parts    []unix.Iovec
	buffers  [][]byte
	controls [][]byte
	used     int
}

// controlRoom is one control message of an int.
const controlRoom = 32

// NewDatagramReceiver has room for that many messages a call, each of at most
// size bytes; what is longer is cut.
func NewDatagramReceiver(slots, size int) *DatagramReceiver {
	d := &DatagramReceiver{messages: make([]unix.Mmsghdr, slots), parts: make([]unix.Iovec, slots)}
	room, control := make([]byte, slots*size), make([]byte, slots*controlRoom)
	for i := range d.messages {
		d.buffers = append(d.buffers, room[i*size:(i+1)*size:(i+1)*size])
		d.controls = append(d.controls, control[i*controlRoom:(i+1)*controlRoom])
		d.parts[i].Base = unsafe.SliceData(d.buffers[i])
		d.parts[i].SetLen(size)
		d.messages[i].Hdr.Iov = &d.parts[i]
		d.messages[i].Hdr.SetIovlen(1)
		d.messages[i].Hdr.Control = unsafe.SliceData(d.controls[i])
	}
	d.used = slots
	return d
}

// Receive waits for one message and takes what else is there. Zero messages
// and no error is a wait that the socket's SO_RCVTIMEO ended.
func (d *DatagramReceiver) Receive(fd int) (int, error) {
	for i := range d.used { // what the last call overwrote
		d.messages[i].Hdr.SetControllen(controlRoom)
	}
	d.used = 0
	n, _, errno := unix.Syscall6(unix.SYS_RECVMMSG, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(d.messages))), uintptr(len(d.messages)), unix.MSG_WAITFORONE, 0, 0)
	switch errno {
	case 0:
		d.used = int(n)
		return d.used, nil
	case unix.EAGAIN, unix.EINTR:
		return 0, nil
	}
	return 0, errno
}

// Message is the i-th message of the last call: its bytes, and the length of
// each datagram in it (the last may be shorter).
func (d *DatagramReceiver) Message(i int) (buf []byte, segment int) {
	m := &d.messages[i]
	n := min(int(m.Len), len(d.buffers[i]))
	segment = n
	if joined := joinedSize(d.controls[i][:min(uint64(m.Hdr.Controllen), controlRoom)]); joined > 0 {
		segment = joined
	}
	return d.buffers[i][:n], segment
}

// joinedSize reads UDP_GRO's control message; zero when there is none.
func joinedSize(control []byte) int {
	const head = unix.SizeofCmsghdr
	if len(control) < head+4 {
		return 0
	}
	h := (*unix.Cmsghdr)(unsafe.Pointer(unsafe.SliceData(control)))
	if h.Level != unix.SOL_UDP || h.Type != unix.UDP_GRO || int(h.Len) < head+4 {
		return 0
	}
	return int(binary.NativeEndian.Uint32(control[head:]))
}

// SetSegment has the kernel, or the card, cut what a UDP socket sends into
// datagrams of that payload (UDP_SEGMENT, Linux 4.18). errors.ErrUnsupported
// where it cannot; zero ends it.
func SetSegment(fd, payload int) error {
	return udpOption(fd, unix.UDP_SEGMENT, payload, "UDP_SEGMENT")
}

// SetGRO has the kernel hand over several datagrams of one size as one message
// (UDP_GRO, Linux 5.0). errors.ErrUnsupported where it cannot.
func SetGRO(fd int, on bool) error {
	v := 0
	if on {
		v = 1
	}
	return udpOption(fd, unix.UDP_GRO, v, "UDP_GRO")
}

func udpOption(fd, option, value int, name string) error {
	err := unix.SetsockoptInt(fd, unix.SOL_UDP, option, value)
	if errors.Is(err, unix.ENOPROTOOPT) {
		return fmt.Errorf("set %s: %w", name, errors.ErrUnsupported)
	}
	if err != nil {
		return fmt.Errorf("set %s: %w", name, err)
	}
	return nil
}

// PathMTU is what a connected socket's path takes, IP header included
// (IP_MTU, IPV6_MTU).
func PathMTU(fd int, ipv6 bool) (int, error) {
	level, option := unix.IPPROTO_IP, unix.IP_MTU
	if ipv6 {
		level, option = unix.IPPROTO_IPV6, unix.IPV6_MTU
	}
	mtu, err := unix.GetsockoptInt(fd, level, option)
	if err != nil {
		return 0, fmt.Errorf("read path MTU: %w", err)
	}
	return mtu, nil
}

// SetDontFragment says whether a socket's packets may be fragmented: with
// don't, one that is too long is EMSGSIZE.
func SetDontFragment(fd int, ipv6, dont bool) error {
	level, option, value := unix.IPPROTO_IP, unix.IP_MTU_DISCOVER, unix.IP_PMTUDISC_DONT
	if ipv6 {
		level, option = unix.IPPROTO_IPV6, unix.IPV6_MTU_DISCOVER
	}
	if dont {
		value = unix.IP_PMTUDISC_DO
	}
	if err := unix.SetsockoptInt(fd, level, option, value); err != nil {
		return fmt.Errorf("set IP_MTU_DISCOVER: %w", err)
	}
	return nil
}

// SetReceiveBuffer asks for a receive buffer, over net.core.rmem_max where the
// process may (SO_RCVBUFFORCE, CAP_NET_ADMIN).
func SetReceiveBuffer(fd, size int) error {
	if unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, size) == nil {
		return nil
	}
	if err := unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF, size); err != nil {
		return fmt.Errorf("set SO_RCVBUF: %w", err)
	}
	return nil
}

// Sleep blocks the calling thread for d nanoseconds, more exactly than the runtime's
// timers do; a signal ends it early.
func Sleep(d int64) {
	ts := unix.NsecToTimespec(d)
	_ = unix.Nanosleep(&ts, nil)
}

// SetTimerSlack lets the calling thread's sleeps end within that many
// nanoseconds of their time (PR_SET_TIMERSLACK; the default is 50 µs).
func SetTimerSlack(ns uint) {
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, uintptr(ns), 0, 0, 0)
}
