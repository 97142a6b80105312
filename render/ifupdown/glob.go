package ifupdown

import (
	"fmt"
	"regexp"
	"strconv"
)

// Forms of a glob of ifupdown2's (interfaces(5) of ifupdown2 3.0.0): swp1-10.300,
// swp[1-10].300, swp[1-10]s[0-3].
var (
	plainRange     = regexp.MustCompile(`^(.*\D)(\d+)-(\d+)(\D.*)?$`)
	bracketedRange = regexp.MustCompile(`^([^\[\]]+)\[(\d+)-(\d+)\]([^\[\]]*)(?:\[(\d+)-(\d+)\]([^\[\]]*))?$`)
)

// mostPorts bounds what one glob names; switches have fewer ports.
const mostPorts = 1024

// ports are an option's ports, those that a glob names among them. What is no glob that
// is understood stands there as it is, behind its word.
func (o option) ports() []string {
	var all []string
	globs := false
	for _, word := range o.list() {
		switch word {
		case "glob":
			globs = true
			continue
		case "noglob":
			globs = false
			continue
		}
		if !globs {
			all = append(all, word)
			continue
		}
		named, ok := globbed(word)
		if !ok || len(all)+len(named) > mostPorts {
			return append(all, "glob", word)
		}
		all = append(all, named...)
	}
	return all
}

// globbed are the names that a glob stands for.
func globbed(word string) ([]string, bool) {
	m := bracketedRange.FindStringSubmatch(word)
	if m == nil {
		if m = plainRange.FindStringSubmatch(word); m == nil {
			return nil, false
		}
		m = append(m, "", "", "")
	}
	from, to, ok := bounds(m[2], m[3])
	if !ok {
		return nil, false
	}
	within, last, two := bounds(m[5], m[6])
	if m[5] != "" && !two {
		return nil, false
	}
	var all []string
	for i := from; i <= to; i++ {
		if !two {
			all = append(all, fmt.Sprintf("%s%d%s", m[1], i, m[4]))
			continue
		}
		for j := within; j <= last && len(all) <= mostPorts; j++ {
			all = append(all, fmt.Sprintf("%s%d%s%d%s", m[1], i, m[4], j, m[7]))
		}
	}
	return all, true
}

func bounds(from, to string) (first, last int, ok bool) {
	first, err := strconv.Atoi(from)
	if err != nil {
		return 0, 0, false
	}
	last, err = strconv.Atoi(to)
	return first, last, err == nil && last-first < mostPorts
}
