package pathtext

import "github.com/linerate/linerate/internal/evidence/paste/piece"

// settingStories are what people tell of settings of two ends that do not fit, of buffers
// that a program fixes, and of what somebody limits.
var settingStories = []storyWords{
	// A packet is cut in two by a tunnel's header, or dropped where no message says so.
	{"fragmented", piece.Compile(`(?i)\b(?:packets?|frames?|datagrams?|esp|segments?)\b[^.;]{0,24}\b(?:get|gets|are|is|were|being|be|becomes?) (?:all |always |then )?fragmented\b|\b(?:packet|ip|ipsec|esp)[- ]fragmentation (?:is|was|were|occur\w*|happen\w*|kills?|caus\w+|at)\b|\bfragment\w*\b[^.;]{0,40}\bcausing\b[^.;]{0,20}\b(?:tcp |many )?(?:re-?trans\w+|drops?|loss)`)},
	{"mtu_limit", piece.Compile(`\bEMSGSIZE Path-MTU=\d{3,4}\b`)},
	{"mtu_limit", piece.Compile(`(?i)\b(?:p-?mtu-?d?|path mtu)\b(?: discovery)?(?: ?\([^()]{0,40}\))?[^.;]{0,16}\bblack[- ]?hol(?:e|es|ed|ing)\b|\bdrop\w*\b[^.;]{0,12}\b(?:packets?|frames?)\b[^.;]{0,30}(?:>|\b(?:larger|greater|bigger|above|over|exceed\w*)\b)[^.;]{0,30}\b(?:mtu|1500)\b`)},
	{"mtu_limit", piece.Compile(`(?i)\b(?:drop\w*|los(?:es?|t|ing)|never)\b[^.;]{0,20}\b(?:pings?|frames?|packets?)\b[^.;]{0,40}(?:^|[ -])-?s ?\d{4}\b|\b(?:above|beyond|over|larger than|bigger than) \d{4}(?: bytes)?\b[^.;]{0,30}\b(?:do(?:es)? ?n[o'’]t|no|none|nothing|never)\b[^.;]{0,30}\b(?:frames?|packets?|pings?|icmp|repl\w*|arriv\w*|pass\w*|seen|see|captured)\b`)},
	// A stack that runs as a program of its own.
	{"user_stack", piece.Compile(`(?i)\b(?:gvisor|runsc|slirp\w*|vpnkit|gvproxy|passt|netstack|user-?mode network\w*|rootless(?:ly|kit|port)?|docker desktop|docker for (?:mac|windows|linux|desktop)|podman machine|colima|orbstack)\b`)},
	// The two ends of a cable differ in duplex.
	{"half_duplex", piece.Compile(`(?i)\b(?:at|in|to|is|was|were|are|runs?|running|as|negotiat\w+|shows?|reports?|says?|stuck|has|had)\b[^.;,]{0,20}\bhalf[- ]?duplex\b|\b(?:duplex:? ?half|(?:10|100)(?: ?mb\w*)? ?[/-] ?half|duplex mismatch)\b`)},
	{"full_forced", piece.Compile(`(?i)\b(?:hard[- ]?cod\w+|forc\w+|fix\w+|manually|static\w*|set|configur\w+|locked)\b[^.;]{0,40}\b(?:full[- ]?duplex|(?:10|100|1000)(?: ?mb\w*)? ?[/ -] ?full)\b|\blate collisions?\b|\bduplex mismatch\b`)},
	{"full_now", piece.Compile(`(?i)\bduplex:? ?full\b|\bfull[- ]?duplex (?:on|at) both\b`)},
	// A buffer of a fixed size ends the kernel's tuning of it.
	{"fixed_buffer", piece.Compile(`(?i)\bdisabl\w+\b[^.;]{0,30}\b(?:auto-?(?:tun\w+|siz\w+|scal\w+)|dynamic (?:buffer |window )?(?:siz\w+|tuning|scal\w+))`)},
	{"send_buffer_named", piece.Compile(`(?i)\b(?:so_sndbuf|(?:tcp |socket )?send buffers?|snd_?buf)\b`)},
	{"receive_buffer_named", piece.Compile(`(?i)\b(?:so_rcvbuf|(?:tcp |socket )?rec(?:ei)?v(?:e|er)? buffers?|rcv_?buf)\b`)},
	// A buffer that was larger for a trial, or is too small as somebody says.
	{"send_buffer_gains", piece.Compile(`(?i)\b(?:set\w*|chang\w+|rais\w+|increas\w+|enlarg\w+|with)\b[^.;]{0,50}\b(?:so_sndbuf|(?:tcp |socket )*send buffers?(?: sizes?)?)\b[^.;]{0,60}\b(?:(?:twice|\d+(?:\.\d+)? ?(?:times|x)) (?:as fast|faster|the (?:speed|rate|throughput))\b|(?:much |far |a lot |way )faster\b|doubl\w+ (?:the )?(?:speed|rate|throughput|upload|download)\b)`)},
	{"send_buffer_small", piece.Compile(`(?i)\b(?:so_sndbuf|(?:udp |tcp |socket )+send buffers?(?: sizes?)?) (?:(?:is|are) (?:much |far |way )?too (?:low|small)\b|too (?:low|small)\s*$)|如何调整[^。]{0,20}发送缓[存冲][^。]{0,40}延迟[^。]{0,20}慢`)},
	{"receive_buffer_small", piece.Compile(`(?i)\b(?:so_rcvbuf|(?:udp |tcp |socket )+rec(?:ei)?v(?:e|er)? buffers?(?: sizes?)?) (?:(?:is|are) (?:much |far |way )?too (?:low|small)\b|too (?:low|small)\s*$)`)},
	// A program's own buffer, as its source or its documentation has it: of a small one.
	{"send_buffer_set", piece.Compile(`(?i)(?:^|[\s(])(?:\w+\.)?setSendBufferSize\( ?(?:\d{1,3} ?\* ?1024|\d{4,6}) ?\)|\b(?:setting|sets|set) SO_SNDBUF to \d{1,3} ?k|\b\d{1,3} ?k(?:i?b)? (?:tcp |socket )?send buffer\b`)},
	{"in_flight", piece.Compile(`(?i)\bbytes in flight (?:is|are) (?:about |only |just |around )?\d{1,2} ?k`)},
	{"tunnel_by_tcp", piece.Compile(`(?i)\bopen ?vpn\b[^.;]{0,24}\btcp\b|\bproto tcp\b`)},
	{"ssh_far", piece.Compile(`(?i)\b(?:scp|sftp|rsync|ssh)\b[^.;]{0,60}\b(?:fine|well|fast|quick)\b[^.;]{0,24}\b(?:local\w*|lan|nearby)\b[^.;]{0,40}\b(?:poor\w*|slow\w*|badly)\b[^.;]{0,12}\b(?:on|over|across) (?:the |a |an )?(?:wan|long distance|long way)`)},
	// Packets in another order, and what it does.
	{"order_lost", piece.Compile(`(?i)\b(?:packets?|datagrams?)\b[^.;]{0,24}\bre-?order(?:ed|ing)\b[^.;]{0,60}\b(?:limit|degrad|reduc|hurt|kill|slow)\w*\b[^.;]{0,30}\b(?:throughput|speed|rates?|tcp|performance|bandwidth|transfers?)\b|\b(?:significant|large|high|huge|unusual|excessive)(?: \w+)? (?:of |number of |amounts? of )*(?:out[- ]of[- ]order|re-?ordered) (?:packets?|segments?|datagrams?)\b|\b(?:undesirable|excessive|heavy|constant|severe) (?:packet |segment )re-?ordering\b|\bthey are re-?ordered when they arrive\b`)},
	// LACP's bit that a port may be bundled.
	{"not_aggregatable", piece.Compile(`(?i)\b\w*STATE_AGGREGATION\b[^.;]{0,24}\b(?:not set|clear(?:ed)?|unset)\b|\b(?:lacp|pdus?|lacpdus?)\b[^.;]{0,60}\baggregation bit\b[^.;]{0,12}\b(?:is |stays |remains )?(?:not set|clear(?:ed)?|unset)\b|\baggregation bit\b[^.;]{0,12}\b(?:is |stays |remains )?(?:not set|clear(?:ed)?|unset)\b[^.;]{0,40}\b(?:pdus?|lacpdus?)\b`)},
	// A tunnel's MTU that somebody says is not right.
	{"tunnel_mtu", piece.Compile(`(?i)\bmtu of (?:the |its |our )?(?:tunnel|vxlan|overlay|wire ?guard|ipip|gre|vpn)\b[^.;]{0,24}\bneeds? to be (?:adjusted|lower\w*|reduced|changed|decreased|smaller)\b`)},
	// A limit that is set on the way of some.
	{"shaping_named", piece.Compile(`(?i)\btraffic[- ]shap(?:ing|er)\b|\b(?:network|nic|interface|vif|port)[- ](?:throttling|rate|bandwidth)[- ](?:rate|limit\w*|cap)\b`)},
	{"unlike_rates", piece.Compile(`(?i)\b(?:bandwidth|speed|rate|throughput)\b[^.;]{0,60}\b(?:different|unlike|not the same|lower|less|other) (?:than|from|to|of|value)\b|\bdifferent (?:bandwidth|speed|rate|throughput)\b`)},
	// One core has all the work, as the load of a system is told.
	{"one_core_used", piece.Compile(`(?i)\b(?:all|whole|entire|most) (?:of )?(?:the |its |this )?(?:load|work|processing|traffic|interrupts?)\b[^.;]{0,24}\b(?:on|onto|to|by|in)\b (?:just |only )?(?:1|one|a single|single|the first) (?:cpu )?(?:core|cpu|thread)\b`)},
	// One card is slow beside another in the same machine.
	{"card_fine", piece.Compile(`(?i)\b` + cardModel + ` (?:works?|worked|is|was|runs?) (?:just |all )?(?:fine|ok|well|perfectly|normal|at full speed),? (?:with |at |\d)[^.;]{0,20}\d ?[mg](?:b|bit)[^.;]{0,30}\.? ?\bbut\b[^.;]{0,12}\b` + cardModel + `(?: \w+)? (?:only|just)?\b[^.;]{0,16}\d ?[KMG](?:b|bit)`)},
	{"card_fine", piece.Compile(`(?i)\b` + cardModel + ` (?:works?|worked|runs?) (?:just |all )?(?:fine|ok|well|perfectly|normal|at full speed)\b[^;]{0,50}\bbut (?:the )?` + cardModel + ` (?:(?:has|have|had|gets?|got|reach\w*|does|manages?) (?:only|just)|only (?:has|have|had|gets?|got|reach\w*|does|manages?)) ~?[\d.]+\+? ?[KMG](?:b|bit)`)},
	// A service's address in a cluster, slow from the host itself where a pod's is not.
	{"service_slow", piece.Compile(`(?i)\b(?:host ?network\w*|hostnetwork|node|nodes|host|hosts|host\d|master)\b[^.;]{0,50}\b(?:cluster ?ips?|service ?ips?|svc (?:ip|address))\b[^.;]{0,40}(?:\b(?:slow|slowly|63 ?s\w*)\b|❌)`)},
	{"pod_fast", piece.Compile(`(?i)\b(?:pod ?ips?|(?:by|with) (?:the )?pod(?:'s)? (?:ip|address))\b[^.;]{0,30}(?:\b(?:fast|quick)\b|✅)`)},
	// Datagrams that are lost where TCP over the same way loses none.
	{"udp_alone_loses", piece.Compile(`(?i)\budp packet loss\b[^;]{0,60}\bbut tcp\b[^;]{0,60}\b(?:without|no|w/o|zero|0) (?:\w+ )?retransmi\w+`)},
	// A host with two interfaces in one network at a test.
	{"both_plugged", piece.Compile(`(?i)\bboth (?:of the |of my )?(?:interfaces?|nics?)(?: (?:are|were))? (?:plugged in|connected|up|attached|active)\b[^.;]{0,24}\b(?:same|one) (?:network|subnet|lan)\b|\b(?:eth\d|interface|nic)\b[^.;]{0,24}\bis (?:the )?(?:built-?in|onboard|on-board|other)\b[^.;]{0,30}\bon the same (?:network|subnet)\b`)},
	// A box that forwards, by its system's name.
	{"router_box", piece.Compile(`(?i)\b(?:opnsense|pfsense|openwrt|edgerouter|vyos|routeros|ipfire|dec\d{3})\b`)},
	// MAC addresses choose the link, and a router's is the only one, in Japanese.
	{"mac_hash", piece.Compile(`(?i)mac ?アドレス[^。]{0,30}(?:xor|計算|ハッシュ|hash)`)},
	{"routed_way", piece.Compile(`(?i)(?:ルーター?|router|ゲートウェイ)[^。]{0,16}(?:越し|経由|1つ|一つ|固定)`)},
}
