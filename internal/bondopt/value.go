package bondopt

import (
	"encoding"
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
)

// maxTargets is BOND_MAX_ARP_TARGETS and BOND_MAX_NS_TARGETS.
const maxTargets = 16

// Word is a value as the steps spell it. It takes the word, the number,
// sysfs's "word number", and lists with commas or blanks.
func (o Option) Word(value string) (string, error) {
	value = strings.TrimSpace(value)
	switch o.Kind {
	case Port:
		return o.portName(value)
	case IPv4List, IPv6List:
		return o.list(value)
	case MAC:
		return o.hardware(value)
	}
	first, _, _ := strings.Cut(value, " ")
	n, err := strconv.ParseInt(first, 10, 64)
	switch {
	case o.Words != nil && slices.Contains(o.Words, first):
		return first, nil
	case o.Words != nil && err == nil && n >= 0 && n < int64(len(o.Words)):
		return o.Words[n], nil
	case o.Words != nil:
		return "", fmt.Errorf("bond option %s: %q is none of %s", o.Name, value, strings.Join(o.Words, ", "))
	case err != nil || n < o.Min || n > o.Max:
		return "", fmt.Errorf("bond option %s: %q is no number from %d to %d", o.Name, value, o.Min, o.Max)
	}
	return strconv.FormatInt(n, 10), nil
}

func (o Option) portName(value string) (string, error) {
	if value == "" {
		return None, nil
	}
	// dev_valid_name
	if len(value) > 15 || value == "." || value == ".." || strings.ContainsAny(value, "/: \t\n") {
		return "", fmt.Errorf("bond option %s: %q is no name of a link", o.Name, value)
	}
	return value, nil
}

func (o Option) list(value string) (string, error) {
	if value == "" || value == None {
		return None, nil
	}
	var out []string
	for _, f := range strings.FieldsFunc(value, func(c rune) bool { return c == ',' || c == ' ' }) {
		a, err := netip.ParseAddr(f)
		switch {
		case err != nil || a.Zone() != "" || a.Is4() != (o.Kind == IPv4List) || a.Is4In6():
			return "", fmt.Errorf("bond option %s: %q is no address of its family", o.Name, f)
		case a.IsUnspecified() || a.IsMulticast() || a.IsLoopback() || a == netip.AddrFrom4([4]byte{255, 255, 255, 255}):
			return "", fmt.Errorf("bond option %s: %s cannot be asked (bond_is_ip_target_ok)", o.Name, a)
		case slices.Contains(out, a.String()):
			return "", fmt.Errorf("bond option %s: %s is there twice", o.Name, a)
		}
		out = append(out, a.String())
	}
	if len(out) == 0 || len(out) > maxTargets {
		return "", fmt.Errorf("bond option %s: %d addresses, want 1 to %d or none", o.Name, len(out), maxTargets)
	}
	return strings.Join(out, ","), nil
}

func (o Option) hardware(value string) (string, error) {
	m, err := flow.ParseMAC(value)
	if err != nil {
		return "", fmt.Errorf("bond option %s: %q is no hardware address", o.Name, value)
	}
	if m[0]&1 != 0 {
		return "", fmt.Errorf("bond option %s: %s is a group's address (bond_option_ad_actor_system_set)", o.Name, m)
	}
	if m.IsZero() {
		return "00:00:00:00:00:00", nil
	}
	return m.String(), nil
}

// Number is the kernel's number of a value; an error for a value that is none.
func (o Option) Number(value string) (int64, error) {
	w, err := o.Word(value)
	if err != nil {
		return 0, err
	}
	if o.Kind != Number {
		return 0, fmt.Errorf("bond option %s: %q is no number", o.Name, value)
	}
	if i := slices.Index(o.Words, w); i >= 0 {
		return int64(i), nil
	}
	return strconv.ParseInt(w, 10, 64)
}

// Of is the option's value in a bond's state, as the kernel's word or number and
// lists with commas; "" where the state has none.
func (o Option) Of(b netstate.Bond) string {
	if o.field != nil {
		return text(o.field(&b))
	}
	value := b.Options[o.Name]
	if !o.Listed() {
		value, _, _ = strings.Cut(value, " ") // sysfs prints a word with its number, "always 0"
	}
	return value
}

// Put writes a value as Of returns it into a bond's state, in whose Options the
// caller may write.
func (o Option) Put(b *netstate.Bond, value string) error {
	if o.field != nil {
		return o.put(o.field(b), value)
	}
	if b.Options == nil {
		b.Options = make(map[string]string)
	}
	b.Options[o.Name] = value
	return nil
}

// Own reports an option that netstate.Bond has a field of its own for.
func (o Option) Own() bool { return o.field != nil }

// OfPort is the option's value in a port's state; "" where it was not told.
func (o Option) OfPort(p netstate.BondPort) string { return text(o.port(&p)) }

// PutPort writes a value as OfPort returns it; "" is not told.
func (o Option) PutPort(p *netstate.BondPort, value string) error { return o.put(o.port(p), value) }

// Untold reports a port's option that the state can say was not told.
func (o Option) Untold() bool { return o.OfPort(netstate.BondPort{}) == "" }

// text is what a place in the state holds.
func text(at any) string {
	switch at := at.(type) {
	case *time.Duration: // also a Stringer
		return strconv.FormatInt(at.Milliseconds(), 10)
	case fmt.Stringer:
		return at.String()
	case *int:
		return strconv.Itoa(*at)
	case **int:
		if *at != nil {
			return strconv.Itoa(**at)
		}
	case *bool:
		if *at {
			return "1"
		}
		return "0"
	}
	return ""
}

func (o Option) put(at any, value string) error {
	if at, ok := at.(encoding.TextUnmarshaler); ok {
		if _, err := strconv.Atoi(value); err == nil {
			value = "unknown-" + value // newer than its words
		}
		return at.UnmarshalText([]byte(value))
	}
	if at, ok := at.(**int); ok && value == "" {
		*at = nil
		return nil
	}
	n, err := strconv.Atoi(value)
	if err != nil {
		return fmt.Errorf("bond option %s: %q is no number", o.Name, value)
	}
	switch at := at.(type) {
	case *time.Duration:
		*at = time.Duration(n) * time.Millisecond
	case *int:
		*at = n
	case **int:
		*at = &n
	case *bool:
		if n != 0 && n != 1 {
			return fmt.Errorf("bond option %s: %q is neither 0 nor 1", o.Name, value)
		}
		*at = n == 1
	}
	return nil
}
