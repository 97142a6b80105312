package pathtext

import (
	"slices"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// lanesFirst is a slot as dmidecode and boards call it, its lanes before its generation.
var lanesFirst = piece.Compile(`(?i)\bx ?(1|2|4|8|16) pci(?:-?e| express) ?(?:gen(?:eration)? ?)?([1-5])(?:\.0)?\b`)

// tunnelWord is a tunnel or its link, as sentences name it.
const tunnelWord = `(?:wg[-\d]\w*|wire ?guard|tun\d+|tunnels?|vpn|vxlan\w*|overlay|ipsec|openvpn|gre\d*)`

// pathFilter is the kernel's check of where packets come from, as sentences name it.
const pathFilter = `(?:reverse path filter\w*|rp_?filter\w*)`

// switchName is a switch as sentences name it.
const switchName = `(?:switch(?:es)?|mikrotik|unifi|netgear|cisco|nexus|catalyst|aruba|procurve|juniper|tp-?link|zyxel|edgeswitch)`

// narrowStories are what people tell of packets that do not fit, of windows that are too
// small and of work that piles up on one core.
var narrowStories = []storyWords{
	{"mtu_limit", piece.Compile(`(?i)\b(?:packets?|frames?|datagrams?|payloads?|pings?)\b[^.;]{0,24}\b(?:greater|larger|bigger|longer|more|above|over|exceed\w*)\b[^.;]{0,40}\bmtu\b[^.;]{0,60}\b(?:drop\w*|los[st]\w*|discard\w*|no (?:reply|response|answer)|never|not (?:arriv|receiv|deliver|work|answer|repl)\w*|fail\w*|hangs?|hung|stall\w*)`)},
	{"mtu_limit", piece.Compile(`(?i)\b(?:broken|fails?|hangs?|(?:wo|do|does)n'?t work|(?:will|does|do) not work)\b[^.;]{0,40}\b(?:because|since|as|due to)\b[^.;]{0,50}\bmtu\b|\b(?:lower|smaller|less) mtu\b[^.;]{0,24}\b(?:broken|breaks?|fails?|hangs?|stops? working|do(?:es)?(?: not|n'?t) work)\b`)},
	{"mtu_blamed", piece.Compile(`(?i)\bmtu\b[^.;]{0,60}\b(?:bigger|larger|greater|higher|more) than\b[^;]{0,70}\b(?:loss|drop\w*|los[st]\w*|fragment\w*|hangs?|stall\w*|fail\w*)\b|\b(?:lower|smaller) mtu\b[^.;]{0,60}\b(?:packets?|frames?)\b[^.;]{0,30}\b(?:dropped|lost|discarded)\b|\b(?:need(?:ed)?|ha(?:ve|d)) to (?:reduce|lower|decrease)\b[^.;]{0,16}\bmtu\b[^.;]{0,80}\b(?:to avoid|because|otherwise|or (?:else|packets))\b|\b(?:packets? (?:drops?|loss)|(?:drops?|dropped|lost|losing) packets?|packets? (?:are |get )?(?:dropped|lost)|hangs?|stalls?)\b[^.;]{0,90}\bmtu (?:mismatch|problems?|issues?)\b|\bmtu (?:mismatch|problems?|issues?)\b[^.;]{0,60}\b(?:caus\w+|leads? to|results? in)\b[^.;]{0,40}\b(?:drop\w*|los[st]\w*|hangs?|stall\w*)`)},
	{"mtu_blamed", piece.Compile(`(?i)\b(?:oversized?|too (?:large|big|long))["'”]? (?:packets?|frames?)\b[^.;]{0,24}\b(?:dropped|lost|discarded|never arrive)\b|\bmtus? (?:of |sizes? )?(?:larger|greater|bigger|higher|above|over|more)\b(?: than)? \d{4}\b[^.;]{0,24}\b(?:do(?:es)?(?: not|n't) work|fails?|breaks?|hangs?)\b|\b(?:once|after|when) (?:that|the|its|this|their) mtu (?:is|was|has been|got) (?:adjusted|raised|changed|increased|fixed|corrected)\b[^.;]{0,30}\b(?:works?|worked|fine|passes)\b`)},
	{"tunnel_full_mtu", piece.Compile(`(?i)\bmtu\b[^.;\d]{0,20}\b1500\b[^.;]{0,30}\b` + tunnelWord + `\b|\b` + tunnelWord + `\b[^.;]{0,40}\bmtu\b[^.;\d]{0,20}\b1500\b`)},
	{"half_through", piece.Compile(`(?i)\b(?:half|third|quarter)\b[^.;]{0,40}\b(?:without (?:the |a |any )?` + tunnelWord + `|what they are without|than without|(?:of|than) (?:the |a |from )?(?:speed of |host |that of )?(?:the )?(?:bare[- ]?metals?|nodes?|hosts?|underlay|native))\b`)},
	{"small_window", piece.Compile(`(?i)\b(?:due to|because of|caused by|limited by|restricted by|capped by|reason is|culprit is|problem is|suffers? from)\b[^.;]{0,24}\b(?:low|small|tiny|fixed|default|insufficient|limited|tcp)\b[^.;]{0,16}\b(?:tcp |send |receive |socket |congestion |advertised )*(?:windows?|buffers?|sndbuf|rcvbuf)\b(?: sizes?)?|\b(?:small|fixed|tiny|low|limited)(?:,? (?:and )?\w+)? (?:tcp |send |receive |socket |advertised )+(?:windows?|buffers?)(?: sizes?)?\b[^.;]{0,24}\b(?:is|are|was|were|seems?)(?: \w+)? (?:the )?(?:problem\w*|limit\w*|bottleneck|reason|cause|culprit)`)},
	{"window_named", piece.Compile(`(?i)\b(?:(?:tcp|receive|send|congestion|advertised|max(?:imum)?|socket)[ _-]){1,3}windows?(?:[ _-]?sizes?)?\b|\bwindow (?:size|scal\w+)`)},
	{"shallow_buffers", piece.Compile(`(?i)\b` + switchName + `\b[^.;]{0,40}\b(?:limited|small|shallow|tiny|little|few|insufficient|low|not (?:have )?enough|lack of|no)\b[^.;]{0,20}\b(?:packet |port |egress |deep )?buffer(?:s|ing| space| memory)?\b|\b(?:shallow|small|tiny|limited)[- ](?:packet |port )?buffers?(?: space| memory| size)?\b[^.;]{0,20}\b(?:of|on|in) (?:the |my |this |that |our )?` + switchName + `\b`)},
	{"version_helps", piece.Compile(`(?i)\b(?:revert|downgrad|roll\w* back|go(?:ing|es)? back)\w*\b[^;]{0,30}\b(?:to|the)\b[^;]{0,24}\b(?:v?\d+\.\d[\w.-]*|(?:old|previous|earlier|older|last) (?:kernel|version|release))(?:,? [a-gi-mo-z]\w*){0,3} (?:helps?|helped|fix(?:es|ed)|solve[sd]|resolve[sd]|improves?d?|restore[sd]?|is (?:fine|fast\w*))\b|\b(?:version|kernel|release) v?\d+[\w.-]*\b[^.;]{0,16}\b(?:this |that |it )?(?:was|is|does) not (?:an? |the )?(?:issue|problem|affected|happen\w*)`)},
	{"offload_found_off", piece.Compile(`(?i)\b(?:found|noticed|saw|see|sees|turns out|turned out|discovered|reali[sz]ed)\b[^;]{0,40}\b(?:csum\w*|tso|gso|gro|tx-\w*checksum\w*|(?:segmentation|checksum|tx) offload\w*)\b[^;]{0,70}\b(?:is|are|was|were) (?:all |both )?(?:off|disabled)\b|\b(?:gro|tso|gso)\b(?: \([^()]*\))? (?:is |was |are )?(?:disabled|off) by default\b`)},
	{"any_link", piece.Compile(`(?i)\b\d+ ?g\w*(?: \w+)? (?:and|or) (?:a |over )?\d+ ?g\w*\b[^.;]{0,30}\b(?:all|same|both|either|alike|no difference)\b|\b(?:same|all|no difference)\b[^.;]{0,30}\b(?:over|with|by|on|at) (?:a )?\d+ ?g\w*(?: \w+)? (?:and|or) (?:a |over )?\d+ ?g`)},
	{"buffer_helps", piece.Compile(`(?i)\b(?:mbuffer|pv|buffered|a buffer between)\b[^.;]{0,70}\b(?:instead of|rather than|faster|improv\w+|increas\w+|doubl\w+|help(?:s|ed)|went from|up from|better)\b`)},
	{"cpu_bound", piece.Compile(`(?i)\b(?:uses?|using|hits?|takes?|eats?) (?:up )?(?:the |its |all )?cpu\b[^.;]{0,6}\b100 ?%|\b(?:cpu|processor) (?:on|of|in|at)(?: (?:[a-hj-z(]|i[a-rt-z])[\w)-]*){1,9} (?:is|was) (?:the |my |our )(?:bottleneck|limit\w*)\b|\b(?:hash|encrypt|compress|checksum|crypt)\w*(?:,? [a-mo-z(][\w)-]*){0,5} (?:bothers?|kills?|eats?|overloads?|slows?|saturates?|is too much for|is heavy (?:on|for)|burdens?|taxe?s)\b[^.;]{0,24}\b(?:cpus?|processors?|cores?|raspi|raspberry pi|nas|box)\b`)},
	{"cpu_bound", piece.Compile(`(?i)\b(?:cpus?|cores?|vcpus?|processors?)\b[^.;]{0,8}\b(?:is|are|was|were|gets?) (?:highly|heavily|fully|extremely|completely) (?:loaded|utili[sz]ed|used|busy|stressed)\b|\b\b(?:cpus?|processor|vcpus?) (?:is|was|becomes?|being|are) (?:the |my |our )?(?:performance|main|real|actual|only) (?:bottleneck|limit\w*|problem)|\bcpu util\w*:? (?:\d+ ?%,? ?)*(?:9[5-9]|100) ?%`)},
	{"rp_drops", piece.Compile(`(?i)\b` + pathFilter + `\b[^.;]{0,60}\b(?:was|were|is still|still|being)\b[^.;]{0,20}\b(?:strict|dropp\w+|enabled|on)\b|\b(?:if|when|after|once|until) (?:we|i) (?:\w+ ){0,3}(?:disabl\w+|loosen\w*|set|chang\w+|turn\w*)\b[^.;]{0,40}\b` + pathFilter + `\b|\b(?:disabl\w+|loosening|relaxing)\b[^.;]{0,24}\b` + pathFilter + `\b[^.;]{0,40}\b(?:fix\w*|help\w*|solv\w*|work(?:s|ed))\b|\b(?:packets?|replies|traffic)\b[^.;]{0,30}\b(?:logged|seen|dropped|show up) as martians?\b`)},
	{"no_return", piece.Compile(`(?i)\b(?:traffic|packets?|requests?|syns?|pings?)\b[^.;]{0,30}\b(?:com(?:e|es|ing) in|arriv\w+|reach\w*)\b[^.;]{0,60}\b(?:no|without(?: any)?|never an?|not an?) (?:return\w*|repl(?:y|ies)|responses?|answers?|outgoing)\b`)},
	{"second_link", piece.Compile(`(?i)\b(?:second(?:ary)?|2nd|additional|extra) (?:eni|nic|interface|network (?:card|interface|adapter)|adapter|port)s?\b|\b(?:eth[1-9]|ens[67])\b`)},
	{"userspace_tunnel", piece.Compile(`(?i)\b(?:user-?space) (?:wireguard|implementation|tunnel|vpn|datapath)\b|\b(?:wireguard-go|boringtun|libipsec)\b|\bmissing (?:the )?wireguard\b[^.;]{0,20}\bkernel module\b`)},
	{"own_line", piece.Compile(`(?i)\b(?:limited (?:to|by)|(?:not?|can'?t (?:get|exceed|reach)|never) (?:\w+ )?(?:more|faster|higher) than|capped (?:at|by)) (?:my|their|the|our|his) (?:upstream|uplink|upload|outgoing|internet|isp)(?:'s)? (?:\w+ )?(?:speed|rate|bandwidth|connection|limit|line)`)},
	{"one_queue", piece.Compile(`(?i)\b(?:interrupt\w*|irqs?|softirqs?|packets|flows|traffic)\b[^.;]{0,30}\b(?:concentrat\w+|pil\w+ up|land(?:s|ing)?|hash\w* (?:in)?to|end(?:s|ing)? up|steered|pinned)\b[^.;]{0,10}\b(?:in|on|to|at|into)\b[^.;]{0,40}\b(?:(?:one|same|single|first) (?:cpu|core|queue)|cpu ?#?0|core ?#?0|queues?)\b`)},
}

// ofLineRate is which part of its line rate is carried, in percent; of a range the larger.
var ofLineRate = piece.Compile(`(?i)\b(?:\d{1,2} ?(?:-|to) ?)?(\d{1,2}) ?% of (?:the |its |their )?(?:line ?rate|wire ?speed|link(?:'s)? (?:rate|speed|capacity|bandwidth))\b`)

// percents keeps the smallest part of the line rate that is told.
func (s *sink) percents(text string, l piece.Line) {
	for _, m := range ofLineRate.FindAllStringSubmatch(text, 8) {
		if old, ok := s.Host.Get("said", "line_percent"); !ok || piece.Float(m[1]) < piece.Float(old.Text) {
			s.Set("said", "line_percent", m[1], l)
		}
	}
}

// allStories are those of every kind.
var allStories = slices.Concat(stories, narrowStories, linkStories)
