package saidtext

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// Rates reads rates in sentences. What they come to are facts of "said", rates in bits a
// second: net_bps the fastest test of the network and net_least_bps the slowest; disk_bps
// the slowest and disk_most_bps the fastest of the disks; copy_bps the slowest copy and
// copy_most_bps the fastest, copy_by and copy_most_by what copies; rate_one what a single connection gets,
// and rate_many what several get together; falls_from_bps and falls_to_bps a copy that
// starts fast; tenth what a link of a gigabit or more never gets beyond; striped a bond
// that sends round robin; far a round trip of many milliseconds; carried_bps the fastest
// but of disks, bytes_bps the slowest in bytes of which nobody says whose it is, and each_bps
// what each of several has; ports and port_bps what ports notes; and what ways notes. A line
// is read where its rates show a gap.
var Rates = piece.Reader{
	Kind: "rates in words",
	Starts: func(line string) bool {
		return piece.Spoken(line) && (tells(line) || expectedPart.MatchString(line) || nextPart.MatchString(line))
	},
	Sentences: true,
	Read:      func(s *piece.Sink, lines []piece.Line) int { return (&teller{s, lines[0]}).line() },
}

// tells reports a line that may tell a rate, or what rates are about.
func tells(line string) bool {
	spaces := strings.Count(strings.TrimSpace(line), " ")
	return otherMode.MatchString(line) || testNamed(line) || (spaces >= 3 || spaces == 2 && throughWords.MatchString(line)) &&
		(anyRate.MatchString(line) || iperf3Word.MatchString(line) || striped.MatchString(line) || strongCopy.MatchString(line) || farAway.MatchString(line) || radio.MatchString(line) || gigabitOf.MatchString(line) || manyPorts.MatchString(line))
}

// testNamed reports a comment above a command that names a test of the network.
func testNamed(line string) bool {
	text := strings.TrimSpace(line)
	return (strings.HasPrefix(text, "# ") || strings.HasPrefix(text, "// ")) && strongNet.MatchString(text)
}

// bareResult is a comment below a command that says what it came to.
var bareResult = piece.Compile(`(?i)^\s*(?:#|//)\W*(?:shows?|results?|gives?|gets?|reports?|output)\b`)

// testNear is within how many lines of such a comment a result belongs to it.
const testNear = 4

// Words that say whose rate it is; the strong ones leave no doubt.
var (
	strongNet  = piece.Compile(`(?i)\b(?:iperf\d?|netperf|nuttcp|ntttcp|netcat|network (?:throughput|performance|bandwidth|test\w*)|testing (?:the )?network)\b`)
	strongCopy = piece.Compile(`(?i)\b(?:samba|smb\d?|cifs|nfs(?:v\d(?:\.\d)?)?|rsync|scp|sftp|iscsi|aoe|drbd|syncoid|zfs (?:send|recv|receive)|robocopy|afp|rados|rbd)\b`)
	ofFiles    = piece.Compile(`(?i)ファイル(?:転送|コピー)|文件(?:传输|拷贝|复制)|(?:拷贝|复制)文件|\bkopier\p{L}* (?:von )?dateien|dateien (?:zu )?kopier|копиро\p{L}+ файл|копировани\p{L}+|\bcopie de fichiers?|\bcopia de (?:archivos|ficheros)|\b(?:file (?:copy|copies|copying|transfers?)|(?:copy|copying|transferr?ing|transfer|send|sending) (?:\w+ ){0,3}files?)\b`)
	strongDisk = piece.Compile(`(?i)\b(?:local(?:ly)?|disks?|drives?|nvme|ssds?|hdds?|raid\S*|zpool|pool|hdparm|crystaldiskmark)\b`)
	weakCopy   = piece.Compile(`(?i)\b(?:writ\w+|reads?|reading|transfer\w*|cop(?:y|ies|ying)|uploads?|downloads?|sync\w*|repli\w+|rebuil\w*|migration|backup)\b`)
)

// resultOf is how a clause goes on about a test that the one before it named.
var resultOf = piece.Compile(`(?i)\b(?:results?|shows?|showed|gives?|gave|reports?|reported|outputs?)\b`)

// lineSpeed and speedOfLine are how people tell what a line gives, and no copy, just before
// the rate and behind it.
var (
	lineSpeed   = piece.Compile(`(?i)\b(?:up|down)load(?:ing)? (?:speeds?|rates?|bandwidth)\b[^.;]{0,24}$`)
	speedOfLine = piece.Compile(`(?i)^[^.;,]{0,4}\b(?:up|down)load (?:speeds?|rates?|bandwidth)\b`)
)

// eachOf are words behind a rate of which there are several, and eachFor before it.
var (
	eachOf  = piece.Compile(`(?i)^[^.,;]{0,12}\b(?:each|per)\b`)
	eachFor = piece.Compile(`(?i)\b(?:each|per)\b[^.;]{0,20}$`)
)

var clauseEnd = piece.Compile(`[、。，；！？]|[.!?;] +|, +(?:but|and|while|whereas|yet) | but | while | whereas |[(•]|\),? +`)

// rate is one that was told.
type rate struct {
	bits        float64
	class, word string // "net", "copy" or "disk", "" unknown; the word that says so
	bytes       bool   // told in bytes, as people tell files
}

// teller reads one line.
type teller struct {
	*piece.Sink
	l piece.Line
}

// expectedPart is a form's heading below which people write what they hope for, and nextPart one
// that ends it.
var (
	expectedPart = piece.Compile(`(?i)^[\s#*_-]*(?:expected|desired)(?: (?:behaviou?rs?|results?|performance|outcome|output|throughput|speeds?|bandwidth))[\s:*_]*$`)
	nextPart     = piece.Compile(`(?i)^\s*#{1,6} |^[\s*_-]*(?:(?:actual|current|observed) \w+|steps?(?: to \w+)?|to reproduce|additional \w+|environments?|context|possible \w+|screenshots?|versions?|notes?)[\s:*_]*$`)
)

// hopedFor reports a line below such a heading: nobody measured what it tells.
func (t *teller) hopedFor() bool {
	const key = "expected part"
	if expectedPart.MatchString(t.l.Text) {
		t.Topic(key, "", t.l)
		return true
	}
	x, ok := t.C.Topics[key]
	if ok && nextPart.MatchString(t.l.Text) {
		delete(t.C.Topics, key)
		return false
	}
	return ok && t.near(x)
}

func (t *teller) line() int {
	if t.hopedFor() || !tells(t.l.Text) {
		return 0
	}
	text := t.ports(strings.ReplaceAll(t.l.Text, "**", "")) // a forum's bold
	t.modes(text)
	told := false
	t.inherit(text)
	if !strings.ContainsAny(text, "{}|") && strings.Count(text, "=") <= 2+len(strings.Fields(text))/wordsPerSign {
		for _, clause := range clauses(text) {
			rates := t.rates(clause)
			if class, word := classOf(clause); len(rates) == 0 && class == "copy" {
				t.Topic("rates", "copy "+word, t.l) // its rate comes in the next clause
			}
			for _, r := range rates {
				t.keep(r)
			}
		}
		told = t.falls(text)
		told = t.tenth(text) || told
	}
	t.connections(text)
	t.plan(text)
	told = t.ways(text) || told
	if told || t.gap() || t.alone() {
		return 1
	}
	return 0
}

// wordsPerSign is how many words of a sentence carry one more "=": a line of options has few.
const wordsPerSign = 12

// clauses are the parts of a line in which one thing is told.
func clauses(text string) (out []string) {
	from := 0
	for _, m := range clauseEnd.FindAllStringSubmatchIndex(text, 64) {
		out = append(out, text[from:m[1]])
		from = m[1]
	}
	return append(out, text[from:])
}

// inherit forgets what earlier sentences were about where that is long ago.
func (t *teller) inherit(text string) {
	if testNamed(text) && !anyRate.MatchString(text) {
		t.Topic("test named", strings.ToLower(strongNet.FindString(text)), t.l)
	}
	if x, ok := t.C.Topics["rates"]; ok && (x.File != t.l.File || t.l.Number-x.From > 12) {
		delete(t.C.Topics, "rates")
	}
	if class, word := classOf(text); class == "copy" && !anyRate.MatchString(text) {
		t.Topic("rates", "copy "+word, t.l)
	}
}

// ofLocal are words before a rate of a machine's own disks, whatever the sentence is about.
var ofLocal = piece.Compile(`(?i)\blocal(?:ly)?\b(?: \([^()]*\))? (?:writes?|reads?)\b[^.;,\d]{0,12}$`)

// rates are what a clause tells, with whose they are.
func (t *teller) rates(clause string) (out []rate) {
	last := 0 // where the rate before it ends
	for _, f := range carried(clause) {
		if diskBusSpeed(f.bits) && diskBus.MatchString(t.l.Text) {
			continue
		}
		before, after := clause[:f.from], clause[f.to:]
		own := before[min(last, len(before)):]
		if last = f.to; !strongCopy.MatchString(own) && !strongNet.MatchString(own) {
			own = before
		}
		class, word := t.class(own, after)
		if at := strings.Index(t.l.Text, clause); at >= 0 && ofLocal.MatchString(t.l.Text[:at+f.from]) {
			class, word = "disk", "local" // brackets before it may have ended a clause
		}
		if each := eachOf.MatchString(after) || eachFor.MatchString(before); each && class != "disk" {
			t.extreme("each_bps", f.of(cmp.Or(class, "told")), 1)
			continue
		} else if each || thanIt.MatchString(before) {
			continue
		}
		if class == "copy" && word == "" && !f.bytes && (lineSpeed.MatchString(own) || speedOfLine.MatchString(after)) && !ofFiles.MatchString(clause) {
			class = "" // of a line
		}
		bits := f.of(cmp.Or(class, "told"))
		if bits < 50e3 || bits > 1e12 {
			continue
		}
		out = append(out, rate{bits, class, word, f.bytes})
	}
	return out
}

// class says whose a rate is by the words before it, then those behind it, then what
// the sentences before were about.
func (t *teller) class(before, after string) (class, word string) {
	if class, word = classOf(before); class == "" {
		class, word = classOf(after[:min(len(after), 40)])
	}
	x := t.C.Topics["rates"]
	was, by, _ := strings.Cut(x.Text, " ")
	switch {
	case class == "weak" && was == "copy":
		class, word = was, by
	case class == "weak":
		class, word = "copy", ""
	case class == "" && bareResult.MatchString(t.l.Text) && t.testNear():
		class, word = "net", t.C.Topics["test named"].Text
	case class == "" && was == "copy":
		class, word = was, by
	case class == "" && resultOf.MatchString(before) && strongNet.MatchString(t.l.Text):
		class, word = "net", strings.ToLower(strongNet.FindString(t.l.Text))
	}
	if class != "" {
		t.Topic("rates", class+" "+word, t.l)
	}
	return class, word
}

// testNear reports a test that a comment just above named.
func (t *teller) testNear() bool {
	x, ok := t.C.Topics["test named"]
	return ok && x.File == t.l.File && t.l.Number-x.From <= testNear
}

func classOf(text string) (class, word string) {
	for _, of := range []struct {
		class string
		words piece.Pattern
	}{{"net", strongNet}, {"copy", strongCopy}, {"copy", ofFiles}, {"disk", strongDisk}, {"weak", weakCopy}} {
		if all := of.words.FindAllStringSubmatch(text, mostRates); len(all) > 0 {
			return of.class, strings.ToLower(all[len(all)-1][0])
		}
	}
	return "", ""
}

// keep notes a rate: of the network the fastest, of copies and disks both ends.
func (t *teller) keep(r rate) {
	if r.class != "disk" {
		t.extreme("carried_bps", r.bits, 1)
	}
	switch r.class {
	case "":
		if r.bytes {
			t.extreme("bytes_bps", r.bits, -1)
		}
	case "net":
		if iperf3Word.MatchString(r.word) {
			t.set("by_iperf3", r.word)
		}
		t.extreme("net_bps", r.bits, 1)
		t.extreme("net_least_bps", r.bits, -1)
	case "disk":
		t.extreme("disk_bps", r.bits, -1)
		t.extreme("disk_most_bps", r.bits, 1)
	case "copy":
		if t.extreme("copy_bps", r.bits, -1) && r.word != "" {
			t.set("copy_by", r.word)
		}
		if t.extreme("copy_most_bps", r.bits, 1) {
			t.set("copy_most_by", cmp.Or(r.word, "a copy"))
		}
	}
}

func (t *teller) set(key, value string) { t.nobody().Set("said", key, value, t.l.Source()) }

// nobody is whom sentences are about: all hosts, whatever prompt stood before them.
func (t *teller) nobody() *piece.Host { return t.C.Host("") }

// told is what was said so far; "" nothing.
func (t *teller) told(key string) string {
	for _, h := range t.C.Hosts {
		if x, ok := h.Get("said", key); ok {
			return x.Text
		}
	}
	return ""
}

func (t *teller) bits(key string) float64 { return piece.Float(cmp.Or(t.told(key), "0")) }

// extreme keeps the larger (sign 1) or smaller one, and says whether it is this one.
func (t *teller) extreme(key string, bits float64, sign float64) bool {
	if was := t.bits(key); was > 0 && sign*was >= sign*bits {
		return false
	}
	t.set(key, whole(bits))
	return true
}

func whole(bits float64) string { return strconv.FormatFloat(bits, 'f', 0, 64) }

// Gap is how much of the network's rate a copy gets at most to be worth a word.
const Gap = 0.7

// gap reports rates of which one asks for a reason.
func (t *teller) gap() bool {
	slow, net := t.bits("copy_bps"), max(t.bits("net_bps"), t.bits("copy_most_bps"))
	return slow > 0 && (slow < Gap*net || slow < Gap*t.bits("disk_bps")) && t.bits("net_bps")+t.bits("disk_bps") > 0
}

// alone reports one connection far below several, or a slow bond that stripes.
func (t *teller) alone() bool {
	one, many := t.bits("rate_one"), t.bits("rate_many")
	_, others := t.C.Topics[OtherMode]
	return one > 0 && many >= FewFlows*one || t.told("striped") != "" && !others && t.bits("copy_bps")+t.bits("net_bps") > 0
}

// FewFlows is how much more several connections carry than one for each to have a limit
// of its own.
const FewFlows = 1.4

var falling = piece.Compile(`(?i)\b(?:starts?|started|begins?|began|initially|at first|first few|(?:in|at) the beginning|at the start)\b`)

var fell = piece.Compile(`(?i)\b(?:drops?|dropped|dropping|falls?|fell|fall(?:ing)?|declin\w*|(?:gradually )?reduc\w+|slows? down|goes down|went down|decreas\w*|settles?|tanks?)\b`)

// farthestFall is how far behind the fast beginning the fall is told, in bytes.
const farthestFall = 220

// falls notes a copy that starts fast and is slow later.
func (t *teller) falls(text string) bool {
	from := falling.FindAllStringSubmatchIndex(text, 1)
	if len(from) == 0 || strongNet.MatchString(text) {
		return false
	}
	rest := text[from[0][1]:]
	to := fell.FindAllStringSubmatchIndex(rest, 1)
	if len(to) == 0 || to[0][0] > farthestFall || strings.HasPrefix(rest[to[0][1]:], " back") {
		return false
	}
	early, late := allBits(rest[:to[0][0]]), allBits(rest[to[0][1]:])
	if len(early) == 0 || len(late) == 0 {
		return false
	}
	high, low := slices.Max(early), slices.Min(late)
	if low >= Gap*high {
		return false
	}
	t.set("falls_from_bps", whole(high))
	t.set("falls_to_bps", whole(low))
	return true
}

// allBits are the rates of a text as copies tell them.
func allBits(text string) (out []float64) {
	for _, f := range figures(text) {
		if bits := f.of("copy"); bits > 0 {
			out = append(out, bits)
		}
	}
	return out
}

var (
	tenthOf   = piece.Compile(`(?:\b(?i:nur|maximal|seulement|solo|solamente|apenas|tylko|zablokowan\w*|slechts)|только|не выше|只有|最高)[^.;]{0,40}?(?:100 ?[Mm](?:b|bit|bps|Bit|BIT|egabit)(?:s|/s|ps)?|9[0-8](?:\.\d+)? ?[Mm]b(?:its?|ps)(?:/s)?)(?:[^\w/]|$)|\b(?i:only|just|stuck|limited|max\w*|beyond|above|past|exceed\w*|capped|more than|over|instead)\b[^.;]{0,40}?\b(?:100 ?[Mm](?:b|bit|bps|Bit|BIT|egabit)(?:s|/s|ps)?|9[0-8](?:\.\d+)? ?[Mm]b(?:its?|ps)(?:/s)?|100[Bb][Aa][Ss][Ee]\w*)(?:[^\w/]|$)|\b(?:1[0-2](?:\.\d+)? ?MB/s)(?:\W|$)`)
	gigabitOf = piece.Compile(`(?i)千兆|\b(?:1|2\.5|5|10) ?g(?:b|ig|be|bps|bit|igabit)\w*|\bgigabit\b|\b(?:2\.5|5|10) ?G\b|\b1000 ?mb|\b(?:1000|2500|5000|10000) ?(?:base-?)?t\b|\brtl81(?:11|25|68)\w*|\b1 ?gb`)
)

// radio are ways that are slow by themselves.
var radio = piece.Compile(`(?i)\b(?:wi-?fi|wireless|wlan|802\.11\w+|vpn|wireguard|openvpn|tailscale|isp|wan|internet|speed ?tests?|powerline|moca|usb ?2(?:\.0)?)\b`)

// tenth notes a link that never gets beyond 100 Mbit/s and could be one of a gigabit.
func (t *teller) tenth(text string) bool {
	if gigabitOf.MatchString(text) {
		t.Topic("gigabit", "", t.l)
	}
	if radio.MatchString(text) {
		t.Topic("radio", "", t.l)
	}
	x, ok := t.C.Topics["gigabit"]
	ok = ok && x.File == t.l.File && t.l.Number-x.From <= 12
	if m := cameUp.FindStringIndex(text); m != nil && ok && !setSlow.MatchString(text[:m[0]]) && !wasSlow.MatchString(text[m[0]:m[1]]) {
		t.set("came_up", strings.TrimSpace(text[m[0]:m[1]])) // a link's own speed, whatever the way beyond
		return true
	}
	m := tenthOf.FindString(text)
	if _, slow := t.C.Topics["radio"]; slow || m == "" || !ok {
		return false
	}
	t.set("tenth", strings.TrimSpace(m))
	return true
}

// setSlow are words before a link's speed that somebody gave it.
var setSlow = piece.Compile(`(?i)\b(?:reduc\w+|limit\w*|throttl\w*|shap(?:e|ed|ing)|restrict\w*|forc(?:e|ed|ing)|set(?:ting)?|capp(?:ed|ing)|lower\w*|emulat\w+|simulat\w+)\b[^.;]{0,30}$|\b(?:if|suppos\w+|assum\w+|imagine|for example|e\.g\.)\b[^;]{0,90}$`)

// wasSlow are words of a link's speed before a faster one came: "1 Gbps links (from 100 Mbps)".
var wasSlow = piece.Compile(`(?i)\b(?:from|instead of|than)\W{0,3}100 ?m`)

// cameUp is how a sentence says that a link came up at 100 Mbit/s, or falls back to it.
var cameUp = piece.Compile(`(?i)(?:lan口|网口|网卡|端口|链路)[^。；，]{0,10}(?:速率|速度|协商|识别|只有|是|为)[^。；，]{0,6}(?:百兆|100 ?M)|\b(?:negotiat\w+|links?(?: up)?|linked|(?:comes?|came) up|detected|recogni[sz]ed|syncs?|connects?)\b[^.;]{0,14}(?:\b(?:at|to|as|with|only|it'?s)\b[^.;\d]{0,12}|\b)\b100 ?(?:m(?:b|bit|bps|egabit)\w*|(?:base-?)?tx\b)|\b(?:drop\w*|fall\w*|fell|goes|went|chang\w+|switch\w*|downgrad\w+)\b[^.;]{0,24}\bfrom 1 ?g\w* (?:down )?to 100 ?m\w*|\bnic is only running at 100 ?m\w*|\b(?:back to|default\w*|set (?:as|to)|stuck at|automatically)\b[^.;]{0,40}\b100 ?base-?tx?\b|\bonly (?:get\w*|ha(?:ve|s|ving)|see\w*|shows?|at|reports?|links? at|works? at)\b[^.;]{0,16}\b100 ?base-?t\w*|\bnegotiat\w+ (?:at |to |an? |only ){0,3}10 ?m(?:b|bit|bps|egabit)\w*`)

var (
	striped   = piece.Compile(`(?i)\b(?:balance-rr|round[- ]?robin|rr[- ]algorithm|bond(?:ing)? mode ?[=:]? ?0)\b`)
	otherMode = piece.Compile(`(?i)\b(?:lacp|802\.3ad|balance-(?:xor|alb|tlb)|active-backup|multipath\w*|mpio|dns|layer[23])\b`)
	bundled   = piece.Compile(`(?i)\bbond(?:ed|ing|s|\d+)?\b|\bbalance-rr\b`)
	farAway   = piece.Compile(`(?i)\b(?:[1-9]\d{1,2})(?:\.\d+)? ?ms\b[^.;]{0,20}\b(?:ping|latency|rtt|round|away|apart)|\b(?:ping|latency|rtt|round[- ]trip)\b[^.;]{0,30}\b[1-9]\d{1,2}(?:\.\d+)? ?ms\b|\b(?:transatlantic|overseas|another (?:continent|country))\b`)
)

// OtherMode is the topic of sentences that name other modes than round robin: which of
// them is meant nobody can say.
const OtherMode = "other mode"

// modes notes a bond that stripes packets, other modes, and a long way.
func (t *teller) modes(text string) {
	if otherMode.MatchString(text) {
		t.Topic(OtherMode, "", t.l)
	}
	if striped.MatchString(text) {
		t.Topic("striped", strings.ToLower(striped.FindString(text)), t.l)
	}
	if bundled.MatchString(text) {
		t.Topic("bonded", "", t.l)
	}
	x, ok := t.C.Topics["striped"]
	_, bond := t.C.Topics["bonded"]
	if ok && bond {
		t.set("striped", x.Text)
	}
	if farAway.MatchString(text) {
		t.set("far", farAway.FindString(text))
	}
}
