package act

import (
	"encoding/binary"
	"fmt"
	"io/fs"
	"syscall"

	"github.com/vishvananda/netlink/nl"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/kernel/nlattr"
)

// link is what a step needs to know of a network interface.
type link struct {
	index   int
	name    string
	up      bool
	carrier bool
	mtu     int
	mac     flow.MAC
	master  int // ifindex, zero none
	parent  int // ifindex of what it rides on, zero none
	kind    string
	info    map[uint16][]byte // IFLA_INFO_DATA
	// slave is IFLA_INFO_SLAVE_DATA: what the link's master says of it.
	slaveKind string
	slave     map[uint16][]byte
}

// Attributes of a link (include/uapi/linux/if_link.h) that package syscall
// lacks, and flags of one (include/uapi/linux/if.h).
const (
	infoSlaveKind = 4 // IFLA_INFO_SLAVE_KIND
	infoSlaveData = 5
	linkNetNSID   = 37      // IFLA_LINK_NETNSID: IFLA_LINK is an index of another namespace
	lowerUp       = 1 << 16 // IFF_LOWER_UP
)

func findLink(name string) (link, error) {
	if name == "" || len(name) >= syscall.IFNAMSIZ {
		return link{}, fmt.Errorf("link %q: %w", name, fs.ErrNotExist)
	}
	return getLink(nlattr.Encode(syscall.IFLA_IFNAME, nl.ZeroTerminated(name)), 0)
}

func linkName(index int) (string, error) {
	l, err := getLink(nil, index)
	return l.name, err
}

// header is a struct ifinfomsg.
func header(index int, flags, mask uint32) []byte {
	b := make([]byte, syscall.SizeofIfInfomsg)
	binary.NativeEndian.PutUint32(b[4:], uint32(index))
	binary.NativeEndian.PutUint32(b[8:], flags)
	binary.NativeEndian.PutUint32(b[12:], mask)
	return b
}

func getLink(name []byte, index int) (link, error) {
	replies, err := ask(syscall.RTM_GETLINK, syscall.RTM_NEWLINK, 0, header(index, 0, 0), name)
	if err != nil {
		return link{}, err
	}
	if len(replies) != 1 {
		return link{}, fmt.Errorf("read link: %d replies", len(replies))
	}
	return parseLink(replies[0])
}

// allLinks reads every link of the namespace.
func allLinks() ([]link, error) {
	replies, err := ask(syscall.RTM_GETLINK, syscall.RTM_NEWLINK, syscall.NLM_F_DUMP, header(0, 0, 0))
	if err != nil {
		return nil, fmt.Errorf("list links: %w", err)
	}
	links := make([]link, 0, len(replies))
	for _, r := range replies {
		l, err := parseLink(r)
		if err != nil {
			return nil, err
		}
		links = append(links, l)
	}
	return links, nil
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
	if _, afar := attrs[linkNetNSID]; !afar {
		l.parent = int(number(attrs[syscall.IFLA_LINK]))
	}
	if a := attrs[syscall.IFLA_ADDRESS]; len(a) == len(l.mac) {
		l.mac = flow.MAC(a)
	}
	info, err := attributes(attrs[syscall.IFLA_LINKINFO])
	if err != nil {
		return link{}, err
	}
	l.kind = text(info[nl.IFLA_INFO_KIND])
	l.slaveKind = text(info[infoSlaveKind])
	if l.info, err = attributes(info[nl.IFLA_INFO_DATA]); err != nil {
		return link{}, err
	}
	l.slave, err = attributes(info[infoSlaveData])
	return l, err
}

// attributes splits a run of struct rtattr; of one that is there twice the last
// counts.
func attributes(b []byte) (map[uint16][]byte, error) {
	out := make(map[uint16][]byte)
	if err := nlattr.Each(b, func(kind uint16, v []byte) { out[kind] = v }); err != nil {
		return nil, fmt.Errorf("parse attributes: %w", err)
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

func number32(n uint32) []byte { return binary.NativeEndian.AppendUint32(nil, n) }

// nest is an attribute that holds others.
func nest(kind uint16, inner ...[]byte) []byte {
	const nested = 0x8000 // NLA_F_NESTED
	var all []byte
	for _, b := range inner {
		all = append(all, b...)
	}
	return nlattr.Encode(kind|nested, all)
}

// change sends the attributes, and nothing else, for the link.
func (l link) change(attrs ...[]byte) error {
	return change(syscall.RTM_NEWLINK, 0, append([][]byte{header(l.index, 0, 0)}, attrs...)...)
}

func (l link) setUp(up bool) error {
	flags := uint32(0)
	if up {
		flags = syscall.IFF_UP
	}
	return change(syscall.RTM_NEWLINK, 0, header(l.index, flags, syscall.IFF_UP))
}
