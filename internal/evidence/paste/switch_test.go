package paste

import (
	"slices"
	"strings"
	"testing"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/internal/evidence/paste/switchfacts"
)

// parsed reads a text, and returns its facts as "HOST: SUBJECT KEY" with the newest
// value. The switch that nobody names is "?".
func parsed(text string) (piece.Case, map[string]string) {
	c := Parse([]piece.Text{{Name: "t", Bytes: []byte(text)}})
	facts := make(map[string]string)
	for _, h := range c.Hosts {
		name := h.Name
		if name == "" && h.Switch {
			name = "?"
		}
		for subject, keys := range h.Facts {
			for key, values := range keys {
				facts[name+": "+subject+" "+key] = values[len(values)-1].Text
			}
		}
	}
	return c, facts
}

// wantFacts checks facts of the form "HOST: SUBJECT KEY=VALUE".
func wantFacts(t *testing.T, facts map[string]string, want []string) {
	t.Helper()
	for _, w := range want {
		key, value, _ := strings.Cut(w, "=")
		if got, ok := facts[key]; !ok || got != value {
			t.Errorf("%s = %q, want %q", key, got, value)
		}
	}
}

func TestSwitches(t *testing.T) {
	for _, tc := range slices.Concat(switchCases, lldpCases) {
		t.Run(tc.name, func(t *testing.T) {
			c, facts := parsed(tc.text)
			wantFacts(t, facts, tc.want)
			for _, n := range c.NotRead {
				lines := strings.Split(tc.text, "\n")
				t.Errorf("not read, %v: %q", n.Source, lines[n.From-1:n.To])
			}
			if t.Failed() {
				t.Log(facts)
			}
		})
	}
}

// What is cut, or has lost its blanks, gives fewer facts, and none that are others.
func TestSwitchesCut(t *testing.T) {
	for _, tc := range slices.Concat(switchCases, lldpCases) {
		t.Run(tc.name, func(t *testing.T) {
			_, whole := parsed(tc.text)
			lines := strings.SplitAfter(tc.text, "\n")
			for from := range lines {
				parsed(strings.Join(lines[from:], ""))
				_, facts := parsed(strings.Join(lines[:from], ""))
				for key := range facts {
					if _, ok := whole[key]; !ok && !strings.Contains(key, "protocol") {
						t.Errorf("the first %d lines have %s, the whole has not", from, key)
					}
				}
			}
		})
	}
}

// Prose and outputs of hosts are no switch's.
func TestNoSwitch(t *testing.T) {
	for _, text := range []string{
		"Port 1 is up and the link is fine.\nThe interface is Gi1/0/1 (connected).\nInterface: eth0\nname=\"x\" mode=1\n",
		"192.0.2.1 dev eth0 lladdr 00:00:5e:00:53:01 REACHABLE\n192.0.2.2 ether 00:00:5e:00:53:02 C eth0\n00:00:5e:00:53:03 dev vmbr0 master vmbr0\n",
		"interface eth0\n  static ip_address=192.0.2.2/24\n",
		"Channel one is better.\nGroup 3 has Po1 in it.\nset -x\nset interfaces\nFlags: none\n",
		"  1  00:00:5e:00:53:01  yes  0.00\n",
	} {
		c, _ := parsed(text)
		for _, h := range c.Hosts {
			if h.Switch {
				t.Errorf("%q is a switch's: %v", text, h.Facts)
			}
		}
	}
}

// Any text: nothing breaks, and no line is taken twice.
func FuzzSwitches(f *testing.F) {
	for _, tc := range slices.Concat(switchCases, lldpCases) {
		f.Add([]byte(tc.text))
	}
	for _, tc := range slices.Concat(ciscoStates, otherStates, moreStates, neighbourStates, portStates, freshStates) {
		f.Add([]byte(tc.text))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		c := Parse([]piece.Text{{Bytes: b}})
		for _, h := range c.Hosts {
			for _, ch := range switchfacts.State(h).Channels {
				for _, m := range ch.Members {
					if m.Port == "" {
						t.Fatalf("%s has a member without a name", ch.Name)
					}
				}
			}
		}
		last := 0
		for _, r := range c.Read {
			if r.From <= last || r.To < r.From {
				t.Fatalf("%v after line %d", r.Source, last)
			}
			last = r.To
		}
	})
}
