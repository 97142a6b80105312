package loadtext

import (
	"cmp"
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// Questions reads what people say in sentences where it is the question itself, or a
// program's or counter's own name with what it does: facts of "said", no measurements.
var Questions = piece.Reader{
	Kind: questionKind,
	Starts: func(line string) bool {
		return sentence(line) && (bundleWords.MatchString(line) || fullSoftirq(line) != "" || largeWords.MatchString(line) || allowanceGrows(line) != "" || oneThreadTest(line) != "")
	},
	Read: reading(readQuestions),
}

const questionKind = "a question in words"

// Sentences have some words, and end within what people write in a paragraph.
const (
	fewestWords      = 6
	longestParagraph = 4000
)

func sentence(line string) bool {
	return len(line) <= longestParagraph && len(strings.Fields(line)) >= fewestWords
}

var bundleWords = piece.Compile(`(?i)\b(?:bond(?:ed|ing|s)?|bond\d+|lacp|802\.3ad|link[ -]aggregat\w+|lagg?\d*|lag|port-?channel\w*|ether-?channel\w*|nic team\w*|teamd|balance-(?:alb|tlb|xor))\b`)

// oneLinks are how a sentence says that a bundle carries like one of its links: by
// the link, or by a rate that one link has.
var oneLinks = []piece.Pattern{
	piece.Compile(`(?i)\b(?:only|just)\b(?: \w+){0,3} (?:one|1|a single)\b(?: \w+){0,4} (?:links?|nics?|ports?|slaves?|interfaces?|members?|cables?|adapters?|legs?|uplinks?|cards?)\b`),
	piece.Compile(`(?i)\b(?:only|just|still|never|maxe?[sd]? out|maxing out|capped|stuck|limited|tops? out)\b[^.;!?]{0,60}?\b(?:1|10|25|40|100|9\.[0-9]+|0\.9\d*) ?(?:G|gig)(?:i?b|abit|bit)?(?:its?|ps|/s|it/s)?\b`),
	piece.Compile(`(?i)\b(?:only|just|still|never|maxe?[sd]? out|maxing out|capped|stuck|limited|tops? out)\b[^.;!?]{0,60}?\b(?:9\d\d ?M(?:b|egab)|1[01]\d ?MB|1[01]\d megabytes)`),
	piece.Compile(`(?i)\bshould(?:n'?t| not)?\b[^.;!]{0,60}\b(?:2|4|20|50|80|200|2000|4000|20000) ?(?:M|G)b`),
}

// largeWords are how sentences speak of frames that are larger than others.
var largeWords = piece.Compile(`(?i)\bjumbo\b|\bmtu\b[^.;]{0,40}\b(?:8\d{3}|9\d{3})\b|\bmtu mismatch\b|\b(?:packets?|payloads?)\b[^.;]{0,30}\b(?:larger|bigger|exceeding|more|greater|above|over)\b[^.;]{0,12}\b\d{3,4} bytes`)

// lostWords are how sentences say that something does not arrive.
var lostWords = piece.Compile(`(?i)\b(?:hangs?|hung|time(?:s|d)? out|timeouts?|no (?:response|reply|answer)|not (?:get|receive) any|can ?not (?:receive|ping|reach|load)|can't (?:receive|ping|reach|load)|stalls?|unresponsive|black-?holed?|silently|100% packet loss)\b`)

// fullSoftirq is the core whose softirq thread a sentence calls full, "?" one of them;
// "" none.
func fullSoftirq(line string) string {
	if !strings.Contains(line, "ksoftirqd") {
		return ""
	}
	if m := softirqFull.FindStringSubmatch(line); m != nil && piece.Float(m[2]) >= 90 {
		return cmp.Or(m[1], "?")
	}
	return ""
}

var softirqFull = piece.Compile("ksoftirqd(?:/(\\d{1,4}))?\\b`?" + `[^.;\n]{0,40}?\b(\d{2,3})(?:\.\d+)? ?%`)

// allowanceGrows is the counter of an allowance of AWS that a sentence says goes up.
func allowanceGrows(line string) string {
	if !strings.Contains(line, "_allowance_exceeded") {
		return ""
	}
	if m := allowanceUp.FindStringSubmatch(line); m != nil {
		return m[1]
	}
	return ""
}

var allowanceUp = piece.Compile(`\b((?:bw_in|bw_out|pps|conntrack)_allowance_exceeded)\b[^.;\n]{0,40}?\b(?:going up|goes up|went up|increas\w+|increment\w+|grow\w*|grew|ris\w+|rose|climb\w*)`)

// oneThreadTest is the version of an iperf3 of one thread that a sentence names, with
// the word for cores or threads in it.
func oneThreadTest(line string) string {
	if !strings.Contains(line, "iperf") && !strings.Contains(line, "iPerf") && !strings.Contains(line, "Iperf") {
		return ""
	}
	m := iperfVersion.FindStringSubmatch(line)
	if m == nil || piece.Atoi(m[1]) > lastOfOneThread {
		return ""
	}
	return "3." + m[1]
}

// lastOfOneThread is iperf 3.15; from 3.16 on each stream has a thread.
const lastOfOneThread = 15

var iperfVersion = piece.Compile(`(?i)\biperf3? (?:v(?:ersion)? ?)?3\.(\d{1,2})\b`)

var coreWords = piece.Compile(`(?i)\b(?:(?:only|just|single|one|1|all)\b(?: \w+){0,4} (?:cpu )?(?:cores?|threads?)|multi-?thread\w*|single-?thread\w*|cpu bound(?:ed)?)\b`)

// questionSpan is how many lines a question goes over.
const questionSpan = 8

func readQuestions(s *sink, lines []piece.Line) (read int) {
	l := lines[0]
	if core := fullSoftirq(l.Text); core != "" {
		s.Set("said", "full_softirq", core, l)
		read = 1
	}
	if counter := allowanceGrows(l.Text); counter != "" {
		s.Set("said", "allowance", counter, l)
		read = 1
	}
	version := oneThreadTest(l.Text)
	bundle := bundleWords.MatchString(l.Text)
	large := largeWords.MatchString(l.Text)
	for i, near := range lines[:min(len(lines), questionSpan)] {
		if i > 0 && s.OthersLine(questionKind, near) {
			break
		}
		if version != "" && coreWords.MatchString(near.Text) {
			s.Set("said", "one_thread", version, l)
			read = max(read, i+1)
		}
		if large && len(near.Text) <= longestParagraph {
			if m := lostWords.FindString(near.Text); m != "" {
				s.Set("said", "large_lost", m, near)
				read = max(read, i+1)
			}
		}
		if !bundle || len(near.Text) > longestParagraph {
			continue
		}
		for _, shape := range oneLinks {
			if m := shape.FindString(near.Text); m != "" {
				s.Set("said", "one_link", m, near)
				return max(read, i+1)
			}
		}
	}
	return read
}
