package unit

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// ParseDuration reads a time with one of the units us, ms, s, such as "8.9ms".
// A bare number is refused, since every configuration system reads one
// differently (systemd as seconds, netplan as milliseconds).
func ParseDuration(s string) (time.Duration, error) {
	t := strings.TrimSpace(s)
	if _, err := strconv.ParseFloat(t, 64); err == nil && t != "0" {
		return 0, fmt.Errorf("parse time %q: no unit (write %sms or %ss)", s, t, t)
	}
	d, err := time.ParseDuration(t)
	if err != nil || d < 0 {
		return 0, fmt.Errorf("parse time %q: want a number and one of us ms s, such as 8.9ms", s)
	}
	return d, nil
}

// Duration is a time.Duration that is written in text with its unit and in
// JSON never: JSON keys for times are plain numbers named _ms or _s.
type Duration time.Duration

// UnmarshalText reads what ParseDuration reads.
func (d *Duration) UnmarshalText(b []byte) error {
	v, err := ParseDuration(string(b))
	if err != nil {
		return err
	}
	*d = Duration(v)
	return nil
}

// MarshalText writes the time with its unit.
func (d Duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// Milliseconds is d in milliseconds, for keys named _ms.
func Milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
