package procfs

import "testing"

const statusText = "Name:\tlinerate\nState:\tR (running)\nvoluntary_ctxt_switches:\t150\nnonvoluntary_ctxt_switches:\t545\n"

func TestParseSwitches(t *testing.T) {
	got, err := ParseSwitches([]byte(statusText))
	if want := (Switches{Voluntary: 150, Involuntary: 545}); err != nil || got != want {
		t.Errorf("%+v, %v; want %+v", got, err, want)
	}
	for _, text := range []string{"", "voluntary_ctxt_switches:\t1\n", "nonvoluntary_ctxt_switches:\t1\n", "voluntary_ctxt_switches:\tx\nnonvoluntary_ctxt_switches:\t1\n"} {
		if got, err := ParseSwitches([]byte(text)); err == nil {
			t.Errorf("%q was read as %+v", text, got)
		}
	}
}

func FuzzParseSwitches(f *testing.F) {
	f.Add([]byte(statusText))
	f.Fuzz(func(t *testing.T, text []byte) {
		if s, err := ParseSwitches(text); err != nil && s != (Switches{}) {
			t.Errorf("%v with %+v", err, s)
		}
	})
}
