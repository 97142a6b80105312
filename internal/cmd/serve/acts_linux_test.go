package serve

import (
	"testing"
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
