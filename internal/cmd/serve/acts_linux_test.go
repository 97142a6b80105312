package serve

import (
	"testing"
	"time"
)

func TestFromHere(t *testing.T) {
	for url, want := range map[string]string{
		"tls://0.0.0.0:4222": "tls://127.0.0.1:4222", "tls://[::]:4300": "tls://127.0.0.1:4300", "tls://192.0.2.1:4222": "tls://192.0.2.1:4222", "tls://ctl:4222": "tls://ctl:4222",
	} {
		if got := fromHere(url); got != want {
			t.Errorf("%s: %s, want %s", url, got, want)
		}
	}
}

// TestExpiry: an identity of the pages is made anew by the clock that it expires by.
// The other one stands still while the machine sleeps, and with it they would have
// been used for hours after.
func TestExpiry(t *testing.T) {
	now := time.Now()
	if at := expiry(now); at != at.Round(0) || at.Sub(now.Round(0)) != pageIdentity {
		t.Errorf("at %v it expires at %v", now, at)
	}
}
