package unit

import "strconv"

// Counted is a number with its noun: "1 stream", "4 streams". The noun is one
// whose plural only adds an s.
func Counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}
