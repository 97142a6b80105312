// Package unit holds the quantities linerate computes with: bit rates and
// byte counts, how they are parsed and printed. It is the only package that
// knows 1000 from 1024 and a bit from a byte. It must never learn about links,
// hosts or time. Don't write a rate as a bare number anywhere else.
package unit

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// BitRate is a rate in bits per second. Whether it counts payload or wire
// bits is said by the name of the field that holds it. Zero means unknown or
// none, as the field's comment says.
type BitRate float64

// Decimal multiples: the field's tools and the contract count rates by 1000.
const (
	BitPerSecond BitRate = 1
	Kbps                 = 1000 * BitPerSecond
	Mbps                 = 1000 * Kbps
	Gbps                 = 1000 * Mbps
	Tbps                 = 1000 * Gbps
)

// rateSuffixes is the one table of rate multiples, largest first.
var rateSuffixes = [...]struct {
	suffix string
	scale  BitRate
}{{"T", Tbps}, {"G", Gbps}, {"M", Mbps}, {"K", Kbps}}

// MaxBitRate is the largest rate that is read: far above any link there is, and
// far below where arithmetic ends.
const MaxBitRate = 1000 * Tbps

// ParseBitRate reads a decimal rate with one of the suffixes K M G T, such as
// "25G" or "2.5G". A number without a unit is refused: nobody can know whether
// 100 was meant as bits, megabits or bytes; so is one above 1000T.
func ParseBitRate(s string) (BitRate, error) {
	t := strings.TrimSpace(s)
	for _, u := range rateSuffixes {
		for _, suffix := range []string{u.suffix, strings.ToLower(u.suffix)} {
			number, found := strings.CutSuffix(t, suffix)
			if !found {
				continue
			}
			v, err := strconv.ParseFloat(number, 64)
			if err != nil || v < 0 || math.IsInf(v, 0) || math.IsNaN(v) {
				return 0, fmt.Errorf("parse rate %q: want a number and one of K M G T, such as 25G", s)
			}
			if r := BitRate(v) * u.scale; r <= MaxBitRate {
				return r, nil
			}
			return 0, fmt.Errorf("parse rate %q: more than %s", s, MaxBitRate)
		}
	}
	if _, err := strconv.ParseFloat(t, 64); err == nil && t != "0" {
		return 0, fmt.Errorf("parse rate %q: no unit (write %sG or %sM: bits per second, decimal)", s, t, t)
	}
	if t == "0" {
		return 0, nil
	}
	return 0, fmt.Errorf("parse rate %q: want a number and one of K M G T, such as 25G", s)
}

// FromBytes is the rate of n bytes carried in the given number of seconds;
// zero when seconds is not positive.
func FromBytes(n float64, seconds float64) BitRate {
	if seconds <= 0 {
		return 0
	}
	return BitRate(n * 8 / seconds)
}

// String prints three significant places after scaling, in the decimal units
// people compare line rates in: "496 Mbit/s", "9.90 Gbit/s".
func (r BitRate) String() string {
	a := math.Abs(float64(r))
	switch {
	case a >= float64(Tbps):
		return scaled(float64(r/Tbps), "Tbit/s")
	case a >= float64(Gbps):
		return scaled(float64(r/Gbps), "Gbit/s")
	case a >= float64(Mbps):
		return scaled(float64(r/Mbps), "Mbit/s")
	case a >= float64(Kbps):
		return scaled(float64(r/Kbps), "kbit/s")
	}
	return fmt.Sprintf("%.0f bit/s", float64(r))
}

func scaled(v float64, suffix string) string {
	switch a := math.Abs(v); {
	case a >= 99.95:
		return fmt.Sprintf("%.0f %s", v, suffix)
	case a >= 9.995:
		return fmt.Sprintf("%.1f %s", v, suffix)
	}
	return fmt.Sprintf("%.2f %s", v, suffix)
}

// MarshalText gives the shortest exact form that ParseBitRate reads back.
func (r BitRate) MarshalText() ([]byte, error) {
	for _, u := range rateSuffixes {
		if r >= u.scale {
			return []byte(strconv.FormatFloat(float64(r/u.scale), 'f', -1, 64) + u.suffix), nil
		}
	}
	if r == 0 {
		return []byte("0"), nil
	}
	return []byte(strconv.FormatFloat(float64(r/Kbps), 'f', -1, 64) + "K"), nil
}

// UnmarshalText reads what ParseBitRate reads.
func (r *BitRate) UnmarshalText(b []byte) error {
	v, err := ParseBitRate(string(b))
	if err != nil {
		return err
	}
	*r = v
	return nil
}

// MarshalJSON writes a plain number of bits per second, rounded to one bit:
// keys that hold a rate end in _bps.
func (r BitRate) MarshalJSON() ([]byte, error) {
	v := float64(r)
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil, fmt.Errorf("marshal rate %v: not a number", v)
	}
	return strconv.AppendFloat(nil, math.Round(v), 'f', 0, 64), nil
}

// UnmarshalJSON reads a plain number of bits per second.
func (r *BitRate) UnmarshalJSON(b []byte) error {
	v, err := strconv.ParseFloat(string(b), 64)
	if err != nil {
		return fmt.Errorf("read rate: %q is not a number", b)
	}
	*r = BitRate(v)
	return nil
}
