package loadtext

import (
	"slices"
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// Exports reads /etc/exports and what exportfs -v prints: whether an NFS server writes to
// its disks before it answers. Facts of "export PATH": sync or async.
var Exports = piece.Reader{
	Kind:     "NFS exports",
	Commands: []string{"exportfs"},
	Starts:   func(line string) bool { return exportLine.MatchString(strings.TrimSpace(line)) },
	Read:     reading(readExports),
}

// exportLine is a directory with whom it is exported to and how (exports(5)).
var exportLine = piece.Compile(`^("?/[^\s"]*"?)\s+[^\s(#]*\(([\w=,:./-]+)\)(?:\s+[^\s(#]*\([\w=,:./-]+\))*\s*(?:#.*)?$`)

// exportWords are options that no other line in parentheses has.
var exportWords = piece.Words("no_root_squash root_squash all_squash no_subtree_check subtree_check sync async wdelay no_wdelay crossmnt insecure")

func readExports(s *sink, lines []piece.Line) (read int) {
	for i, l := range lines {
		m := exportLine.FindStringSubmatch(strings.TrimSpace(l.Text))
		if m == nil {
			return read
		}
		options := strings.Split(m[2], ",")
		if !slices.ContainsFunc(options, func(o string) bool { return exportWords[o] }) {
			return read
		}
		for _, o := range options {
			if o == "sync" || o == "async" {
				s.Set("export "+strings.Trim(m[1], `"`), o, m[2], l)
			}
		}
		read = i + 1
	}
	return read
}
