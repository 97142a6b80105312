package serve

import "testing"

func TestWebAddress(t *testing.T) {
	for _, one := range []struct {
		flags webFlags
		good  bool
	}{
		{webFlags{}, true}, {webFlags{listen: "127.0.0.1:8480", explain: "linerate.html"}, true},
		{webFlags{explain: "linerate.html"}, false}, {webFlags{listen: "8480"}, false},
	} {
		if at, err := one.flags.address(); (err == nil) != one.good {
			t.Errorf("%+v: %v, %v", one.flags, at, err)
		}
	}
}
