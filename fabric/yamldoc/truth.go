package yamldoc

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// yesWords and noWords are YAML 1.1's, in any case, since netplan's own reader
// takes them. To YAML 1.2, which schemas speak of, all but true and false are
// strings.
var (
	yesWords = []string{"true", "yes", "on", "y"}
	noWords  = []string{"false", "no", "off", "n"}
)

// ParseBool reads a truth value as YAML 1.1 has them, in any case.
func ParseBool(s string) (bool, error) {
	switch word := strings.ToLower(s); {
	case slices.Contains(yesWords, word):
		return true, nil
	case slices.Contains(noWords, word):
		return false, nil
	}
	return false, fmt.Errorf("%q is neither true nor false", s)
}

// BoolPattern is what ParseBool reads, as a regular expression; JSON schema's
// have no switch for the case of letters.
func BoolPattern() string {
	var words []string
	for _, word := range slices.Concat(yesWords, noWords) {
		any := ""
		for _, letter := range word {
			any += fmt.Sprintf("[%c%c]", letter, unicode.ToUpper(letter))
		}
		words = append(words, any)
	}
	return "^(" + strings.Join(words, "|") + ")$"
}
