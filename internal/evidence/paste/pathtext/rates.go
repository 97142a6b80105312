package pathtext

import (
	"strconv"
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// sink is what this package's readers put facts into.
type sink struct{ *piece.Sink }

// topic notes what a sentence is about: no fact, and no reading.
func (s *sink) topic(key, value string, l piece.Line) {
	if s.C.Topics == nil {
		s.C.Topics = make(map[string]piece.Value)
	}
	s.C.Topics[key] = piece.Value{Text: value, Source: l.Source()}
}

// readTunnel says which tunnel or overlay a line names. A form's own line, "Backend used
// (e.g. vxlan or udp): udp", has the answer behind its colon.
func readTunnel(text string, said func(key, value string)) {
	if cluster.MatchString(text) {
		said("cluster", cluster.FindString(text))
	}
	if m := backend.FindStringSubmatch(text); m != nil {
		name := strings.ToLower(m[1])
		if name == "udp" {
			name = "flannel-udp"
		}
		said("tunnel", name)
		return
	}
	if m := directive.FindStringSubmatch(text); m != nil {
		said("tunnel", map[bool]string{true: "openvpn", false: map[bool]string{true: "wireguard", false: "ipsec"}[m[2] != ""]}[m[1] != ""])
		return
	}
	if flannelUDP.MatchString(text) && !notUDP.MatchString(text) {
		said("tunnel", "flannel-udp")
		return
	}
	for _, t := range tunnels {
		if t.words.MatchString(text) {
			said("tunnel", t.name)
			return
		}
	}
}

var rateWord = piece.Compile(`\b(\d+(?:[.,]\d+)?)\+? ?([KkMmGg])(i?b(?:its?)?(?:/s(?:ec)?|ps)?|i?Bits?(?:/s(?:ec)?|ps)?|i?B(?:ytes?)?(?:/s(?:ec)?|ps)|i?bytes?(?:/s(?:ec)?|ps))(?:\W|$)`)

// capacity is what follows a rate that something is sold by: nobody measured it.
var capacity = piece.Compile(`(?i)^[- ]?(?:ethernet|network|link|nic|port|card|switch|line|connection|uplink|interface|lan|fib(?:er|re)|circuit|adapter|internet|plan|bandwidth limit)\b`)

// rateIn is the last rate that a clause tells as carried, in bit/s; zero none.
func rateIn(clause string) (rate float64) {
	for _, at := range rateWord.FindAllStringSubmatchIndex(clause, 8) {
		part := func(n int) string { return clause[at[2*n]:at[2*n+1]] }
		if capacity.MatchString(clause[at[7]:]) {
			continue
		}
		v := piece.Float(part(1)) * piece.Decimal[strings.ToUpper(part(2))]
		if of := part(3); strings.Contains(of, "yte") || strings.Contains(of, "B") && !strings.Contains(of, "Bit") {
			v *= 8
		}
		rate = v
	}
	return rate
}

// toldRate is rateIn in words, of a rate that a network can have; "" else.
func toldRate(clause string) string {
	v := rateIn(clause)
	if v < 1e4 || v > 1e13 {
		return ""
	}
	return strconv.FormatFloat(v, 'f', 0, 64)
}

var clauseEnd = piece.Compile(`;|,\s|\.\s|\b(?:while|but|whereas|vs\.?|versus|compared)\b`)

// clauses are the parts of a paragraph that each say one thing.
func clauses(text string) []string { return cut(text, clauseEnd) }

var sentenceEnd = piece.Compile(`[.!?;]\s`)

func sentences(text string) []string { return cut(text, sentenceEnd) }

func cut(text string, at piece.Pattern) (out []string) {
	for {
		i := at.FindStringIndex(text)
		if i == nil {
			return append(out, text)
		}
		out, text = append(out, text[:i[0]]), text[i[1]:]
	}
}

var (
	throughWords = piece.Compile(`(?i)\b(?:pods?|containers?|through|via|over the (?:tunnel|vpn)|tunnel\w*|\w*vpn|wireguard|openvpn|ipsec|overlay|vxlan|geneve|ipip|tailscale|zerotier|service|nodeport|gvisor|nebula|tinc|n2n|weave|flannel|canal|cilium|calico|ipvlan|guests?)\b`)
	directWords  = piece.Compile(`(?i)\b(?:hosts?|nodes?|bare-?metals?|vms?|directly|direct|native\w*|underlay|wan|physical|isp|internet|public ip|line|lan|servers?|workers?|worker\d+|outside|without)\b`)
	without      = piece.Compile(`(?i)\b(?:without|outside|no) (?:the |a |any )?(?:tunnel|vpn|wireguard|openvpn|ipsec|overlay|vxlan|cni|tailscale|zerotier|netbird)`)
)

// comparedRate is a clause's rate, in bit/s, by whether it went through a tunnel, an
// overlay or a container, or directly.
func comparedRate(clause string) (way, rate string) {
	if rate = toldRate(clause); rate == "" {
		return "", ""
	}
	switch {
	case without.MatchString(clause):
		way = "rate_direct"
	case throughWords.MatchString(clause):
		way = "rate_through"
	case directWords.MatchString(clause):
		way = "rate_direct"
	}
	return way, rate
}

var (
	iperf3Word = piece.Compile(`(?i)\biperf ?(?:v?3(?:\.\d+)?)\b`)
	otherTool  = piece.Compile(`(?i)\biperf2\b|\biperf \(?v?2(?:\.\d+)*|\biperf\b|\bnuttcp\b|\bnetperf\b`)
	copyTool   = piece.Compile(`(?i)\b(?:smb|robocopy|ftp|http|wget|curl|dd|nfs)\b`)
	saturates  = piece.Compile(`(?i)\b(?:saturat\w+|line ?rate|full (?:speed|rate|bandwidth)|reliably)\b`)
	slower     = piece.Compile(`(?i)\b(?:slow\w*|lower|less|worse|poor\w*)\b`)
)

// compareTools: another tool fills what iperf3 does not, in one sentence or in two.
func (s *sink) compareTools(text string, l piece.Line, said func(key, value string)) {
	three := iperf3Word.MatchString(text)
	other := otherTool.MatchString(iperf3Word.ReplaceAllString(text, ""))
	rate := strconv.FormatFloat(rateIn(text), 'f', 0, 64)
	switch {
	case three && other:
		if slower.MatchString(text) {
			said("tool_slower", slower.FindString(text))
		}
	case three:
		s.topic("iperf3 rate", rate, l)
	case other && (saturates.MatchString(text) || rate != "0"):
		s.topic("other rate", rate, l)
	}
	for _, one := range sentences(text) {
		if rate := rateIn(one); rate > 0 && !iperf3Word.MatchString(one) && (otherTool.MatchString(one) || copyTool.MatchString(one)) {
			said("rate_other", strconv.FormatFloat(rate, 'f', 0, 64))
		}
	}
	fast, ok := s.C.Topics["other rate"]
	slow, told := s.C.Topics["iperf3 rate"]
	if ok && told && fast.File == slow.File && piece.Float(slow.Text) > 0 && piece.Float(slow.Text) < 0.85*piece.Float(fast.Text) {
		said("tool_slower", "iperf3")
	}
}

var (
	oneFlow   = piece.Compile(`(?i)\b(?:one|a|single|1|per)[- ](?:tcp |iperf3? )?(?:stream|flow|connection|session|thread|transfer)\b|\bwithout -P\b|-P ?1\b`)
	manyFlows = piece.Compile(`(?i)-P ?(?:[2-9]|\d\d+)\b|\b(?:\d+|two|three|four|second|third|several|multiple|many|more|parallel) (?:parallel |tcp |iperf3? )?(?:streams?|flows|connections|sessions|threads|transfers)\b|\bin parallel\b`)
)

// sharedRate is a clause's rate, in bit/s, by whether one flow came to it or several.
func sharedRate(clause string) (way, rate string) {
	if rate = toldRate(clause); rate == "" {
		return "", ""
	}
	switch {
	case manyFlows.MatchString(clause):
		way = "rate_many"
	case oneFlow.MatchString(clause):
		way = "rate_one"
	}
	return way, rate
}

var (
	publicWords  = piece.Compile(`(?i)\b(?:public|external)(?:ly)?\b`)
	privateWords = piece.Compile(`(?i)\b(?:private|internal)(?:ly)?\b`)
)

// addressedRate is a clause's rate, in bit/s, by whether it went to a public address or
// to a private one.
func addressedRate(clause string) (way, rate string) {
	rate = toldRate(clause)
	public, private := publicWords.MatchString(clause), privateWords.MatchString(clause)
	if rate == "" || public == private {
		return "", ""
	}
	way = "rate_private"
	if public {
		way = "rate_public"
	}
	return way, rate
}
