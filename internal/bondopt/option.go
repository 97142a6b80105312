// Package bondopt knows the options of a bond and of its ports: what the kernel
// calls them and takes, and what each configuration format calls them. Options
// and Ports are the two tables; whoever reads, writes, plans, sets or documents
// an option looks it up there, so that a new one is one new row.
package bondopt

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/linerate/linerate/netstate"
)

// The options that other packages have rules of their own for: the first two
// are a port of the bond, and set when that port is in.
const (
	Primary = "primary"
	Active  = "active_slave"
	QueueID = "queue_id"
	// Mode and HashPolicy are those that systems other than Linux have words of
	// their own for.
	Mode       = "mode"
	HashPolicy = "xmit_hash_policy"
	// LACPRate is what the other end of the cables must match.
	LACPRate = "lacp_rate"
)

// Option is one option of a bond, or of a bond's port.
type Option struct {
	// Name is the option's in /sys/class/net/BOND/bonding, for a port's in
	// ip-link(8); Twin is the driver's other name for it, "" none.
	Name, Twin string
	// Key is a port option's in a fabric file.
	Key string
	// Doc says what it is, in help and schemas.
	Doc string
	// Source is the kernel's entry, BOND_OPT_*.
	Source string

	// Attr is the netlink attribute, IFLA_BOND_* or IFLA_BOND_SLAVE_*, Size a
	// number's bytes in it.
	Attr uint16
	Size int
	// Kind is what a value is; Words are a number's words by number, nil a
	// plain number from Min to Max in Unit.
	Kind     Kind
	Words    []string
	Min, Max int64
	Unit     Unit
	// Default is what a bond or a port is made with.
	Default string

	// Modes are the modes whose bonds take the option (EACCES in others); nil
	// is every mode.
	Modes []netstate.BondMode
	// NoPorts is BOND_OPTFLAG_NOSLAVES (ENOTEMPTY), NeedsDown
	// BOND_OPTFLAG_IFDOWN (EBUSY). Neither: it changes while traffic flows.
	NoPorts, NeedsDown bool
	// Hidden is told only of a bond in one of Modes, though every bond keeps it.
	Hidden bool
	// Since is the first kernel release that has the option, "" older than any
	// that matters; Stable are later releases of older series that have it too.
	Since  string
	Stable []string
	// Gone are the values that kernels from a release on refuse.
	Gone map[string]string

	// Proc is the title of its line in /proc/net/bonding, "" none.
	Proc string
	// In is what configuration formats call it. A format that is left out
	// does not have it; Iproute2 and Ifcfg say every option of a bond by its Name.
	In map[Format]Saying

	// field and port point at its place in the state of a bond and of a port;
	// nil is Bond.Options.
	field func(*netstate.Bond) any
	port  func(*netstate.BondPort) any
}

// Kind is what the value of an option is.
type Kind int

// The kinds of value. Lists hold at most 16 addresses, joined by commas.
const (
	Number   Kind = iota // a number, or a word for one
	Port                 // a port's name, or None
	IPv4List             // addresses, or None
	IPv6List             // addresses, or None
	MAC                  // a unicast address; all zero is the bond's own
)

// None is the word for no port and for an empty list.
const None = "none"

// Unit is what a plain number counts.
type Unit int

// The units.
const (
	Plain Unit = iota
	Milliseconds
	Seconds
)

// Format is a configuration format that says options of bonds.
type Format int

// The formats.
const (
	Netplan   Format = iota
	Networkd         // systemd.netdev's [Bond]
	Keyfile          // NetworkManager's [bond] and [bond-port]
	Nmstate          // link-aggregation's options
	Ifcfg            // a port's own variables
	Iproute2         // ip-link(8)
	Ifenslave        // interfaces(5) as ifupdown reads it, with the package ifenslave
	Ifupdown2        // interfaces(5) as ifupdown2 reads it
	Teamd            // teamd.conf(5): what of a team comes to the option
	Talos            // Talos' BondConfig
)

// Saying is how a format says an option.
type Saying struct {
	// Name is the format's, "" the option's own. Older are spellings that the
	// format still reads.
	Name  string
	Older []string
	// Since is the first release of the format's program that knows it, ""
	// any that matters; earlier ones drop it.
	Since string
	// Lacks are the words that the format does not know; Lenient: a fabric
	// file may say them under the format's name all the same.
	Lacks   []string
	Lenient bool
	// Words are the format's own by number, nil the kernel's.
	Words []string
	// Modes are those in which the format takes it, nil the option's own.
	Modes []netstate.BondMode
	// ZeroUnsaid: the format takes zero for nothing said.
	ZeroUnsaid bool
	// Downs: the format's program takes the bond down to set it, where the kernel
	// would not ask for that either.
	Downs bool
}

// In reports whether the format takes the option in a mode, by its word.
func (s Saying) In(mode string) bool { return s.Modes == nil || slices.Contains(words(s.Modes), mode) }

// Has reports whether the format knows a value.
func (s Saying) Has(value string) bool { return !slices.Contains(s.Lacks, value) }

// The tables, which nothing changes.
var options, ports = optionRows(), portRows()

// Options returns the options of a bond, in an order in which they can be set.
func Options() []Option { return slices.Clone(options) }

// Ports returns the options of a bond's port.
func Ports() []Option { return slices.Clone(ports) }

// Find returns a bond's option by its name; false for none.
func Find(name string) (Option, bool) {
	return first(options, func(o *Option) bool { return o.Name == name })
}

// ByAttr returns a bond's option by its netlink attribute.
func ByAttr(attr uint16) (Option, bool) {
	return first(options, func(o *Option) bool { return o.Attr == attr })
}

// Said returns a bond's option by its name or the driver's other one, and how a
// format says it under that; false where it does not.
func Said(f Format, name string) (Option, Saying, bool) {
	o, twin := ByTwin(name)
	if !twin {
		o, _ = Find(name)
	}
	s, ok := o.Saying(f)
	if twin {
		s.Name = name
	}
	return o, s, ok
}

// ByTwin returns a bond's option by the driver's other name for it.
func ByTwin(name string) (Option, bool) {
	return first(options, func(o *Option) bool { return o.Twin != "" && o.Twin == name })
}

// ByProc returns a bond's option by the title of its line in /proc/net/bonding.
func ByProc(title string) (Option, bool) {
	return first(options, func(o *Option) bool { return o.Proc != "" && o.Proc == title })
}

// Named returns a bond's option by a format's name for it, also an older one.
func Named(f Format, name string) (Option, bool) {
	return first(options, func(o *Option) bool {
		s, ok := o.Saying(f)
		return ok && (s.Name == name || slices.Contains(s.Older, name))
	})
}

// FindPort returns a port's option by its name.
func FindPort(name string) (Option, bool) {
	return first(ports, func(o *Option) bool { return o.Name == name })
}

// FindKey returns a port's option by its key in a fabric file.
func FindKey(key string) (Option, bool) {
	return first(ports, func(o *Option) bool { return o.Key == key })
}

// PortByAttr returns a port's option by its netlink attribute.
func PortByAttr(attr uint16) (Option, bool) {
	return first(ports, func(o *Option) bool { return o.Attr == attr })
}

func first(table []Option, is func(*Option) bool) (Option, bool) {
	for i := range table {
		if is(&table[i]) {
			return table[i], true
		}
	}
	return Option{}, false
}

// Saying returns how a format says the option, its Name and Modes filled in;
// false for a format that cannot.
func (o Option) Saying(f Format) (Saying, bool) {
	s, ok := o.In[f]
	if ok && s.Name == "" {
		s.Name = o.Name
	}
	if s.Modes == nil {
		s.Modes = o.Modes
	}
	return s, ok
}

// Allows reports whether a bond of mode m takes the option.
func (o Option) Allows(m netstate.BondMode) bool {
	return o.Modes == nil || slices.Contains(o.Modes, m)
}

// ModeWords are the modes that take it, in words.
func (o Option) ModeWords() string { return strings.Join(words(o.Modes), ", ") }

// Quiet reports an option that the kernel tells nothing of while it is empty,
// or in other modes than its own (bond_fill_info).
func (o Option) Quiet() bool { return o.Hidden || o.Listed() || o.Kind == Port }

// Listed reports an option whose value is a list.
func (o Option) Listed() bool { return o.Kind == IPv4List || o.Kind == IPv6List }

// Switch reports an option that is only on or off: 1 or 0, or the words.
func (o Option) Switch() bool {
	return o.Kind == Number && (o.Words == nil && o.Max == 1 || len(o.Words) == 2 && o.Words[0] == "off")
}

// On reports whether a kernel has the option by its release; known is false
// where that is no number. A distribution's own count of a stable series says
// less than it has (6.1.0-56 is 6.1.192): a bond that tells the option has it.
func (o Option) On(k netstate.Kernel) (known, there bool) {
	if o.Since == "" {
		return true, true
	}
	for _, release := range o.Stable {
		want := numbers(release)
		have := numbers(k.Release)
		if len(want) < 3 || len(have) < 3 || !slices.Equal(have[:2], want[:2]) {
			continue
		}
		return true, have[2] >= want[2]
	}
	return atLeast(k, o.Since)
}

// Releases are the releases that have it, in words: "Linux 6.18".
func (o Option) Releases() string {
	if len(o.Stable) == 0 {
		return "Linux " + o.Since
	}
	return "Linux " + o.Since + ", and with later stable releases of older ones (" + strings.Join(o.Stable, ", ") + ")"
}

// Refused is the release from which on kernels refuse the value, if k is such a
// kernel; "" where it takes it or its release does not say.
func (o Option) Refused(k netstate.Kernel, value string) string {
	release := o.Gone[value]
	if known, newer := atLeast(k, release); known && newer {
		return release
	}
	return ""
}

func atLeast(k netstate.Kernel, release string) (known, newer bool) {
	n := numbers(release)
	if len(n) < 2 {
		return false, false
	}
	newer, known = k.AtLeast(n[0], n[1])
	return known, newer
}

// numbers are those that a release begins with.
func numbers(release string) []int {
	head, _, _ := strings.Cut(release, "-")
	var out []int
	for _, part := range strings.FieldsFunc(head, func(r rune) bool { return r < '0' || r > '9' }) {
		n, err := strconv.Atoi(part)
		if err != nil {
			return nil
		}
		out = append(out, n)
	}
	return out
}

// Encode is a value as the kernel takes a number: Size bytes in its own order.
func (o Option) Encode(value string) ([]byte, error) {
	n, err := o.Number(value)
	if err != nil {
		return nil, err
	}
	switch o.Size {
	case 1:
		return []byte{byte(n)}, nil
	case 2:
		return binary.NativeEndian.AppendUint16(nil, uint16(n)), nil
	case 4:
		return binary.NativeEndian.AppendUint32(nil, uint32(n)), nil
	}
	return nil, fmt.Errorf("bond option %s: no number of %d bytes", o.Name, o.Size)
}

// Decode is a number of the kernel's as the table spells it; one that has no
// word, or is out of range, as itself. It takes any width.
func (o Option) Decode(b []byte) string {
	var n int64
	switch {
	case len(b) >= 8:
		n = int64(binary.NativeEndian.Uint64(b))
	case len(b) >= 4 && o.Min < 0:
		n = int64(int32(binary.NativeEndian.Uint32(b)))
	case len(b) >= 4:
		n = int64(binary.NativeEndian.Uint32(b))
	case len(b) >= 2:
		n = int64(binary.NativeEndian.Uint16(b))
	case len(b) == 1:
		n = int64(b[0])
	}
	if o.Words != nil && n >= 0 && n < int64(len(o.Words)) {
		return o.Words[n]
	}
	return strconv.FormatInt(n, 10)
}

func words[T fmt.Stringer](all []T) []string {
	out := make([]string, len(all))
	for i, v := range all {
		out[i] = v.String()
	}
	return out
}
