package unit

import "fmt"

// Counted is a number with its noun: "1 stream", "4 streams". The noun is one
// whose plural only adds an s.
func Counted[N int | uint64](n N, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// OnOff is a switch as ethtool, ip and people write it.
func OnOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}
