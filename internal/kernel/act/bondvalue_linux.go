package act

import (
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/bondopt"
	"github.com/linerate/linerate/internal/kernel/nlattr"
	"github.com/linerate/linerate/plan"
)

// encodePort is the ifindex of a port of the bond, zero for none: the kernel
// keeps the name of another link and says nothing.
func encodePort(bond link, option, name string) ([]byte, error) {
	if empty(name) {
		return number32(0), nil
	}
	port, err := findLink(name)
	if err != nil {
		return nil, fmt.Errorf("bond option %s: %w", option, err)
	}
	if port.master != bond.index {
		return nil, &refusal{fmt.Sprintf("%s is no port of %s", name, bond.name)}
	}
	return number32(uint32(port.index)), nil
}

func decodePort(b []byte) (string, error) {
	index := number(b)
	if index == 0 {
		return noValue, nil
	}
	return linkName(int(index))
}

// noValue is the word for no link and an empty list.
const noValue = plan.NoValue

func empty(value string) bool { return value == "" || value == noValue }

// mostTargets is BOND_MAX_ARP_TARGETS and BOND_MAX_NS_TARGETS
// (include/net/bonding.h).
const mostTargets = 16

// encodeTargets is a list of addresses as nested attributes. The kernel empties
// its list before it looks at the new one (bond_changelink), so that what it
// would refuse is refused here.
func encodeTargets(o bondopt.Option, value string) ([]byte, error) {
	if empty(value) {
		return nil, nil
	}
	var all []netip.Addr
	var out []byte
	for _, word := range strings.FieldsFunc(value, func(r rune) bool { return r == ',' || r == ' ' }) {
		t, err := netip.ParseAddr(word)
		bad := err != nil || t.Is4() != (o.Kind == bondopt.IPv4List) || t.IsUnspecified() || t.IsMulticast() ||
			t.IsLinkLocalUnicast() && t.Is6() || t == netip.AddrFrom4([4]byte{255, 255, 255, 255}) || slices.Contains(all, t)
		if bad || len(all) == mostTargets {
			return nil, fmt.Errorf("bond option %s: %q: %w", o.Name, word, fs.ErrInvalid)
		}
		out = append(out, nlattr.Encode(uint16(len(all)), t.AsSlice())...)
		all = append(all, t)
	}
	return out, nil
}

// hardware is an address in the kernel's words; all zeros are in words too.
func hardware(m flow.MAC) string {
	return fmt.Sprintf("%02x:%02x:%02x:%02x:%02x:%02x", m[0], m[1], m[2], m[3], m[4], m[5])
}

// sysfsFile is the option's file, of a kernel whose netlink does not know it.
// sysfs shows the namespace of whoever mounted it, so the bond must be the one
// that netlink shows.
func sysfsFile(l link, option string) (string, error) {
	dir := "/sys/class/net/" + l.name
	for file, want := range map[string]string{"ifindex": strconv.Itoa(l.index), "address": hardware(l.mac)} {
		have, err := os.ReadFile(dir + "/" + file)
		if err != nil || strings.TrimSpace(string(have)) != want {
			return "", lacks(option)
		}
	}
	return dir + "/bonding/" + option, nil
}

func readBySysfs(l link, o bondopt.Option) (string, error) {
	file, err := sysfsFile(l, o.Name)
	if err != nil {
		return "", err
	}
	b, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return "", lacks(o.Name)
	}
	if err != nil {
		return "", err
	}
	if word, err := o.Word(string(b)); err == nil {
		return word, nil
	}
	return strings.TrimSpace(string(b)), nil
}

func setBySysfs(l link, o bondopt.Option, value string) error {
	file, err := sysfsFile(l, o.Name)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(file, os.O_WRONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return lacks(o.Name)
	}
	if err != nil {
		return err
	}
	_, err = f.WriteString(value)
	return errors.Join(err, f.Close())
}
