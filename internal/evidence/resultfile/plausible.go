package resultfile

import (
	"fmt"
	"regexp"
	"strconv"

	"github.com/linerate/linerate/unit"
)

// The most that an iperf3 result can hold: bytes that the fastest link carries in
// a year, and a test of thirty years.
const (
	mostBytes   = float64(unit.MaxBitRate) / 8 * 365 * 24 * 3600
	mostSeconds = 30 * 365 * 24 * 3600
)

var resultNumber = regexp.MustCompile(`"(bits_per_second|bytes|seconds)"\s*:\s*([0-9][0-9.eE+]*)`)

// plausible refuses a document with a number that was not measured, whoever wrote
// it: rates of it would be wrong beside each other.
func plausible(text []byte) error {
	most := map[string]float64{"bits_per_second": float64(unit.MaxBitRate), "bytes": mostBytes, "seconds": mostSeconds}
	for len(text) > 0 {
		m := resultNumber.FindSubmatchIndex(text)
		if m == nil {
			return nil
		}
		name, word := string(text[m[2]:m[3]]), string(text[m[4]:m[5]])
		if n, _ := strconv.ParseFloat(word, 64); n > most[name] { // out of range is infinite
			return fmt.Errorf("%s is %.30s, which no measurement has", name, word)
		}
		text = text[m[1]:]
	}
	return nil
}
