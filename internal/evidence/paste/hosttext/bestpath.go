package hosttext

import (
	"fmt"
	"slices"
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// BestPaths reads `show ip bgp`, as a table and of one prefix: how many paths that differ in
// nothing but the next hop there are, and whether the router uses more than one.
var BestPaths = piece.Reader{
	Kind:     "show ip bgp",
	Commands: []string{"show", "sh", "vtysh"},
	Starts: func(line string) bool {
		return strings.HasPrefix(line, "BGP table version is ") || strings.HasPrefix(line, "BGP routing table ")
	},
	Read: reading(func(s *sink, lines []piece.Line) int {
		group := pathGroup{}
		read := piece.EachLine(lines, func(l piece.Line, text string) bool { return group.line(s, l, text) })
		group.end(s)
		return read
	}),
}

var (
	bgpHead = piece.Compile(`^(?:BGP table version is |BGP routing table entry for (\S+?)(?:,|\s|$)|BGP routing table information|Default local pref|Status codes:|(?:i internal|r RIB-failure|S Stale)\b|Origin codes:|Nexthop codes:|RPKI validation|Network\s+Next Hop)`)
	// bgpRow is a row of the table: what marks the path, the prefix where it is the first
	// of it, the next hop, and what the path is chosen by.
	bgpRow = piece.Compile(`^\s{0,2}\*([>=|m# ]?) ?([ie ]?)\s*(\d+(?:\.\d+){3}(?:/\d+)?)?\s+(\d+(?:\.\d+){3})\s+(\S.*)$`)
	// bgpPath is a path's line of one prefix.
	bgpPath = piece.Compile(`^\s+Origin (\S+, .*)$`)
	// nxosPath is a path's line of NX-OS, with why it is not the best, and alike are the
	// reasons that are none of the path's own.
	nxosPath = piece.Compile(`^Path type: (\w+), path is valid, (?:is best path|is (multipath)|not best reason: ([^,]+))`)
	alike    = piece.Words("newer_ebgp_path neighbor_address router_id neighbor_address. router_id.")
	bgpRest  = piece.Compile(`^(?:Flags|Multipath): |^\s+(?:AS-Path: |Advertised path-id|Path-id |Imported |(?:Not advertised|Advertised|Last update|Refresh Epoch|rx pathid|Originator|Community|Extended|AddPath|Flag:|Local)\b|\(?[\d.]|\d)|^Paths: \(\d+ available`)
	// chosen are words of a path's line that say which was taken, and no property of it.
	chosen = piece.Compile(`, (?:best|multipath|bestpath-from-AS \d+|rx pathid.*)\b(?: \([^)]*\))?`)
)

// pathGroup is the paths of one prefix.
type pathGroup struct {
	prefix string
	paths  []string // what each is chosen by
	shared bool     // several are in use
	nxos   bool     // NX-OS gives a reason for each that is not
	at     piece.Line
}

func (g *pathGroup) line(s *sink, l piece.Line, text string) bool {
	if m := bgpHead.FindStringSubmatch(text); m != nil {
		g.end(s)
		*g = pathGroup{prefix: m[1], at: l}
		return true
	}
	if m := bgpRow.FindStringSubmatch(l.Text); m != nil {
		if m[3] != "" {
			g.end(s)
			*g = pathGroup{prefix: m[3], at: l}
		}
		g.shared = g.shared || strings.ContainsAny(m[1], "=|m")
		g.paths = append(g.paths, strings.TrimSpace(m[2])+" "+strings.Join(strings.Fields(m[5]), " "))
		return true
	}
	if m := bgpPath.FindStringSubmatch(l.Text); m != nil && g.prefix != "" {
		if g.nxos {
			return true
		}
		g.shared = g.shared || strings.Contains(m[1], "multipath")
		g.paths = append(g.paths, chosen.ReplaceAllString(m[1], ""))
		return true
	}
	if m := nxosPath.FindStringSubmatch(text); m != nil && g.prefix != "" {
		g.shared = g.shared || m[2] != ""
		if alike[strings.ReplaceAll(strings.ToLower(strings.TrimSpace(m[3])), " ", "_")] {
			m[3] = ""
		}
		g.paths, g.nxos = append(g.paths, m[1]+" "+m[3]), true
		return true
	}
	return g.prefix != "" && bgpRest.MatchString(l.Text)
}

// end notes a prefix of which one path is used though others are as good.
func (g *pathGroup) end(s *sink) {
	paths := slices.Compact(slices.Sorted(slices.Values(g.paths)))
	if g.prefix != "" && len(g.paths) > 1 && len(paths) == 1 && !g.shared {
		s.Set("bgp", "one_of", fmt.Sprintf("%d paths to %s alike, one in use", len(g.paths), g.prefix), g.at)
	}
	if g.shared {
		s.Set("bgp", "multipath", "yes", g.at)
	}
}
