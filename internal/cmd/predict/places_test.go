package predict

import "testing"

func TestWithPlace(t *testing.T) {
	for _, c := range []struct{ where, more, want string }{
		{"a: ens1", "b: ens1", "a: ens1; b: ens1"},
		{"a: ens1; b: ens1, ens2", "b: ens1", "a: ens1; b: ens1, ens2"},
		{"a: ens1; b: ens1, ens2", "a: ens1, ens2", "a: ens1, ens2; b: ens1, ens2"},
		{"a, b", "a, b", "a, b"},
		{"a: bond0 (e0, e1)", "a: bond0 (e0)", "a: bond0 (e0, e1); a: bond0 (e0)"},
		{"a to b", "b to a", "a to b; b to a"},
	} {
		if got := withPlace(c.where, c.more); got != c.want {
			t.Errorf("%q with %q: %q, want %q", c.where, c.more, got, c.want)
		}
	}
}
