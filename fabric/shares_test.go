package fabric

import "testing"

// TestRatiosAndShares: a loss is never all, a share may be; both take a
// percentage, and nothing that is no part of a whole.
func TestRatiosAndShares(t *testing.T) {
	for text, want := range map[string]float64{"0": 0, "0.001": 0.001, "0.1%": 0.001, "12 %": 0.12, "50%": 0.5} {
		for name, s := range map[string]Scalar[float64]{"ratio": Ratio(), "share": Share()} {
			if got, err := s.parse(text); err != nil || got != want {
				t.Errorf("%s %q: %v, %v, want %v", name, text, got, err, want)
			}
		}
	}
	for _, all := range []string{"1", "100%"} {
		if got, err := Share().parse(all); err != nil || got != 1 {
			t.Errorf("share %q: %v, %v, want 1", all, got, err)
		}
		if got, err := Ratio().parse(all); err == nil {
			t.Errorf("ratio %q: %v, want an error", all, got)
		}
	}
	for _, bad := range []string{"", "%", "-0.1", "-1%", "12", "100.1%", "NaN", "Inf", "a tenth"} {
		for name, s := range map[string]Scalar[float64]{"ratio": Ratio(), "share": Share()} {
			if got, err := s.parse(bad); err == nil {
				t.Errorf("%s %q: %v, want an error", name, bad, got)
			}
		}
	}
}
