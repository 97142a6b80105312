package piece

import (
	"math"
	"strconv"
	"strings"

	"github.com/linerate/linerate/unit"
)

// Digits is a text of digits alone.
var Digits = Compile(`^\d+$`)

// Atoi is a number of plain digits; -1 for what is none.
func Atoi(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil || n < 0 {
		return -1
	}
	return n
}

// Rules are runs of dashes below a title.
var Rules = Compile(`-+`)

// Phrases is a set of phrases.
func Phrases(all ...string) map[string]bool {
	out := make(map[string]bool)
	for _, w := range all {
		out[w] = true
	}
	return out
}

var anyMAC = Compile(`^(?:[0-9a-fA-F]{1,2}(?:[:-][0-9a-fA-F]{1,2}){5}|[0-9a-fA-F]{4}(?:[.-][0-9a-fA-F]{4}){2}|[0-9a-fA-F]{6}-[0-9a-fA-F]{6}|[0-9a-fA-F]{12})$`)

// MacText is a MAC address in the form of the kernel; "" another text.
func MacText(s string) string {
	s = strings.Trim(s, ",;()[]")
	if !anyMAC.MatchString(s) {
		return ""
	}
	parts := strings.FieldsFunc(s, func(r rune) bool { return r == ':' || r == '-' || r == '.' })
	var hex strings.Builder
	for _, p := range parts {
		if len(parts) == 6 && len(p) == 1 {
			hex.WriteByte('0')
		}
		hex.WriteString(strings.ToLower(p))
	}
	h := hex.String()
	if len(h) != 12 {
		return ""
	}
	out := make([]string, 0, 6)
	for i := 0; i < 12; i += 2 {
		out = append(out, h[i:i+2])
	}
	return strings.Join(out, ":")
}

// NumberText is a text's decimal or hexadecimal number as decimal digits; "" no number.
func NumberText(s string) string {
	s = strings.ReplaceAll(strings.Trim(s, ",;()"), ",", "")
	base := 10
	if rest, ok := strings.CutPrefix(strings.ToLower(s), "0x"); ok {
		s, base = rest, 16
	}
	n, err := strconv.ParseUint(s, base, 64)
	if err != nil {
		return ""
	}
	return strconv.FormatUint(n, 10)
}

var speedText = Compile(`^(?i:a-|auto-)?([\d.]+)\s?(?i:(k|m|g|t)?(?:bps|b/s|bit/s|bits/s|b|bits|base.*|gige?)?)(?:\([a-z]+\))?$`)

// Mbits is a speed in whole Mbit/s as text: "a-1000", "10G", "10 Gb/s", "1000Mb/s";
// "" no speed. A number without a unit is in Mbit/s.
func Mbits(s string) string {
	m := speedText.FindStringSubmatch(strings.TrimSpace(s))
	if m == nil {
		return ""
	}
	n, err := strconv.ParseFloat(m[1], 64)
	if err != nil {
		return ""
	}
	switch strings.ToLower(m[2]) {
	case "k":
		n /= 1e3
	case "g":
		n *= 1e3
	case "t":
		n *= 1e6
	}
	if n < 1 || n > 1e8 || n != math.Trunc(n) {
		return ""
	}
	return strconv.FormatFloat(n, 'f', 0, 64)
}

// Speed is the speed that a fact's text says, in Mbit/s; zero unknown.
func Speed(text string) unit.BitRate {
	digits := strings.TrimSpace(strings.TrimSuffix(strings.TrimSuffix(text, " Mbps"), "Mb/s"))
	n, err := strconv.ParseFloat(digits, 64)
	if err != nil || n <= 0 || n > 1e7 {
		return 0
	}
	return unit.BitRate(n) * unit.Mbps
}

// Bps is a rate in whole bits a second as text, of a number and a unit's first
// letter ("K", "M", "G", "" bits).
func Bps(n, unit string) string {
	f, err := strconv.ParseFloat(strings.ReplaceAll(n, ",", ""), 64)
	if err != nil || f < 0 {
		return ""
	}
	f *= Decimal[strings.ToUpper(unit)]
	if f > 1e18 {
		return ""
	}
	return strconv.FormatFloat(f, 'f', 0, 64)
}

// RateWord is a rate as it stands in a text: in bits a second, and where.
type RateWord struct {
	Bits  float64
	From  int
	Bytes bool // told in bytes
	Bare  bool // without "a second": in bytes an amount
}

var rateWord = Compile(`(\d+(?:[.,]\d+)?) ?([kKmMgG])i?(b|B)(it|yte)?s?(/s(?:ec)?|ps)?\b`)

// RateWords are the first eight rates of a text.
func RateWords(text string) (out []RateWord) {
	for _, m := range rateWord.FindAllStringSubmatchIndex(text, 8) {
		n := Float(strings.Replace(text[m[2]:m[3]], ",", ".", 1)) * Decimal[strings.ToUpper(text[m[4]:m[5]])]
		r := RateWord{Bits: n, From: m[0], Bytes: text[m[6]] == 'B', Bare: m[10] < 0}
		if m[8] >= 0 { // the word says it, whatever its first letter
			r.Bytes = text[m[8]:m[9]] == "yte"
		}
		if r.Bytes {
			r.Bits *= 8
		}
		out = append(out, r)
	}
	return out
}

// YesNo is a fact of something that is or is not.
var YesNo = map[bool]string{true: "yes", false: "no"}
