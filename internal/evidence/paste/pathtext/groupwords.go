package pathtext

import "github.com/linerate/linerate/internal/evidence/paste/piece"

// groupStories are what people tell of several links together: ports that have no
// link, two ports of one card, lines that differ, and a second interface; each a
// fact of "said" as those of stories are.
var groupStories = []storyWords{
	{"one_of_links", piece.Compile(`(?i)\bonly (?:1|one|a single)(?: [\d.]+ ?[mg]\w*)?(?: physical)? (?:uplinks?|links?|nics?|ports?|interfaces?|lines?|paths?|slaves?|wans?|tunnels?|rails?|hcas?|modems?|adapters?)(?: \([^()]*\))? (?:is |seems |gets |being |to be )+(?:utili[sz]ed|used|active|busy|loaded)\b|\b(?:uses?|using|chooses?|takes?) only (?:1|one|a single) (?:hca|rail|nic|adapter|wan|tunnel|modem|uplink)\b`)},
	{"trunking", piece.Compile(`(?i)\b(?:nfs|session|client) ?(?:v?4\.[12] )?(?:session )?trunking\b|\bnconnect\b`)},
	// Ports without a link, to which round robin goes on giving packets.
	{"unplugged", piece.Compile(`(?i)\b(?:ports?|links?|interfaces?|nics?|slaves?|members?)\b[^.;]{0,40}\b(?:(?:no|without (?:a |any )?)(?: \w+)? ?(?:cables?|carrier|link)\b|unplugged|not (?:plugged in|plugged|connected|cabled)(?:[.,;)]|\s*$| and\b))|\b(?:un(?:plugged|connected)|disconnected) (?:ports?|links?|interfaces?|nics?)\b|\beth\d[^.;]{0,20}\b(?:are|is) not(?: plugged| connected)?\s*$`)},
	{"share_lost", piece.Compile(`(?i)\b(?:lower\w*|reduc\w+|los[est]\w*|decreas\w+|down|drop\w*|less)(?: (?:the|its|our|my|total|by|in|some|much|more))* (?:traffic|rate|throughput|bandwidth|speed|performance|\d\d ?%)|\b(?:traffic|throughput|bandwidth|rate) (?:reduction|loss|drop)\b`)},
	{"group_down", piece.Compile(`(?i)\bifgrp\.lacp\.link\.inactive\b|\bports? \S{1,12} has transitioned to an inactive state\b`)},
	// Two ports of one card.
	{"ports_share", piece.Compile(`(?i)\b(?:each|either|every|single)(?: [\w.]+){0,2} (?:port|interface|nic)s?\b(?:[^.;]|\.\d){0,60}\b(?:alone|by itself|separately|individually)\b(?:[^.;]|\.\d){0,90}\b(?:both|together|simultaneous\w*|at the same time)\b(?:[^.;]|\.\d){0,60}\b(?:only|at most|drops?|limited|stuck|max\w* out)\b|\bone of the (?:ports?|interfaces?|nics?)\b(?:[^.;]|\.\d){0,60}\b(?:ok(?:ay)?|fine)\b(?:[^.;]|\.\d){0,60}\b(?:other|second|unrelated) (?:port|interface|nic)\b(?:[^.;]|\.\d){0,120}\b(?:drops?|los[es]\w*)\b`)},
	{"ports_share", piece.Compile(`(?:单|每个?|每一个)(?:网)?口[^。；]{0,30}(?:接近|达到|跑满|能跑|正常)[^。；]{0,20}[^。；]{0,12}(?:双|两个?|同时)(?:网)?口?[^。；]{0,40}(?:上不去|最多|只有|只能|不到)`)},
	{"ports_share", piece.Compile(`(?i)\bboth ports (?:in use|together|at once|active|at the same time)\b[^.;]{0,16}\b(?:bandwidth|throughput|rate|speed)\b[^.;]{0,12}\b(?:does not|doesn['’]t|do not|did not) (?:improve|increase|add up|double|scale|go up)\b`)},
	{"each_less", piece.Compile(`(?i)\b(?:dual|both|two) ports?\b[^;]{0,50}\d[\d.]* ?[mg]\w*(?:/s\w*)?\W{0,3} (?:on )?each\b`)},
	{"single_full", piece.Compile(`(?i)\b(?:single|one) port\b(?:[^.;]|\.\d){0,40}\d ?[mg]b\w*(?:/s\w*)?`)},
	// A port that stays outside, or comes back by hand alone.
	{"lacp_replug", piece.Compile(`(?i)\b(?:lagg?|lacp|bond|bundle|port-?channel)\b[^.;]{0,60}\b(?:not usable|unusable|does not (?:work|come back))\b[^;]{0,60}\b(?:re-?plug\w*|plugged again)`)},
	{"child_inactive", piece.Compile(`(?i)\bone of the (?:child |slave |member )?(?:devices?|ports?|slaves?|members?|interfaces?|nics?)(?: (?:is|stays|remains|goes|always)){0,2} inactive\b|\bwhen i enable the (?:other|second)\b[^.;]{0,20}\bfirst\b[^.;]{0,12}\bdisabled\b`)},
	{"half_lost", piece.Compile(`(?i)\bhalf of (?:all |the |our |my )?(?:traffic|packets|pings?|replies)\b[^.;]{0,30}\b(?:lost|missing|dropped|not there)\b|\bping repl\w+\b[^.;]{0,40}\bmissing\b`)},
	// The address that a test was bound to, and the link that it takes.
	{"bind_ignored", piece.Compile(`(?i)(?:\s-B|--bind) (?:option |flag |address |parameter )?(?:has|had) no effect\b|(?:\s-B|--bind) (?:option |flag |address |parameter )?is ignored\b|(?:\s-B\b|--bind\b|\bbound to\b|\bbind(?:s|ing)? to\b)[^;]{0,140}\b(?:comes?|leaves?|goes|is sent) (?:from|by|over|out of|through|via) the (?:other|wrong) (?:nic|interface|card|link)\b`)},
	{"no_gain", piece.Compile(`(?i)\bno (?:improvement|gain|increase) (?:over|against|compared (?:to|with)) (?:the |a )?(?:single|one) (?:link|port|nic|cable)`)},
	// One link of several has all, as it is seen from a side.
	{"stays_on_one", piece.Compile(`(?i)\b(?:traffic|load|streams?|packets|everything)\b[^.;]{0,30}\b(?:concentrated|stays?|remains?|runs?|goes|always)\b[^.;]{0,30}\b(?:on|over|through|by) (?:just |only |always )?(?:one|a single|1|the same)(?: (?:physical|single)){0,2} (?:links?|ports?|nics?|lines?|slaves?|members?)\b`)},
	{"arrives_by_one", piece.Compile(`(?i)\b(?:all of it|all (?:the )?(?:traffic|packets|data)|traffic|everything)\b[^.;]{0,40}\b(?:arrives?|received)\b[^.;]{0,16}\b(?:on|by|at|through|via) (?:just |only |always )?(?:(?:the same(?: single)?|one|a single) (?:ports?|interfaces?|nics?|links?|slaves?|members?)|the interface with the (?:first|ip|lowest|same))\b`)},
	{"leaves_by_first", piece.Compile(`(?i)\b(?:all |the )?outgoing (?:packets|traffic|data)\b[^.;]{0,24}\b(?:runs?|go|goes|leaves?|sent|flows?)\b[^.;]{0,16}\b(?:via|by|through|over|out of) the (?:first|wrong)(?: (?:one|interface|nic|port|netif|card))?(?:[.,;)]|\s*$)`)},
	{"cables_alike", piece.Compile(`(?i)\b(?:one|1) (?:cable|link|port|nic)s?\b[^.;]{0,24}\bor (?:two|both|2)\b[^.;]{0,16}\b(?:makes? no difference|the (?:speed|rate|result) (?:is|stays) (?:always )?the same|(?:it['’]?s|is) the same)`)},
	// Several vmkernel ports for one datastore's session.
	{"vmk_several", piece.Compile(`(?i)\b(?:[2-9]|two|three|four|several|multiple|both|all(?: of)?(?: the)?)(?: of the)? (?:vmkernels?|vmks?)\b(?: ports?| adapters?| interfaces?)?`)},
	{"vmk_idle", piece.Compile(`(?i)\b(?:vmkernels?|vmks?)(?: ports?| adapters?)?\b[^.;]{0,24}\bnever used\b|\ball (?:of the )?(?:vmkernels?|vmks?)(?: ports?| adapters?)? are (?:in|on) (?:the same |one |the vlan \d+ )subnet\b`)},
	// LACP that refuses a second bundle to the same partner.
	{"same_actor", piece.Compile(`(?i)\bhave the same actor system(?: id)?\b|\b(?:same|identical|equal)\b[^.;]{0,24}\b(?:actor|lacp) (?:system(?: id)?|key)\b`)},
	{"second_down", piece.Compile(`(?i)\b(?:one of the|the second|the other)(?: (?:aggregated|lacp))? (?:channels?|bundles?|aggregations?|lags?|bonds?)\b[^.;]{0,20}\b(?:does(?: not|n['’]t) work(?:[.,;)]|\s*$| though| although| at all)|stays down\b|does not come up\b|is refused\b)`)},
	// What a machine in a cloud may have, of all its cards together.
	{"nic_or_all", piece.Compile(`(?i)\b(?:what|which)(?:['’]s| is| are)?\b[^.;?]{0,40}\bper (?:nic|interface|network card|adapter|eni)\b|\b(?:is|does|are)\b[^.;?]{0,50}\bper (?:nic|interface|network card|adapter|eni)\b[^.;?]{0,40}\?|\b(?:2|two|several|multiple|more) (?:nics?|enis?|interfaces)\b[^?]{0,60}\b(?:total|doubles? it|double|add up|twice)\b[^?]{0,40}\?`)},
	{"documented_rate", piece.Compile(`(?i)\b(?:vms?|instances?|azure|aws|ec2|gcp)\b[^;]{0,80}\b(?:document|list)\w*\b[^;]{0,40}\b(?:throughput|bandwidth)\b[^;]{0,30}\d[\d,.]* ?[mg]b\w*[^;]{0,160}\b(?:we are|we.re|it is) at that number\b`)},
	{"credit_falls", piece.Compile(`(?i)\b[a-z]\d\w{0,4}\.(?:\d*x?large|medium|small|micro|nano)\b[^.;]{0,24}\b(?:drops?|falls?|goes down|throttled) to (?:about |around )?\d[\d.]* ?[mg]b(?:ps|it\w*|/s)? after (?:just |only |about |around )?\d+ ?(?:minutes?|mins?|hours?)\b`)},
	{"instance_rate", piece.Compile(`(?i)\b(?:expected|baseline|burst|max\w*) network (?:performance|bandwidth)\b|\bnetwork (?:performance|bandwidth) of (?:the|an|my|our) (?:instance|vm|virtual machine)\b`)},
	// Lines that differ, under one connection or one tunnel.
	{"slow_pulls", piece.Compile(`(?i)\b(?:drops?|falls?|slows?(?: down)?|goes|reduced)\b[^.;]{0,20}\b(?:to match|to the (?:speed|rate|pace|level) of|as slow as)\b`)},
	{"udp_adds", piece.Compile(`(?i)` + rateWord + `[^.;\d]{0,16}\b(?:with|by|over|using|in|via)\b[^.;\d]{0,8}(?:iperf\d? )?\budp\b|\budp\b[^.;\d]{0,24}\b(?:gets?|reach\w*|gives?|fills?|adds? up|combined)\b`)},
	{"tcp_lags", piece.Compile(`(?i)\btcp\b[^.;]{0,60}\b(?:extremely|very|much|far|painfully|still) (?:slow\w*|poor\w*|low\w*|less)\b|\b(?:poor|slow|low|bad)\b[^.;]{0,24}\btcp\b`)},
	{"rtt_differs", piece.Compile(`(?i)\b(?:rtt|round[- ]trip(?: times?)?|latency|latencies|delay)s?\b[^.;]{0,30}\b(?:differ\w*|unequal|asymmetr\w*|unlike)\b|\b(?:differ\w+|unequal|asymmetr\w*)(?: \w+){0,2} (?:rtts?|round[- ]trips?|latenc\w+|delays?)\b`)},
	{"adds_less", piece.Compile(`(?i)\b(?:aggr\w*|sum|total|combined|throughput|tp)\b[^.;]{0,24}\b(?:gets?|getting|is|becomes?|becoming) (?:\w+ )?(?:worse|less|lower|smaller)\b|\bless than\b[^.;]{0,24}\b(?:one|single) (?:interface|link|path)\b`)},
	{"join_refused", piece.Compile(`(?i)\b(?:second|other|additional)(?: ones?)?(?: sub-?flows?)?\b[^.;]{0,16}\b(?:don['’]?t|do not|doesn['’]?t|never|can['’]?t|cannot) (?:connect|join|answer|get (?:an )?answer)|\btri(?:es|ed) to connect\b[^.;]{0,40}\bsub-?flow\b[^.;]{0,24}\b(?:can['’]?t|cannot|fails?)`)},
	// A second interface that nobody reaches.
	{"second_unreached", piece.Compile(`(?i)\bonly one(?: of (?:them|these|the \w+))?\b[^.;]{0,24}\b(?:is |are )?(?:reachable|answers?|responds?)\b|\b(?:do(?:es)?\b[^.;?]{0,40}\bnot|do(?:es)?n[\'’]t|never|cannot|can[\'’]?t|no longer) (?:respond|answer|repl)\w*\b[^.;?]{0,40}\b(?:second|2nd|other) (?:nic|interface|ip|address|card|adapter)\b|\b(?:access|reach|ping|connect to)\b[^.;?]{0,60}\bon one (?:nic|interface|address|ip),? but not (?:on |via |by )?(?:the |an)?other\b`)},
	{"several_addresses", piece.Compile(`(?i)\b(?:2|two|three|several|multiple|both)(?: \w+){0,2} (?:nics?|netifs?|interfaces?|ips?|ip addresses|addresses|network cards|subnets|adapters)\b|\bsecond (?:nic|interface|network card|adapter)\b`)},
	// A tunnel's program that takes over the local network.
	{"route_taken", piece.Compile(`(?i)\broutes? (?:for|to) (?:10|172|192)\.\S{5,16} (?:gets?|is) (?:added|installed|taken over|created) by (?:tailscale|zerotier|wire ?guard|open ?vpn|the vpn)\b`)},
	{"dsl_word", piece.Compile(`(?i)\b[av]?dsl\b|\bmodems?\b`)},
	{"at_lan", piece.Compile(`(?i)\b(?:on (?:my|the|our) (?:own )?lan|(?:my|the|our|same|local) (?:lan|local network|subnet)|directly connected|lan ips?|local ips?)\b`)},
	// What one limits for each connection.
	{"isp_per_flow", piece.Compile(`(?i)\b(?:isps?|providers?|carriers?|telcos?)\b[^.;]{0,30}\b(?:limit|throttl|cap|shap|restrict)\w*\b[^.;]{0,40}\b(?:single|per|each|one) (?:link|connection|stream|session|flow|tcp)\b`)},
	// Packets of a program that come in heaps.
	{"bursty", piece.Compile(`(?i)\biperf\d?\b(?:[^.;]|\.\d){0,80}\b(?:burst(?:s|y|iness)|in bursts)\b|\b(?:sending|traffic|udp) (?:is |are )?(?:very |so |too |quite )?bursty\b`)},
	// A port that is slow at the faster of its speeds.
	{"fast_port_slow", piece.Compile(`(?i)\b(?:rx|tx|speed|throughput|rate|performance|download|upload)\b[^.;]{0,24}\b(?:drops?|falls?|slow\w*)\b[^.;]{0,30}\bwhen\b[^.;]{0,24}\bat\b[^.;]{0,8}\b(?:2[.,]5|5|10) ?g\w*|\bat 1 ?g\w*(?:/s)?\b(?:[^.;]|\.\d){0,24}\b(?:reach\w*|full\w*|fine|9\d\d ?m\w*|line rate)\b(?:[^.;]|\.\d){0,30}\bat (?:2[.,]5|5|10) ?g\w*(?:/s)?\b(?:[^.;]|\.\d){0,30}\b(?:only|just|drops?|slow\w*)\b`)},
	// It was faster before a new version.
	{"version_slows", piece.Compile(`(?i)\b(?:way down|(?:much |far |very |a lot )?slow\w*|worse|dropp?\w*|degrad\w*|regress\w*|lower)\b[^.;]{0,20}\b(?:with|since|after|from)\b[^.;]{0,12}\b(?:the |a |an )?(?:latest|newer|newest|recent|updat\w+|upgrad\w+)\b[^.;]{0,24}\b(?:builds?|versions?|drivers?|firmwares?|kernels?|releases?)\b`)},
	// The same way and disks, and another program is fast.
	{"slower_than_other", piece.Compile(`(?i)\b(?:slow\w*|worse|poor)\b[^.;]{0,40}\b(?:compared (?:to|with)|than)\b[^.;]{0,40}\b(?:server|client|program|tool|implementation|file manager)\b|\b(?:other|another) (?:file managers?|programs?|apps?|tools?|servers?)\b(?: [\w']+){0,4} (?:reach|gets?|achieves?|writes?|does|do|manages?|runs?|has)\b[^.;\d]{0,12}\d[\d.]* ?[kmg]b?\w*`)},
	// A guest's card, and a link that is far faster.
	{"virtio_gets", piece.Compile(`(?i)\b(?:only |just )?(?:get|gets|reach\w*|see|have)\b[^.;]{0,16}\b(?:\d|1\d|2\d)(?:\s?-\s?\d\d?)? ?gb\w*(?:/s)?\b(?:[^.;]|\.\d){0,60}\b(?:with|by|over|using|through|via) (?:\w+ ){0,2}virtio`)},
	{"fast_card", piece.Compile(`(?i)\b(?:40|50|100|200|400) ?g(?:b|bps|be|bit\w*|bits?/s)?\b[^.;]{0,24}\b(?:network cards?|nics?|cards?|ports?|adapters?|links?)\b|\b(?:40|50|100|200)000 ?mb`)},
	// The switch's or host's hash of MAC addresses, as it is told.
	{"mac_hash", piece.Compile(`(?i)\b(?:layer[- ]?2|l2) (?:information|hash\w*|policy)\b|\bhash\w*(?: type| policy| method)? (?:at |is |of |to |= ?)?(?:layer[- ]?2|l2)(?:[^+\d]|$)|\b(?:chooses?|decides?|selects?|picks?)\b[^.;]{0,24}\bby (?:the )?mac(?: address(?:es)?)?\b`)},
	// The vendor's software for a radio, and another.
	{"vendor_radio", piece.Compile(`(?i)\b(?:stock|original|oem|factory|vendor(?:'s)?)(?: [\w.-]+){0,2} (?:firmware|image|software)\b(?: \([^()]*\))?[^.;]{0,60}\b(?:gets?|gives?|shows?|reach\w*|does|is)\b(?: about| around| up to| at)? ?[~>]{0,2}\d{2,4}\+? ?m`)},
	{"nccl_word", piece.Compile(`(?i)\b(?:nccl|rccl|all_?reduce|gpudirect|ucx|infiniband|rdma|ib_write)\w*`)},
	{"radio_word", piece.Compile(`(?i)\b(?:wi-?fi|wlan|802\.11\w*|2\.4 ?ghz|5 ?ghz|wireless)\b`)},
}
