package archive

import (
	"path"
	"regexp"
	"strings"
)

var hostShape = regexp.MustCompile(`^[A-Za-z0-9][\w-]{0,62}$`)

// hostName is a host's name without its domain; "" for what names none.
func hostName(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), ".")
	if strings.EqualFold(s, "localhost") || !hostShape.MatchString(s) {
		return ""
	}
	return s
}

// NameIn is the host's name that a member's text says, "" none. A surer one has the
// lower rank.
func NameIn(m Member, text []byte) (name string, rank int) {
	line, _, _ := strings.Cut(strings.TrimSpace(string(text[:min(len(text), 256)])), "\n")
	switch {
	case m.Names:
		if strings.ContainsAny(strings.TrimSpace(line), " \t") {
			return "", 0 // an error's text
		}
		return hostName(line), 0
	case strings.HasPrefix(m.Command, "uname"):
		if f := strings.Fields(line); len(f) > 2 {
			return hostName(f[1]), 1
		}
	}
	return "", 0
}

// reports are names that programs give to the archives of a host; the first group
// is the host.
var reports = []*regexp.Regexp{
	regexp.MustCompile(`^sosreport-(.+?)(?:[-.]\d{5,})?-(?:\d{4}-\d\d-\d\d-\w+|\d{14})`),
	regexp.MustCompile(`^sosreport-([A-Za-z][\w.-]*)$`),
	regexp.MustCompile(`^(?:scc|nts)_(.+?)_\d{6}_\d{4}`),
	regexp.MustCompile(`^esx-(.+?)-\d{4}-\d\d-\d\d--`),
	regexp.MustCompile(`^(?:debug|ixdiagnose|ixdebug)-(.+?)-\d{8,14}`),
	regexp.MustCompile(`^insights-(.+?)-\d{14}`),
}

// ReportOf is the host that a report's name has in it; "" no report's name.
func ReportOf(name string) string {
	for _, shape := range reports {
		if m := shape.FindStringSubmatch(Bare(name)); m != nil {
			return hostName(m[1])
		}
	}
	return ""
}

// Bare is the last part of a path without an archive's ending.
func Bare(name string) string {
	name = path.Base(name)
	return packed.ReplaceAllString(name, "")
}

// NameOf is a host's name made of a path, where nothing better names it: the
// report's, else the file's own; "" none.
func NameOf(name string) string {
	if host := ReportOf(name); host != "" {
		return host
	}
	return hostName(Bare(name))
}
