package unit

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Bytes is a size in bytes. Zero means none or "the default", as the field's
// comment says.
type Bytes int64

// Binary and decimal multiples.
const (
	KiB Bytes = 1 << 10
	MiB Bytes = 1 << 20
	GiB Bytes = 1 << 30
	KB  Bytes = 1000
	MB  Bytes = 1000 * KB
	GB  Bytes = 1000 * MB
)

// sizeSuffixes is the one table of size multiples; two-letter ones first so
// that "Mi" is not read as "M" with rubbish behind it.
var sizeSuffixes = [...]struct {
	suffix string
	scale  Bytes
}{{"Gi", GiB}, {"Mi", MiB}, {"Ki", KiB}, {"G", GB}, {"M", MB}, {"K", KB}}

// ParseBytes reads a size: a plain number of bytes, or a number with K M G
// (decimal) or Ki Mi Gi (binary). What iperf calls 8M is 8Mi here.
func ParseBytes(s string) (Bytes, error) {
	t := strings.TrimSpace(s)
	scale := Bytes(1)
	for _, u := range sizeSuffixes {
		if n, ok := strings.CutSuffix(t, u.suffix); ok {
			t, scale = n, u.scale
			break
		}
	}
	v, err := strconv.ParseFloat(t, 64)
	if err != nil || v < 0 || math.IsNaN(v) || v*float64(scale) > math.MaxInt64/2 {
		return 0, fmt.Errorf("parse size %q: want bytes, or a number and one of K M G Ki Mi Gi", s)
	}
	return Bytes(math.Round(v * float64(scale))), nil
}

// String prints the size in binary multiples, as the kernel's buffers are
// counted: "6 MiB", "128 KiB", "1500 B".
func (b Bytes) String() string {
	a := b
	if a < 0 {
		a = -a
	}
	switch {
	case a >= GiB:
		return trimmed(float64(b)/float64(GiB)) + " GiB"
	case a >= MiB:
		return trimmed(float64(b)/float64(MiB)) + " MiB"
	case a >= 10*KiB:
		return trimmed(float64(b)/float64(KiB)) + " KiB"
	}
	return strconv.FormatInt(int64(b), 10) + " B"
}

func trimmed(v float64) string {
	return strings.TrimSuffix(strings.TrimSuffix(strconv.FormatFloat(v, 'f', 1, 64), "0"), ".")
}

// MarshalText writes the plain number of bytes.
func (b Bytes) MarshalText() ([]byte, error) {
	return strconv.AppendInt(nil, int64(b), 10), nil
}

// UnmarshalText reads what ParseBytes reads.
func (b *Bytes) UnmarshalText(text []byte) error {
	v, err := ParseBytes(string(text))
	if err != nil {
		return err
	}
	*b = v
	return nil
}

// MarshalJSON writes a plain number: keys that hold a size end in _bytes.
func (b Bytes) MarshalJSON() ([]byte, error) { return b.MarshalText() }

// UnmarshalJSON reads a plain number of bytes.
func (b *Bytes) UnmarshalJSON(text []byte) error {
	v, err := strconv.ParseFloat(string(text), 64)
	if err != nil || !(math.Abs(v) < 1<<63) {
		return fmt.Errorf("read size: %.30q is no number of bytes", text)
	}
	*b = Bytes(v)
	return nil
}
