package topology

import (
	"strings"
	"testing"

	"github.com/linerate/linerate/netstate"
)

// A Catalyst's word reads the fields that the word without its prefix names: the
// function is known, the fields are the same.
func TestFieldsOfCatalyst(t *testing.T) {
	for _, word := range netstate.CatalystHashes() {
		plain := strings.TrimPrefix(word, "catalyst-")
		if got, want := FieldsOf(word), FieldsOf(plain); got != want || got == FieldsUnknown {
			t.Errorf("%s reads %d, %s reads %d", word, got, plain, want)
		}
	}
	for _, word := range []string{"catalyst-", "catalyst-src-dst-ip-port", Unknown, ""} {
		if got := FieldsOf(word); got != FieldsUnknown {
			t.Errorf("%q reads %d; want nothing known", word, got)
		}
	}
}
