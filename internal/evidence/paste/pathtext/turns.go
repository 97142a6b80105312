package pathtext

import (
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// turns are what people turn on or off, each with the fact of "said" that it helped comes to.
var turns = []storyWords{
	turn("filter_helps", `suricata|snort|zenarmor|crowdsec|ntopng|(?:deep )?packet inspection|dpi|i[dp]s|firewall\w*|iptables|nftables|netfilter|pfctl|pf|anti-?virus|defender|endpoint protection|security (?:software|suite)|threat (?:management|prevention)|netflow|softflowd`),
	turn("awake_helps", `(?:\w+ )?governor|[cp]-?states?|power (?:management|profile|plan|policy)|speedstep|intel_(?:idle|pstate)|(?:max(?:imum)?|high|full) performance|performance (?:mode|profile|plan)|(?:network|latency|throughput)-(?:latency|throughput|performance)|turbo ?boost`),
	turn("placed_helps", `irqbalance|(?:irq|smp|interrupt)[ _]?affinity|numa(?: balancing)?|isolcpus|hyper-?threading|smt|rps|rfs|rss|xps|(?:multi-?|rx |tx |receive )queues?|multi-?queue`),
	turn("cipher_helps", `(?:smb |server |client |packet |message )?(?:signing|encryption)|ciphers?|k?tls`),
	turn("model_helps", `(?:[\w ]{0,24}\bto )?(?:virtio\w*|vmxnet\w*|vhost\w*|sr-?iov|paravirtual\w*)`),
	turn("sync_helps", `async|sync(?:hronous)? (?:writes?|mounts?|exports?)|sync ?= ?disabled|nconnect|rsize|wsize`),
	turn("policy_helps", `(?:[\w ]{0,24}\bto )?(?:xmit_hash_policy|layer ?[23] ?\+ ?[34]|src-dst-(?:ip-)?port)|(?:hash(?:ing)?|load[- ]balanc\w+) (?:policy|algorithm|method|mode)`),
	turn("slot_helps", `(?:another|different|other|x(?:4|8|16)|pcie?(?: ?[345](?:\.0)?)?(?: x(?:4|8|16))?) slot`),
	turn("bbr_helps", `bbr\d?`),
	turn("window_helps", `(?:net\.\S*)?tcp_[rw]mem|[rw]mem_max|(?:tcp |socket )?(?:window|buffer) sizes?`),
	turn("driver_helps", `(?:fw-?)?lldp (?:agent|engine)|disable-fw-lldp`),
	turn("saving_helps", `aspm|eee|energy[- ]efficient[- ]ethernet|green[- ]ethernet`),
}

// turn is one of them: a verb just before what it is, or a state just behind.
func turn(key, what string) storyWords {
	return storyWords{key, piece.Compile(`(?i)\b(?:disabl\w+|enabl\w+|turn(?:ed|ing)? o(?:n|ff)|switch(?:ed|ing)? (?:on|off|to|from)|stopp\w+|remov\w+|uninstall\w*|set(?:ting)?|chang\w+|rais(?:ed|ing)|increas(?:ed|ing)|add(?:ed|ing)|mov\w+ \w+ (?:in)?to|without) (?:(?:the|our|my|its|all|deep|cpu) )*(?:` + what + `)(?:\W|$)|\b(?:` + what + `)(?: \([^()]{1,12}\))?(?: is| was| were)? (?:disabled|enabled|turned off|turned on|off|stopped|removed|set|pinned)\b`)}
}

var (
	// fixedIt is how a short sentence says that something helped.
	fixedIt = piece.Compile(`(?i)\b(?:fix(?:es|ed)|solve[sd]|resolve[sd]|cure[sd]) (?:it|this|that|the (?:issue|problem))\b|\b(?:helped|did the trick)\b`)
	// offThen is the other state of what a sentence has just named, and its rate behind.
	offThen = piece.Compile(`(?i)\b(?:with(?:out)? it(?: (?:disabled|off|turned off|stopped))?)\b`)
	// otherwise are words of a sentence that tells of something slower, of doubt, or of
	// another comparison: of connections, or of ways.
	otherwise = piece.Compile(`(?i)\b(?:drop(?:s|ped)?|slow(?:s|ed|er)?|still|worse|before|instead of|less|lost|fell|falls|only|streams?|flows?|connections?|internet|subnet|vlans?|never|not|no|n['’]t|would|should|could|if|maybe|might|supposed)\b`)
)

// compares reports a sentence that states one comparison, without doubt, advice or question.
func compares(sentence string) bool {
	return !otherwise.MatchString(sentence) && !adviceRead.MatchString(sentence) && !question.MatchString(sentence+" ")
}

// leastTurn is how much faster it must be for what was turned to be the cause.
const leastTurn = 1.3

// turned notes what a sentence says was turned on or off, where it was fixed by that, or was
// faster then than in the sentence's other state and all that was told before.
func (s *sink) turned(sentence string, said func(key, value string)) {
	if !compares(sentence) {
		return
	}
	for _, t := range turns {
		m := t.words.FindStringIndex(sentence)
		if m == nil {
			continue
		}
		if fixedIt.MatchString(sentence[m[1]:]) || s.fasterThan(sentence, m[1]) {
			said(t.key, strings.TrimSpace(sentence[m[0]:m[1]]))
			return
		}
	}
}

// fasterThan reports that the first rate behind a place of a sentence, or behind the words
// that turn it off again, is far above another of the sentence or one told before, and above
// all of the sentence.
func (s *sink) fasterThan(sentence string, from int) bool {
	if m := offThen.FindStringIndex(sentence[from:]); m != nil {
		from += m[1]
	}
	first, least := 0.0, 0.0
	lower := func(rate float64) {
		if rate > 0 && (least == 0 || rate < least) {
			least = rate
		}
	}
	for _, r := range piece.RateWords(sentence) {
		switch {
		case r.Bytes && r.Bare: // an amount
		case r.From >= from && first == 0:
			first = r.Bits
		case first > 0 && r.Bits > first:
			return false
		default:
			lower(r.Bits)
		}
	}
	for _, h := range s.C.Hosts {
		for _, key := range []string{"rate_least", "net_least_bps", "copy_bps"} {
			if x, ok := h.Get("said", key); ok {
				lower(piece.Float(x.Text))
			}
		}
	}
	return first > 0 && least > 0 && first >= leastTurn*least
}

// largeGives is how a sentence tells the rate with large frames.
var largeGives = piece.Compile(`(?i)\b(?:mtu (?:of |= ?)?(?:9000|8[5-9]\d\d)|jumbo frames?)\b[^.;,\d]{0,30}\b(?:gives?|gave|gets?|got|reach\w*|is|it['’]?s)\b[^.;,\d]{0,12}`)
