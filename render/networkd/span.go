package networkd

import (
	"strconv"
	"strings"
	"time"
)

// spanUnits are the units of systemd.time(7) as far as networks need them.
var spanUnits = []struct {
	words []string
	unit  time.Duration
}{
	{[]string{"usec", "us", "µs"}, time.Microsecond},
	{[]string{"msec", "ms"}, time.Millisecond},
	{[]string{"seconds", "second", "sec", "s", ""}, time.Second},
	{[]string{"minutes", "minute", "min", "m"}, time.Minute},
	{[]string{"hours", "hour", "hr", "h"}, time.Hour},
}

// parseSpan reads a time span of systemd.time(7), "1min 30s"; a bare number is
// seconds. False for what is none, or longer than a century.
func parseSpan(s string) (time.Duration, bool) {
	const most = 100 * 365 * 24 * time.Hour
	s = strings.TrimSpace(s)
	var sum time.Duration
	for n := 0; s != ""; n++ {
		i := 0
		for i < len(s) && (s[i] >= '0' && s[i] <= '9' || s[i] == '.') {
			i++
		}
		value, err := strconv.ParseFloat(s[:i], 64)
		if err != nil || n > 8 {
			return 0, false
		}
		s = strings.TrimLeft(s[i:], " ")
		i = 0
		for i < len(s) && (s[i] < '0' || s[i] > '9') && s[i] != ' ' {
			i++
		}
		unit, ok := spanUnit(s[:i])
		if !ok || value*float64(unit) > float64(most) {
			return 0, false
		}
		sum += time.Duration(value * float64(unit))
		s = strings.TrimLeft(s[i:], " ")
		if sum > most {
			return 0, false
		}
		if s == "" {
			return sum, true
		}
	}
	return 0, false
}

func spanUnit(word string) (time.Duration, bool) {
	for _, u := range spanUnits {
		for _, w := range u.words {
			if w == word {
				return u.unit, true
			}
		}
	}
	return 0, false
}

// fromSpan is a time span as the kernel's milliseconds.
func fromSpan(s string) (string, bool) {
	d, ok := parseSpan(s)
	return strconv.FormatInt(d.Milliseconds(), 10), ok
}

// wholeSeconds is a time span as the kernel's seconds.
func wholeSeconds(s string) (string, bool) {
	d, ok := parseSpan(s)
	return strconv.FormatInt(int64(d/time.Second), 10), ok && d%time.Second == 0
}

// microseconds is a time span as ethtool's microseconds.
func microseconds(s string) (int, bool) {
	d, ok := parseSpan(s)
	return int(d.Microseconds()), ok
}
