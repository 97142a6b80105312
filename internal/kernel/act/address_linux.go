package act

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"strings"
	"syscall"

	"github.com/linerate/linerate/internal/kernel/nlattr"
	"github.com/linerate/linerate/internal/kernel/rtnl"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/plan"
)

// What an address is besides present and absent: not usable yet, or never
// (include/uapi/linux/if_addr.h). A step that adds one waits until it is.
const (
	tentative = "tentative"
	duplicate = "duplicate"
)

// Attributes and flags of an address.
const (
	ifaAddress   = 1
	ifaLocal     = 2
	ifaLabel     = 3
	ifaBroadcast = 4
	ifaFlags     = 8
	ifaPriority  = 9  // IFA_RT_PRIORITY: the metric of the network's route
	ifaProtocol  = 11 // IFA_PROTO, Linux 5.18

	ifaSecondary = 0x01 // IFA_F_SECONDARY
	ifaNoDAD     = 0x02 // of no effect once the address is there, like the next
	ifaOptimist  = 0x04
	ifaDADFailed = 0x08
	ifaTentative = 0x40
	ifaPermanent = 0x80
	// ifaPlain are the flags that an address has of which nobody asked for any.
	ifaPlain = ifaSecondary | ifaNoDAD | ifaOptimist | ifaDADFailed | ifaTentative | ifaPermanent

	addressHead = 8 // struct ifaddrmsg: family, prefixlen, flags, scope, index
)

// setAddress gives the link an address or takes it away (RTM_NEWADDR); bare is
// one without a broadcast address.
func setAddress(name string, p netip.Prefix, bare bool, want string) error {
	l, err := holder(name, p)
	if err != nil {
		return err
	}
	if want == plan.Absent {
		if err := l.lastOfSubnet(p); err != nil {
			return err
		}
		return change(syscall.RTM_DELADDR, 0, encodeAddress(l, p, bare))
	}
	return change(syscall.RTM_NEWADDR, syscall.NLM_F_CREATE|syscall.NLM_F_EXCL, encodeAddress(l, p, bare))
}

func holder(name string, p netip.Prefix) (link, error) {
	if !p.IsValid() {
		return link{}, fmt.Errorf("address %q: %w", p, fs.ErrInvalid)
	}
	return findLink(name)
}

// encodeAddress is a struct ifaddrmsg with the address, and for IPv4 the
// broadcast address of its subnet, unless it is to be bare.
func encodeAddress(l link, p netip.Prefix, bare bool) []byte {
	a := p.Addr().AsSlice()
	b := []byte{family(p.Addr()), byte(p.Bits()), 0, 0}
	b = binary.NativeEndian.AppendUint32(b, uint32(l.index))
	b = append(b, nlattr.Encode(ifaLocal, a)...)
	b = append(b, nlattr.Encode(ifaAddress, a)...)
	if all, ok := rtnl.Broadcast(p); ok && !bare {
		b = append(b, nlattr.Encode(ifaBroadcast, all.AsSlice())...)
	}
	return b
}

// address is one that a link has.
type address struct {
	prefix netip.Prefix
	flags  uint32
	scope  byte
	label  string
	peer   netip.Addr // another than the address itself; zero none
	// broadcast is zero without one; more are settings of other kinds.
	broadcast netip.Addr
	more      bool
}

// addresses are the link's of one family.
func (l link) addresses(f byte) ([]address, error) {
	request := make([]byte, addressHead)
	request[0] = f
	replies, err := ask(syscall.RTM_GETADDR, syscall.RTM_NEWADDR, syscall.NLM_F_DUMP, request)
	if err != nil {
		return nil, fmt.Errorf("list addresses: %w", err)
	}
	var all []address
	for _, b := range replies {
		if len(b) < addressHead || binary.NativeEndian.Uint32(b[4:]) != uint32(l.index) || b[0] != f {
			continue
		}
		attrs, err := attributes(b[addressHead:])
		if err != nil {
			return nil, err
		}
		far, _ := netip.AddrFromSlice(attrs[ifaAddress])
		own, there := netip.AddrFromSlice(attrs[ifaLocal])
		a := address{flags: uint32(b[2]), scope: b[3], label: text(attrs[ifaLabel])}
		if !there {
			own = far
		} else if own != far {
			a.peer = far
		}
		a.broadcast, _ = netip.AddrFromSlice(attrs[ifaBroadcast])
		a.more = attrs[ifaPriority] != nil || attrs[ifaProtocol] != nil
		if flags := attrs[ifaFlags]; len(flags) == 4 {
			a.flags = number(flags)
		}
		a.prefix = netip.PrefixFrom(own, int(b[1]))
		all = append(all, a)
	}
	return all, nil
}

// lastOfSubnet refuses to remove an address with which the kernel would remove
// others: the first of a subnet, unless it promotes the next
// (__inet_del_ifa, net.ipv4.conf.*.promote_secondaries).
func (l link) lastOfSubnet(p netip.Prefix) error {
	if !p.Addr().Is4() || l.promotes() {
		return nil
	}
	all, err := l.addresses(syscall.AF_INET)
	if err != nil {
		return err
	}
	primary, others := false, 0
	for _, a := range all {
		switch {
		case a.prefix == p:
			primary = a.flags&ifaSecondary == 0
		case a.prefix.Masked() == p.Masked() && a.flags&ifaSecondary != 0:
			others++
		}
	}
	if primary && others > 0 {
		return &refusal{fmt.Sprintf("%d other addresses of %s would go with it: set %s=1 first",
			others, p.Masked(), netstate.LinkSysctl("ipv4", l.name, "promote_secondaries"))}
	}
	return nil
}

// promotes reads promote_secondaries, of the interface or of all.
func (l link) promotes() bool {
	for _, name := range []string{"all", l.name} {
		b, err := os.ReadFile("/proc/sys/net/ipv4/conf/" + name + "/promote_secondaries")
		if err == nil && strings.TrimSpace(string(b)) != "0" {
			return true
		}
	}
	return false
}

// readAddress is present, absent, tentative or duplicate. An address that a
// step would remove and could not put back, for it has a label, a scope, flags
// or a peer of its own, is errors.ErrUnsupported.
func readAddress(name string, p netip.Prefix, want string) (string, error) {
	l, err := holder(name, p)
	if err != nil {
		return "", err
	}
	all, err := l.addresses(family(p.Addr()))
	if err != nil {
		return "", err
	}
	if want == plan.Absent && p.Addr().Is4() && len(all) == 1 && all[0].prefix == p {
		if err := l.forgetsNoIPv4(); err != nil {
			return "", err
		}
	}
	for _, a := range all {
		switch {
		case a.prefix != p:
		case want == plan.Absent && a.beyond(name):
			return "", fmt.Errorf("address %s has a label, scope, peer, metric or flags of its own, which a plan cannot roll back: %w", p, errors.ErrUnsupported)
		case a.flags&ifaDADFailed != 0:
			return duplicate, nil
		case a.flags&ifaTentative != 0 && l.up && l.carrier:
			// Without carrier it stays so until there is one (addrconf_dad_begin).
			return tentative, nil
		default:
			return plan.Present, nil
		}
	}
	return plan.Absent, nil
}

func (a address) beyond(name string) bool {
	usual, _ := rtnl.Broadcast(a.prefix)
	return a.more || a.broadcast.IsValid() && a.broadcast != usual || a.label != "" && a.label != name || a.flags&^uint32(ifaPlain) != 0 || a.flags&ifaPermanent == 0 || a.peer.IsValid() ||
		a.scope != 0 && a.prefix.Addr().Is4()
}
