package main

import (
	"regexp"
	"strings"
	"time"
)

var (
	title  = regexp.MustCompile(`(?m)^(\.TH "[^"]*" "1") "[^"]*"`)
	option = regexp.MustCompile(`(?m)(?:^\.PP\n)?^(\\fB-.*)\n\t`)
)

// clean is a page as mandoc and groff take it without a warning: its date as man(7)
// has dates, options as tagged paragraphs, no empty lines where text is filled.
func clean(page string, date time.Time) string {
	page = title.ReplaceAllString(page, `$1 "`+date.Format(time.DateOnly)+`"`)
	page = option.ReplaceAllString(page, ".TP\n$1\n")
	var out strings.Builder
	verbatim := false
	for line := range strings.Lines(page) {
		switch strings.TrimSpace(line) {
		case ".EX":
			verbatim = true
		case ".EE":
			verbatim = false
		case "":
			if !verbatim {
				continue
			}
		}
		out.WriteString(line)
	}
	return out.String()
}
