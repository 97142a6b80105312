// Package docpage reads the commands that a page of the documentation shows, and
// what it says they print, so that tests can hold the page to it. It runs
// nothing.
package docpage

import (
	"regexp"
	"slices"
	"strings"
)

// Sample is a command that a page shows in indented code behind the prompt "$ ",
// and what the page says it prints.
type Sample struct {
	Command string
	Output  []string // lines without their indentation
	// The output's lines on the page: from First on, before Last.
	First, Last int
}

const indent = "    "

// Samples are those of a page, in its order. A backslash at a line's end goes on
// with the command; its output ends with the code, or at the next prompt.
func Samples(text string) (all []Sample) {
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		command, is := strings.CutPrefix(lines[i], indent+"$ ")
		if !is {
			continue
		}
		command, i = whole(command, lines, i)
		s := Sample{Command: command, First: i + 1, Last: i + 1}
		for s.Last < len(lines) && (lines[s.Last] == "" || strings.HasPrefix(lines[s.Last], indent)) && !strings.HasPrefix(lines[s.Last], indent+"$ ") {
			s.Last++
		}
		for s.Last > s.First && lines[s.Last-1] == "" {
			s.Last--
		}
		for _, line := range lines[s.First:s.Last] {
			s.Output = append(s.Output, strings.TrimPrefix(line, indent))
		}
		all = append(all, s)
	}
	return all
}

// whole is a command that begins in line i, with the lines that a backslash at the
// end goes on with, and the index of its last.
func whole(command string, lines []string, i int) (string, int) {
	for strings.HasSuffix(command, "\\") && i+1 < len(lines) {
		i++
		command = strings.TrimRight(strings.TrimSuffix(command, "\\"), " ") + " " + strings.TrimSpace(lines[i])
	}
	return command, i
}

// Lines are what a program printed, as a page shows it: without what stands at the
// ends of lines or of the whole.
func Lines(printed string) (lines []string) {
	printed = strings.TrimRight(printed, " \n")
	if printed == "" {
		return nil
	}
	for line := range strings.Lines(printed) {
		lines = append(lines, strings.TrimRight(line, " \n"))
	}
	return lines
}

// Fill is the page with each sample's output as given, in the order of Samples.
func Fill(text string, outputs [][]string) string {
	lines := strings.Split(text, "\n")
	var written []string
	from := 0
	for i, s := range Samples(text) {
		written = append(written, lines[from:s.First]...)
		for _, line := range outputs[i] {
			written = append(written, strings.TrimRight(indent+line, " "))
		}
		from = s.Last
	}
	return strings.Join(append(written, lines[from:]...), "\n")
}

// prompted is a line of code that has a command of linerate's, behind a prompt or
// none.
var prompted = regexp.MustCompile(`^(?: {4,})?(?:\w*[#$] +)?(?:sudo )?linerate ([^:].*)$`)

// Commands are the words of each linerate command in a page's code, indented or
// fenced, up to a comment, a pipe or a redirection.
func Commands(text string) (all [][]string) {
	fenced := false
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		if strings.HasPrefix(strings.TrimSpace(lines[i]), "```") {
			fenced = !fenced
			continue
		}
		m := prompted.FindStringSubmatch(lines[i])
		if m == nil || !fenced && !strings.HasPrefix(lines[i], indent) {
			continue
		}
		var command string
		command, i = whole(m[1], lines, i)
		words := strings.Fields(command)
		if end := slices.IndexFunc(words, func(w string) bool { return strings.ContainsAny(w[:1], "#|&>") || w == "..." }); end >= 0 {
			words = words[:end]
		}
		for k, w := range words {
			words[k] = strings.Trim(w, `"'`)
		}
		all = append(all, words)
	}
	return all
}

// Alike reports whether what was printed is what a page shows, numbers, bars and
// the width of columns aside. A line "..." of the page stands for any lines, none
// too.
func Alike(page, printed []string) bool {
	if len(page) == 0 {
		return len(printed) == 0
	}
	if strings.TrimSpace(page[0]) == "..." {
		for k := range len(printed) + 1 {
			if Alike(page[1:], printed[k:]) {
				return true
			}
		}
		return false
	}
	return len(printed) > 0 && plain(page[0]) == plain(printed[0]) && Alike(page[1:], printed[1:])
}

var (
	entry  = regexp.MustCompile(`[0-9]{8}T[0-9.]+Z(-[0-9a-f]+)?`) // of a journal, or a run
	number = regexp.MustCompile(`[-+]?[0-9]+(\.[0-9]+)*`)
	bar    = regexp.MustCompile(`\[[#.]+\]`)
	// all is how a report writes a share that is whole.
	all = regexp.MustCompile(`\ball of it\b`)
)

// plain is a line without what differs from one run to the next.
func plain(line string) string {
	line = entry.ReplaceAllString(line, "ID")
	line = bar.ReplaceAllString(line, "[]")
	line = all.ReplaceAllString(line, "100 %")
	line = number.ReplaceAllString(line, "0")
	return strings.Join(strings.Fields(line), " ")
}
