package fabric

import (
	"fmt"
	"math"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/unit"
)

// scalar is a kind of single value: how it is read and what a schema says.
type scalar[V any] struct {
	schema map[string]any
	parse  func(string) (V, error)
	hint   string
	// empty is true for a kind that "" is a value of.
	empty bool
}

func (s scalar[V]) decode(d *decoder, at place, n *yamldoc.Node) (v V, ok bool) {
	if n.Kind == yamldoc.NullNode {
		d.wrong(at, n, "has no value", s.hint)
		return v, false
	}
	if !d.want(at, n, yamldoc.ScalarNode) {
		return v, false
	}
	if n.Text == "" && !s.empty {
		d.wrong(at, n, "is empty", s.hint)
		return v, false
	}
	v, err := s.parse(n.Text)
	if err != nil {
		d.wrong(at, n, strings.TrimPrefix(err.Error(), "parse "), s.hint)
		return v, false
	}
	return v, true
}

const (
	ratePattern = `^\+?[0-9]*\.?[0-9]+([eE][0-9]+)?[KMGTkmgt]$`
	sizePattern = `^[0-9]*\.?[0-9]+(Ki|Mi|Gi|K|M|G)?$`
	partPattern = `^[0-9]*\.?[0-9]+%$`
	timePattern = `^([0-9]*\.?[0-9]+(ns|us|µs|ms|s|m|h))+$`
)

func pattern(p string) map[string]any { return map[string]any{"type": "string", "pattern": p} }

func either(schemas ...map[string]any) map[string]any { return map[string]any{"anyOf": schemas} }

// maxAmount is more than anything here costs or counts, and little enough that
// sums of it stay numbers.
const maxAmount = 1e12

var (
	rate = scalar[unit.BitRate]{
		schema: either(pattern(ratePattern), map[string]any{"const": 0}),
		parse:  unit.ParseBitRate,
		hint:   "rates take K M G T, bits per second: 25G, 500M",
	}
	duration = scalar[time.Duration]{
		schema: either(pattern(timePattern), map[string]any{"const": 0}),
		parse:  unit.ParseDuration,
		hint:   "times take us ms s: 8.9ms, 30s",
	}
	buffer = scalar[unit.Bytes]{
		schema: either(pattern(sizePattern), map[string]any{"const": "default"}, map[string]any{"type": "integer", "minimum": 0}),
		parse: func(s string) (unit.Bytes, error) {
			if s == "default" {
				return 0, nil
			}
			return unit.ParseBytes(s)
		},
		hint: "write default, or a size such as 8Mi (sizes take K M G, or Ki Mi Gi)",
	}
	size = scalar[unit.Bytes]{
		schema: either(pattern(sizePattern), map[string]any{"type": "integer", "minimum": 0}),
		parse:  unit.ParseBytes,
		hint:   "sizes take K M G, or Ki Mi Gi: 64M, 8Mi",
	}
	free = scalar[string]{
		schema: map[string]any{"type": []string{"string", "number", "boolean"}},
		parse:  func(s string) (string, error) { return s, nil },
	}
	truth = scalar[bool]{
		schema: either(map[string]any{"type": "boolean"}, pattern(yamldoc.BoolPattern())),
		parse:  yamldoc.ParseBool,
		hint:   "write true or false",
	}
	ratio = scalar[float64]{
		schema: either(map[string]any{"type": "number", "minimum": 0, "exclusiveMaximum": 1}, pattern(partPattern)),
		parse:  unit.ParseRatio,
		hint:   "write a ratio below 1 such as 0.001, or a percentage such as 0.1%",
	}
	share = scalar[float64]{
		schema: either(map[string]any{"type": "number", "minimum": 0, "maximum": 1}, pattern(partPattern)),
		parse:  unit.ParseShare,
		hint:   "write a share such as 0.12, or a percentage up to 100%",
	}
	// amount is a number without a unit: a price, packets a second.
	amount = scalar[float64]{
		schema: map[string]any{"type": "number", "minimum": 0, "maximum": maxAmount},
		parse: func(s string) (float64, error) {
			v, err := strconv.ParseFloat(s, 64)
			if err != nil || v < 0 || v > maxAmount || math.IsNaN(v) {
				return 0, fmt.Errorf("%q is not a number from 0 to %.0f", s, maxAmount)
			}
			return v, nil
		},
	}
	mac = scalar[flow.MAC]{
		schema: pattern(`^[0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){5}$`),
		parse:  flow.ParseMAC,
	}
	address = scalar[netip.Addr]{
		schema: map[string]any{"type": "string"},
		parse: func(s string) (netip.Addr, error) {
			a, err := netip.ParseAddr(s)
			if err != nil {
				return a, fmt.Errorf("%q is no IP address", s)
			}
			return a.Unmap(), nil
		},
	}
	// milliseconds is netplan's time: a plain number of milliseconds, or one
	// with its unit (netplan passes suffixes on to networkd).
	milliseconds = scalar[time.Duration]{
		schema: either(map[string]any{"type": "integer", "minimum": 0}, pattern(`^[0-9]+$`), pattern(timePattern)),
		parse: func(s string) (time.Duration, error) {
			if v, err := strconv.ParseUint(s, 10, 31); err == nil {
				return time.Duration(v) * time.Millisecond, nil
			}
			return unit.ParseDuration(s)
		},
		hint: "a plain number is milliseconds; ms and s may be written",
	}
)

// word is one of a list of words.
func word(names ...string) scalar[string] {
	return scalar[string]{
		schema: map[string]any{"enum": names},
		parse: func(s string) (string, error) {
			if slices.Contains(names, s) {
				return s, nil
			}
			return "", fmt.Errorf("%q is not known%s", s, yamldoc.Nearest(s, names))
		},
		hint: yamldoc.Choices(names),
	}
}

// integer is a whole number from low to high.
func integer(low, high int) scalar[int] {
	return scalar[int]{
		schema: map[string]any{"type": "integer", "minimum": low, "maximum": high},
		parse: func(s string) (int, error) {
			v, err := strconv.ParseInt(s, 10, 64)
			if err != nil {
				return 0, fmt.Errorf("%q is not a whole number", s)
			}
			if v < int64(low) || v > int64(high) {
				return 0, fmt.Errorf("%d is not from %d to %d", v, low, high)
			}
			return int(v), nil
		},
	}
}
