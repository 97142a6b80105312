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

// Milliseconds is d in milliseconds, for keys named _ms.
func Milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }
