package pathtext

import (
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// Asked hears whether sentences complain, and whether they ask about a network's
// throughput. It reads nothing: what is said stays with the other readers.
var Asked = piece.Reader{
	Kind: "what is asked",
	Starts: func(line string) bool {
		return piece.Spoken(line) && piece.WordCount(line) > 2 && !strings.ContainsAny(line, "{}|<") && strings.Count(line, "=") < 3 &&
			(!strings.Contains(line, ";") || halves.MatchString(line))
	},
	Sentences: true,
	Read: func(s *piece.Sink, lines []piece.Line) int {
		(&sink{s}).ask(lines[0])
		return 0
	},
}

// halves is a sentence with a semicolon amid it, which commands of a script have as well.
var halves = piece.Compile(`^\W*\p{Lu}\p{Ll}*['’]?\p{Ll}* [^;]*; \p{L}[^;]*[^;\s]\s*$`)

// ask notes what a line is about. A network and its throughput may stand in sentences
// apart.
func (s *sink) ask(l piece.Line) {
	for _, about := range []struct {
		topic string
		words piece.Pattern
	}{{piece.Complaint, complaint}, {piece.Question, question}, {"of a network", ofNetwork}, {"of a rate", ofRate}} {
		if _, told := s.C.Topics[about.topic]; !told {
			if m := about.words.FindString(l.Text); m != "" {
				s.Topic(about.topic, strings.ToLower(m), l)
			}
		}
	}
	has := func(topic string) bool { _, ok := s.C.Topics[topic]; return ok }
	if has("of a network") && has("of a rate") && (has(piece.Complaint) || has(piece.Question)) {
		s.Topic(piece.Throughput, "", l)
	}
}

var (
	complaint = piece.Compile(`(?i)(?:только|лишь|медленн|почему|не выше|не получается|只有|只能|慢|为什么|怎么|不到|nicht über|por qué|(?:^|[^a-z])(?:nur|leider|langsam\p{L}*|warum|kein\p{L}*|seulement|pourquoi|lente?\p{L}*|lenta?|solo|apenas|sólo)[^a-z])|\b(?:slow\w*|only|just|still|never|stuck|capp?ed|bottleneck\w*|problems?|issues?|trouble|why|bad|poor\w*|terrible|horrible|low|lower|worse|less|fail\w*|broken|can'?t|cannot|not|don'?t|doesn'?t|isn'?t|won'?t|aren'?t|didn'?t|no|instead|expect\w*|should|but|however|although|though|limit\w*|drop\w*|los[st]\w*|wrong|max\w*|half|degrad\w*|reduction|penalty|unable|hangs?|stall\w*|weird|strange|unstable|fluctuat\w*|idle|unused|one way|asymmetric\w*|barely|struggl\w*|tops? out|complain\w*|throttl\w*|down|other (?:direction|way)|one (?:direction|way)|flap\w*|wondering|(?:far|well|way) (?:below|under|from))\b`)
	question  = piece.Compile(`\?(?:\s|$)|？|(?:でしょう|ます|です)か`)
	ofNetwork = piece.Compile(`(?i)(?:网络|网卡|交换机|聚合|сет[ьеи]|канал|порт|netzwerk|réseau|switch|red\b|serveurs?\b|servid\p{L}+|сервер|服务器)|\b(?:networks?|networking|nics?|ethernet|gigabit|multi-?gig|\d+(?:\.\d)? ?g(?:be|b?e)?(?: \w+)?(?: nics?| ports?| cards?| links?| switch)|\d+ ?gbe|lan|iperf\d?|bond(?:ed|ing|s|\d+)?|lagg?|lacp|link aggregation|port[ -]?channel|switch(?:es)?|vmnic\w*|vmbr\d+|jumbo(?: frames?)?|mtu|smb|samba|nfs|iscsi|cifs|nas|truenas|freenas|synology|qnap|unraid|multichannel|mpio|multipath\w*|vxlan|vpn|wireguard|ipsec|gre|tunnels?|openvpn|tailscale|zerotier|esp|ena|sfp\+?|cat ?[5678]\w?|tcp|udp|vlan\w*|uplinks?|\d+(?:\.\d+)? ?G(?:bit|bps|b)(?:/s|ps)?)\b`)
	ofRate    = piece.Compile(`(?i)(?:速度|带宽|速率|吞吐|転送|скорост|копир|geschwindigkeit|übertrag\p{L}*|durchsatz|débit|vitesse|velocidad|ancho de banda|copie\b|langsam\p{L}*|lente?\b)|\b(?:slow\w*|fast\w*|speeds?|throughputs?|bandwidth|transfer(?:s|red|ring)?|cop(?:y|ies|ying)|\d+(?:[.,]\d+)? ?[KMG]i?(?:bits?|bps|b/s|bytes?/s|B/s|bit/s)\w*|load[ -]?balanc\w+|line rate|saturat\w+|iperf\d?|1 ?Gbps)(?:\W|$)`)
)
