package loadtext

import (
	"cmp"
	"slices"
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// Questions reads what people say in sentences where it is the question itself, or a
// program's or counter's own name with what it does: facts of "said", no measurements.
var Questions = piece.Reader{
	Kind: "a question in words",
	Starts: func(line string) bool {
		return sentence(line) && mayAsk(strings.ToLower(line)) || title(line)
	},
	Sentences: true,
	Read:      reading(readQuestions),
}

// Sentences have some words, and end within what people write in a paragraph.
const (
	fewestWords      = 6
	longestParagraph = 4000
)

// askMarks are words of which each sentence that counts has one.
var askMarks = []string{"bond", "ifgrp", "interface group", "heavily", "lacp", "802.3ad", "aggregat", "lag", "channel", "team", "balance-", "jumbo", "mtu", "bytes", "ksoftirqd", "_allowance_exceeded", "iperf",
	"only", "just", "still", "never", "max", "large", "connection", "download", "stream", "capped", "stuck", "limited", "tops out", "should", "hang", "hung", "time", "no re", "no an", "not ", "can't", "cannot", "stall", "unrespons", "hole", "drop", "work", "silently", "100%", "down", "come up", "carrier", "support", "hash", "throughput", "speed of", "bandwidth of", "rate of", "single", "combined", "equal", "even", "balanc", "聚合", "网卡", "агрегац", "объедин", "agr", "bündel"}

func mayAsk(low string) bool {
	return slices.ContainsFunc(askMarks, func(mark string) bool { return strings.Contains(low, mark) })
}

func sentence(line string) bool {
	return len(line) <= longestParagraph && piece.WordCount(line) >= fewestWords
}

// title reports a few words that name a bundle, as people write above a result.
func title(line string) bool {
	words := len(strings.Fields(line))
	return words > 1 && words < fewestWords && piece.Spoken(line) && !strings.ContainsAny(line, "={}[]|/") && bundleWords.MatchString(line) && !command.MatchString(line) && !noBundle.MatchString(line)
}

// command is how a line of a configuration or of an output begins.
var command = piece.Compile(`(?i)^\s*(?:[!#$>+-]|\d+(?:[:.)\s]|$)|interface|iface|auto|set|add|show|display|channel-|no |ip |lag (?:\d|hash\b|id\b)|lacp (?:rate|mode|time\w*|active|passive|system|port|priority|fast|slow|on|off)\b|bond\S*\s*:|switchport|port[ :]|name|mode|type|protocol|description|group|trunk)|:\s*\S+$`)

var bundleWords = piece.Compile(`(?i)(?:聚合|双网卡|агрегац\p{L}*|объедин\p{L}* (?:\p{L}+ ){0,2}(?:порт|интерфейс|сетев)\p{L}*|agr[ée]gation\b|agregaci[óo]n\b|gebündelt\p{L}*|bündelung\b)|\b(?:bond(?:ed|ing|s)?|bond\d+|lacp|802\.3ad|link[ -]aggregat\w+|lagg?\d*|lag|port[ -]?channel\w*|ether[ -]?channel\w*|nic team\w*|teamd|balance-(?:alb|tlb|xor))\b`)

// noBundle is how sentences say that links are none.
var noBundle = piece.Compile(`(?i)\b(?:not|no|without|instead of) (?:a |any |using )?(?:bond(?:ed|ing|s)?|lacp|lagg?|link aggregation|nic team\w*)\b`)

// oneLinks are how a sentence says that a bundle carries like one of its links: by
// the link, or by a rate that one link has.
var oneLinks = []piece.Pattern{
	piece.Compile(`(?i)\b(?:only|just)\b(?: \w+){0,3} (?:one|1|a single)\b(?: \w+){0,4} (?:links?|nics?|ports?|slaves?|interfaces?|members?|cables?|adapters?|legs?|uplinks?|cards?)\b`),
	piece.Compile(`(?i)\b(?:only|just|still|never|maxe?[sd]? out|maxing out|capped|stuck|limited|tops? out)\b[^.;!?]{0,60}?\b(?:1|10|25|40|100|9\.[0-9]+|0\.9\d*) ?(?:G|gig)(?:i?b|abit|bit)?(?:its?|ps|/s|it/s)?\b`),
	piece.Compile(`(?i)\b(?:only|just|still|never|maxe?[sd]? out|maxing out|capped|stuck|limited|tops? out)\b[^.;!?]{0,60}?\b(?:9\d\d ?M(?:b|egab)|1[01]\d ?MB|1[01]\d megabytes)`),
	piece.Compile(`(?i)\b(?:most|all)\b(?: of)?(?: \w+){0,2} (?:traffic|packets|data|performance|transfers?|throughput)\b[^.;]{0,60}\b(?:one|a single|1)(?: \w+){0,2} (?:links?|nics?|ports?|slaves?|interfaces?|members?)\b|\bonly (?:a )?specific (?:nic|link|port|slave|interface)s?\b`),
	piece.Compile(`(?i)\b(?:can(?:no|')t|won't|unable to|does(?: not|n't)|never|not able to|no way to)\b[^.;!?]{0,40}\b(?:above|beyond|past|over|more than|exceeds?|faster than)\b[^.;!?]{0,30}?\b(?:(?:1|10|25|40|100|9\.[0-9]+|0\.9\d*) ?(?:G|gig)(?:i?b|abit|bit)?(?:its?|ps|/s|it/s)?|9\d\d ?M(?:b|egab)\w*|1[01]\d ?MB(?:/s|ps)?)\b`),
	piece.Compile(`(?i)\b(?:one|a single) (?:of (?:the|its|both|two|these) )?(?:\w+ ){0,2}(?:links?|nics?|ports?|slaves?|interfaces?|members?|uplinks?)\b[^.;!?]{0,30}\b(?:all|most of|nearly all|almost all)\b[^.;!?]{0,20}\b(?:traffic|load|packets|flows|data)\b`),
	piece.Compile(`(?i)\b(?:pinned|confined|restricted|stuck|limited|nailed) to (?:a |the |just )?(?:single|one)(?: [\w.]+){0,2} (?:links?|nics?|ports?|slaves?|interfaces?|members?|uplinks?)\b`),
	piece.Compile(`(?i)\b(?:throughput|speed|bandwidth|rate|performance)\b[^.;!?]{0,20}\bof (?:a |just |only )*(?:single|one) (?:\w+ )?(?:links?|nics?|ports?|slaves?|interfaces?|members?|cards?|uplinks?)\b`),
	piece.Compile(`(?i)\b(?:two|three|four|both|all|[2-8])\b(?: [\w./-]+){0,4} (?:links?|nics?|ports?|slaves?|interfaces?|members?|cards?|uplinks?)\b[^.;!?]{0,40}\b(?:throughput|speed|bandwidth|rate|performance) of (?:just |only )?(?:one|a single)\b(?: (?:links?|nics?|ports?|slaves?|interfaces?|members?|cards?|uplinks?)\b)?`),
	piece.Compile(`(?i)\bshould(?:n'?t| not)?\b[^.;!]{0,60}\b(?:2|4|20|50|80|200|2000|4000|20000) ?(?:M|G)b`),
}

// largeWords are how sentences speak of frames that are larger than others.
var largeWords = piece.Compile(`(?i)\bjumbo\b|\blarge[- ]?(?:size[d]?)? packets?\b|\bmtu\b[^.;]{0,40}\b(?:8\d{3}|9\d{3})\b|\bmtu mismatch\b|\b(?:packets?|payloads?)\b[^.;]{0,30}\b(?:larger|bigger|exceeding|more|greater|above|over)\b[^.;]{0,12}\b\d{3,4} bytes|\b(?:packets?|payloads?|data|responses?|returns?|frames?)\b[^.;]{0,24}(?:>|\blarger?\b|\bmore\b|\bexceed\w*|\bover\b) ?(?:than )?\d{3,4} ?bytes`)

// lostWords are how sentences say that something does not arrive.
var lostWords = piece.Compile(`(?i)\b(?:hangs?|hung|time(?:s|d)? out|timeouts?|no (?:response|reply|answer)|not (?:get|receive) any|can ?not (?:receive|ping|reach|load|open)|can't (?:receive|ping|reach|load|open)|drop(?:s|ped|ping) (?:\w+ )?packets|do(?:es)?(?:n't| not) work|stalls?|unresponsive|black-?holed?|silently|pings? (?:\w+ )?fail\w*|100% packet loss)\b`)

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

var coreWords = piece.Compile(`(?i)\b(?:(?:only|just|single|one|1|all)\b(?: \w+){0,4} (?:cpu )?(?:cores?|threads?)|multi-?thread\w*|single-?thread\w*|cpu bound(?:ed)?)\b|-P ?\d+\b[^.;]{0,30}\b(?:no|not|n't|never)\b[^.;]{0,12}\b(?:faster|better|more|difference|help\w*)|-P ?\d+\b[^.;]{0,30}\bsame (?:speed|rate|throughput|result|bandwidth)`)

// noMore is how a sentence says that several connections carry no more than one.
var noMore = piece.Compile(`(?i)\b(?:no|not|never|n't|doesn.t|don.t|without|same)\b[^.;]{0,40}\b(?:doubl\w+|twice|add|scal\w+|more|better|faster|help\w*|differ\w*)`)

// questionSpan is how many lines lie at most between what a question is about and what
// is wrong with it: outputs stand between.
const questionSpan = 40

// readQuestions reads one sentence. What it is about alone is kept, and is no reading:
// a later sentence says what is wrong.
func readQuestions(s *sink, lines []piece.Line) (read int) {
	l := lines[0]
	said := func(key, value string) {
		s.Set("said", key, value, l)
		read = 1
	}
	if core := fullSoftirq(l.Text); core != "" {
		said("full_softirq", core)
	}
	if counter := allowanceGrows(l.Text); counter != "" {
		said("allowance", counter)
	}
	if version := oneThreadTest(l.Text); version != "" {
		s.Topic("iperf", version, l)
	}
	if title(l.Text) {
		s.Topic(piece.Titled, "", l)
		if m := uneven.FindString(l.Text); m != "" {
			said("uneven", m)
		}
		return read
	}
	if bundleWords.MatchString(l.Text) && !noBundle.MatchString(l.Text) || groupWords.MatchString(l.Text) {
		s.Topic("bundle", "", l)
	}
	if largeWords.MatchString(l.Text) {
		s.Topic("large", "", l)
	}
	if m := flowsAdd.FindString(l.Text); m != "" && !noMore.MatchString(l.Text) {
		said("flows_add", m)
	}
	if m := hashRefused.FindString(l.Text); m != "" {
		said("hash_unsupported", m)
	} else if m := hashShort.FindString(l.Text); m != "" {
		said("hash_short", m)
	}
	if x, ok := s.about("iperf", l); ok && coreWords.MatchString(l.Text) {
		said("one_thread", x.Text)
	}
	if _, ok := s.about("large", l); ok {
		if m := lostWords.FindString(l.Text); m != "" {
			said("large_lost", m)
		}
	}
	_, bundle := s.about("bundle", l)
	if m := byTheLink(l.Text); m != "" && !bundle {
		s.Topic("one link", m, l) // a later sentence may say of what
	} else if x, ok := s.about("one link", l); ok && bundle {
		s.Set("said", "one_link", x.Text, l)
		delete(s.C.Topics, "one link")
		read = 1
	}
	if bundle {
		if key, words := bundleState(l.Text); key != "" {
			said(key, words)
			return read
		}
		for _, shape := range oneLinks {
			if m := shape.FindString(l.Text); m != "" {
				said("one_link", m)
				break
			}
		}
		if m := byChance.FindString(l.Text); m != "" {
			said("by_chance", m)
		} else if m := uneven.FindString(l.Text); m != "" && read == 0 {
			said("uneven", m)
		}
	}
	return read
}

// byTheLink is how a sentence says by the link that one carries all; "" it does not.
func byTheLink(text string) string {
	for _, shape := range oneLinks {
		if m := shape.FindString(text); m != "" && linkWord.MatchString(m) {
			return m
		}
	}
	return ""
}

// linkWord is a link as those sentences name it.
var linkWord = piece.Compile(`(?i)\b(?:links?|nics?|ports?|slaves?|interfaces?|members?|uplinks?)$|\bof (?:just |only )?(?:one|a single)$`)

// about is what a question is about, if that was said near a line.
func (s *sink) about(key string, l piece.Line) (piece.Value, bool) {
	x, ok := s.C.Topics[key]
	return x, ok && x.File == l.File && l.Number-x.From <= questionSpan
}
