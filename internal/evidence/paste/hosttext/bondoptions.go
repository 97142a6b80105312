package hosttext

import (
	"strings"

	"github.com/linerate/linerate/internal/bondopt"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// BondOptions reads a list of a bond's options that stands alone, as nmcli -g
// bond.options and modprobe.d have it: mode=4,miimon=100.
var BondOptions = piece.Reader{
	Kind: "options of a bond",
	Starts: func(line string) bool {
		return strings.Contains(line, "mode=") && len(line) < 400 && bareOptions(line) != nil
	},
	Read: reading(func(s *sink, lines []piece.Line) int {
		o := bareOptions(lines[0].Text)
		if o == nil {
			return 0
		}
		name := o.bond
		if name == "" {
			name = s.onlyBond()
		}
		s.optionList(name, o.list, bondopt.Ifcfg, lines[0])
		return 1
	}),
}

// bareList is such a list, and the bond that it names; "" none.
type bareList struct{ bond, list string }

var modprobeOptions = piece.Compile(`^\s*options\s+([\w.-]+)\s+(\S.*)$`)

// bareOptions is the list of a line; nil where a word of it is no option of a bond.
func bareOptions(line string) *bareList {
	o := bareList{list: strings.TrimSpace(line)}
	if m := modprobeOptions.FindStringSubmatch(line); m != nil {
		if o.list = m[2]; m[1] != "bonding" {
			o.bond = m[1]
		}
	}
	words := strings.FieldsFunc(o.list, func(r rune) bool { return r == ' ' || r == ',' || r == '\t' })
	mode := false
	for _, w := range words {
		key, value, ok := strings.Cut(w, "=")
		if _, known := bondopt.Find(key); !ok || value == "" || !known && key != "max_bonds" {
			return nil
		}
		mode = mode || key == "mode"
	}
	if len(words) < 2 || !mode {
		return nil
	}
	return &o
}

// onlyBond is the bond that a command names, else the one that links of the host have
// for their master, else bond0.
func (s *sink) onlyBond() string {
	for _, program := range []string{"nmcli", "ip"} {
		if names := s.Segment.LinksOf(program); len(names) == 1 {
			return names[0]
		}
	}
	found := ""
	for _, link := range s.Host.Subjects("link") {
		if master, ok := s.Host.Get("link "+link, "master"); ok && found != master.Text {
			if found != "" {
				return "bond0"
			}
			found = master.Text
		}
	}
	if found == "" {
		return "bond0"
	}
	return found
}
