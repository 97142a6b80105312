package console

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/linerate/linerate/unit"
)

// spans are the units of a time that histories are counted in.
var spans = map[string]time.Duration{"m": time.Minute, "h": time.Hour, "d": 24 * time.Hour, "w": 7 * 24 * time.Hour, "y": 365 * 24 * time.Hour}

const SinceHint = "such as 30d, 12h or 2026-01-31"

// ParseSince reads how long before now, "30d", or a day or moment; "" is the
// zero time.
func ParseSince(flag, s string, now time.Time) (time.Time, error) {
	s = strings.TrimSpace(s)
	if s == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if at, err := time.Parse(layout, s); err == nil {
			return at, nil
		}
	}
	for word, one := range spans {
		number, found := strings.CutSuffix(s, word)
		if !found {
			continue
		}
		n, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if err == nil && n >= 0 && n*float64(one) < math.MaxInt64/2 {
			return now.Add(-time.Duration(n * float64(one))), nil
		}
	}
	if d, err := unit.ParseDuration(s); err == nil && d > 0 {
		return now.Add(-d), nil
	}
	return time.Time{}, BadUsage("--"+flag+": want a time in m, h, d, w or y, or a date, not "+s, SinceHint)
}
