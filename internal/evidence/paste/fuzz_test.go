package paste

import (
	"slices"
	"strings"
	"testing"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// FuzzParse: any bytes give no panic, and each line that is not blank is read or not
// read, once.
func FuzzParse(f *testing.F) {
	for _, c := range slices.Concat(factCases, centreCases) {
		f.Add([]byte(c.text))
	}
	f.Add([]byte("$ ethtool -g eth0; for i in eth0 eth1; do ethtool $i\nRX: 1\n@@ -1,1 +1,1 @@\n+iface x\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		c := Parse([]piece.Text{{Name: "x", Bytes: b}})
		lines := piece.LinesOf(piece.Text{Name: "x", Bytes: b})
		owner := make([]int, len(lines)+2)
		note := func(s piece.Source) {
			if s.From < 1 || s.To > len(lines) || s.From > s.To {
				t.Fatalf("lines %d-%d of %d", s.From, s.To, len(lines))
			}
			for i := s.From; i <= s.To; i++ {
				if strings.TrimSpace(lines[i-1].Text) != "" {
					owner[i]++
				}
			}
		}
		for _, r := range c.Read {
			note(r.Source)
		}
		for _, n := range c.NotRead {
			note(n.Source)
		}
		for i, n := range owner {
			if n > 1 {
				t.Fatalf("line %d belongs to %d: %q", i, n, lines[i-1].Text)
			}
		}
	})
}
