package snippet

import (
	"fmt"
	"net/netip"
	"slices"
)

// wordOf is the word of a value in a table, also of one newer than the table.
func wordOf(words []string, i int) string {
	if i < len(words) {
		return words[i]
	}
	return fmt.Sprintf("unknown-%d", i)
}

// indexOf is the value of a word.
func indexOf(what string, words []string, word string) (int, error) {
	if i := slices.Index(words, word); i >= 0 {
		return i, nil
	}
	return 0, fmt.Errorf("parse %s %q: want one of %v", what, word, words)
}

// is6 reports an address that travels in IPv6 packets.
func is6(a netip.Addr) bool { return a.Unmap().Is6() }
