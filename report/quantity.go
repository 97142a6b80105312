package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// unknown is printed for what nobody measured or declared: never a zero.
const unknown = "unknown"

// positive reports a number that is there: finite and above zero.
func positive(v float64) bool { return v > 0 && !math.IsInf(v, 0) }

// finite reports a number that can be printed.
func finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// rate prints a rate whose zero means unknown.
func rate(v unit.BitRate) string {
	if !positive(float64(v)) {
		return unknown
	}
	return v.String()
}

// counted prints a rate whose zero is a real zero, such as an idle link's.
func counted(v unit.BitRate) string {
	if !finite(float64(v)) || v < 0 {
		return unknown
	}
	return v.String()
}

// goodput prints what a trial carried. Zero over a window of no length is
// unknown; zero over a real window is a measured zero.
func goodput(t *record.Trial) string {
	if t == nil || t.Goodput == 0 && !positive(t.Window) {
		return unknown
	}
	return counted(t.Goodput)
}

// interval prints the 95 % interval, "" when there is none.
func interval(t *record.Trial) string {
	if t == nil || !hasInterval(*t) {
		return ""
	}
	low, high := t.GoodputLow.String(), t.GoodputHigh.String()
	if n, u, _ := strings.Cut(low, " "); strings.HasSuffix(high, " "+u) {
		low = n
	}
	return low + " to " + high
}

func hasInterval(t record.Trial) bool {
	return positive(float64(t.GoodputLow)) && positive(float64(t.GoodputHigh)) && t.GoodputLow <= t.GoodputHigh
}

// fraction is part of whole; false when either cannot be known.
func fraction(part, whole unit.BitRate) (float64, bool) {
	if !positive(float64(whole)) || !finite(float64(part)) || part < 0 {
		return 0, false
	}
	v := float64(part) / float64(whole)
	return v, finite(v)
}

// percent prints part of whole with one decimal; never more than all of it.
func percent(part, whole unit.BitRate) string {
	v, ok := fraction(part, whole)
	if !ok {
		return unknown
	}
	switch {
	case v > inFlight:
		return "above it"
	case v >= 0.9995:
		return allOfIt
	}
	return fmt.Sprintf("%.1f %%", 100*v)
}

// allOfIt is printed for a rate at its ceiling, or above it by no more than
// inFlight: what was on the way when the window began is read within it. A rate
// further above says that the ceiling is wrong.
const (
	allOfIt  = "all of it"
	inFlight = 1.05
)

// ofTheCeiling is a share as the end of a sentence: "48.0 % of the ceiling";
// "" where it is unknown.
func ofTheCeiling(share string) string {
	switch share {
	case unknown:
		return ""
	case allOfIt:
		return "all of the ceiling"
	case "above it":
		return "above the ceiling, so a declared speed is too low"
	}
	return share + " of the ceiling"
}

// ofCeiling prints a trial's share of the given ceiling.
func ofCeiling(t *record.Trial, ceiling unit.BitRate) string {
	if goodput(t) == unknown {
		return unknown
	}
	return percent(t.Goodput, ceiling)
}

// share prints a ratio from 0 to 1 as a percentage; its zero is a real zero.
func share(v float64) string {
	if !finite(v) || v < 0 {
		return unknown
	}
	return fmt.Sprintf("%.1f %%", 100*v)
}

// change prints how after compares with before: "+107.5 %".
func change(before, after unit.BitRate) string {
	if !positive(float64(before)) || !positive(float64(after)) {
		return unknown
	}
	v := 100 * (float64(after)/float64(before) - 1)
	if !finite(v) {
		return unknown
	}
	return fmt.Sprintf("%+.1f %%", v)
}

// number prints three significant places without an exponent.
func number(v float64) string {
	switch a := math.Abs(v); {
	case a >= 99.95:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case a >= 9.995:
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return strconv.FormatFloat(v, 'f', 2, 64)
}

// milliseconds prints a time whose zero means unknown.
func milliseconds(v float64) string {
	if !positive(v) {
		return unknown
	}
	return number(v) + " ms"
}

// seconds prints a length whose zero means unknown.
func seconds(v float64) string {
	if !positive(v) {
		return unknown
	}
	return number(v) + " s"
}

// mtu prints a packet size whose zero means unknown.
func mtu(n int) string {
	if n <= 0 {
		return unknown
	}
	return strconv.Itoa(n) + " B"
}

// cores prints a number of processors' worth of work.
func cores(v float64) string {
	if !finite(v) || v < 0 {
		return unknown
	}
	if math.Abs(v-1) < 0.005 {
		return "1.00 core"
	}
	return number(v) + " cores"
}

// spelled writes small numbers as words, as a sentence begins with them.
func spelled(n int) string {
	words := [...]string{"No", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine", "Ten", "Eleven", "Twelve"}
	if n >= 0 && n < len(words) {
		return words[n]
	}
	return strconv.Itoa(n)
}

// instant prints a time in UTC; the zero time is unknown.
func instant(t time.Time) string {
	if t.IsZero() {
		return unknown
	}
	return t.UTC().Format("2006-01-02 15:04:05 UTC")
}

// orUnknown gives words for an empty string.
func orUnknown(s string) string {
	if strings.TrimSpace(s) == "" {
		return unknown
	}
	return s
}

// round prints a declared speed without decimals that say nothing: "500
// Mbit/s", "25 Gbit/s".
func round(v unit.BitRate) string {
	if !positive(float64(v)) {
		return unknown
	}
	n, u, _ := strings.Cut(v.String(), " ")
	if strings.Contains(n, ".") {
		n = strings.TrimRight(strings.TrimRight(n, "0"), ".")
	}
	return n + " " + u
}

// wholePercent prints a ratio without decimals, for labels in drawings.
func wholePercent(v float64) string { return fmt.Sprintf("%.0f %%", 100*min(v, 1)) }
