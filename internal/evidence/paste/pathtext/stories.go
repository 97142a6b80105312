package pathtext

import (
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// Words that stories are made of: parts of a sentence that several of them use.
const (
	linkName = `(?:(?:eth|en[opsx]|em|ens|eno|lan|bond|wlan|ix|igb|vmnic|vmk)\w*\d\w*|(?:the |my |a )?(?:1|2\.5|5|10|20|25|30|40|50|100|200) ?g(?:b|be|bps|bit|ig|igabit)?\b(?: \w+)?|(?:the |my |its )?(?:mgmt|management|lan|wi-?fi|wireless|slow\w*|onboard|storage|default|motherboard|internal|built-?in) (?:nic|network|interface|link|port|vlan|adapter|card)|(?:the |my |its |an? )?(?:realtek|intel|broadcom|mellanox|aquantia|marvell|usb)(?: \w+)? (?:nic|adapter|card|port|one))`
	ofSwitch = `(?:switch(?:es)?|cisco|nexus|catalyst|aruba|procurve|juniper|mikrotik|unifi|netgear|tp-?link|port-?channel|ether-?channel|trunk|trk\d*|other (?:end|side)|far end)`
	ofServer = `(?:servers?|hosts?|linux|nas|synology|qnap|truenas|esxi?|proxmox|bond\d*|bonding|windows|team\w*|lagg\d*|node|machine|pc|our (?:end|side))`
	statical = `(?:static(?:ally)?|mode on|mode ["'` + "`" + `]?on\b|balance-(?:rr|xor|alb|tlb)|active-backup|round[- ]?robin|mode ?[=:]? ?[01256]\b|no lacp|not lacp|without lacp|non-lacp|manual)`
	// cardModel is a card by its maker's number.
	cardModel = `(?:i2[12]\d|i3[45]\d|x5[245]\d|x7[12]\d|rtl ?\d{4}\w*|bcm\d{4,5}|aqc\d{3}|82\d{3}\w*)(?:-\w+)?(?:\([^)]*\))?`
	dynamic   = `(?:lacp|802\.3ad|mode ?[=:]? ?4\b|dynamic)`
)

// storyWords is a fact of "said" with the words that tell it.
type storyWords struct {
	key   string
	words piece.Pattern
}

// stories are what people tell, each a fact of "said" by its words alone; none of them is a
// reading by itself. A sentence that asks or denies tells none of it.
var stories = []storyWords{
	// A core is what limits.
	{"cpu_bound", piece.Compile(`(?i)\b(?:throttl\w+|limited|capped|bottleneck\w*|slow\w*)\b[^.;]{0,16}\b(?:due to|because of|by)\b[^.;]{0,24}\b(?:cpu|processor)(?:['’]s)? (?:usage|load|use|utili[sz]ation|power|speed)\b|\b(?:limited|bound|bottleneck\w*|constrained) by (?:the |its |my |our )?(?:cpu|processor)\b|\bcpu[- ](?:bound|limited|bottleneck\w*|constrained)\b|\b(?:cpu|processor) (?:is|was|becomes?) (?:the |my |our )?(?:bottleneck|limit|limiting)|\b(?:cpu|processor)\b[^.;]{0,24}\b(?:almost|nearly|near|close to) (?:full|100 ?%|maxed)|\b(?:100|9[5-9]) ?% cpu(?: usage| load| use| utili[sz]ation)?\b[^.;]{0,40}\b(?:process|daemon|thread|child|\w{2,}d)\b|\bbottleneck (?:is|was) (?:the |my |our )?(?:cpu|processor)\b|\btraced(?: \w+){0,3} to (?:the |my |its )?(?:cpu|processor)\b|\b(?:cpu (?:usage|load|use)|(?:cpu )?cores?|cpus) (?:\w+ ){0,2}(?:to|at|hits?|reach(?:es)?) (?:100|9[5-9]) ?(?:%|percent)`)},
	// Nobody tells the sender that its packets are too large.
	{"pmtu_blocked", piece.Compile(`(?i)\bbreaks? (?:path mtu|pmtu\w*)\b|\b(?:path mtu(?: discovery)?|pmtud?(?: discovery)?)\b[^.;]{0,40}\b(?:impossible|broken|fail\w*|block\w*|not work\w*|doesn.t work|black ?hol\w*)|\b(?:fragmentation needed|frag(?:mentation)?-needed|packet too big)\b[^.;]{0,50}\b(?:block\w*|dropp?\w*|filter\w*|never (?:arriv|reach|com)\w*|lost|discard\w*)|\b(?:block\w*|dropp?\w*|filter\w*|discard\w*)\b[^.;]{0,30}\b(?:fragmentation needed|packet too big|icmp type 3)\b`)},
	{"icmp_blocked", piece.Compile(`(?i)\b(?:blocks?|blocked|blocking|drops?|dropped|dropping|filters?|filtered|filtering|discards?|discarded|denies|denied)\b[^.;]{0,16}\bicmp\b|\bicmp\b[^.;]{0,24}\b(?:blocked|dropped|filtered|discarded|disabled|denied)\b`)},
	// Large frames stop what small ones do.
	{"jumbo_breaks", piece.Compile(`(?i)\b(?:set\w*|chang\w+|rais\w+|increas\w+|enabl\w+|with|when|after|once|using|as soon as)\b[^.;]{0,40}\b(?:mtu\b[^.;\d]{0,16}\b(?:8[5-9]\d\d|9[0-2]\d\d)|jumbo(?: frames?| packets?)?|(?:8[5-9]\d\d|9[0-2]\d\d) mtu)\b[^.;]{0,90}\b(?:drops? to (?:0|zero|almost (?:0|zero|nothing)|nothing|kbit|kbps)|0 ?bits?|zero throughput|stops? (?:working|responding)|stall\w*|hangs?|no (?:traffic|connection|connectivity|ping|reply|response)|fail\w*|breaks?|broke|can(?:not|'t|no longer)|time-?outs?|times? out|unreachable|freez\w*|no longer (?:work|reach|mount|connect)\w*|stopp?ed|nothing (?:work|pass|goes))`)},
	{"small_works", piece.Compile(`(?i)\b(?:with|at|on|back to|using|default|mtu|set to)\b[^.;\d]{0,16}\b1500\b[^.;]{0,50}\b(?:works?|working|fine|ok(?:ay)?|no (?:problems?|issues?)|normal\w*|perfect\w*|good|full speed|\d+(?:\.\d+)? ?[gm]b(?:it)?(?:/s|ps)?)\b|\b(?:works?|working|fine|ok(?:ay)?|no (?:problems?|issues?)|perfect\w*)\b[^.;]{0,20}\b(?:with|at|on|back to|using)\b[^.;\d]{0,16}\b1500\b|\bwithout jumbo\b[^.;]{0,30}\b(?:works?|fine|no (?:problems?|issues?)|ok|normal\w*)`)},
	// It takes the one link where it should take the other.
	{"other_link", piece.Compile(`(?i)\b(?:do(?:es)?|is|are)(?: not|n['’]t) (?:use|using|go\w*|tak\w+)\b[^.;]{0,16}\b(?:(?:40|50|100|200|400) ?g\w*\b[^.;]{0,16}\bbut\b[^.;\d]{0,12}\b(?:1|2\.5|5|10|20|25|30)|(?:10|20|25|30) ?g\w*\b[^.;]{0,16}\bbut\b[^.;\d]{0,12}\b(?:1|2\.5|5)) ?g\w*\b|\b(?:goes|going|go|sent|forwarded|egress\w*|exits?|exiting|leaving|uses?|using|used|leaves?|takes?|active|flows?|routed|runs?|running|works?|working|copies|copying|transfers?|transferring|traffic|prefers?|chooses?|picks?|talk\w*)\b[^.;]{0,50}\b` + linkName + `[^.;]{0,30}\b(?:instead of|rather than|not)\b[^.;]{0,30}\b` + linkName + `|\b` + linkName + `[^.;]{0,24}\b(?:is|was|gets|carries|shows)\b[^.;]{0,30}\b(?:instead of|rather than)\b[^.;]{0,20}\b` + linkName)},
	// One end is LACP and the other is not.
	{"modes_differ", piece.Compile(`(?i)\b` + ofSwitch + `\b[^.;]{0,50}\b` + statical + `[^;]{0,90}\b` + ofServer + `\b[^.;]{0,50}\b` + dynamic + `|\b` + ofServer + `\b[^.;]{0,50}\b` + statical + `[^;]{0,90}\b` + ofSwitch + `\b[^.;]{0,50}\b` + dynamic + `|\b` + ofSwitch + `\b[^.;]{0,50}\b` + dynamic + `[^;]{0,90}\b` + ofServer + `\b[^.;]{0,50}\b` + statical + `|\b` + ofServer + `\b[^.;]{0,50}\b` + dynamic + `[^;]{0,90}\b` + ofSwitch + `\b[^.;]{0,50}\b` + statical)},
	{"both_passive", piece.Compile(`(?i)\b(?:both|each) (?:ends?|sides?|switch\w*|of them)\b[^.;]{0,30}\bpassive\b|\bpassive\b[^.;]{0,20}\bon both\b|\blacp passive\b[^.;]{0,60}\b(?:also|too|as well)\b`)},
	{"no_lacpdus", piece.Compile(`(?i)\b(?:not|n't|never|no longer|without|no)\b[^.;]{0,24}\b(?:receiv\w+|get\w*|see\w*|hear\w*|sen[dt]\w*|any|incoming)?[^.;]{0,12}\blacp ?(?:du|pdu|bpdu|packet|frame|message)s?\b|\blacp ?(?:du|pdu|bpdu|packet|frame)s?\b[^.;]{0,30}\b(?:not|never|n't)\b[^.;]{0,14}\b(?:receiv\w+|sent|seen|arriv\w+|forward\w+|answer\w+|pass\w*)|\blacp\b(?: \w+)? (?:come|comes|go|goes|is|are)(?: sent)? only (?:from|to|one way)\b|\blacp\b(?: \w+)? (?:stops?|stopped|ceases?|ceased)(?: being)? (?:going|sent|coming|leaving|sending|arriving)\b`)},
	// Storage of several cards by one session.
	{"one_portal", piece.Compile(`(?i)\b(?:only|just|a single|single|one)\b(?: (?:one|1|a|single|iscsi|target|active)){0,3} (?:portal|target (?:ip|portal|address)|iscsi (?:session|connection|path|target ip)|session|path|vmkernel (?:port|adapter)|vmk)\b|\bone ip(?: address)? (?:on|for|at) the (?:target|san|nas|array|storage)\b`)},
	// One uplink behind several ports.
	{"shared_uplink", piece.Compile(`(?i)\b(?:shar(?:e|es|ed|ing)|single|one|only|same|both (?:go|run|leave)[^.;]{0,16})\b[^.;]{0,24}\b(?:uplinks?|inter-?switch links?|isl|backhaul|stack(?:ing)? (?:link|cable)|link between (?:the )?(?:two )?(?:switches|racks|rooms|floors|buildings|data ?cent(?:er|re)s)|trunk (?:between|to))\b|\b(?:uplink|inter-?switch link|isl|backhaul|link between (?:the )?(?:two )?(?:switches|racks))\b[^.;]{0,30}\b(?:is|are|was|only|just|has|at|of)\b[^.;]{0,16}\b(?:saturated|full|maxed|the bottleneck|\d+ ?g(?:b|be|bps|bit)?\b|gigabit|oversubscribed)|\boversubscri\w+\b`)},
	// MPTCP with one way.
	{"one_subflow", piece.Compile(`(?i)\b(?:only|just)\b[^.;]{0,20}\b(?:1|one|a single) sub-?flow\b|\bsub-?flows?\b[^.;]{0,30}\b(?:won.?t|not|never|can.?t|cannot|fail\w*|don.?t|doesn.?t|isn.?t|aren.?t)\b[^.;]{0,20}\b(?:used?|create\w*|establish\w*|connect\w*|join\w*)|\bno (?:additional|second|extra|other|more)? ?sub-?flows?\b`)},
	// SMB over one connection.
	{"no_multichannel", piece.Compile(`(?i)\b(?:smb ?3? )?multi-?channel\b[^.;,]{0,24}\b(?:off|disabled|not (?:enabled|supported|active|working|in use|used|turned on|available)|isn.?t (?:enabled|supported|active|working|used)|(?:does|did)(?:n.?t| not) (?:work|kick in|engage|support)|never (?:enabled|turned on|kick\w*))|\b(?:without|no|not us\w+|not support\w*|lacks?|disabled) (?:smb ?3? )?multi-?channel\b|\b(?:smb|cifs|samba)\b[^.;]{0,40}\b(?:only|just|single|one)\b(?: \w+)? (?:tcp )?(?:connection|channel|session)\b|\b(?:only|just|single)\b(?: \w+)? smb (?:connection|channel|session)\b`)},
	// One request at a time.
	{"depth_one", piece.Compile(`(?i)\b(?:io-?depth|queue[- ]?depth|qd|outstanding (?:i/?os?|requests?))\b ?(?:of|is|was|=|:)? ?1\b|-iodepth[= ]1\b|\b(?:qd ?1|one (?:i/?o|request) at a time)\b|\bsingle[- ](?:threaded (?:fio|dd|test|copy|read|write)|worker)\b|\b(?:sync(?:hronous)?|o_sync|o_dsync|fsync) writes?\b`)},
	// Segments overtake each other.
	{"out_of_order", piece.Compile(`(?i)\bout[- ]of[- ]order\b|\b(?:packets?|segments?) (?:are |get |were )?(?:re-?ordered|arriv\w+ in the wrong order)|\b(?:tcp|packet|segment) re-?ordering\b`)},
	{"per_packet", piece.Compile(`(?i)\bper[- ]packet\b[^.;]{0,30}\b(?:load|balanc\w+|hash\w*|ecmp|shar\w+|distribut\w+|spray\w*)|\b(?:load[- ]?balanc\w+|ecmp|spray\w*)\b[^.;]{0,24}\bper[- ]packet\b|\bpacket spray\w*|\bround[- ]?robin\b|\bbalance-rr\b`)},
	// A provider's limit by its own words.
	{"provider_cap", piece.Compile(`(?i)\bmax(?:imum|\.)? (?:network |egress |outbound )?(?:bandwidth|throughput) (?:of|is|for)\b|\blimited network (?:bandwidth|performance|throughput)\b|\b(?:network|bandwidth|egress|throughput|outbound) (?:caps?|limits?|quotas?|throttl\w+)\b|\b\d+(?:\.\d+)? ?[GM]b(?:it)?(?:/s|ps) (?:\w+ )?(?:limit|cap)\b|\b["'“]?(?:low to moderate|moderate|low)["'”]? (?:network )?(?:performance|bandwidth)\b|\bshare the (?:port|nic|link) (?:between|with|among)\b|\b(?:capped|throttled|limited|restricted) (?:by|to|at) (?:the )?(?:aws|azure|gcp|google|amazon|hypervisor|provider|instance|vm size|machine type)`)},
	// Guests beside their host.
	{"gre_ipsec", piece.Compile(`(?i)\bgre\b[^.;]{0,40}\bip-?sec\b|\bip-?sec\b[^.;]{0,40}\bgre\b`)},
	{"iscsi", piece.Compile(`(?i)\b(?:iscsi|mpio|multipath\w*)\b`)},
	{"storage", piece.Compile(`(?i)\b(?:fio|dd|iscsi|nfs|rbd|ceph|longhorn|lun|datastore|zvol|drbd|crystaldiskmark|volume|disks?|array|san)\b`)},
	{"narrow_slot", piece.Compile(`(?i)\bx1\b[^.;]{0,16}\b(?:slot|lane|pci-?e|link|connector)|\bpci-?e?\b[^.;]{0,20}\bx ?1\b|\b(?:one|single|1) (?:pci-?e )?lane\b|\bx4\b[^.;]{0,30}\b(?:electrical\w*|wired)\b[^.;]{0,16}\bx1\b`)},
	{"usb2_word", piece.Compile(`(?i)\busb[ -]?(?:2\.0|2|ii)(?:[^.\d\w]|\.\s|\.?$)|\busb ?2(?:\.0)? ?(?:port|bus|hub|protocol|speed)|\b480 ?m(?:b(?:it)?(?:/s|ps)?)?\b`)},
	{"outside", piece.Compile(`(?i)\b(?:to|over|through|via|from) (?:the |a )?(?:public )?(?:internet|external|public ip|on-?prem\w*)\b|\bdownloads?\b|\bspeed ?tests?\b`)},
	{"ethernet_word", piece.Compile(`(?i)\b(?:ethernet|lan|nic|rj-?45|network (?:adapter|card|dongle|port|interface|chip)|gigabit (?:port|adapter)|\d(?:\.\d)? ?g(?:be|b|bit|bps)?(?: network)? (?:adapter|dongle|port))\b`)},
	{"gigabit_part", piece.Compile(`(?i)\b(?:1 ?g(?:b(?:e|its?|ps|it/s)?|ig)?|gigabit|gbe|1000 ?(?:base-?tx?|mb\w*))\b(?: \w+)? ?(?:switch\w*|router|firewall|nics?|ports?|links?|cards?|adapters?|networks?|ethernet|lan|connections?|interfaces?|uplinks?|line|(?:eth|en[opsx]|em)\w*\d)\b|\b(?:switch|router|nic|port|link|card|adapter|network|lan|interface)\b[^.;]{0,20}\b(?:is|are|has|only|of)\b[^.;]{0,16}\b(?:1 ?g(?:b(?:e|its?|ps)?|ig)?|gigabit|1000 ?mb\w*)\b`)},
	{"faster_part", piece.Compile(`(?i)\b(?:2\.5|5|10|25|40|50|100) ?g(?:b(?:e|its?|ps|it/s)?|ig|base-?\w+)?\b`)},
}

// Words before a story, in its own sentence, that deny it or only wonder.
var (
	denies  = piece.Compile(`(?i)\b(?:not|no|never|isn'?t|aren'?t|wasn'?t|don'?t|doesn'?t|didn'?t|without|ruled out|neither|nor|instead of)\b[^,;:]{0,24}$`)
	wonders = piece.Compile(`(?i)\b(?:maybe|perhaps|might|could (?:it |this |that )?be|may be|wonder\w*|worr\w+|guess\w*|suspect\w*|probably|possibly|not sure|i think|whether|what if|assum\w+|if)\b[^;]{0,60}$|\b(?:may|might|could) be (?:made )?(?:worse|aggravated|exacerbated)\b[^;]*$`)
)

// parts are stories that name what is there: one may ask about it as well.
var parts = map[string]bool{"at_lan": true, "dsl_word": true, "both_plugged": true, "router_box": true, "pod_fast": true, "vmk_several": true, "second_unreached": true, "several_addresses": true, "nic_or_all": true, "instance_rate": true, "radio_word": true, "nccl_word": true, "fast_card": true, "trunking": true, "gigabit_part": true, "faster_part": true, "usb2_word": true, "outside": true, "ethernet_word": true, "iscsi": true, "storage": true, "gre_ipsec": true, "narrow_slot": true, "several_ends": true, "one_here": true, "tunnel_word": true, "mac_hash": true, "by_port_id": true, "core_receives": true, "asks_for_one": true, "rss_false": true, "other_slot": true, "routed_way": true, "size_word": true, "multichannel": true, "program": true, "spread_tunnel": true, "esp_offload": true, "at_home": true, "nfs_word": true, "from_outside": true, "window_named": true, "policing": true, "limit_set": true, "speed_test": true}

// asked is how what is behind some words makes a question of them.
var asked = piece.Compile(`^[^.!?;]*(?:\.\w[^.!?;]*)*\?(?:\W|$)`)

// moreOf is a number before "gigabit" that makes it several.
var moreOf = piece.Compile(`(?:\d\d|[02-9]|\.\d)[ -]?$`)

// denying are stories whose own words begin with a denial.
var denying = map[string]bool{"no_gain": true, "second_unreached": true, "join_refused": true, "one_bgp_path": true, "no_lacpdus": true, "one_subflow": true, "no_multichannel": true, "one_idle": true, "rss_false": true}

// contrary are words within a story that turn it round.
var contrary = map[string]piece.Pattern{
	"modes_differ":         piece.Compile(`(?i)\b(?:nothing|neither|nor|none|no longer)\b`),
	"bind_ignored":         piece.Compile(`(?i)\b(?:used to|correctly|until|not|never|should)\b|--bind-dev`),
	"half_lost":            piece.Compile(`(?i)\b(?:no longer|not|never|was|were|went)\b`),
	"bursty":               piece.Compile(`(?i)\b(?:not|no|never|without|paces?)\b`),
	"stays_on_one":         deniedWithin,
	"cpu_bound":            piece.Compile(`(?i)\b(?:antivirus|games?|gaming)\b`),
	"udp_alone_loses":      piece.Compile(`(?i)\b(?:isp|line|gaming|voip|wi-?fi|4g|lte|radio|claims?|0 ?%|no loss)\b`),
	"arrives_by_one":       deniedWithin,
	"send_buffer_gains":    piece.Compile(`(?i)\b(?:not|no|never|hardly|any|feels?|ring|same|latency|default|than|nothing|bbr|simulat\w+|lab)\b|n['’]t\b`),
	"send_buffer_small":    piece.Compile(`(?i)\b(?:udp|not|never)\b|n['’]t\b`),
	"receive_buffer_small": piece.Compile(`(?i)\b(?:udp|not|never)\b|n['’]t\b`),
	"vmk_idle":             piece.Compile(`(?i)\b(?:separate|own|each|different)\b`),
	"order_lost":           piece.Compile(`(?i)\b(?:no|not|never|without|neither)\b|n['’]t\b`),
	"half_duplex":          piece.Compile(`(?i)\b(?:not|never|no)\b|n['’]t\b`),
	"other_way_fills":      piece.Compile(`(?i)\b(?:not|never|cannot)\b|n['’]t\b`),
}

// supposable are stories that are told behind an "if" as well.
var supposable = map[string]bool{"cables_alike": true, "udp_near": true, "large_stalls": true, "asks_for_one": true, "host_works": true, "each_same": true}

// afterwards are stories that a sentence may take back behind them.
var afterwards = map[string]bool{"isp_per_flow": true, "rtt_differs": true, "trunking": true, "share_lost": true, "table_full": true, "rpf_drops": true, "cpu_bound": true}

// doubted are words behind a story that take it back.
var doubted = piece.Compile(`(?i)\b(?:never|supposed\w*|thought|did nothing|no (?:effect|difference|change)|not (?:the case|true|it))\b`)

// present are stories of which a text may tell as well that it was so once, that it is meant,
// that somebody else says it, or that it made no difference.
var present = map[string]bool{"service_slow": true, "pod_fast": true, "card_fine": true, "udp_alone_loses": true, "both_plugged": true, "route_taken": true, "stays_on_one": true, "arrives_by_one": true, "leaves_by_first": true, "vmk_several": true, "vmk_idle": true, "same_actor": true, "not_aggregatable": true, "documented_rate": true, "credit_falls": true,
	"send_buffer_gains": true, "send_buffer_small": true, "receive_buffer_small": true, "send_buffer_set": true, "order_lost": true, "tunnel_mtu": true, "multi_part": true, "ssh_far": true, "zero_window": true}

// What stands before such a story, or behind it on the same line, where it tells so.
var (
	quoted  = piece.Compile(`(?i)\b(?:they|he|she|others|people|somebody|support|a reply|a colleague|vmware|the (?:manual|docs?|documentation|wiki|faq|vendor|helpdesk)(?: of the \w+)?) (?:said|says?|told|wrote|warns?|thinks?|believes?|claims?|suspects?)\b|\b(?:i|we) (?:read|know|heard) that\b|\b(?:it|i) was (?:said|told)\b|\bfrom the (?:manual|docs?|wiki|faq)\b|\bfaq:|\b(?:used to|no longer|was first|once|simulat\w+|on the old)\b`)
	passed  = piece.Compile(`(?i)\b(?:until (?:we|i|last|yesterday)|used to|before (?:we|i)|since (?:we|i|lacp)|any ?more|no longer|no (?:difference|change|effect)|nothing changed|changed nothing|(?:is|was|been|are) (?:now )?(?:fixed|solved|raised)|(?:i|we) (?:raised|changed|replaced|removed|scrapped|unplugged|did|overrode|set)|said (?:the|our|my|a)|as (?:it|they) (?:should|must)|on purpose|intended|by design|unrelated|not (?:involved|the problem|in the path)|for management|is fine for us|which is (?:right|fine|ok|correct|wanted)|was my|is zero|there is none|it (?:is|does) not|it (?:isn|doesn)['’]t|only (?:because|for)|(?:span|mirror) ports?|artifact|typing|keystrokes?|so (?:are|is|does)|and then never|once at|briefly|except|pull(?:ed)? (?:a|the) cable|warning|(?:in (?:our|a|the)) test)\b`)
	because = piece.Compile(`(?i)^[^.;]*\b(?:because|since|when|as) (?:of |the|it|our|its|a)\b`)
	wasSo   = piece.Compile(`(?i)\b(?:was|were|had been)\b`)
)

// numberEnds is a number that goes on behind its point.
var numberEnds = piece.Compile(`\d[.,]$`)

// tellStories notes what a line's sentences tell.
func (s *sink) tellStories(text string, l piece.Line) {
	all := sentences(text)
	if len(all) != 1 || all[0] != text {
		all = append(all, text)
	}
	for _, sentence := range all {
		_, behind, _ := strings.Cut(text, sentence)
		for _, story := range allStories {
			m := story.words.FindStringIndex(sentence)
			if m == nil || s.told(story.key) || !parts[story.key] && asked.MatchString(sentence[m[1]:]+behind) {
				continue
			}
			before := sentence[:m[0]]
			if numberEnds.MatchString(before) && sentence[m[0]] >= '0' && sentence[m[0]] <= '9' {
				continue // the end of another number: 1.25 Gbps
			}
			if story.key == "gigabit_part" && moreOf.MatchString(before) {
				continue
			}
			if !denying[story.key] && denies.MatchString(before) || !supposable[story.key] && wonders.MatchString(before) {
				continue
			}
			if afterwards[story.key] && (doubted.MatchString(sentence[m[1]:]) || deniedWithin.MatchString(sentence[m[0]:m[1]])) {
				continue
			}
			if present[story.key] && (quoted.MatchString(before) || passed.MatchString(sentence[m[0]:]+behind) || because.MatchString(sentence[m[1]:]) || wasSo.MatchString(sentence[m[0]:m[1]])) {
				continue
			}
			if words, ok := contrary[story.key]; ok && words.MatchString(sentence[m[0]:m[1]]) {
				continue
			}
			s.Set("said", story.key, sentence[m[0]:m[1]], l)
		}
		s.blame(sentence, l)
		s.deny(sentence, l)
	}
}

// blamed is how a sentence says what it was in the end, the words behind it or before it.
var (
	blamedAfter   = piece.Compile(`(?i)\b(?:root cause|culprit|(?:real |actual )?(?:problem|reason|cause|issue)) (?:was|turned out to be|is (?:that )?the)\b([^.;,]{3,60})|\bturned out (?:to be|that)\b([^.;,]{3,60})|(?:^|[^\p{L}])(?:(?:verursacher|ursache|auslöser|übeltäter|problem) (?:war|ist)|(?:schuld|verantwortlich) (?:war|ist|daran)|(?:es )?(?:lag|liegt) (?:letztlich |offenbar |wohl )?an|la cause (?:est|était)|le coupable (?:est|était)|la causa (?:era|fue|es)|el culpable (?:era|fue|es)|причин(?:а|ой) (?:была|был|оказал\p{L}*)|дело было в|(?:原因|问题)(?:就)?(?:是|在于|出在))([^.;,。，；]{3,80})`)
	blamedBefore  = piece.Compile(`(?i)([^.;]{3,60}?)\b(?:is|was|are|were|being|turned out to be)? ?(?:the )?(?:root cause|culprit|to blame)\b`)
	offloadBlamed = piece.Compile(`(?i)\b(?:(?:checksum|segmentation|receive|hardware|tcp|tso|lro) offload\w*|lro|gro|tso|lso|gso|rsc)\b`)
	cableWord     = piece.Compile(`(?i)\b(?:cables?|patch cords?|transceivers?|sfp\S*|dac|connectors?|plugs?)\b`)
	driverWord    = piece.Compile(`(?i)\b(?:drivers?|firmware)\b`)
	// modelWord is a guest's card by what it copies.
	modelWord = piece.Compile(`(?i)\b(?:nic|network (?:card|adapter|device)|netzwerkkarte|adapter|device|card)s?(?:['’]s)? ?(?:device )?(?:models?|types?|modell|typ)\b|\bger(?:ä|ae)temodell\b|\be1000e?\b|\brtl ?8139\b`)
)

// blame notes what somebody found to be it: the same facts as of a remedy that helped.
func (s *sink) blame(sentence string, l piece.Line) {
	m := blamedAfter.FindStringSubmatch(sentence)
	if m == nil {
		m = blamedBefore.FindStringSubmatch(sentence)
	}
	if m == nil || wonders.MatchString(sentence) || noHelp.MatchString(sentence) {
		return
	}
	what := strings.Join(m[1:], "")
	for _, subject := range []struct {
		key   string
		words piece.Pattern
	}{{"mtu_helps", mtuWord}, {"offload_helps", offloadBlamed}, {"ring_helps", ringWords}, {"window_helps", windowWords}, {"cable_helps", cableWord}, {"driver_helps", driverWord}, {"model_blamed", modelWord}} {
		if found := subject.words.FindString(what); found != "" && !s.told(subject.key) {
			s.Set("said", subject.key, strings.TrimSpace(m[0]), l)
			return
		}
	}
}

// Causes that sentences exclude, by the fact that each comes to.
var excluded = []struct {
	key   string
	words string
}{
	{"not_mtu", `(?:mtu|mss|jumbo(?: frames?)?|fragmentation)`},
	{"not_cpu", `(?:cpus?|processors?|cores?)`},
	{"not_disk", `(?:disks?|drives?|storage|raid|ssds?|hdds?|nvmes?|array|pool|i/o)`},
	{"not_cable", `(?:cables?|cabling|sfps?|transceivers?|optics)`},
	{"not_window", `(?:window(?: size| scaling)?|tcp[_ ](?:r|w)mem|(?:tcp |socket )?buffers?)`},
}

var exclusions = func() (out []struct {
	key   string
	shape piece.Pattern
}) {
	for _, e := range excluded {
		out = append(out, struct {
			key   string
			shape piece.Pattern
		}{e.key, piece.Compile(`(?i)\b(?:(?:is|are|was|were|it'?s|its) not|isn'?t|aren'?t|wasn'?t|not|can(?:not|'t) be|ruled out|ruling out|excluded|nothing wrong with|no (?:problem|issue)s? with)(?: (?:the|a|an|any|due to|caused by|related to|because of|about|my|our|an issue with|by)){0,3} ` + e.words + `\b(?: (?:problem|issue|bound|limited|related|bottleneck))?|\b(?:already|also|have|i'?ve|we'?ve) (?:tried|checked|tested|verified|swapped|replaced|raised|changed|ruled out|increased)\b[^.;]{0,24}\b` + e.words + `\b|\b` + e.words + `\b[^.;,]{0,20}\b(?:is|are|was|were) (?:not|n't|fine|ok|okay|correct|identical|consistent|ruled out|excluded|idle|bored|low|mostly idle|no (?:problem|issue))\b`)})
	}
	return out
}()

// anySize is how a sentence says that small frames fare as large ones do.
var anySize = piece.Compile(`(?i)\b1500(?: bytes?)?\b[^.;,]{0,12}\b(?:too|as well|also|makes? no difference|made no difference|(?:the )?same)\b|\b(?:also|even|still|same)\b[^.;,]{0,24}\b(?:with|at|on|back to|using)\b[^.;,\d]{0,16}\b1500\b|\bwith (?:and|or) without jumbo\b|\b(?:with|at|between) 1500 (?:and|or) 9000\b`)

// fragmentNeeded is the message whose absence excludes no MTU.
var fragmentNeeded = piece.Compile(`(?i)\bfragmentation[ -]needed\b`)

// deny notes which causes a sentence excludes, or whose remedy was tried already.
func (s *sink) deny(sentence string, l piece.Line) {
	if strings.HasSuffix(strings.TrimSpace(sentence), "?") || tunedWords.MatchString(sentence) && !noHelp.MatchString(sentence) {
		return
	}
	if m := anySize.FindString(sentence); m != "" && !s.told("not_mtu") {
		s.Set("said", "not_mtu", m, l)
	}
	for _, e := range exclusions {
		if m := e.shape.FindString(sentence); m != "" && !s.told(e.key) && !(e.key == "not_mtu" && fragmentNeeded.MatchString(sentence)) {
			s.Set("said", e.key, m, l)
		}
	}
}
