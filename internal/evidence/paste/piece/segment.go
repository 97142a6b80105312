package piece

import (
	"slices"
	"strings"
)

// Segment is a run of lines of one host, of one command or file where a prompt or a
// heading names it.
type Segment struct {
	Host    string // "" not named here
	Another bool   // a prompt of Windows, which names nobody, below a named host's
	Command string // "" none was seen
	Path    string // the file whose text it is; "" none was seen
	At      Line   // the command's; zero where none was seen
	Lines   []Line

	name string // the program that Command runs; "" not looked for yet
	own  []bool // which readers' command it is; nil not looked for, or nobody's

	heard bool // no more sentences are listened to
}

// Program is the program whose output the segment is; "" nobody says.
func (s Segment) Program() string {
	if s.name == "" && s.Command != "" {
		return Program(s.Command)
	}
	return s.name
}

// segments cuts cleaned lines at prompts, fences and headings. Lines of prose are
// in segments too: readers know what is theirs.
func (readers Table) segments(lines []Line) []Segment {
	var out []Segment
	now, unix := Segment{}, false // whether a prompt named the host
	flush := func(next Segment) {
		if len(now.Lines) > 0 || now.Command != "" {
			out = append(out, now)
		}
		now = next
	}
	for i, l := range lines {
		if fence(l.Text) {
			if !now.begins() {
				flush(Segment{Host: now.Host})
			}
			continue
		}
		if p, ok := PromptOf(l.Text); ok {
			host := p.Host
			another := host == "" && unix && (windowsPrompt.MatchString(l.Text) || powerShellPrompt.MatchString(l.Text))
			if host == "" && !another {
				host = now.Host
			}
			unix = unix && !another || p.Host != ""
			flush(Segment{Host: host, Another: another, Command: p.Command, Path: fileOf(p.Command), At: l})
			continue
		}
		if host, file := headingOf(l.Text); file != "" {
			flush(Segment{Host: now.Host, Path: file})
			continue
		} else if host != "" && !within(l, now.Lines) && !readers.knows(now, l.Text) && readers.outputFollows(lines[i+1:]) {
			unix = false
			flush(Segment{Host: host})
			continue
		}
		now.Lines = append(now.Lines, l)
	}
	flush(Segment{})
	return out
}

// begins reports a command that was quoted in a sentence's place and shows nothing yet: the
// fence below it opens its output.
func (s Segment) begins() bool {
	return strings.Contains(s.At.Text, "`") && s.Command != "" && !slices.ContainsFunc(s.Lines, func(l Line) bool { return strings.TrimSpace(l.Text) != "" })
}

// within reports a line that is indented below another: a key of a document's.
func within(l Line, above []Line) bool {
	n := len(above)
	return n > 0 && strings.TrimSpace(above[n-1].Text) != "" && strings.TrimLeft(l.Text, " \t") != l.Text
}

// fence reports a line that parts outputs and has nothing else.
func fence(line string) bool {
	s := strings.TrimSpace(line)
	return strings.HasPrefix(s, "```") || strings.HasPrefix(s, "~~~") || strings.EqualFold(s, "code:") || strings.EqualFold(s, "quote:")
}

// outputFollows reports that the next line that is not empty is no prose: a
// heading stands above an output, not within a sentence.
func (readers Table) outputFollows(rest []Line) bool {
	for _, l := range rest[:min(len(rest), 4)] {
		if strings.TrimSpace(l.Text) == "" {
			continue
		}
		if _, ok := PromptOf(l.Text); ok || fence(l.Text) || knownCommand(l.Text) {
			return true
		}
		return readers.knows(Segment{}, l.Text)
	}
	return false
}

// fileOf is the file that a command prints as it is; "" another command.
func fileOf(command string) string {
	f := strings.Fields(command)
	for len(f) > 0 && (f[0] == "sudo" || f[0] == "time") {
		f = f[1:]
	}
	if len(f) < 2 || f[0] != "cat" && f[0] != "head" && f[0] != "tail" && f[0] != "less" && f[0] != "more" {
		return ""
	}
	for _, w := range f[1:] {
		if strings.HasPrefix(w, "/") || strings.Contains(w, ".") && !strings.HasPrefix(w, "-") {
			return w
		}
	}
	return ""
}
