package piece

import "testing"

func TestNumber(t *testing.T) {
	for words, want := range map[string]float64{
		"two ports": 2, "Dual-port": 2, " both ends": 2, "4x1G": 4, "10 ports": 10, "twelve": 12, "quad port": 4,
		"": 0, "twofold": 0, "many": 0, "x4": 0, "1.5": 1,
	} {
		if got := Number(words); got != want {
			t.Errorf("%q: %v, want %v", words, got, want)
		}
	}
}
