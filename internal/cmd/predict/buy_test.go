package predict

import (
	"testing"
)

func TestBetterIn(t *testing.T) {
	for why, want := range map[string]string{
		"cheaper":                  "is cheaper",
		"more left without a card": "has more left without a card",
		"cheaper, more left without a link, more left without a card": "is cheaper, has more left without a link, more left without a card",
	} {
		if got := betterIn(why); got != want {
			t.Errorf("%q: %q; want %q", why, got, want)
		}
	}
}
