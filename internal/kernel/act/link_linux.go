package act

import (
	"encoding/binary"
	"fmt"
	"io/fs"
	"syscall"

	"github.com/vishvananda/netlink/nl"
)

// link is what a step needs to know of a network interface.
type link struct {
	index   int
	name    string
	up      bool
	carrier bool
	mtu     int
	master  int // ifindex, zero none
	kind    string
	info    map[uint16][]byte // IFLA_INFO_DATA
}

// lowerUp is IFF_LOWER_UP (include/uapi/linux/if.h), which package syscall lacks.
const lowerUp = 1 << 16

func findLink(name string) (link, error) {
	if name == "" || len(name) >= syscall.IFNAMSIZ {
		return link{}, fmt.Errorf("link %q: %w", name, fs.ErrNotExist)
	}
	return getLink(nl.NewRtAttr(syscall.IFLA_IFNAME, nl.ZeroTerminated(name)), 0)
}

func linkName(index int) (string, error) {
	l, err := getLink(nil, index)
	return l.name, err
}

func getLink(name *nl.RtAttr, index int) (link, error) {
	req := nl.NewNetlinkRequest(syscall.RTM_GETLINK, 0)
	msg := nl.NewIfInfomsg(syscall.AF_UNSPEC)
	msg.Index = int32(index)
	req.AddData(msg)
	if name != nil {
		req.AddData(name)
	}
	replies, err := req.Execute(syscall.NETLINK_ROUTE, syscall.RTM_NEWLINK)
	if err != nil {
		return link{}, err
	}
	if len(replies) != 1 {
		return link{}, fmt.Errorf("read link: %d replies", len(replies))
	}
	return parseLink(replies[0])
}

// parseLink reads an RTM_NEWLINK message (struct ifinfomsg and attributes,
// include/uapi/linux/if_link.h).
func parseLink(b []byte) (link, error) {
	if len(b) < syscall.SizeofIfInfomsg {
		return link{}, fmt.Errorf("parse link: %d bytes", len(b))
	}
	l := link{
		index:   int(int32(binary.NativeEndian.Uint32(b[4:]))),
		up:      binary.NativeEndian.Uint32(b[8:])&syscall.IFF_UP != 0,
		carrier: binary.NativeEndian.Uint32(b[8:])&lowerUp != 0,
	}
	attrs, err := attributes(b[syscall.SizeofIfInfomsg:])
	if err != nil {
		return link{}, err
	}
	l.name = text(attrs[syscall.IFLA_IFNAME])
	l.mtu = int(number(attrs[syscall.IFLA_MTU]))
	l.master = int(number(attrs[syscall.IFLA_MASTER]))
	info, err := attributes(attrs[syscall.IFLA_LINKINFO])
	if err != nil {
		return link{}, err
	}
	l.kind = text(info[nl.IFLA_INFO_KIND])
	l.info, err = attributes(info[nl.IFLA_INFO_DATA])
	return l, err
}

// attributes splits a run of struct rtattr. Nested and byte-order flags are
// dropped from the type.
func attributes(b []byte) (map[uint16][]byte, error) {
	const header, flags = 4, 0xc000
	out := make(map[uint16][]byte)
	for len(b) >= header {
		n := int(binary.NativeEndian.Uint16(b))
		if n < header || n > len(b) {
			return nil, fmt.Errorf("parse attributes: length %d of %d", n, len(b))
		}
		out[binary.NativeEndian.Uint16(b[2:])&^flags] = b[header:n]
		b = b[min((n+3)&^3, len(b)):]
	}
	return out, nil
}

func text(b []byte) string {
	for i, c := range b {
		if c == 0 {
			return string(b[:i])
		}
	}
	return string(b)
}

// number reads an attribute of one, two or four bytes; zero for other sizes.
func number(b []byte) uint32 {
	switch len(b) {
	case 1:
		return uint32(b[0])
	case 2:
		return uint32(binary.NativeEndian.Uint16(b))
	case 4:
		return binary.NativeEndian.Uint32(b)
	}
	return 0
}

// change sends the attributes, and nothing else, for the link.
func (l link) change(attrs ...nl.NetlinkRequestData) error {
	return l.send(nl.NewIfInfomsg(syscall.AF_UNSPEC), attrs...)
}

func (l link) setUp(up bool) error {
	msg := nl.NewIfInfomsg(syscall.AF_UNSPEC)
	msg.Change = syscall.IFF_UP
	if up {
		msg.Flags = syscall.IFF_UP
	}
	return l.send(msg)
}

func (l link) send(msg *nl.IfInfomsg, attrs ...nl.NetlinkRequestData) error {
	req := nl.NewNetlinkRequest(syscall.RTM_NEWLINK, syscall.NLM_F_ACK)
	msg.Index = int32(l.index)
	req.AddData(msg)
	for _, a := range attrs {
		req.AddData(a)
	}
	_, err := req.Execute(syscall.NETLINK_ROUTE, 0)
	return err
}
