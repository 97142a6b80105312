package fleet

import "testing"

// TestA2ServerOfConnection: the host's own address is sshd's third word; another
// text names none.
func TestA2ServerOfConnection(t *testing.T) {
	for text, want := range map[string]string{
		"192.0.2.1 50312 192.0.2.11 22": "192.0.2.11", "fe80::1%eth0 50312 fe80::2%eth0 22": "fe80::2%eth0", "": "", "192.0.2.1 50312 192.0.2.11": "", "a b c d e": "",
	} {
		if got := serverOf(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
