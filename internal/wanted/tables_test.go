package wanted_test

import (
	"fmt"
	"testing"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/internal/bondopt"
)

// TestFileSaysTheTable: a file can say every word of every option, in a mode
// that takes it.
func TestFileSaysTheTable(t *testing.T) {
	for _, o := range bondopt.Options() {
		mode := "balance-rr"
		if o.Modes != nil {
			mode = o.Modes[0].String()
		}
		for _, word := range append(o.Words, o.Default) {
			text := fmt.Sprintf("mode: %s, %s: %s", mode, o.Name, word)
			if o.Name == "mode" {
				text = "mode: " + word
			}
			text = fmt.Sprintf("linerate: v1\nhosts: {h: {reach: 'local:', bonding: {bond0: {%s}}}}\n", text)
			if _, err := fabric.Parse("f", []byte(text)); err != nil {
				t.Errorf("%s can be %s, and no file can say it: %v", o.Name, word, err)
			}
		}
	}
}
