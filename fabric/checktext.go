package fabric

import (
	"fmt"
	"strings"

	"github.com/linerate/linerate/fabric/yamldoc"
)

// longestLinkName is a link name's most (IFNAMSIZ less the end).
const longestLinkName = 15

// ValidLinkName says what is wrong with a link's name, "" nothing. The kernel
// takes nearly everything (dev_valid_name, net/core/dev.c); systemd only what
// prints (ifname_valid_char, src/basic/parse-util.c), and what shells, quotes
// and globs have a meaning for is refused besides: names become parts of
// scripts, of files and of their own names.
func ValidLinkName(name string) string {
	switch {
	case name == "":
		return "is empty"
	case name == "." || name == "..":
		return "is a directory's"
	case name[0] == '-':
		return "begins with - as an option does"
	}
	for _, r := range name {
		letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		if !letter && !strings.ContainsRune("._-+@^", r) {
			return fmt.Sprintf("has %q, which not every system's files can say of a link", r)
		}
	}
	return ""
}

// validGlob is ValidLinkName for a pattern.
func validGlob(glob string) string {
	without := strings.NewReplacer("*", "", "?", "", "[", "", "]", "", "!", "").Replace(glob)
	if glob != "" && without == "" {
		return ""
	}
	return ValidLinkName(without)
}

// names checks the names of links that the file makes or goes by.
func (c netChecker) names() {
	c.host.Network.each(func(section string, d Device) {
		if why := ValidLinkName(d.ID); why != "" {
			c.say(fmt.Sprintf("the name %q %s", d.ID, why), "", section, d.ID)
		}
	})
	for _, e := range c.host.Network.Ethernets {
		if e.SetName != "" {
			why := ValidLinkName(e.SetName)
			if why == "" && len(e.SetName) > longestLinkName {
				why = fmt.Sprintf("has more than %d bytes", longestLinkName)
			}
			if why != "" {
				c.say(fmt.Sprintf("the name %q %s", e.SetName, why), "", "ethernets", e.ID, "set-name")
			}
		}
		if e.Match == nil {
			continue
		}
		for _, glob := range append([]string{e.Match.Name}, e.Match.Drivers...) {
			if why := validGlob(glob); glob != "" && why != "" {
				c.say(fmt.Sprintf("the pattern %q %s", glob, why), "", "ethernets", e.ID, "match")
			}
		}
	}
}

// checkNames checks the names of links that stand beside the network.
func checkNames(ps *yamldoc.Collector, at place, n *yamldoc.Node, h Host) {
	for _, name := range SortedNames(h.Hardware.Links) {
		if why := validGlob(name); why != "" {
			ps.At(n.Find("hardware", "links", name), fmt.Sprintf("%s: the name %q %s", at.key("hardware").key("links"), name, why), "")
		}
	}
	for i, name := range h.Absent {
		if why := ValidLinkName(name); why != "" {
			ps.At(n.Find("absent", i), fmt.Sprintf("%s: the name %q %s", at.key("absent"), name, why), "")
		}
	}
}
