package yamldoc

import "testing"

func TestNearest(t *testing.T) {
	words := []string{"mtu", "parameters", "interfaces", "transmit-hash-policy"}
	for word, want := range map[string]string{
		"paramters": "parameters", "intefraces": "interfaces", "MTU": "mtu", "mut": "mtu",
		"transmit-hash-polcy": "transmit-hash-policy", "zzzzzz": "", "": "",
	} {
		if got := Closest(word, words); got != want {
			t.Errorf("closest(%q) = %q, want %q", word, got, want)
		}
	}
}
