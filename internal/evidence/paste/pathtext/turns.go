package pathtext

import (
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// What else people turn on or off, and that it helped.
var (
	// toggled is how a sentence says that something was turned on or off, or exchanged.
	toggled     = piece.Compile(`(?i)\b(?:disabl\w+|enabl\w+|turn(?:ed|ing)?|switch(?:ed|ing)?|stopp\w+|remov\w+|uninstall\w*|set(?:ting)?|chang\w+|rais\w+|pinn\w+|mov(?:ed|ing)|put(?:ting)?|us(?:ed|ing)|with(?:out)?|add(?:ed|ing)|appl(?:ied|ying)|instead of)\b`)
	filterWords = piece.Compile(`(?i)\b(?:suricata|snort|zenarmor|crowdsec|ntopng|(?:deep )?packet inspection|dpi|i[dp]s|firewall\w*|iptables|nftables|netfilter|pfctl|pf|anti-?virus|defender|endpoint protection|security (?:software|suite)|threat (?:management|prevention)|netflow|softflowd)\b`)
	awakeWords  = piece.Compile(`(?i)\b(?:governor|[cp]-?states?|power (?:management|profile|plan|policy|settings?)|speedstep|intel_(?:idle|pstate)|(?:max(?:imum)?|high|full) performance|performance (?:mode|profile|plan)|(?:network|latency|throughput)-(?:latency|throughput|performance)|turbo ?boost)\b`)
	placedWords = piece.Compile(`(?i)\b(?:irqbalance|(?:irq|smp|interrupt)[ _]?affinity|set_irq_affinity\w*|numa(?:ctl)?|taskset|isolcpus|hyper-?threading|smt|rps|rfs|rss|xps|(?:multi-?|rx |tx |receive )?queues?|multi-?queue)\b`)
	cipherWords = piece.Compile(`(?i)\b(?:(?:smb|server|client|packet|message) (?:signing|encryption)|signing|encryption|ciphers?|aes-?ni|k?tls)\b`)
	modelWords  = piece.Compile(`(?i)\b(?:virtio\w*|vmxnet\w*|vhost\w*|sr-?iov|paravirtual\w*|netvsc)\b`)
	syncWords   = piece.Compile(`(?i)\b(?:async|sync(?:hronous)? (?:writes?|mounts?|exports?)|sync ?= ?disabled|nconnect|rsize|wsize)\b`)
	policyWords = piece.Compile(`(?i)\b(?:xmit_hash_policy|layer ?[23] ?\+ ?[34]|(?:hash(?:ing)?|load[- ]balanc\w+) (?:policy|algorithm|method|mode)|src-dst-(?:ip-)?port|balance-(?:xor|alb|tlb|slb|tcp))(?:\W|$)`)
	slotChanged = piece.Compile(`(?i)\b(?:another|different|other|first|second|x(?:4|8|16)|pcie?(?: ?[345](?:\.0)?)?(?: x(?:4|8|16))?) slot\b`)
	agentWords  = piece.Compile(`(?i)\b(?:fw-?lldp|lldp (?:agent|engine)|disable-fw-lldp)\b`)
)

// fixedIt is how a short sentence says that something helped.
var fixedIt = piece.Compile(`(?i)\b(?:fix(?:es|ed)|solve[sd]|resolve[sd]) (?:it|this|that|the (?:issue|problem))\b`)

// largeGives is how a sentence tells the rate with large frames.
var largeGives = piece.Compile(`(?i)\b(?:mtu (?:of |= ?)?(?:9000|8[5-9]\d\d)|jumbo frames?)\b[^.;,]{0,30}\b(?:gives?|gave|gets?|got|reach\w*|is|it['’]?s)\b[^.;,\d]{0,12}\d`)

// anyRateWord is a rate in bits or bytes a second.
var anyRateWord = piece.Compile(`(\d+(?:[.,]\d+)?) ?([kKmMgG])i?(b(?:it|ps)?|B(?:yte|ps)?)(?:s|/s|\b)`)

// leastTurn is how much faster it must be for what was turned to be the cause.
const leastTurn = 1.3

// faster reports a sentence with a rate far above the least that was told so far, itself
// included.
func (s *sink) faster(sentence string) bool {
	least, most := 0.0, 0.0
	lower := func(rate float64) {
		if rate > 0 && (least == 0 || rate < least) {
			least = rate
		}
	}
	for _, m := range anyRateWord.FindAllStringSubmatch(sentence, 8) {
		rate := piece.Float(strings.Replace(m[1], ",", ".", 1)) * piece.Decimal[strings.ToUpper(m[2])]
		if m[3][0] == 'B' {
			rate *= 8
		}
		lower(rate)
		most = max(most, rate)
	}
	for _, h := range s.C.Hosts {
		for _, key := range []string{"rate_least", "net_least_bps", "copy_bps"} {
			if x, ok := h.Get("said", key); ok {
				lower(piece.Float(x.Text))
			}
		}
	}
	return most > 0 && most >= leastTurn*least
}
