package plan

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/linerate/linerate/flow"
)

// BondValue is what the value of a bond option is.
type BondValue string

// The values that are neither a word nor a number.
const (
	PortValue BondValue = "port"      // a port's name, or "none"
	IPv4List  BondValue = "ipv4-list" // at most 16, joined by commas, or "none"
	IPv6List  BondValue = "ipv6-list" // the same
	MACValue  BondValue = "mac"       // a unicast address; all zero is the bond's own
)

// maxTargets is BOND_MAX_ARP_TARGETS and BOND_MAX_NS_TARGETS.
const maxTargets = 16

// Word is a value as the steps spell it. It takes the word, the number,
// sysfs's "word number", and lists with commas or blanks.
func (r BondRule) Word(value string) (string, error) {
	value = strings.TrimSpace(value)
	switch r.Value {
	case PortValue:
		return r.port(value)
	case IPv4List, IPv6List:
		return r.list(value)
	case MACValue:
		return r.hardware(value)
	}
	first, _, _ := strings.Cut(value, " ")
	n, err := strconv.ParseInt(first, 10, 64)
	switch {
	case r.Words != nil && slices.Contains(r.Words, first):
		return first, nil
	case r.Words != nil && err == nil && n >= 0 && n < int64(len(r.Words)):
		return r.Words[n], nil
	case r.Words != nil:
		return "", fmt.Errorf("bond option %s: %q is none of %s", r.Name, value, strings.Join(r.Words, ", "))
	case err != nil || n < r.Min || n > r.Max:
		return "", fmt.Errorf("bond option %s: %q is no number from %d to %d", r.Name, value, r.Min, r.Max)
	}
	return strconv.FormatInt(n, 10), nil
}

func (r BondRule) port(value string) (string, error) {
	if value == "" {
		return NoValue, nil
	}
	// dev_valid_name
	if len(value) > 15 || value == "." || value == ".." || strings.ContainsAny(value, "/: \t\n") {
		return "", fmt.Errorf("bond option %s: %q is no name of a link", r.Name, value)
	}
	return value, nil
}

func (r BondRule) list(value string) (string, error) {
	if value == "" || value == NoValue {
		return NoValue, nil
	}
	var out []string
	for _, f := range strings.FieldsFunc(value, func(c rune) bool { return c == ',' || c == ' ' }) {
		a, err := netip.ParseAddr(f)
		switch {
		case err != nil || a.Zone() != "" || a.Is4() != (r.Value == IPv4List) || a.Is4In6():
			return "", fmt.Errorf("bond option %s: %q is no address of its family", r.Name, f)
		case a.IsUnspecified() || a.IsMulticast() || a.IsLoopback() || a == netip.AddrFrom4([4]byte{255, 255, 255, 255}):
			return "", fmt.Errorf("bond option %s: %s cannot be asked (bond_is_ip_target_ok)", r.Name, a)
		case slices.Contains(out, a.String()):
			return "", fmt.Errorf("bond option %s: %s is there twice", r.Name, a)
		}
		out = append(out, a.String())
	}
	if len(out) == 0 || len(out) > maxTargets {
		return "", fmt.Errorf("bond option %s: %d addresses, want 1 to %d or none", r.Name, len(out), maxTargets)
	}
	return strings.Join(out, ","), nil
}

func (r BondRule) hardware(value string) (string, error) {
	m, err := flow.ParseMAC(value)
	if err != nil {
		return "", fmt.Errorf("bond option %s: %q is no hardware address", r.Name, value)
	}
	if m[0]&1 != 0 {
		return "", fmt.Errorf("bond option %s: %s is a group's address (bond_option_ad_actor_system_set)", r.Name, m)
	}
	if m.IsZero() {
		return "00:00:00:00:00:00", nil
	}
	return m.String(), nil
}

// Number is the kernel's number of a value; an error for a value that is none.
func (r BondRule) Number(value string) (int64, error) {
	w, err := r.Word(value)
	if err != nil {
		return 0, err
	}
	if r.Value != "" {
		return 0, fmt.Errorf("bond option %s: %q is no number", r.Name, value)
	}
	if i := slices.Index(r.Words, w); i >= 0 {
		return int64(i), nil
	}
	return strconv.ParseInt(w, 10, 64)
}
