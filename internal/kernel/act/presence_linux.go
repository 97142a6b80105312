package act

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"syscall"

	"github.com/vishvananda/netlink/nl"

	"github.com/linerate/linerate/internal/kernel/nlattr"
	"github.com/linerate/linerate/plan"
)

// VLAN attributes (IFLA_VLAN_*, include/uapi/linux/if_link.h).
const (
	vlanID       = 1
	vlanFlags    = 2 // struct ifla_vlan_flags: flags, mask
	vlanEgress   = 3
	vlanIngress  = 4
	vlanProtocol = 5 // in network byte order

	vlanReorder = 1 // VLAN_FLAG_REORDER_HDR, which alone a new one has (vlan_newlink)
)

// vlanProtocols are the tags by netstate's words (ETH_P_8021Q, ETH_P_8021AD).
var vlanProtocols = map[string]uint16{"": 0x8100, "802.1Q": 0x8100, "802.1q": 0x8100, "802.1ad": 0x88a8}

// setPresence makes a link, bare and down, or deletes one that is.
func setPresence(name string, m *plan.Made, want string) error {
	if m == nil {
		return fmt.Errorf("link %q of no kind: %w", name, fs.ErrInvalid)
	}
	if want == plan.Absent {
		return deleteLink(name)
	}
	if name == "" || len(name) >= syscall.IFNAMSIZ {
		return fmt.Errorf("link name %q: %w", name, fs.ErrInvalid)
	}
	message := [][]byte{header(0, 0, 0), nlattr.Encode(syscall.IFLA_IFNAME, nl.ZeroTerminated(name))}
	if !m.MAC.IsZero() {
		message = append(message, nlattr.Encode(syscall.IFLA_ADDRESS, m.MAC[:]))
	}
	kind := nlattr.Encode(nl.IFLA_INFO_KIND, []byte(m.Kind))
	switch m.Kind {
	case "bond", "dummy":
		message = append(message, nest(syscall.IFLA_LINKINFO, kind))
	case "vlan":
		parent, err := findLink(m.Parent)
		if err != nil {
			return fmt.Errorf("parent %q: %w", m.Parent, missing(err))
		}
		protocol, known := vlanProtocols[m.Protocol]
		if !known || m.ID < 0 || m.ID > 4094 {
			return fmt.Errorf("VLAN %d with a tag of %q: %w", m.ID, m.Protocol, fs.ErrInvalid)
		}
		message = append(message, nlattr.Encode(syscall.IFLA_LINK, number32(uint32(parent.index))),
			nest(syscall.IFLA_LINKINFO, kind, nest(nl.IFLA_INFO_DATA,
				nlattr.Encode(vlanID, binary.NativeEndian.AppendUint16(nil, uint16(m.ID))),
				nlattr.Encode(vlanProtocol, binary.BigEndian.AppendUint16(nil, protocol)))))
	default:
		return fmt.Errorf("make a link of kind %q: %w", m.Kind, errors.ErrUnsupported)
	}
	err := change(syscall.RTM_NEWLINK, syscall.NLM_F_CREATE|syscall.NLM_F_EXCL, message...)
	if errors.Is(err, syscall.EEXIST) && m.Kind == "bond" && isBare(name, "bond") {
		// The driver was loaded for this request, and made a bond of that name by
		// itself (bonding's parameter max_bonds).
		return nil
	}
	return err
}

// missing is ENODEV, the errno of a link that is not there, in portable words.
func missing(err error) error {
	if errors.Is(err, syscall.ENODEV) {
		return fmt.Errorf("%w (%w)", fs.ErrNotExist, err)
	}
	return err
}

// isBare reports a link of that kind with nothing on it.
func isBare(name, kind string) bool {
	l, err := findLink(name)
	return err == nil && l.kind == kind && l.burden() == nil
}

// deleteLink deletes a link on which nothing is: what else goes with one would
// have been no step, and nobody would bring it back.
func deleteLink(name string) error {
	l, err := findLink(name)
	if err != nil {
		return err
	}
	if err := l.burden(); err != nil {
		return err
	}
	return change(syscall.RTM_DELLINK, 0, header(l.index, 0, 0))
}

// burden is what would be lost with the link, as a refusal; nil where it is
// bare and down.
func (l link) burden() error {
	if l.up {
		return &refusal{l.name + " is up"}
	}
	if l.master != 0 {
		return &refusal{l.name + " is a port of another link"}
	}
	all, err := allLinks()
	if err != nil {
		return err
	}
	if i := slices.IndexFunc(all, func(o link) bool { return o.master == l.index }); i >= 0 {
		return &refusal{fmt.Sprintf("%s is a port of it", all[i].name)}
	}
	if i := slices.IndexFunc(all, func(o link) bool { return o.parent == l.index && o.index != l.index }); i >= 0 {
		return &refusal{fmt.Sprintf("%s rides on it", all[i].name)}
	}
	return nil
}

// readPresence is present or absent; of another link by that name it is what
// that is, which no step says.
//
// Who wants a VLAN absent is refused one that could not be made again as it is.
func readPresence(name string, m *plan.Made, want string) (string, error) {
	if m == nil {
		return "", fmt.Errorf("link %q of no kind: %w", name, fs.ErrInvalid)
	}
	l, err := findLink(name)
	if errors.Is(missing(err), fs.ErrNotExist) {
		return plan.Absent, nil
	}
	if err != nil {
		return "", err
	}
	if l.kind != m.Kind {
		return fmt.Sprintf("another link, of kind %q", l.kind), nil
	}
	if l.kind != "vlan" {
		return plan.Present, nil
	}
	parent, err := linkName(l.parent)
	if err != nil {
		return "", err
	}
	id, tag := int(number(l.info[vlanID])), uint16(0)
	if b := l.info[vlanProtocol]; len(b) == 2 {
		tag = binary.BigEndian.Uint16(b)
	}
	if parent != m.Parent || id != m.ID || tag != vlanProtocols[m.Protocol] {
		return fmt.Sprintf("another VLAN: %d of %s, tag %#x", id, parent, tag), nil
	}
	if want == plan.Absent {
		return plan.Present, l.plainVLAN()
	}
	return plan.Present, nil
}

// plainVLAN refuses a VLAN with more to it than a step that makes one has.
func (l link) plainVLAN() error {
	flags := uint32(0) // the kernel tells of none where none is set
	if b := l.info[vlanFlags]; len(b) >= 4 {
		flags = binary.NativeEndian.Uint32(b)
	}
	var more []string
	if flags != vlanReorder {
		more = append(more, fmt.Sprintf("flags (%#x) other than a new one's", flags))
	}
	if len(l.info[vlanEgress]) > 0 {
		more = append(more, "an egress-qos-map")
	}
	if len(l.info[vlanIngress]) > 0 {
		more = append(more, "an ingress-qos-map")
	}
	if more == nil {
		return nil
	}
	return fmt.Errorf("VLAN %s has %s, which a rollback could not bring back: clear that first, or remove the VLAN by hand (ip-link(8)): %w",
		l.name, strings.Join(more, " and "), errors.ErrUnsupported)
}
