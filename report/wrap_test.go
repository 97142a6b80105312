package report

import "testing"

// TestNamesTold: cut names still tell links and ways apart.
func TestNamesTold(t *testing.T) {
	for _, c := range []struct{ host, link, want string }{
		{"alpha", "eth0", "alpha eth0"},
		{"linerate-alpha", "eth0", "liner…alpha eth0"},
		{"linerate-alpha", "eth1", "liner…alpha eth1"},
		{"alpha.storage.example.net", "enp129s0f1np1", "a… enp129s0f1np1"},
		{"alpha.storage.example.net", "enp129s0f1np1.4", "a… enp129…1np1.4"},
	} {
		if got := hostLink(c.host, c.link, 16); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	for _, c := range []struct{ from, to, want string }{
		{"alpha", "beta", "alpha → beta"},
		{"linerate-alpha", "linerate-beta", "liner…lpha → liner…beta"},
		{"linerate-beta", "linerate-alpha", "liner…beta → liner…lpha"},
		{"a", "storage-of-the-east-wing-7", "a → storage-o…st-wing-7"},
		{"storage-of-the-east-wing-7", "a", "storage-o…st-wing-7 → a"},
		{"", "b", "unknown → b"},
	} {
		if got := fromTo(c.from, c.to, 23); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
