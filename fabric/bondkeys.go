package fabric

import (
	"fmt"
	"maps"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/unit"
)

// bondRow is one bond parameter: netplan's name with its older spellings, and
// the kernel's (drivers/net/bonding/bond_options.c, bond_opts).
type bondRow struct {
	key     key[Bond]
	aliases []string
	kernel  string
	// initial is the kernel's default as option returns it.
	initial string
	// option is the value as the kernel's word or number.
	option func(netstate.Bond) string
	// text reads the value into the kernel's word or number, set puts such a
	// word into a bond; false when it is none.
	text scalar[string]
	set  func(*netstate.Bond, string) bool
}

// bondRows is the one table of bond parameters (netplan 1.1,
// doc/netplan-yaml.md "bonds").
var bondRows = []bondRow{
	bondField("mode", "mode", "bonding mode, balance-rr when left out", bondMode, func(b *netstate.Bond) *netstate.BondMode { return &b.Mode }),
	bondField("transmit-hash-policy", "xmit_hash_policy", "which headers choose a flow's port, layer2 when left out", hashPolicy, func(b *netstate.Bond) *netstate.HashPolicy { return &b.HashPolicy }),
	bondField("lacp-rate", "lacp_rate", "how often the partner sends LACPDUs, slow when left out", lacpRate, func(b *netstate.Bond) *netstate.LACPRate { return &b.LACPRate }),
	bondField("mii-monitor-interval", "miimon", "link monitoring interval in milliseconds; 0 watches nothing", milliseconds, func(b *netstate.Bond) *time.Duration { return &b.Miimon }),
	bondField("up-delay", "updelay", "wait before a port is used, in milliseconds", milliseconds, func(b *netstate.Bond) *time.Duration { return &b.UpDelay }),
	bondField("down-delay", "downdelay", "wait before a port is given up, in milliseconds", milliseconds, func(b *netstate.Bond) *time.Duration { return &b.DownDelay }),
	bondField("min-links", "min_links", "ports that must be up for the bond to be", integer(0, 65535), func(b *netstate.Bond) *int { return &b.MinLinks }),
	bondField("packets-per-member", "packets_per_slave", "balance-rr: packets to a port before the next; 0 is random", integer(0, 65535), func(b *netstate.Bond) *int { return &b.PacketsPerSlave }, "packets-per-slave"),
	bondOption("ad-select", "ad_select", "stable", "how the aggregator is chosen", word("stable", "bandwidth", "count")),
	bondOption("all-members-active", "all_slaves_active", "0", "accept frames on inactive ports", zeroOne, "all-slaves-active"),
	bondOption("arp-interval", "arp_interval", "0", "ARP monitoring interval in milliseconds", wholeMilliseconds),
	arpTargets(bondOption("arp-ip-targets", "arp_ip_target", "", "addresses to ask for by ARP, at most 16", free)),
	bondOption("arp-validate", "arp_validate", "none", "which ports' ARP traffic is checked", word("none", "active", "backup", "all")),
	bondOption("arp-all-targets", "arp_all_targets", "any", "whether any or all targets must answer", word("any", "all")),
	bondOption("fail-over-mac-policy", "fail_over_mac", "none", "which MAC the bond has in active-backup", word("none", "active", "follow")),
	bondOption("gratuitous-arp", "num_grat_arp", "1", "announcements after a failover", decimal(0, 255), "gratuitious-arp"),
	bondOption("primary-reselect-policy", "primary_reselect", "always", "when the primary takes over again", word("always", "better", "failure")),
	bondOption("resend-igmp", "resend_igmp", "1", "IGMP reports after a failover", decimal(0, 255)),
	bondOption("learn-packet-interval", "lp_interval", "1", "seconds between learning packets", seconds),
	bondOption("primary", "primary", "", "the preferred port", free),
}

var (
	bondParameters = object[Bond]{
		name: "bond_parameters", doc: "Bonding options under their netplan names.",
		keys: bondKeys(), alias: bondAliases(),
	}
	zeroOne = scalar[string]{schema: truth.schema, hint: truth.hint, parse: func(s string) (string, error) {
		on, err := parseBool(s)
		if on {
			return "1", err
		}
		return "0", err
	}}
	wholeMilliseconds = scalar[string]{schema: milliseconds.schema, hint: milliseconds.hint, parse: func(s string) (string, error) {
		d, err := milliseconds.parse(s)
		return strconv.FormatInt(d.Milliseconds(), 10), err
	}}
	seconds = scalar[string]{
		schema: either(map[string]any{"type": "integer", "minimum": 0}, pattern(`^[0-9]+$`), pattern(timePattern)),
		parse: func(s string) (string, error) {
			if v, err := strconv.ParseUint(s, 10, 31); err == nil {
				return strconv.FormatUint(v, 10), nil
			}
			d, err := unit.ParseDuration(s)
			return strconv.FormatInt(int64(d/time.Second), 10), err
		},
		hint: "a plain number is seconds",
	}
)

// decimal is a whole number kept as text.
func decimal(low, high int) scalar[string] {
	n := integer(low, high)
	return scalar[string]{schema: n.schema, hint: n.hint, parse: func(s string) (string, error) {
		v, err := n.parse(s)
		return strconv.Itoa(v), err
	}}
}

// bondField is a parameter that netstate.Bond has a field for.
func bondField[V any](name, kernel, doc string, s scalar[V], at func(*netstate.Bond) *V, aliases ...string) bondRow {
	r := one(s, func(b *Bond) *V { return at(&b.Options) })
	option := func(b netstate.Bond) string { return optionText(*at(&b)) }
	return bondRow{key[Bond]{name, doc, marked(r, kernel)}, aliases, kernel, option(kernelBond()), option, kernelText(s), func(b *netstate.Bond, word string) bool {
		v, err := s.parse(word)
		if err == nil {
			*at(b) = v
		}
		return err == nil
	}}
}

// kernelText reads a value into the kernel's word or number.
func kernelText[V any](s scalar[V]) scalar[string] {
	return scalar[string]{schema: s.schema, hint: s.hint, parse: func(text string) (string, error) {
		v, err := s.parse(text)
		return optionText(v), err
	}}
}

// optionText is a value as the kernel prints it, times in milliseconds.
func optionText(v any) string {
	switch v := v.(type) {
	case time.Duration:
		return strconv.FormatInt(v.Milliseconds(), 10)
	case int:
		return strconv.Itoa(v)
	case fmt.Stringer:
		return v.String()
	}
	return ""
}

// bondOption is a parameter kept under its kernel name.
func bondOption(name, kernel, initial, doc string, s scalar[string], aliases ...string) bondRow {
	r := reader[Bond]{
		schema: func(*schemaWriter) map[string]any { return s.schema },
		read: func(d *decoder, at place, n *Node, into *Bond) {
			if v, ok := s.decode(d, at, n); ok {
				into.setOption(kernel, v)
			}
		},
	}
	option := func(b netstate.Bond) string {
		// sysfs prints a word with its number, "always 0".
		word, _, _ := strings.Cut(b.Options[kernel], " ")
		return word
	}
	return bondRow{key[Bond]{name, doc, marked(r, kernel)}, aliases, kernel, initial, option, s, func(b *netstate.Bond, word string) bool { return keepOption(b, kernel, word) }}
}

// keepOption puts an option that has no field into a bond's own copy of its
// options.
func keepOption(b *netstate.Bond, kernel, word string) bool {
	options := maps.Clone(b.Options)
	if options == nil {
		options = map[string]string{}
	}
	options[kernel] = word
	b.Options = options
	return word != ""
}

func (b *Bond) setOption(kernel, value string) {
	if b.Options.Options == nil {
		b.Options.Options = map[string]string{}
	}
	b.Options.Options[kernel] = value
}

// marked notes that the file sets the option.
func marked(r reader[Bond], kernel string) reader[Bond] {
	read := r.read
	r.read = func(d *decoder, at place, n *Node, into *Bond) {
		read(d, at, n, into)
		if !into.Sets(kernel) {
			into.Set = append(into.Set, kernel)
		}
	}
	return r
}

// arpTargets is the one parameter that holds a list; the kernel writes it with
// commas.
func arpTargets(row bondRow) bondRow {
	row.key.value = marked(reader[Bond]{
		schema: func(*schemaWriter) map[string]any {
			return map[string]any{"type": "array", "maxItems": 16, "items": address.schema}
		},
		read: func(d *decoder, at place, n *Node, into *Bond) {
			var targets []netip.Addr
			many(address, func(*Bond) *[]netip.Addr { return &targets }).read(d, at, n, into)
			if len(n.Items) > 16 {
				d.wrong(at, n, fmt.Sprintf("has %d addresses, the kernel takes 16", len(n.Items)), "")
			}
			words := make([]string, len(targets))
			for i, a := range targets {
				words[i] = a.String()
			}
			into.setOption(row.kernel, strings.Join(words, ","))
		},
	}, row.kernel)
	return row
}

func bondKeys() []key[Bond] {
	var keys []key[Bond]
	for _, r := range bondRows {
		keys = append(keys, r.key)
		for _, alias := range r.aliases {
			keys = append(keys, key[Bond]{alias, "older spelling of " + r.key.name, r.key.value})
		}
	}
	return keys
}

// bondAliases leads from the kernel's names, and ifcfg's, to netplan's.
func bondAliases() map[string]string {
	aliases := map[string]string{
		"hash-policy": "transmit-hash-policy", "xmit-hash-policy": "transmit-hash-policy", "miimon": "mii-monitor-interval",
	}
	for _, r := range bondRows {
		aliases[r.kernel] = r.key.name
		aliases[strings.ReplaceAll(r.kernel, "_", "-")] = r.key.name
	}
	for _, r := range bondRows {
		delete(aliases, r.key.name)
	}
	return aliases
}

// BondParameter returns netplan's name of a bond option by its kernel name;
// false for options that netplan cannot say (lacp_active, tlb_dynamic_lb, ...).
func BondParameter(kernelName string) (string, bool) {
	for _, r := range bondRows {
		if r.kernel == kernelName {
			return r.key.name, true
		}
	}
	return "", false
}

// parsePrefix reads an address with its prefix length.
func parsePrefix(s string) (netip.Prefix, error) {
	p, err := netip.ParsePrefix(s)
	if err == nil {
		return p, nil
	}
	if a, err := netip.ParseAddr(s); err == nil {
		return netip.Prefix{}, fmt.Errorf("%q has no prefix length (write %s/%d?)", s, s, a.BitLen())
	}
	return netip.Prefix{}, fmt.Errorf("%q is no address with a prefix length such as 10.0.0.1/24", s)
}

// Option returns a bond option's value by its kernel name, as the kernel's
// word or number, times in milliseconds; "" for one that is not known.
func Option(b netstate.Bond, kernelName string) string {
	for _, r := range bondRows {
		if r.kernel == kernelName {
			return r.option(b)
		}
	}
	if kernelName == "tlb_dynamic_lb" {
		if b.TLBDynamic {
			return "1"
		}
		return "0"
	}
	return b.Options[kernelName]
}

// SetOption sets a bond's option by its kernel name to a value as Option
// returns it; false, and nothing set, for a value that is none of its.
func SetOption(b *netstate.Bond, kernelName, value string) bool {
	if value == "" && (kernelName == "arp_ip_target" || kernelName == "ns_ip6_target") {
		keepOption(b, kernelName, value) // nobody is asked
		return true
	}
	for _, r := range bondRows {
		if r.kernel == kernelName {
			return r.set(b, value)
		}
	}
	if kernelName == "tlb_dynamic_lb" {
		on, err := parseSwitch(value)
		if err == nil {
			b.TLBDynamic = on
		}
		return err == nil
	}
	return keepOption(b, kernelName, value)
}
