package readback

import (
	"net/netip"
	"strconv"
	"strings"
)

// DestinationText is netplan's word for a destination.
func DestinationText(p netip.Prefix) string {
	if p.Bits() == 0 {
		return "default"
	}
	return p.String()
}

// ParseDestination reads "default", an address or a network; four is the
// family of a bare "default".
func ParseDestination(s string, four bool) (netip.Prefix, bool) {
	switch s {
	case "default", "any":
		if four {
			return netip.PrefixFrom(netip.IPv4Unspecified(), 0), true
		}
		return netip.PrefixFrom(netip.IPv6Unspecified(), 0), true
	}
	if p, err := netip.ParsePrefix(s); err == nil {
		return p.Masked(), true
	}
	a, err := netip.ParseAddr(s)
	if err != nil || a.Zone() != "" {
		return netip.Prefix{}, false
	}
	return netip.PrefixFrom(a, a.BitLen()), true
}

// LinkName reports what can be an interface's name (dev_valid_name,
// net/core/dev.c).
func LinkName(s string) bool {
	return s != "" && len(s) < 16 && s != "." && s != ".." && !strings.ContainsAny(s, "/: \t\"'{}[],&*#?|<>=!%@\\`") && PrintableName(s)
}

// PrintableName reports a word of printable ASCII.
func PrintableName(s string) bool {
	return !strings.ContainsFunc(s, func(c rune) bool { return c <= ' ' || c > '~' })
}

// RouteValue is a value of [Route]'s as netplan has it.
func RouteValue(key, value string, four bool) (string, bool) {
	switch key {
	case "to":
		p, ok := ParseDestination(value, four)
		if ok && p.Bits() == 0 && p.Addr().Is4() == four {
			return "default", true
		}
		return p.String(), ok
	case "via", "from":
		a, err := netip.ParseAddr(value)
		return value, err == nil && a.Zone() == ""
	case "on-link":
		on, ok := ZeroOne(value)
		return strconv.FormatBool(on == "1"), ok
	case "table":
		return TableNumber(value)
	case "type", "scope":
		return value, LinkName(value)
	}
	value = SizeText(value, 1024)
	_, err := strconv.ParseUint(value, 10, 32)
	return value, err == nil
}

// TableNumber is a routing table's number (rt_tables of iproute2).
func TableNumber(s string) (string, bool) {
	if n, ok := map[string]string{"default": "253", "main": "254", "local": "255"}[s]; ok {
		return n, true
	}
	_, err := strconv.ParseUint(s, 10, 32)
	return s, err == nil
}

// ScaledNumber is a number times a scale, rounded; false for what is none, and
// above 1e18.
func ScaledNumber(s string, scale float64) (uint64, bool) {
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || !(v >= 0) || v*scale > 1e18 {
		return 0, false
	}
	return uint64(v*scale + 0.5), true
}

// SizeText is a number with systemd's suffix K, M or G as a plain one, the
// text itself where it is none.
func SizeText(s string, base float64) string {
	scale := 1.0
	number := s
	if s != "" {
		if i := strings.IndexByte("KMGT", s[len(s)-1]); i >= 0 {
			number = s[:len(s)-1]
			for range i + 1 {
				scale *= base
			}
		}
	}
	if n, ok := ScaledNumber(strings.TrimSpace(number), scale); ok {
		return strconv.FormatUint(n, 10)
	}
	return s
}

// ZeroOne is a boolean of systemd.syntax(7) as the kernel's number.
func ZeroOne(s string) (string, bool) {
	switch strings.ToLower(s) {
	case "1", "yes", "y", "true", "t", "on":
		return "1", true
	case "0", "no", "n", "false", "f", "off":
		return "0", true
	}
	return "", false
}

// RuleValue is a value of a routing rule's as netplan has it.
func RuleValue(key, value string, four bool) (string, bool) {
	switch key {
	case "from", "to":
		p, ok := ParseDestination(value, four)
		return p.String(), ok
	case "table":
		return TableNumber(value)
	}
	n, err := strconv.ParseUint(value, 0, 32)
	return strconv.FormatUint(n, 10), err == nil
}
