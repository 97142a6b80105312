package pathtext

import (
	"slices"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// lanesFirst is a slot as dmidecode and boards call it, its lanes before its generation.
var lanesFirst = piece.Compile(`(?i)\bx ?(1|2|4|8|16) pci(?:-?e| express) ?(?:gen(?:eration)? ?)?([1-5])(?:\.0)?\b`)

// tunnelWord is a tunnel or its link, as sentences name it.
const tunnelWord = `(?:wg[-\d]\w*|wire ?guard|tun\d+|tunnels?|vpn|vxlan\w*|overlay|ipsec|openvpn|gre\d*)`

// fullMTU is an MTU as large as Ethernet's own.
const fullMTU = `mtu(?:(?: ?[:=]| is| was| of| to| at| set| size| value| stays?| still| on both(?: ends)?| default)){0,4} ?1500`

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
	{"buffer_helps", piece.Compile(`(?i)\b(?:mbuffer|pv|buffered|a buffer between)\b[^.;]{0,70}\b(?:instead of|rather than|faster|improv\w+|increas\w+|doubl\w+|help(?:s|ed)|went from|up from|better)\b`)},
	{"any_link", piece.Compile(`(?i)\b\d+ ?g\w*(?: \w+)? (?:and|or) (?:a |over )?\d+ ?g\w*\b[^.;]{0,30}\b(?:all|same|both|either|alike|no difference)\b|\b(?:same|all|no difference)\b[^.;]{0,30}\b(?:over|with|by|on|at) (?:a )?\d+ ?g\w*(?: \w+)? (?:and|or) (?:a |over )?\d+ ?g`)},
	{"offload_found_off", piece.Compile(`(?i)\b(?:found|noticed|saw|see|sees|turns out|turned out|discovered|reali[sz]ed)\b[^;]{0,40}\b(?:csum\w*|tso|gso|gro|tx-\w*checksum\w*|(?:segmentation|checksum|tx) offload\w*)\b[^;]{0,70}\b(?:is|are|was|were) (?:all |both )?(?:off|disabled)\b|\b(?:gro|tso|gso)\b(?: \([^()]*\))? (?:is |was |are )?(?:disabled|off) by default\b`)},
	{"version_helps", piece.Compile(`(?i)\b(?:issues?|problems?|disconnects?|slowness) (?:is|are|was|were) (?:gone|solved|fixed|resolved)\b[^.;]{0,16}\b(?:after|when|with|once|by)\b[^.;]{0,24}\b(?:(?:go(?:ing)?|went) back|revert\w*|downgrad\w+|roll\w* back)\b(?: to)?(?: the)?[^;]{0,24}\bv?\d+\.\d[\w.-]*(?: of the)? (?:drivers?|kernel)(?:[.,;)]|\s*$)`)},
	{"version_helps", piece.Compile(`(?i)\b(?:revert|downgrad|roll\w* back|go(?:ing|es)? back)\w*\b[^;]{0,30}\b(?:to|the)\b[^;]{0,24}\b(?:v?\d+\.\d[\w.-]*|(?:old|previous|earlier|older|last) (?:kernel|version|release))(?:,? [a-gi-mo-z]\w*){0,3} (?:helps?|helped|fix(?:es|ed)|solve[sd]|resolve[sd]|improves?d?|restore[sd]?|is (?:fine|fast\w*))\b|\b(?:version|kernel|release) v?\d+[\w.-]*\b[^.;]{0,16}\b(?:this |that |it )?(?:was|is|does) not (?:an? |the )?(?:issue|problem|affected|happen\w*)`)},
	{"shallow_buffers", piece.Compile(`(?i)\b` + switchName + `\b[^.;]{0,40}\b(?:limited|small|shallow|tiny|little|few|insufficient|low|not (?:have )?enough|lack of|no)\b[^.;]{0,20}\b(?:packet |port |egress |deep )?buffer(?:s|ing| space| memory)?\b|\b(?:shallow|small|tiny|limited)[- ](?:packet |port )?buffers?(?: space| memory| size)?\b[^.;]{0,20}\b(?:of|on|in) (?:the |my |this |that |our )?` + switchName + `\b`)},
	{"window_named", piece.Compile(`(?i)\b(?:(?:tcp|receive|send|congestion|advertised|max(?:imum)?|socket)[ _-]){1,3}windows?(?:[ _-]?sizes?)?\b|\bwindow (?:size|scal\w+)`)},
	{"mtu_blamed", piece.Compile(`(?i)\b(?:oversized?|too (?:large|big|long))["'”]? (?:packets?|frames?)\b[^.;]{0,24}\b(?:dropped|lost|discarded|never arrive)\b|\bmtus? (?:of |sizes? )?(?:larger|greater|bigger|higher|above|over|more)\b(?: than)? \d{4}\b[^.;]{0,24}\b(?:do(?:es)?(?: not|n't) work|fails?|breaks?|hangs?)\b|\b(?:once|after|when) (?:that|the|its|this|their) mtu (?:is|was|has been|got) (?:adjusted|raised|changed|increased|fixed|corrected)\b[^.;]{0,30}\b(?:works?|worked|fine|passes)\b`)},
	{"large_stalls", piece.Compile(`(?i)\b(?:requests?|responses?|resources?|pages?|repl(?:y|ies)|answers?|bodies|body|messages?|files?)\b[^;]{0,40}\b(?:small|short|tiny)\b[^;]{0,90}\b(?:large|larger|big|bigger|long|longer)\b[^;]{0,90}\b(?:stall\w*|hangs?|hung|timeout|times? out|timed out|stuck|never (?:arriv|return|com|finish)\w*)|\b(?:small|short|tiny) (?:\w+ )?(?:requests?|responses?|resources?|pages?|repl(?:y|ies)|answers?|messages?|files?|packets?)\b[^;]{0,90}\b(?:large|larger|big|bigger|long|longer)\b[^;]{0,60}\b(?:stall\w*|hangs?|hung|timeout|times? out|timed out|stuck|never (?:arriv|return|com|finish)\w*)`)},
	{"pacing_helps", piece.Compile(`(?i)\b(?:get|gets|got|reach\w*|achiev\w+)\b[^.;]{0,30}\d ?[mg]b\w*(?:/s)? (?:using|with|by|when using) (?:--)?(?:fq-rate|maxrate|pacing|paced)\b|\b(?:fq-rate|maxrate|pacing|tcp pacing|(?:tc|sch_)? ?fq)\b[^.;]{0,40}\b(?:fix(?:es|ed)|solve[sd]|help(?:s|ed)|full (?:speed|rate)|restores?|zero retrans\w*|no (?:more )?(?:loss|retrans\w*))|\bzero retrans\w+ (?:using|with|by) (?:--)?(?:fq-rate|maxrate|pacing)`)},
	{"tunnel_full_mtu", piece.Compile(`(?i)\b` + fullMTU + `\b[^.;]{0,30}\b` + tunnelWord + `\b|\b` + tunnelWord + `\b[^.;]{0,40}\b` + fullMTU + `\b`)},
	{"half_through", piece.Compile(`(?i)\b(?:direct\w*|direkt|without (?:it|them|the tunnel|the vpn|vpn|` + tunnelWord + `))\b[^.;]{0,60}\b(?:doubles?|doubled|twice|(?:\d|two|three|four|five|ten) times|[2-9]x)\b|\b(?:half|third|quarter)\b[^.;]{0,40}\b(?:without (?:the |a |any )?` + tunnelWord + `|what they are without|than without|(?:of|than) (?:the |a |from )?(?:speed of |host |that of )?(?:the )?(?:bare[- ]?metals?|nodes?|hosts?|underlay|native))\b`)},
	{"small_window", piece.Compile(`(?i)\b(?:max(?:imum)?|largest|biggest|highest) (?:tcp |send |receive |advertised |scaled )*window(?: size)?\b[^.;\d]{0,40}\b\d{1,3} ?k(?:i?b|i?bytes?)?\b|\b(?:wait\w*|paus\w*|idle\w*|stop\w*)\b[^.;]{0,20}\bfor\b[^.;]{0,16}\backs?\b|\b(?:due to|because of|caused by|limited by|restricted by|capped by|reason is|culprit is|problem is|suffers? from)\b[^.;]{0,24}\b(?:low|small|tiny|fixed|default|insufficient|limited|tcp)\b[^.;]{0,16}\b(?:tcp |send |receive |socket |congestion |advertised )*(?:windows?|buffers?|sndbuf|rcvbuf)\b(?: sizes?)?|\b(?:small|fixed|tiny|low|limited)(?:,? (?:and )?\w+)? (?:tcp |send |receive |socket |advertised )+(?:windows?|buffers?)(?: sizes?)?\b[^.;]{0,24}\b(?:is|are|was|were|seems?)(?: \w+)? (?:the )?(?:problem\w*|limit\w*|bottleneck|reason|cause|culprit)`)},
	// What is larger than a greeting does not pass.
	{"greeting_hangs", piece.Compile(`(?i)\b(?:tls|ssl|https|ssh)\b[^.;]{0,30}\b(?:handshakes?|(?:client|server) hello|key exchange|kex\w*|negotiation)\b[^.;]{0,40}\b(?:time-?outs?|times? out|timed out|hangs?|hung|stalls?|stuck|never|not complete\w*)\b|\b(?:time-?outs?|times? out|timed out|hangs?|hanging|hung|stalls?|stuck)\b[^.;]{0,24}\b(?:in|on|at|during|after|with)\b[^.;]{0,16}\b(?:(?:tls|ssl|ssh|https)\b[^.;]{0,12})?(?:handshakes?|(?:client|server) hello|key exchange|SSH2_MSG_KEX\w*)`)},
	{"fetch_hangs", piece.Compile(`(?i)\b(?:apt(?:-get)?|yum|dnf|apk|pip|npm|git|curl|wget|docker (?:pull|build)|https?|downloads?|requests?|pulls?|clones?)\b[^.;]{0,50}\b(?:hangs?|hanging|hung|stuck|stalls?|never (?:finish\w*|complete\w*|return\w*)|times? out|time-?outs?|timed out|freez\w*|wait\w* for (?:headers|response|data)|operation too slow)\b|\boperation too slow\b|\[waiting for headers\]`)},
	{"some_fail", piece.Compile(`(?i)\b(?:cannot|can'?t|can not|unable to|could ?n.t|not able to)\b[^.;]{0,12}\b(?:access|open|load|reach|connect to|browse)\b[^.;]{0,8}\b(?:some|certain|a few|many|several) (?:\w+ )?(?:https?|sites?|websites?|pages?|urls?|servers?|services)\b|\b(?:some|certain|a few) (?:\w+ )?(?:sites?|websites?|pages?|urls?|services)\b[^.;]{0,24}\b(?:hang|fail|do(?: not|n.t)|won.t|stuck|time out|timeout|not load\w*|never)`)},
	{"host_works", piece.Compile(`(?i)\b(?:on|from|in) (?:the |my |its )?(?:docker )?(?:host|hypervisor|node)(?: (?:itself|machine|directly))?\b[^.;]{0,40}\b(?:works?|fine|no (?:problems?|issues?)|ok|without (?:any )?(?:problems?|issues?))\b|\b(?:network_mode: ?host|--net(?:work)?[= ]host|host networking|host network)\b[^.;]{0,30}\b(?:works?|fine|ok|no (?:problems?|issues?)|without)\b|\bworks?\b[^.;]{0,16}\b(?:on|from) the (?:docker )?host\b`)},
	{"size_word", piece.Compile(`(?i)\b(?:default|wrong|docker0?(?:'s)?|container(?:'s)?|lower|inner|larger|bridge(?:'s)?) m(?:tu|ss)\b|\b(?:mtu|mss)\b[^.;]{0,40}\b(?:of|is|was|to|at|clamp\w*|set|low\w*|chang\w+|issues?|problems?|there)\b|\bclamp\w*\b[^.;]{0,24}\bm(?:ss|tu)\b|\bpppoe\b[^.;]{0,40}\bmtu\b`)},
	// Links that are joined are slower than one of them alone.
	{"slower_together", piece.Compile(`(?i)\b(?:better|higher|more|faster|greater)\b[^.;]{0,60}\b(?:only |just )?(?:1|one|a single|single)\b[^.;]{0,60}\bthan\b[^.;]{0,40}\b(?:all|both|two|several|together|multiple|combin\w+|aggregat\w+)|\b(?:combin\w+|both|together|aggregat\w+|bond\w*|join\w*)\b[^.;]{0,60}\b(?:slower|less|lower|worse) (?:\w+ )?than\b[^.;]{0,24}\b(?:one|a single|single|alone|either|each|the (?:fast\w*|better|best))`)},
	// More requests at once carry more.
	{"scales_with", piece.Compile(`(?i)\b(?:throughput|speed|rate|bandwidth|it|performance)\b(?: \w+)? (?:scal\w+|grow\w*|increas\w+|ris\w+|goes up)\b[^;]{0,40}\bwith\b[^.;]{0,30}\b(?:concurrency|parallelism|queue depth|(?:outstanding|in-?flight|parallel|concurrent) (?:requests|reads|i/?os?|fetch\w*|operations))\b`)},
	// The network was tried, and is none of it.
	{"not_net", piece.Compile(`(?i)\b(?:(?:ruled|ruling) out|excluded?|eliminated) (?:the |a |any )?networks?\b|\bnetwork (?:itself |speed |connection |link )?(?:is|was) (?:not|n'?t) (?:the |a |my )?(?:problem|bottleneck|issue|limit\w*|cause)|\bnetworks? (?:itself )?(?:is|are|seems?|looks?) (?:to be )?(?:fine|ok|okay|good|healthy|not the)\b|\bnot (?:a |the |my )?network(?:ing)? (?:problem|issue|bottleneck)`)},
	{"program", piece.Compile(`(?i)\b(?:sshfs|fuse|sftp|rclone|webdav|davfs\w*|s3fs|goofys|curlftpfs|ftp|syncthing|seafile|nextcloud|robocopy|explorer|teracopy|backup|borg|restic|duplicati|veeam)\b`)},
	// SMB takes every way that it finds, a slow one as well.
	{"all_ways", piece.Compile(`(?i)\b(?:multi-?channel|smb|mpio|multipath)\b[^.;]{0,60}\b(?:uses?|using|tries|takes?|attempts?)\b[^.;]{0,40}\b(?:all|both|every|each)\b[^.;]{0,30}\b(?:routes?|interfaces?|nics?|adapters?|paths?|links?|addresses|connections?)\b|\b(?:both|all)\b[^.;]{0,40}\b(?:throttled|limited|slowed(?: down)?) by the slow\w*\b`)},
	{"multichannel", piece.Compile(`(?i)\bmulti-?channel\b`)},
	// A tunnel whose packets go by several lines, one by one.
	{"spread_tunnel", piece.Compile(`(?i)\b(?:mptunnel|multi-?path (?:tunnel|vpn)|multi-?link (?:tunnel|vpn|ppp)|mlvpn|mlppp|bond(?:ed|ing)? (?:vpn|tunnels?)|(?:vpn|tunnels?) (?:bond\w*|aggregat\w+)|engarde|glorytun|speedify|open-?mptcp-?router|omr|overthebox)\b`)},
	{"one_is_better", piece.Compile(`(?i)\b(?:disabl\w+|unplug\w*|disconnect\w*|remov\w+|turn(?:ed|ing)? off|tak(?:e|ing)\b[^.;]{0,16}\bdown|with only|using only)\b[^.;]{0,30}\b(?:one|an?|either|second|2nd|other|single)\b[^.;]{0,12}\b(?:interface|link|wan|nic|port|cable|path|modem|line|connection)s?\b[^.;]{0,90}\b(?:good|fine|fast\w*|full speed|normal|works?|better|recover\w*|as expected)\b`)},
	{"esp_offload", piece.Compile(`(?i)\b(?:esp|ipsec|nic|hw|hardware|xfrm|crypto)[-_ ](?:hw[-_ ])?offload\w*\b`)},
	// What forwards, and how.
	{"one_core_used", piece.Compile(`(?i)\b(?:still |only |just |always |all )?(?:uses?|using|used|runs? on|running on|handled by|processed (?:by|on)|on)\b (?:only |just )?(?:1|one|a single|single) (?:cpu )?(?:core|cpu|thread)\b[^.;]{0,60}\b(?:download\w*|upload\w*|stream|traffic|packets?|interrupts?|throughput|speed|forward\w*|rout\w+|max\w*)\b`)},
	{"shaper_slows", piece.Compile(`(?i)\b(?:(?:if|when|once) (?:i|we) )?(?:start\w*|enabl\w+|turn(?:ed|ing)? on|activat\w+|with|when|using|once)\b[^.;]{0,16}\b(?:sqm|cake|qos|smart queue\w*|traffic shap\w+|fq_codel)\b[^.;]{0,80}\b(?:only|just|half|up to|reach\w*|drops?|slow\w*|limit\w*|less|max\w*)\b|\b(?:half|slow\w*|less|lower)\b[^.;]{0,50}\bcompared to\b[^.;]{0,16}\b(?:sqm|cake|qos)\b[^.;]{0,6}\b(?:disabled|off)\b`)},
	{"shaper_slows", piece.Compile(`(?i)\b(?:speed|throughput|bandwidth|download|upload|rate)s?(?: (?:over|on|via|of|in|by|with|for|to|from) [\w.-]+){0,3},? (?:(?:is|are|gets?|becomes?) )?(?:very|extremely|so|really) (?:bad|slow|poor|low) (?:with|when|once|if) (?:sqm|cake|qos|traffic shaping) (?:is )?(?:enabled|on|active)\b`)},
	{"shaper_slows", piece.Compile(`(?i)(?:关闭|关掉|停用|禁用) ?(?:sqm|cake|qos\w*|限速\S{0,4}|流控)[^。；]{0,24}(?:恢复|正常|跑满|能跑|达到)|\b(?:speed|rate|throughput|bandwidth)? ?without (?:the )?(?:sqm|cake|qos|(?:b/?w |bandwidth |rate )?limiter|(?:traffic )?shap(?:ing|er))\b[^.;]{0,20}[:=~] ?~?\d`)},
	{"shaper_slows", piece.Compile(`(?i)\b(?:sqm|cake|qos|fireqos|(?:traffic )?shap(?:ing|er))\b[^.;\d]{0,12}\b(?:on|enabled|active|running)\b[^.;]{0,30}\d ?[MG]b[^.;]{0,60}\b(?:off|disabled|stopped|without)\b|\b(?:sqm|cake|qos|fireqos|(?:traffic )?shap(?:ing|er))\b[^.;\d]{0,12}\b(?:off|disabled|stopped)\b[^.;]{0,30}\d ?[MG]b[^.;]{0,60}\b(?:on|enabled|active|running)\b`)},
	{"vendor_faster", piece.Compile(`(?i)\b(?:stock|original|oem|factory|vendor(?:'s)?) (?:firmware|image|software|os)\b[^.;]{0,70}\b(?:full|\d{3}|always|gigabit|fast\w*|line rate|no problem)`)},
	// What is slow is at an end.
	{"disk_busy", piece.Compile(`(?i)\bdisks?(?: active| busy| i/o)?(?: time| usage| utili[sz]ation| load)?["'” ]*[^.;]{0,20}\b(?:100 ?%|9[5-9] ?%|pegged|maxed|saturat\w*)|\b(?:100|9[5-9]) ?%[^.;]{0,12}\b(?:disk|util)\b|(?:^|[^%\s\d])[\s:(]*\b(?:io ?wait|i/o wait)\b[^.;\d]{0,16}\b(?:high|huge|[4-9]\d ?%)|\bhigh (?:io ?wait|i/o wait)\b`)},
	{"each_same", piece.Compile(`(?i)\b(?:multiple|several|more) (?:files|copies|transfers|downloads|streams|connections)\b[^.;]{0,16}\b(?:simultaneously|at once|in parallel|concurrently|at the same time)\b[^.;]{0,40}\bsame (?:speed|rate)\b`)},
	{"other_way_fills", piece.Compile(`(?i)\bthe same (?:transfers?|copy|copies|files?|download|upload)\b[^.;]{0,16}\b(?:using|with|via|by|over|through)\b[^.;]{0,30}\b(?:max(?:es)? out|saturat\w+|fills|fully uses|(?:runs|goes|copies) at (?:full|line|wire))\b`)},
	{"slower_than_other", piece.Compile(`(?i)\b(?:able to|can|could)\b (?:\w+ )?(?:push|fill|saturate|reach|get|use)\b[^.;]{0,8}\b(?:the )?(?:full|whole|entire)\b[^.;]{0,40}\bbut\b[^.;]{0,30}\b(?:does|do|did|can)(?:n['’]t| ?not)\b[^.;]{0,16}\b(?:saturat\w+|fill\w*|reach\w*|use)\b`)},
	{"slower_than_other", piece.Compile(`(?i)\b(?:an? )?(?:scp|rsync|sftp|ftp|wget|curl|netcat|nc|smb|nfs)\b(?: copy)? (?:of|with|for) the same (?:files?|data) (?:takes?|took|needs?) (?:<|≤|less than|under|below) ?[\d.]+ ?(?:s|ms|sec\w*)\b`)},
	{"slower_than_other", piece.Compile(`(?i)\b(?:slower|worse|lower|less) than\b[^.;]{0,30}\b(?:openssh|sshd|smb|samba|scp|sftp|ftp|nfs|rsync|http|wget|curl|explorer|cp|netcat|iscsi)\b`)},
	{"cpu_bound", piece.Compile(`(?i)\b(?:cpus?|processor|vcpus?) (?:is|was|becomes?|being|are) (?:the |my |our )?(?:performance|main|real|actual|only) (?:bottleneck|limit\w*|problem)|\bcpu util\w*:? (?:\d+ ?%,? ?)*(?:9[5-9]|100) ?%`)},
	{"cpu_bound", piece.Compile(`(?i)\b(?:scp|sftp|rsync|ssh|smb|nfs|iperf3?|cop(?:y|ying|ies)|transfers?|download\w*)\b[^.;]{0,50}\b(?:cpu|processor) (?:is|gets?|stays) (?:pegged|maxed(?: out)?|saturated)\b|\b(?:cpu|processor) (?:is|gets?|stays) (?:pegged|maxed(?: out)?|saturated)\b[^.;]{0,30}\b(?:during|while|when)\b[^.;]{0,24}\b(?:scp|sftp|rsync|iperf3?|cop(?:y|ying|ies)|transfer\w*|download\w*)\b|\b(?:sshd?|rsync|smbd|nfsd|iperf3?)\b[^.;]{0,12}\b(?:eats?|hogs?)\b[^.;]{0,10}\bcpu\b`)},
	{"cpu_bound", piece.Compile(`(?i)\b(?:uses?|using|hits?|takes?|eats?) (?:up )?(?:the |its |all )?cpu\b[^.;]{0,6}\b100 ?%|\b(?:cpu|processor) (?:on|of|in|at)(?: (?:[a-hj-z(]|i[a-rt-z])[\w)-]*){1,9} (?:is|was) (?:the |my |our )(?:bottleneck|limit\w*)\b|\b(?:hash|encrypt|compress|checksum|crypt)\w*(?:,? [a-mo-z(][\w)-]*){0,5} (?:bothers?|kills?|eats?|overloads?|slows?|saturates?|is too much for|is heavy (?:on|for)|burdens?|taxe?s)\b[^.;]{0,24}\b(?:cpus?|processors?|cores?|raspi|raspberry pi|nas|box)\b`)},
	{"cpu_bound", piece.Compile(`(?i)\b(?:cpus?|cores?|vcpus?|processors?)\b[^.;]{0,8}\b(?:is|are|was|were|gets?) (?:highly|heavily|fully|extremely|completely) (?:loaded|utili[sz]ed|used|busy|stressed)\b|\b(?:high|heavy|huge|full) (?:cpu|processor) (?:utili[sz]ation|usage|load|use)\b[^.;]{0,24}\b(?:during|while|in|under|when running) (?:the |a |my |this |that )?(?:\w+ )?(?:tests?|transfers?|runs?|running|copy|copies|copying|transferring|iperf3?|benchmarks?)\b|\b\b(?:cpus?|processor|vcpus?) (?:is|was|becomes?|being|are) (?:the |my |our )?(?:performance|main|real|actual|only) (?:bottleneck|limit\w*|problem)|\bcpu util\w*:? (?:\d+ ?%,? ?)*(?:9[5-9]|100) ?%`)},
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

// guestName is a virtual machine as sentences name it.
const guestName = `(?:vms?|guests?|virtual machines?|instances|domus?)`

// wellWords are how sentences say that something is as fast as it should be.
const wellWords = `(?:full speed|line ?rate|fast|fine|ok(?:ay)?|normal\w*|no (?:problems?|issues?)|as expected|(?:[89]|1\d|2\d)(?:\.\d+)? ?g(?:b|bit|bps|ig)?\w*(?:/s)?|9[0-9]{2} ?mb\w*(?:/s)?)`

// guestStories are what people tell of one guest among others, of the queues of its card, and
// of reads over NFS.
var guestStories = []storyWords{
	{"guests_fast", piece.Compile(`(?i)\b(?:(?:all )?(?:the |my |our )?others?|all but (?:this )?one|remaining|the rest of (?:the|my|our)|every other|(?:two|three|four|five|several|many|most|some)(?: other| of the| of my| of our)?|\d+ other) (?:\w+ )?` + guestName + `\b[^.;]{0,90}\b` + wellWords + `\b`)},
	{"guest_slow", piece.Compile(`(?i)\b(?:only |just |but )?(?:one|this|a single|that|a certain|the (?:new|slow|problem\w*|affected)) (?:\w+ ){0,2}` + guestName + `\b[^.;]{0,60}\b(?:only|slow\w*|crawls?|stuck|never|barely|tops? out|poor\w*|bad|terrible|\d+(?:\.\d+)? ?[mg]b\w*(?:/s)?)(?:\W|$)|\b(?:slow|problem\w*|affected) ` + guestName + `\b`)},
	{"queues_slower", piece.Compile(`(?i)\b(?:multi-?queues?|mq|more queues|(?:several|multiple|additional|\d+|two|four|eight|sixteen) queues|queues? ?(?:=|to|of)? ?(?:[2-9]|\d\d)|combined (?:[2-9]|\d\d))\b[^;]{0,90}\b(?:slower|worse|drop(?:s|ped)?|lower|decreas\w*|degrad\w*|halv\w*|less (?:throughput|bandwidth|performance))\b|\b(?:slower|worse|drop(?:s|ped)?|lower|decreas\w*|degrad\w*|halv\w*)\b[^.;]{0,60}\b(?:with|when|after|once|by|the more)\b[^.;]{0,40}\b(?:multi-?queues?|mq|more queues|(?:several|multiple|additional|two|four|eight|sixteen) queues|queues? ?(?:=|to|of)? ?(?:[2-9]|\d\d)|queues\b)`)},
	{"readahead_helps", piece.Compile(`(?i)\bread[-_ ]?ahead\w*\b[^;]{0,110}\b(?:fix\w*|help(?:s|ed)|brought|brings|solv\w*|resolv\w*|faster|improv\w*|doubl\w*|restor\w*|back (?:to|up)|did the trick|cured|full speed)\b|\b(?:fix\w*|help(?:s|ed)|solv\w*|resolv\w*|faster|improv\w*|cured)\b[^.;]{0,60}\b(?:by|with|when|once|after|was)\b[^.;]{0,50}\bread[-_ ]?ahead\w*`)},
	{"readahead_small", piece.Compile(`(?i)\b(?:default|small|low|tiny|only|just|is|of|was|at) (?:\w+ ){0,3}?(?:128 ?(?:kb|kib|k)\b)[^.;]{0,30}\bread[-_ ]?ahead|\bread[-_ ]?ahead\w*\b[^.;]{0,40}\b(?:is|of|was|at|=|to|shows?) ?(?:only |just )?(?:128|the default|15|16|32|64)\b`)},
	{"nfs_word", piece.Compile(`(?i)\bnfs(?:v?[34](?:\.\d)?)?\b`)},
	{"reads_slow", piece.Compile(`(?i)\bread(?:s|ing)?\b[^.;,]{0,40}\b(?:slow\w*|only|just|drop(?:s|ped)?|fell|poor\w*|bad|terrible)\b|\bslow\w* read(?:s|ing)?\b`)},
	{"writes_fast", piece.Compile(`(?i)\bwrit(?:es?|ing)\b[^.;,]{0,40}\b(?:` + wellWords + `|[1-9]\d{2,3} ?MB/s|1(?:\.\d)? ?GB/s)`)},
}

// allStories are those of every kind.
var allStories = slices.Concat(stories, narrowStories, linkStories, guestStories, heldStories, settingStories, besideStories, groupStories)
