package piece

import (
	"iter"
	"slices"
	"strings"
	"unicode"
)

// Reader reads one kind of output.
type Reader struct {
	Kind string
	// Commands are the programs whose output it is, where a prompt names one.
	Commands []string
	// Starts reports a line that begins such an output, or stands in its middle
	// and shows what it is.
	Starts func(line string) bool
	// Owns reports the same of a line that only its command or its file explains,
	// such as a bare number, or a few lines that grep left; nil no such line.
	Owns func(s Segment, line string) bool
	// Sentences says that it reads what people say: no line of its own begins an output,
	// or ends another's. A line that others read by itself it hears too.
	Sentences bool
	// Asked is told each command that a prompt shows, where its words alone say
	// something; nil it is not.
	Asked func(s *Sink, at Line)
	// Read takes what it understands from the front of the lines and returns how
	// many that are; 0 none. Lines within that mean nothing to it are its own too
	// where the output has such lines.
	Read func(s *Sink, lines []Line) int
}

// Sink takes what a reader reads.
type Sink struct {
	C       *Case
	Host    *Host
	Segment Segment
	known   func(Segment, string) iter.Seq[*Reader] // who may begin with a line
	Failed  int                                     // tries to read a document: each looks at all that follows
}

// OthersLine reports a line that begins another kind of output: a reader of free
// text ends there.
func (s *Sink) OthersLine(kind string, l Line) bool {
	for r := range s.known(Segment{}, l.Text) {
		if !r.Sentences {
			return r.Kind != kind
		}
	}
	return false
}

// Set adds a fact of the segment's host.
func (s *Sink) Set(subject, key, value string, at Line) {
	s.Host.Set(subject, key, value, at.Source())
}

// Topic notes what a sentence is about: no fact, and no reading.
func (s *Sink) Topic(key, value string, at Line) {
	if s.C.Topics == nil {
		s.C.Topics = make(map[string]Value)
	}
	s.C.Topics[key] = Value{Text: value, Source: at.Source()}
}

// Source is where the line stands.
func (l Line) Source() Source { return Source{File: l.File, From: l.Number, To: l.Number} }

// Span is the source of a run of lines.
func Span(lines []Line) Source {
	return Source{File: lines[0].File, From: lines[0].Number, To: lines[len(lines)-1].Number}
}

// Table is the readers there are, those with the surest marks first.
type Table []Reader

// of are the readers of a line, none where nobody knows it; each is asked only when
// those before it did not take the line. A command's own readers come first: some
// outputs show what they are only by it.
func (readers Table) of(s Segment, line string) iter.Seq[*Reader] {
	return func(yield func(*Reader) bool) {
		own := s.own
		if name := s.Program(); own == nil && name != "" {
			own = readers.owners(name)
		}
		mute := func(r *Reader) bool { return r.Sentences && s.heard }
		owns := func(r *Reader) bool {
			return r.Owns != nil && (s.Command != "" || s.Path != "") && r.Owns(s, line)
		}
		if s.Command != "" || s.Path != "" {
			for i := range readers {
				if r := &readers[i]; !mute(r) && (owns(r) || own != nil && own[i] && r.Starts(line)) && !yield(r) {
					return
				}
			}
		}
		for i := range readers {
			if r := &readers[i]; !mute(r) && (own == nil || !own[i]) && r.Starts(line) && !owns(r) && !yield(r) {
				return
			}
		}
	}
}

// owners marks the readers whose command the program is.
func (readers Table) owners(program string) []bool {
	out := make([]bool, len(readers))
	for i, r := range readers {
		out[i] = slices.Contains(r.Commands, program)
	}
	return out
}

// knows reports a line that begins an output.
func (readers Table) knows(s Segment, line string) bool {
	for r := range readers.of(s, line) {
		if !r.Sentences {
			return true
		}
	}
	return false
}

// Read reads texts as one case.
func (readers Table) Read(texts []Text) Case {
	var c Case
	for _, t := range texts {
		if t.Whole() {
			readers.takeWhole(&c, t)
			continue
		}
		host, lines := t.Host, LinesOf(t)
		if kind := describes(lines); kind != "" {
			c.Described = append(c.Described, Described{Kind: kind, Source: Span(lines)})
			c.NotRead = append(c.NotRead, NotRead{Source: Span(lines), Why: kind})
			continue
		}
		for _, seg := range readers.segments(cleaned(lines)) {
			if (seg.Host != "" || seg.Another) && t.Host == "" {
				host = seg.Host
			}
			seg.Host = host
			readers.take(&c, seg)
		}
	}
	c.joinNameless()
	return c
}

// takeWhole reads a text that is known to be one output. Where readers say that the
// command is theirs, no other is asked: what a log quotes is no output.
func (readers Table) takeWhole(c *Case, t Text) {
	seg := Segment{Host: t.Host, Command: t.Command, Path: t.Path, Lines: LinesOf(t)}
	for i, l := range seg.Lines {
		seg.Lines[i].Text = bareLine(l.Text)
	}
	asked := readers
	if own := readers.commanded(Program(t.Command)); len(own) > 0 {
		asked = own
	}
	before := len(c.NotRead)
	asked.take(c, seg)
	if len(c.NotRead) <= before {
		return
	}
	// One entry for the text, however its lines lie.
	one, lines := c.NotRead[before], 0
	for _, n := range c.NotRead[before:] {
		one.To, lines = n.To, lines+n.Count()
	}
	one.Lines = lines
	c.NotRead = append(c.NotRead[:before], one)
}

// commanded are the readers of a program's output; none where nobody says so.
func (readers Table) commanded(program string) Table {
	var out Table
	for _, r := range readers {
		if program != "" && slices.Contains(r.Commands, program) {
			out = append(out, r)
		}
	}
	return out
}

// mostSentences are listened to in a case: questions are short, logs are not.
const mostSentences = 2000

// take has each part of a segment read by whoever knows it.
func (readers Table) take(c *Case, seg Segment) {
	if seg.name = seg.Program(); seg.name != "" {
		seg.own = readers.owners(seg.name)
	}
	s := &Sink{C: c, Host: c.Host(seg.Host), Segment: seg, known: readers.of}
	for _, r := range readers {
		if r.Asked != nil && seg.Command != "" {
			r.Asked(s, seg.At)
		}
	}
	for i := 0; i < len(seg.Lines); {
		line := seg.Lines[i]
		if strings.TrimSpace(line.Text) == "" {
			i++
			continue
		}
		n, spoken := 0, false
		seg.heard = c.sentences >= mostSentences
		for r := range readers.of(seg, line.Text) {
			if n > 0 && !r.Sentences {
				continue
			}
			lines := seg.Lines[i:]
			if r.Sentences {
				lines, spoken = unwrapped(lines), true
			}
			if took := r.Read(s, lines); n == 0 && took > 0 {
				n = took
				c.Read = append(c.Read, Read{Kind: r.Kind, Host: seg.Host, Source: Span(seg.Lines[i : i+n])})
			}
			if n > 1 {
				break
			}
		}
		if spoken {
			c.sentences++
		}
		if n == 0 {
			if !Ruled(line.Text) {
				c.skip(line)
			}
			n = 1
		}
		i += n
	}
}

// skip notes a line that nobody knows, with its neighbours as one.
func (c *Case) skip(l Line) {
	if n := len(c.NotRead); n > 0 && c.NotRead[n-1].File == l.File && c.NotRead[n-1].Lines == 0 && c.NotRead[n-1].To+1 >= l.Number-1 && !c.readSince(c.NotRead[n-1].Source) {
		c.NotRead[n-1].To = l.Number
		return
	}
	c.NotRead = append(c.NotRead, NotRead{Source: l.Source(), Why: "no known output"})
}

// Ruled reports a line that has neither letters nor digits: it says nothing.
func Ruled(line string) bool {
	return strings.IndexFunc(line, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) < 0
}

// readSince reports that lines behind these were read.
func (c *Case) readSince(s Source) bool {
	n := len(c.Read)
	return n > 0 && c.Read[n-1].File == s.File && c.Read[n-1].From > s.To
}
