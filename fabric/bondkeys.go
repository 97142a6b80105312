package fabric

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/bondopt"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/unit"
)

var (
	bondParameters = object[Bond]{
		name: "bond_parameters", doc: "Bonding options under their netplan names.",
		keys: bondKeys(), alias: bondAliases(),
	}
	bondingKeys = object[map[string]string]{
		name: "bonding", doc: "Bond options under their kernel names (/sys/class/net/BOND/bonding).",
		keys: bondingRows(), alias: bondingAliases(),
	}
)

// optionText reads a value of an option into the kernel's word or number.
// parameter is true for netplan's own spelling of it.
func optionText(o bondopt.Option, parameter bool) scalar[string] {
	said, netplans := o.Saying(bondopt.Netplan)
	switch {
	case o.Kind == bondopt.Port:
		return free
	case o.Kind == bondopt.MAC:
		return systemMAC
	case o.Listed():
		return addressesText(o)
	case o.Switch() && o.Words != nil:
		return switchText("off", "on", switchSchema, "write on or off", parseSwitch)
	case o.Switch() && parameter:
		return switchText("0", "1", truth.schema, truth.hint, yamldoc.ParseBool)
	case o.Switch():
		return switchText("0", "1", switchSchema, "write 0 or 1", parseSwitch)
	case o.Name == "mode" && parameter: // Open vSwitch's too
		return word(append(slices.Clone(o.Words), string(netstate.OVSBalanceSLB), string(netstate.OVSBalanceTCP))...)
	case o.Words != nil && parameter && !said.Lenient:
		return word(slices.DeleteFunc(slices.Clone(o.Words), func(w string) bool { return !said.Has(w) })...)
	case o.Words != nil:
		return word(o.Words...)
	case o.Unit == bondopt.Milliseconds && netplans:
		return spanText(o, milliseconds.schema, milliseconds.hint, time.Millisecond)
	case o.Unit == bondopt.Seconds && parameter:
		return spanText(o, milliseconds.schema, "a plain number is seconds", time.Second)
	}
	n := integer(int(o.Min), int(o.Max))
	return scalar[string]{schema: n.schema, hint: n.hint, parse: func(s string) (string, error) {
		v, err := n.parse(s)
		return strconv.Itoa(v), err
	}}
}

// wordsOf are the words of an option.
func wordsOf(option string) []string {
	o, _ := bondopt.Find(option)
	return slices.Clone(o.Words)
}

func switchText(off, on string, schema map[string]any, hint string, parse func(string) (bool, error)) scalar[string] {
	return scalar[string]{schema: schema, hint: hint, parse: func(s string) (string, error) {
		is, err := parse(s)
		if is {
			return on, err
		}
		return off, err
	}}
}

// spanText is a plain number of the unit, or a time with its own.
func spanText(o bondopt.Option, schema map[string]any, hint string, plain time.Duration) scalar[string] {
	return scalar[string]{schema: schema, hint: hint, parse: func(s string) (string, error) {
		if v, err := strconv.ParseUint(s, 10, 31); err == nil {
			return strconv.FormatUint(v, 10), nil
		}
		d, err := unit.ParseDuration(s)
		return strconv.FormatInt(int64(d/plain), 10), err
	}}
}

var systemMAC = scalar[string]{schema: mac.schema, parse: func(s string) (string, error) {
	m, err := flow.ParseMAC(s)
	if err == nil && m[0]&1 != 0 {
		return "", fmt.Errorf("%s is a multicast address", s)
	}
	return m.String(), err
}}

// addressesText is a list of addresses as the kernel has it.
func addressesText(o bondopt.Option) scalar[string] {
	return scalar[string]{
		schema: map[string]any{"type": "string"},
		parse: func(s string) (string, error) {
			if s == bondopt.None {
				return "", nil
			}
			words := addressWords(s)
			if len(words) == 0 || len(words) > 16 {
				return "", fmt.Errorf("%q holds %d addresses, the kernel takes 1 to 16", s, len(words))
			}
			for i, w := range words {
				a, err := netip.ParseAddr(w)
				if err != nil || a.Is4() != (o.Kind == bondopt.IPv4List) {
					return "", fmt.Errorf("%q is no address of the right family", w)
				}
				words[i] = a.String()
			}
			return strings.Join(words, ","), nil
		},
		hint: "separate addresses by commas; none asks nobody",
	}
}

func addressWords(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' })
}

// optionDoc says what an option is, and which kernels have it.
func optionDoc(o bondopt.Option) string {
	if o.Since == "" {
		return o.Doc
	}
	return o.Doc + " (Linux " + o.Since + ")"
}

// bondKeys are the options that netplan has a name for, under its names.
func bondKeys() []key[Bond] {
	var keys []key[Bond]
	for _, o := range bondopt.Options() {
		said, ok := o.Saying(bondopt.Netplan)
		if !ok {
			continue
		}
		value := parameterReader(o)
		keys = append(keys, key[Bond]{said.Name, optionDoc(o), value})
		for _, older := range said.Older {
			keys = append(keys, key[Bond]{older, "older spelling of " + said.Name, value})
		}
	}
	return keys
}

// parameterReader reads one parameter of netplan's, and notes that the file
// sets the option.
func parameterReader(o bondopt.Option) reader[Bond] {
	s := optionText(o, true)
	schema, read := s.schema, s.decode
	if o.Listed() { // a sequence, which the kernel writes with commas
		schema = map[string]any{"type": "array", "maxItems": 16, "items": address.schema}
		read = func(d *decoder, at place, n *yamldoc.Node) (string, bool) {
			var targets []netip.Addr
			many(addressOf(o), func(*Bond) *[]netip.Addr { return &targets }).read(d, at, n, &Bond{})
			if len(n.Items) > 16 {
				d.wrong(at, n, fmt.Sprintf("has %d addresses, the kernel takes 16", len(n.Items)), "")
			}
			words := make([]string, len(targets))
			for i, a := range targets {
				words[i] = a.String()
			}
			return strings.Join(words, ","), true
		}
	}
	return reader[Bond]{
		schema: func(*schemaWriter) map[string]any { return withOwnWords(o, schema) },
		read: func(d *decoder, at place, n *yamldoc.Node, into *Bond) {
			if system, foreign := bondopt.SystemOf(d.system); foreign && !readOwn(d, at, n, system, o, into) {
				return
			} else if v, ok := read(d, at, n); ok {
				_ = o.Put(&into.Options, v) // of the option's kind
			}
			if !into.Sets(o.Name) {
				into.Set = append(into.Set, o.Name)
			}
		},
	}
}

// addressOf is an address of the family that a list option has.
func addressOf(o bondopt.Option) scalar[netip.Addr] {
	s := address
	if s.hint = "write IPv4 addresses"; o.Kind != bondopt.IPv4List {
		s.hint = "write IPv6 addresses"
	}
	s.parse = func(text string) (netip.Addr, error) {
		a, err := address.parse(text)
		if four := o.Kind == bondopt.IPv4List; err == nil && a.Is4() != four {
			return a, fmt.Errorf("%s is of the other address family", a)
		}
		return a, err
	}
	return s
}

// bondAliases leads from the kernel's names, and ifcfg's, to netplan's.
func bondAliases() map[string]string {
	aliases := map[string]string{"hash-policy": "transmit-hash-policy", "xmit-hash-policy": "transmit-hash-policy", "miimon": "mii-monitor-interval"}
	for _, o := range bondopt.Options() {
		if said, ok := o.Saying(bondopt.Netplan); ok {
			aliases[o.Name] = said.Name
			aliases[strings.ReplaceAll(o.Name, "_", "-")] = said.Name
		}
	}
	for _, o := range bondopt.Options() {
		if said, ok := o.Saying(bondopt.Netplan); ok {
			delete(aliases, said.Name)
		}
	}
	return aliases
}

// bondingRows are all options, under the kernel's names.
func bondingRows() []key[map[string]string] {
	var rows []key[map[string]string]
	for _, o := range bondopt.Options() {
		text, doc := optionText(o, false), optionDoc(o)
		if said, ok := o.Saying(bondopt.Netplan); ok {
			doc = "netplan's " + said.Name + ": " + doc
		}
		rows = append(rows, key[map[string]string]{o.Name, doc, entry(o.Name, text)})
		if o.Twin != "" {
			rows = append(rows, key[map[string]string]{o.Twin, "the same as " + o.Name, entry(o.Twin, text)})
		}
	}
	return rows
}

// portKeys are the options of a bond's port.
func portKeys() []key[map[string]string] {
	var keys []key[map[string]string]
	for _, o := range bondopt.Ports() {
		keys = append(keys, key[map[string]string]{o.Key, optionDoc(o), entry(o.Name, optionText(o, false))})
	}
	return keys
}

// bondingAliases leads from the names of netplan and of ip-link(8) to the
// kernel's.
func bondingAliases() map[string]string {
	aliases := map[string]string{"hash_policy": "xmit_hash_policy"}
	for _, o := range bondopt.Options() {
		for _, f := range [...]bondopt.Format{bondopt.Netplan, bondopt.Iproute2} {
			if said, ok := o.Saying(f); ok {
				aliases[said.Name] = o.Name
			}
		}
	}
	return aliases
}

// BondParameter returns netplan's name of a bond option by its kernel name;
// false for options that netplan cannot say (lacp_active, tlb_dynamic_lb, ...).
func BondParameter(kernelName string) (string, bool) {
	o, _ := bondopt.Find(kernelName)
	said, ok := o.Saying(bondopt.Netplan)
	return said.Name, ok
}

// OptionInMode reports whether a bond of the mode takes an option, by its
// kernel name.
func OptionInMode(kernelName string, mode netstate.BondMode) bool {
	o, _ := bondopt.Find(kernelName)
	return o.Allows(mode)
}

// InitialOption is what the driver makes a bond with, by the option's kernel
// name; "" unknown or nothing.
func InitialOption(kernelName string) string {
	o, _ := bondopt.Find(kernelName)
	if o.Default == bondopt.None && o.Kind != bondopt.Number {
		return ""
	}
	return o.Default
}

// kernelBond is a bond as the driver makes it.
func kernelBond() netstate.Bond {
	var b netstate.Bond
	for _, o := range bondopt.Options() {
		if o.Own() {
			_ = o.Put(&b, o.Default) // the table's own word
		}
	}
	return b
}

// Option returns a bond option's value by its kernel name, as the kernel's
// word or number, times in milliseconds; "" for one that is not known.
func Option(b netstate.Bond, kernelName string) string {
	if own, said := bondopt.OwnOption(b, kernelName); said {
		return own
	}
	o, known := bondopt.Find(kernelName)
	if !known {
		return b.Options[kernelName]
	}
	return o.Of(b)
}

// SetOption sets a bond's option by its kernel name to a value as Option
// returns it, in Options of the bond's own; false, and nothing set, for a value
// that is none of its.
func SetOption(b *netstate.Bond, kernelName, value string) bool {
	o, known := bondopt.Find(kernelName)
	if !known {
		o.Name = kernelName
	}
	if value == "" && !o.Listed() {
		return false
	}
	b.Options = maps.Clone(b.Options)
	return o.Put(b, value) == nil
}

// layBonding lays `bonding` over the bonds of the network, so that a bond's
// Options are all that the file says of it.
func (h *Host) layBonding() {
	for i := range h.Network.Bonds {
		b := &h.Network.Bonds[i]
		for _, kernel := range SortedNames(h.Bonding[b.ID]) {
			if !b.Sets(kernel) && SetOption(&b.Options, kernel, h.Bonding[b.ID][kernel]) {
				b.Set = append(b.Set, kernel)
			}
		}
	}
}
