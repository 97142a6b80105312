package saidtext

import (
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

var (
	throughWords = piece.Compile(`(?i)\b(?:pods?|containers?|through|via|over the (?:tunnel|vpn)|\w*tunnel\w*|\w*vpn|wireguard|openvpn|ipsec|overlay|vxlan|geneve|ipip|tailscale|zerotier|service|nodeport|gvisor|nebula|tinc|n2n|weave|flannel|canal|cilium|calico|ipvlan|guests?)\b`)
	directWords  = piece.Compile(`(?i)\b(?:hosts?|nodes?|bare-?metals?|vms?|directly|direct|native\w*|underlay|wan|physical|isp|internet|public ip|line|lan|servers?|workers?|worker\d+|outside|without)\b`)
	without      = piece.Compile(`(?i)\b(?:without|outside|no) (?:using )?(?:the |a |any )?(?:\w*tunnel|\w*vpn|wireguard|openvpn|ipsec|overlay|vxlan|cni|tailscale|zerotier|netbird|weave|nebula)`)
	guestWords   = piece.Compile(`(?i)\b(?:vms?|guests?|virtual machines?|lxc|domu)\b`)
	hostWords    = piece.Compile(`(?i)\b(?:hosts?|hypervisors?|bare[- ]?metals?|dom0|proxmox|esxi)\b`)
	publicWords  = piece.Compile(`(?i)\b(?:public|external)(?:ly)?\b`)
	privateWords = piece.Compile(`(?i)\b(?:private|internal)(?:ly)?\b`)
	fallsFrom    = piece.Compile(`(?i)\b(?:down|drops?|dropped|falls?|fell|goes|went|reduces?d?|decreases?d?)\b[^.;]{0,30}\bfrom\b(.{3,60}?)\bto\b(.{3,40})`)
	clauseParts  = piece.Compile(`;|,\s|\.\s|\b(?:while|but|whereas|vs\.?|versus|compared)\b`)
	// ofBefore is how a clause goes on about what the one before it named.
	ofBefore    = piece.Compile(`(?i)^\s*(?:then |and |so |also )?(?:it|this|that|i|we|they|the (?:result|throughput|bandwidth|speed|rate|performance|transfer|numbers?)\w*|iperf\d?)\b`)
	sentenceEnd = piece.Compile(`[.!?;]\s`)
)

// last is the last rate of a clause that was carried, in bits a second, of what a network
// can have; zero none.
func last(clause string) float64 {
	all := carried(clause)
	if len(all) == 0 {
		return 0
	}
	if bits := all[len(all)-1].bits; bits >= 1e4 && bits <= 1e13 {
		return bits
	}
	return 0
}

var (
	windowsWord = piece.Compile(`\b[Ww]in(?:dows|10|11|2k\d+)?\b`)
	linuxWord   = piece.Compile(`(?i)\b(?:linux|ubuntu|debian|centos|rhel|fedora|red ?hat)\b`)
)

var udpWord = piece.Compile(`(?i)\budp\b`)

// ways notes the rates of a line by the way they went: rate_through and rate_direct with a
// tunnel, an overlay or a container and without, rate_public and rate_private by the
// address, rate_guest and rate_host of a virtual machine and its host, rate_before and rate_after, rate_other by another tool than iperf3, rate_udp, rate_windows and rate_linux, rate_nccl and
// rate_verbs over RDMA, and tool_slower. It reports whether one was told.
func (t *teller) ways(text string) (told bool) {
	note := func(key string, bits float64) {
		if bits > 0 {
			t.set(key, whole(bits))
			told = true
		}
	}
	if m := fallsFrom.FindStringSubmatch(text); m != nil {
		if from, to := last(m[1]), last(m[2]); from > 0 && to > 0 && to < from {
			note("rate_before", from)
			note("rate_after", to)
		}
	}
	for _, sentence := range piece.Cut(text, sentenceEnd) {
		way := "" // that the clause before told without a rate
		for _, clause := range piece.Cut(sentence, clauseParts) {
			bits := last(clause)
			if public, private := publicWords.MatchString(clause), privateWords.MatchString(clause); public != private {
				note(map[bool]string{true: "rate_public", false: "rate_private"}[public], bits)
			}
			if ofWindows, ofLinux := windowsWord.MatchString(clause), linuxWord.MatchString(clause); ofWindows != ofLinux {
				note(map[bool]string{true: "rate_windows", false: "rate_linux"}[ofWindows], bits)
			}
			if udpWord.MatchString(clause) {
				note("rate_udp", bits)
			}
			switch guest := guestWords.MatchString(clause); {
			case bits == 0:
			case guest:
				t.extreme("rate_guest", bits, -1)
				t.extreme("rate_guest_most", bits, 1)
			case hostWords.MatchString(clause):
				t.extreme("rate_host", bits, 1)
			}
			switch {
			case without.MatchString(clause):
				way = "rate_direct"
			case throughWords.MatchString(clause):
				way = "rate_through"
			case directWords.MatchString(clause):
				way = "rate_direct"
			case !ofBefore.MatchString(clause):
				way = ""
			}
			if way != "" {
				note(way, bits)
			}
			if bits > 0 {
				way = ""
			}
		}
	}
	return t.tools(text) || told
}

var (
	iperf3Word = piece.Compile(`(?i)\biperf ?(?:v?3(?:\.\d+)?)\b`)
	otherTool  = piece.Compile(`(?i)\biperf2\b|\biperf \(?v?2(?:\.\d+)*|\biperf\b|\bnuttcp\b|\bnetperf\b`)
	copyTool   = piece.Compile(`(?i)\b(?:smb|robocopy|ftp|http|wget|curl|dd|nfs)\b`)
	ncclWord   = piece.Compile(`(?i)\bnccl\w*\b|\ball_?reduce\w*|\bucx\w*\b|\bosu_\w+`)
	verbsTool  = piece.Compile(`(?i)\bib_(?:write|read|send)_bw\b|\bperftest\b`)
	saturates  = piece.Compile(`(?i)\b(?:saturat\w+|line ?rate|full (?:speed|rate|bandwidth)|reliably)\b`)
	fallsShort = piece.Compile(`(?i)\b(?:fail\w*|not|n't|cannot|unable|never)\b[^.;]{0,16}\b(?:saturat\w+|fill\w*|line ?rate)\b`)
	slower     = piece.Compile(`(?i)\b(?:slow\w*|lower|less|worse|poor\w*)\b|\blow\b[^.;]{0,60}\bcompared\b`)
)

// tools: another tool fills what iperf3 does not, in one sentence or in two.
func (t *teller) tools(text string) (told bool) {
	whole3, others := iperf3Word.MatchString(text), otherTool.MatchString(iperf3Word.ReplaceAllString(text, ""))
	slowly := func(words string) {
		t.set("tool_slower", words)
		told = true
	}
	if whole3 && others && slower.MatchString(text) {
		slowly(slower.FindString(text))
	}
	for _, one := range toolParts(text) {
		bits := last(one)
		three := iperf3Word.MatchString(one)
		other := otherTool.MatchString(iperf3Word.ReplaceAllString(one, ""))
		if short := fallsShort.MatchString(one); three && !other && short {
			t.Topic("iperf3 short", iperf3Word.FindString(one), t.l)
		} else if other && !three && !short && saturates.MatchString(one) {
			t.Topic("other fills", "", t.l)
		}
		switch {
		case three && !other:
			if bits > 0 || !others {
				t.Topic("iperf3 rate", whole(bits), t.l)
			}
		case other && !three && fallsShort.MatchString(one):
		case other && !three && (bits > 0 || saturates.MatchString(one)):
			t.Topic("other rate", whole(bits), t.l)
		}
		if bits > 0 && ncclWord.MatchString(one) != verbsTool.MatchString(one) {
			t.set(map[bool]string{true: "rate_nccl", false: "rate_verbs"}[ncclWord.MatchString(one)], whole(bits))
			told = true
		}
		if bits > 0 && !three && (otherTool.MatchString(one) || copyTool.MatchString(one)) {
			t.set("rate_other", whole(bits))
			told = true
		}
	}
	short, one := t.C.Topics["iperf3 short"]
	if fills, other := t.C.Topics["other fills"]; one && other && t.near(short) && t.near(fills) {
		slowly(short.Text)
	}
	fast, ok := t.C.Topics["other rate"]
	slow, both := t.C.Topics["iperf3 rate"]
	if ok && both && fast.File == slow.File && piece.Float(slow.Text) > 0 && piece.Float(slow.Text) < 0.85*piece.Float(fast.Text) {
		slowly("iperf3")
	}
	return told
}

// toolParts are a text's sentences, and of one that names both tools its clauses.
func toolParts(text string) (out []string) {
	for _, one := range piece.Cut(text, sentenceEnd) {
		if iperf3Word.MatchString(one) && otherTool.MatchString(iperf3Word.ReplaceAllString(one, "")) {
			out = append(out, piece.Cut(one, clauseParts)...)
			continue
		}
		out = append(out, one)
	}
	return out
}

// oneStory is within how many lines sentences are about one thing.
const oneStory = 12

// near reports what a sentence of this story told.
func (t *teller) near(x piece.Value) bool {
	return x.File == t.l.File && t.l.Number-x.From <= oneStory
}

// flows are how one and several connections are told of.
var (
	single  = piece.Compile(`(?i)\b(?:(?:a |only |just )?single|one|1|per|a)\b[- ](?:[\w/]+ ){0,2}(?:streams?|connections?|sessions?|flows?|rsync|threads?|transfers?|copy|process|command)\b|\bwithout -P\b|-P ?1\b`)
	several = piece.Compile(`(?i)\b(?:multiple|several|parallel|simultaneous\w*|concurrent\w*|many|more|two|three|four|second|third|\d{1,3}(?: ?- ?\d{1,3})?)\b(?: [\w/]+){0,2} (?:streams?|connections|sessions|flows|rsyncs?|threads|transfers|copies|processes|simultaneous\w*)\b|\b(?:two|three|four|\d{1,2}) of (?:them|these) (?:at once|at the same time|in parallel|together)|-P ?(?:[2-9]|\d\d+)\b|\bin parallel\b|\b(?:multiple|several|parallel|many|two|three|four|\d{1,2}) (?:parallel )?(?:iperf\d?|client|test|program|copy) instances\b`)
)

// ofALine are words of a connection that is a line, and none of TCP's: "a 1g internet connection".
var ofALine = piece.Compile(`(?i)\b(?:internet|isp|fib\w*|gigabit|\d+ ?g\w*|ethernet|lan|wan|wi-?fi|wired|home|broadband|vpn|physical|network)\b`)

// connections notes what one connection gets, what several get together, and the most of
// all that was told.
func (t *teller) connections(text string) {
	for _, clause := range piece.Cut(text, clauseParts) {
		bits := last(clause)
		if bits == 0 {
			continue
		}
		for _, f := range carried(clause) {
			if dipsBelow.MatchString(clause[:f.from]) {
				continue
			}
			t.extreme("rate_most", f.bits, 1)
			if f.bits >= 1e6 {
				t.extreme("rate_least", f.bits, -1)
			} else {
				t.extreme("rate_tiny", f.bits, -1)
			}
		}
		switch one, many := single.MatchString(clause) && !ofALine.MatchString(single.FindString(clause)), several.MatchString(clause); {
		case many && strings.TrimSpace(clause) != "":
			t.extreme("rate_many", bits, 1)
		case one:
			t.extreme("rate_one", bits, -1)
		}
	}
}
