package ifupdown

import (
	"fmt"
	"strings"

	"github.com/linerate/linerate/internal/bondopt"
)

// bondOption is a bond option by its key in the file; false for a key that is none's.
func bondOption(key string) (bondopt.Option, bool) {
	key, ok := strings.CutPrefix(key, "bond-")
	if !ok {
		return bondopt.Option{}, false
	}
	name := strings.ReplaceAll(key, "-", "_")
	if o, known := bondopt.ByTwin(name); known {
		return o, true
	}
	if o, known := bondopt.Named(bondopt.Ifupdown2, name); known {
		return o, true
	}
	return bondopt.Find(name)
}

// isIfupdown2 reports files that only ifupdown2 takes as they are meant, or that
// Proxmox VE wrote: stanzas without a family, words of its modules, bridges vmbrN.
func (c config) isIfupdown2() bool {
	for i := range c.stanzas {
		s := &c.stanzas[i]
		if s.family == "" || strings.HasPrefix(s.name, "vmbr") {
			return true
		}
		for _, o := range s.options {
			switch o.key {
			case "bond-ports", "bridge-vlan-aware", "bridge-vids", "bridge-pvid", "vlan-id", "vrf-table", "clag-id":
				return true
			}
		}
	}
	return false
}

// Key is a bond option's key in the file.
func Key(o bondopt.Option) string { return "bond-" + strings.ReplaceAll(o.Name, "_", "-") }

// setBy says which of the two programs set an option that stands in the file; what
// neither knows both skip without a word.
func setBy(o bondopt.Option) (ifenslave, ifupdown2 bool) {
	_, ifenslave = o.In[bondopt.Ifenslave]
	_, ifupdown2 = o.In[bondopt.Ifupdown2]
	return ifenslave, ifupdown2
}

// doubt is what the programs make of an option of a bond that they do not take
// alike, or not as it looks; raw is all that stands behind the key. Of files that
// ifupdown2 alone takes, what ifupdown does is nobody's matter. "" nothing.
func doubt(o bondopt.Option, raw, word string, ifupdown2Alone bool) string {
	first, rest, _ := strings.Cut(raw, " ")
	rest = strings.TrimSpace(rest)
	ifenslave, ifupdown2 := setBy(o)
	several := o.Listed() || o.Kind == bondopt.Port
	switch {
	case rest != "" && (!several || strings.Contains(rest, "#")):
		effect := "skips the option"
		if o.Name == "mode" {
			effect = "makes the bond balance-rr"
		}
		what := "what stands behind a value"
		if strings.HasPrefix(rest, "#") {
			what = "a comment behind a value"
		}
		return fmt.Sprintf("%s is part of it: ifupdown hands all of it to the kernel, which takes its first word, %s; ifupdown2 %s", what, first, effect)
	case o.Words != nil && first != word && strings.EqualFold(first, word):
		return fmt.Sprintf("the kernel's word is %s: ifupdown hands it %s, which is refused, and the bond keeps what it had; ifupdown2 takes it", word, first)
	case !ifenslave && !ifupdown2:
		return "neither ifupdown (ifenslave) nor ifupdown2 sets it, and neither says so; a post-up line does"
	case !ifenslave && ifupdown2Alone:
	case !ifenslave:
		return "ifupdown2 sets it, ifupdown (ifenslave) does not, and says nothing"
	case !ifupdown2:
		return "ifupdown (ifenslave) sets it, ifupdown2 does not, and says nothing"
	}
	return ""
}
