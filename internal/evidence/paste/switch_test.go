package paste

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// parsed reads a text, and returns its facts as "HOST: SUBJECT KEY" with the newest
// value. The switch that nobody names is "?".
func parsed(text string) (Case, map[string]string) {
	c := Parse([]Text{{Name: "t", Bytes: []byte(text)}})
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
	for _, tc := range switchCases {
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
	for _, tc := range switchCases {
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

const corpora = "../../../../shared/corpora"

// Real outputs with the fields that others' readers find in them.
func TestSwitchCorpusChannels(t *testing.T) {
	files, _ := filepath.Glob(filepath.Join(corpora, "ntc-templates/*/*/*.raw"))
	if len(files) == 0 {
		t.Skip("real outputs are missing: ../shared/corpora/ntc-templates")
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			b, err := os.ReadFile(strings.TrimSuffix(file, ".raw") + ".yml")
			if err != nil {
				t.Skip("no fields beside it")
			}
			var want struct {
				Parsed []map[string]any `yaml:"parsed_sample"`
			}
			if err := yaml.Unmarshal(b, &want); err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(text), "Chassis id:") && !strings.Contains(string(text), "Local ") {
				t.Skip("the output names no port of its own")
			}
			c := Parse([]Text{{Bytes: text}})
			h := switchOf(&c)
			for _, row := range want.Parsed {
				if h == nil {
					t.Fatal("nothing was read")
				}
				checkRow(t, h, row)
			}
		})
	}
}

func switchOf(c *Case) *Host {
	for _, h := range c.Hosts {
		if h.Switch {
			return h
		}
	}
	return nil
}

func texts(v any) (out []string) {
	switch v := v.(type) {
	case string:
		if v != "" && v != "--" {
			out = append(out, v)
		}
	case []any:
		for _, one := range v {
			out = append(out, texts(one)...)
		}
	}
	return out
}

// checkRow compares one row of expected fields: a channel with its ports, or a
// neighbour.
func checkRow(t *testing.T, h *Host, row map[string]any) {
	t.Helper()
	s := &sink{host: h}
	if bundle := texts(row["bundle_name"]); len(bundle) == 1 {
		channel := s.portName(bundle[0])
		members := texts(row["member_interface"])
		got, _ := h.Get("channel "+channel, "members")
		if got.Text != strings.Join(members, " ") {
			t.Errorf("%s has %q, want %q", channel, got.Text, members)
		}
		for i, flag := range texts(row["member_interface_status"]) {
			if got, _ := h.Get("port "+s.portName(members[i]), "flag"); got.Text != flag {
				t.Errorf("%s has flag %q, want %q", members[i], got.Text, flag)
			}
		}
	}
	local, name := texts(row["local_interface"]), texts(row["neighbor_name"])
	if len(local) != 1 || len(name) != 1 || name[0] == "-" || name[0] == "None" || strings.HasPrefix(name[0], "[") {
		return
	}
	found := false
	for _, v := range h.Facts["port "+s.portName(local[0])]["neighbour"] {
		found = found || strings.HasPrefix(v.Text, name[0]) // a name that goes on in the next line
	}
	if !found {
		t.Errorf("%s has neighbours %v, want %q", local[0], h.Facts["port "+s.portName(local[0])]["neighbour"], name[0])
	}
}

var (
	goldenName = regexp.MustCompile(`['"]((?:[A-Z][A-Za-z]*(?:Ethernet|GigE|Gi)|Port-channel|Bundle-Ether)[\d/]+)['"]: \{`)
	goldenSkip = regexp.MustCompile(`Platform|LacpCounters|Protocol/|SysId|SystemIdentifier|ShowBundle/.*output_5|ShowInterfaceEtherchannel/.*output[12]_|/empty/`)
)

func TestSwitchCorpusGolden(t *testing.T) {
	files, _ := filepath.Glob(filepath.Join(corpora, "genieparser/*/tests/*/cli/equal/*_output.txt"))
	if len(files) == 0 {
		t.Skip("real outputs are missing: ../shared/corpora/genieparser")
	}
	for _, file := range files {
		if goldenSkip.MatchString(file) {
			continue
		}
		name, _ := filepath.Rel(corpora, file)
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			want, err := os.ReadFile(strings.TrimSuffix(file, "_output.txt") + "_expected.py")
			if err != nil {
				t.Skip("no fields beside it")
			}
			c := Parse([]Text{{Bytes: text}})
			h := switchOf(&c)
			if h == nil {
				t.Fatal("nothing was read")
			}
			s := &sink{host: h}
			for _, m := range goldenName.FindAllStringSubmatch(string(want), -1) {
				if subject := s.portSubject(m[1]); h.Facts[subject] == nil {
					t.Errorf("%s was not read", subject)
				}
			}
		})
	}
}

// Any text: nothing breaks, and no line is taken twice.
func FuzzSwitches(f *testing.F) {
	for _, tc := range switchCases {
		f.Add([]byte(tc.text))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		c := Parse([]Text{{Bytes: b}})
		last := 0
		for _, r := range c.Read {
			if r.From <= last || r.To < r.From {
				t.Fatalf("%v after line %d", r.Source, last)
			}
			last = r.To
		}
	})
}
