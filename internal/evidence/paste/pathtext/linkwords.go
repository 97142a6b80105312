package pathtext

import "github.com/linerate/linerate/internal/evidence/paste/piece"

// grows are words of a count that goes up, or is high.
const grows = `(?:increas\w+|climb\w*|grow\w*|going up|goes? up|count(?:s|ing)? up|incrementing|rising|thousands|millions|\d{3,})`

// bundleWord is what a sentence calls several links that are one.
const bundleWord = `(?:lacp|port-?channels?|ether-?channels?|lags?|bond\w*|teamd?|802\.3ad)`

// linkStories are what people tell of several links, of storage over them and of guests,
// each a fact of "said" as those of stories are.
var linkStories = []storyWords{
	// One of several links is full, another has nothing to do.
	{"one_idle", piece.Compile(`(?i)\b(?:(?:near[- ]|full[- ]|almost[- ])*(?:wire|line)[- ]?(?:speed|rate)|full (?:speed|rate)|saturat\w+|max(?:es|ed|ing)? out|100 ?%)\b[^.;]{0,30}\b(?:for |on |of )?only (?:for |on |of )?(?:one|a single|1)\b|\b(?:traffic|load|activity|data|packets)\b[^.;]{0,16}\b(?:on|over|through|via|in) (?:only |just )?(?:one|a single|1) (?:nic|adapter|port|link|interface|uplink|member|card|vmnic|pnic)\b(?: only)?|\b(?:(?:only|just) us(?:es|ed|ing)|uses? (?:only|just)) (?:ent|eth|en[opsx]|em|ixl?|igb|vmnic|ge-|xe-|gi|te)[\w/-]*\d\b|\bonly (?:ent|eth|en[opsx]|em|ixl?|igb|vmnic|ge-|xe-|gi|te|nic ?|port ?)[\w/-]*\d (?:transmits?|sends?|carries|is (?:used|active|sending)|has traffic|shows? traffic|moves?)\b|\bthe (?:other|second|2nd)(?: (?:one|two|three|links?|nics?|ports?|interfaces?|slaves?|members?|cards?|adapters?|uplinks?|cables?|eth\d|vmnic\d)){0,2}\b[^.;]{0,14}\b(?:does nothing|do nothing|idles|idling|(?:is|are|sits?|stays?|remains?|was|were)(?: \w+)? (?:idle|unused|at (?:0|zero)|empty|silent|quiet)|(?:is|are|was|were)(?: (?:not|never|barely|hardly|almost not|n't)|n't)(?: \w+)? (?:used|touched|utili[sz]ed)|(?:gets?|sees?|carries|shows?|has) (?:no (?:traffic|load|packets|data)|nothing|almost nothing|hardly any(?:thing)?|zero|0 ?[kmg]?b?))\b`)},
	// The same way is fast in the other direction.
	{"other_way_fast", piece.Compile(`(?i)\b(?:reverse|other|opposite) (?:direction|way)\b[^.;]{0,50}(?:\b(?:is |works? )?(?:fine|fast|full speed|ok|perfect\w*)\b|\b\d{3,} ?mb|\b\d+(?:\.\d+)? ?gb)|\b\d[\d.]* ?[mg]b(?:ps|it\w*(?:/s)?)? (?:transmit|send\w*|tx|up\w*)\b[^.;]{0,12}\b\d{3,}(?:\.\d+)? ?mb(?:ps|it\w*(?:/s)?)? (?:receiv\w*|rx|down\w*)\b`)},
	{"several_ends", piece.Compile(`(?i)\b(?:two|three|four|five|six|several|multiple|many|both|different|separate|\d{1,2})(?: (?:\w+-)?\w+){0,2} (?:hosts|clients|servers|machines|pcs|computers|workstations|receivers|nodes|hypervisors|desktops|destinations|users)\b|\bone (?:file |copy |stream )?to each\b|\bfrom each (?:of the )?(?:clients?|hosts?|machines?)\b`)},
	// The end that asks has one link, whatever the other has.
	{"one_here", piece.Compile(`(?i)\b(?:initiator|client|desktop|workstation|laptop|(?:my|the|single) (?:pc|mac|computer|machine))\b[^.;]{0,40}\b(?:(?:only |just )?(?:1|one|a single)|single) ?(?:x )?(?:\w+ ){0,2}?(?:nic|port|interface|adapter|network card|cable|link|connection|gigabit)\b`)},
	// Nobody answers LACP, or ports that do not come together.
	{"macs_on_port", piece.Compile(`(?i)\bmacs?(?:[ -]address(?:es)?)?\b[^.;]{0,60}\b(?:port|interface)s? (?:itself|itselves|themselves|directly|alone)\b[^.;]{0,30}\b(?:not|instead of|rather than)\b[^.;]{0,20}\b(?:lag|trunk|channel|aggregat\w+|bundle|group|port-?channel)|\bmacs?(?:[ -]address(?:es)?)?\b[^.;]{0,60}\b(?:on|at|with|behind|to)\b[^.;]{0,24}\b(?:(?:single|physical|individual|member) )(?:port|interface)s?\b[^.;]{0,30}\b(?:not|instead of|rather than)\b[^.;]{0,20}\b(?:lag|trunk|channel|aggregat\w+|bundle|group|port-?channel)`)},
	{"no_partner", piece.Compile(`(?i)\bpartner(?:'s)?(?: (?:churn|system|mac|address|id|oper))*\b[^.;]{0,24}\b(?:(?:00[:-]){5}00|all[- ]zeros?|zeros|empty)\b`)},
	{"aggregators_differ", piece.Compile(`(?i)\b(?:two|three|four|different|separate|their own|its own|distinct|several|other)\b(?: lacp)? (?:aggregators?|aggregation (?:group|id)s?|aggregator[- ]ids?)\b|\baggregator ?(?:ids?|numbers?)\b[^.;]{0,16}\b(?:differ\w*|not (?:the same|equal)|do(?:es)?(?: not|n't) match)\b`)},
	// A switch's port drops what its queue does not hold.
	{"port_drops", piece.Compile(`(?i)\b(?:(?:thousands|millions|hundreds|many|lots?|plenty|high|huge|increas\w+|incrementing|growing|climbing|rising|see\w*|shows?|with|has|have|lots of|\d{3,}) (?:of )?(?:[a-mo-y]\w* ){0,2})(?:output|egress|tail|outbound)[- ]?(?:queue )?(?:drops?|discards?)\b|\b(?:output|egress|tail|outbound)[- ]?(?:queue )?(?:drops?|discards?)\b[^.;]{0,24}\b(?:increas\w+|climb\w*|grow\w*|count(?:s|ing)? up|going up|goes? up|incrementing|rising)\b`)},
	// A card whose ring is full, or whose frames are damaged; a program that does not read.
	{"ring_drops", piece.Compile(`(?i)\b(?:rx[ _-]?(?:drop(?:ped|s)?|missed(?:_errors?)?|overruns?|no_(?:buffer|buf)\w*|out_of_buffer|fifo\w*|discards?)|receive (?:drops|discards|overruns))\b[^.;]{0,30}\b` + grows + `|\b` + grows + `[^.;]{0,20}\brx[ _-]?(?:drop(?:ped|s)?|missed(?:_errors?)?|overruns?|no_(?:buffer|buf)\w*|out_of_buffer|discards?)\b`)},
	{"crc_grows", piece.Compile(`(?i)\b(?:crc|fcs|symbol|alignment)[ _-]?errors?\b[^.;]{0,30}\b` + grows + `|\b` + grows + `[^.;]{0,12}\b(?:crc|fcs|symbol|alignment)[ _-]?errors?\b`)},
	{"multi_part", piece.Compile(`(?i)\bother (?:pc|host|end|machine|computer|side|server|laptop) (?:has|with|is|uses|only has) (?:just |only )?(?:a |an )?2\.5 ?g(?:b(?:e|it|ps)?|ig)?(?: ethernet)?[- ](?:pci-?e |usb |rj45 )?(?:(?:network )?card|nic|port|adapter|interface)\b`)},
	{"zero_window", piece.Compile(`(?i)\b(?:tcp )?(?:zero[- ]?windows?|window(?: is)? full)\b[^.;]{0,40}\b(?:all the time|constantly|often|many|lots|repeatedly|again and again|every)\b|\b(?:many|lots of|constant\w*|repeated\w*|full of|see\w*|shows?) (?:[a-mo-y]\w* ){0,2}(?:tcp )?zero[- ]?windows?\b|\b[1-9]\d+ (?:tcp )?zero[- ]?windows? (?:segments?|packets?|events?) in (?:a (?:matter|couple|few)|\d+ ?s)\b|\b(?:goes|gets|falls?) in(?:to)? (?:a |the )?(?:tcp )?zero[- ]?window(?: state)?\b`)},
	// Whose work fills a core: the receiver's.
	{"suspended", piece.Compile(`(?i)\b(?:ports?|links?|interfaces?|members?)\b[^.;]{0,40}\b(?:is|are|was|in|on|goes?|stays?|gets?)\b[^.;]{0,8}\bsuspended\b[^.;]{0,40}\b` + bundleWord + `\b|\b` + bundleWord + `\b[^.;]{0,60}\b(?:ports?|links?|interfaces?|members?)\b(?: [a-mo-z]\w*){0,4} suspended\b`)},
	{"core_receives", piece.Compile(`(?i)\b(?:receiv\w+(?: (?:side|end))?|softirq\w*|%?soft\b|interrupts?|irqs?|rps|rfs)\b[^.;]{0,50}\b(?:core|cpu|thread)s?\b[^.;]{0,40}\b(?:9[5-9]|100) ?%|\b(?:core|cpu)s?\b[^.;]{0,40}\b(?:9[5-9]|100) ?%[^.;]{0,30}\b(?:softirq\w*|soft|si|interrupts?|irqs?|receiv\w+)\b|\b(?:drop(?:s|ped)?|los\w+)\b[^.;]{0,12}\bpackets?\b[^.;]{0,40}\b(?:coming|com(?:es|e)|arriv\w+|incoming|inbound|receiv\w+)\b`)},
	{"softnet_grows", piece.Compile(`(?i)\b(?:softnet\w*|time_squeeze\w*)\b[^.;]{0,40}\b(?:` + grows + `|grows|drops?|high|large)`)},
	// Whether a bundle gives one more than a link: the question itself tells what is there.
	{"asks_for_one", piece.Compile(`(?i)\b(?:can|could|will|would|does|do|should|possible|support\w*)\b[^.;]{0,60}\b(?:one|a single|single)[- ](?:\w+ )?(?:file|thread\w*|stream|connection|session|client|transfer|copy|mount)\b[^.;]{0,40}\b(?:across|over|on|via|by|span\w*)\b[^.;]{0,16}\b(?:multiple|several|both|all|two|more than one)\b[^.;]{0,16}\b(?:nic|link|port|interface|card|adapter)(?:'?s)?\b|\b(?:can|could|will|would|does|do|should|possible)\b[^.;]{0,90}\b(?:one|a single|single|1|my|the same) (?:\w+ )?(?:vm|guest|client|file|workstation|pc|connections?|stream|transfer|copy|user|desktop|computer|laptop|flow|session)\b[^.;]{0,60}\b(?:\d+ ?g\w*|\d+ ?mb\S*|bandwidth|speed|faster|throughput|double|twice|combined|all (?:of )?(?:the )?(?:two|three|four|\d) ?\w+)\b|\b(?:can|could|will|would|does|do|should|possible)\b[^.;]{0,60}\b(?:bandwidth|speed|throughput|double|twice|combined|\d+ ?g\w*)\b[^.;]{0,60}\b(?:one|a single|single|my) (?:\w+ )?(?:vm|guest|client|file|workstation|pc|connections?|stream|transfer|copy|user|desktop|computer|laptop|flow|session)\b`)},
	// More comes for a link than it carries, and packets that nobody forwards.
	{"oversubscribed", piece.Compile(`(?i)\b(?:egress|uplinks?|links?|ports?|interfaces?|traffic|load)\b[^.;]{0,60}\b(?:is|are|was|hence|thus|so|being|gets?|becomes?) (?:\w+ )?over-?subscribed\b|\bhence over-?subscribed\b`)},
	{"traffic_lost", piece.Compile(`(?i)\btraffic[- ]loss\b|\btraffic (?:\w+ ){0,3}(?:is|gets|was) (?:lost|dropped|black-?holed)\b|\bblack-?hol(?:ed|ing) (?:\w+ ){0,2}traffic\b|\b(?:w(?:ould|ill)|do(?:es)?|did)(?: not|n['’]t) (?:forward|pass|carry) (?:any )?(?:traffic|packets|frames)\b`)},
	// A router that takes one of several paths.
	{"one_bgp_path", piece.Compile(`(?i)\b(?:bgpd?|quagga|frr|bird|router)\b[^.;]{0,30}\bonly (?:be )?(?:pick|install|us|choos|select|tak)\w*\b[^.;]{0,8}\b(?:one|a single|1)\b[^.;]{0,16}\b(?:path|route|next[- ]?hop)\b|\b(?:no|without|lack of|lacks|missing|not support\w*)\b[^.;]{0,24}\bbgp multi-?path\b`)},
	// A port that waits outside: the kernel's own word.
	{"churned", piece.Compile(`(?i)\b(?:is|was|as|shows?|state|stays?|one|two|both|ports?|:) (?:still )?churned\b|\bchurned (?:state|ports?)\b`)},
	// The path says that packets are too large.
	{"frag_asked", piece.Compile(`(?i)\b(?:needs? to frag\w*|frag\w* needed|packet too big)\b`)},
	// SMB opens several connections on cards with RSS alone.
	{"rss_false", piece.Compile(`(?i)\brss[- ]?(?:capable)?\b[^.;]{0,12}\b(?:false|not (?:capable|enabled|supported)|disabled|off|missing)\b|\bno rss\b`)},
	{"slot_limit", piece.Compile(`(?i)\b(?:ceiling|limit(?:s|ed|ation)?|cap(?:s|ped)?|bottleneck\w*|maxim\w+)\b[^.;?]{0,70}\b(?:through|of|by|over|is|for) (?:the |a |an |my |its |this |that )?(?:[a-mo-z\d][\w']* ){0,3}pci-?e?(?: ?express)?(?: (?:2|3|4|gen ?\d)(?:\.\d)?)? (?:slot|bus|lanes?|link|bandwidth|connection)\b|\bpci-?e?(?: ?express)? (?:slot|bus|lanes?|link|bandwidth) (?:is|was|becomes?) (?:the |my |our )?(?:limit\w*|bottleneck\w*|ceiling)\b`)},
	{"other_slot", piece.Compile(`(?i)\b(?:slow\w*|only|less|lower|half|worse)\b[^;]{0,100}\b(?:different|other|another|second|lower|bottom) (?:pci-?e?(?: express)? )?slot\b|\b(?:different|other|another|second|lower|bottom) (?:pci-?e?(?: express)? )?slot\b[^;]{0,60}\b(?:slow\w*|only|less|lower|half|worse)\b`)},
	// ESXi's default, by its name.
	{"by_port_id", piece.Compile(`(?i)\broute[d]? based on (?:the )?(?:originating|source) (?:virtual )?port\b|\boriginating (?:virtual )?port(?: id)?\b|\bvirtual port id\b`)},
	// Larger than this host's own link.
	{"too_long", piece.Compile(`(?i)\bmessage too long\b`)},
	// A hash of MACs, and a router before it.
	{"mac_hash", piece.Compile(`(?i)\b(?:src|source|dst|dest\w*|src-dst|source-dest\w*)[- ]mac\b[^.;]{0,24}\b(?:load[- ]?balanc\w+|hash\w*|algorithm|method|policy|distribution)\b|\b(?:load[- ]?balanc\w+|hash\w*|policy|algorithm|method)\b[^.;]{0,24}\b(?:src|source|dst|dest\w*|src-dst|source-dest\w*)[- ]mac\b`)},
	{"routed_way", piece.Compile(`(?i)\b(?:(?:one|only|single|same|all)(?: \w+){0,3} (?:source |src )?mac(?: address)?\b|(?:through|behind|via|from|by|is) (?:the |a |our |one )?(?:router|gateway|firewall|layer ?3 switch)|(?:router|gateway|firewall) (?:is|has|sends|between)|routed|(?:another|different|other) (?:subnets?|vlans?))`)},
	// A tunnel, by its name alone.
	{"tunnel_word", piece.Compile(`(?i)\b(?:ip-?sec|wire ?guard|open ?vpn|vpn|vxlan|geneve|pppoe|gre|tunnel)\b`)},
	{"large_fails", piece.Compile(`(?i)\b(?:pings?|ssh|small (?:\w+ )?(?:packets?|pages?|files?|requests?|transfers?))\b[^.;]{0,30}\b(?:works?|working|fine|ok|pass(?:es)?|go(?:es)? through)\b[^.;]{0,30}\b(?:large\w*|big\w*|bulk|full|downloads?|uploads?|scp|file (?:copy|transfers?))\b[^.;]{0,30}\b(?:hangs?|stalls?|fails?|time(?:s)? out|freez\w+|do(?:es)?(?: not|n't) work|nothing|never)\b`)},
	// What stands at home, and somebody who is elsewhere.
	{"at_home", piece.Compile(`(?i)\b(?:(?:to|into|at|from|my|back) home|home (?:network|lan|server|nas|line|connection|lab)|homelab|my (?:nas|server|lan|network|media server|plex))\b`)},
	{"from_outside", piece.Compile(`(?i)\b(?:from (?:the )?outside|remote(?:ly)?|away from home|when i(?:'m| am) (?:out|away|abroad)|leave the house|from (?:work|the office|abroad|the internet|another (?:place|house|site|location)|my phone)|over (?:lte|4g|5g|mobile)|vpn)\b`)},
	// The speed of a bundle's port is not known to the kernel.
	{"speed_unknown", piece.Compile(`(?i)\bspeed\b["' ]{0,3}(?:is |of |shows? (?:as )?|reported as |:|=)? ?["']?(?:-1\b|unknown!?)`)},
	// Work that a card or a virtual one could take over, and does not.
	{"offload_on_helps", piece.Compile(`(?i)\b(?:(?:if|when|once) (?:i|we) )?(?:disabl\w+|turn(?:ed|ing)? off|switch(?:ed|ing)? off|without)\b[^.;]{0,16}\b(?:(?:tso|gso|gro|hw nat)\b|(?:routing(?:/nat)?|nat|flow|software flow|hardware flow|hardware|hw|segmentation) ?(?:offload\w*|acceleration)|fast-?track\w*|ctf\b)[^;]{0,60}\b(?:only|drops? to|slow\w*|less|lower|worse|falls?|halv\w+)\b|\b(?:enabl\w+|turn(?:ed|ing)? on|switch(?:ed|ing)? on|activat\w+)\b[^.;]{0,24}\b(?:scatter[- ]?gather|sg|tso|gso|gro|(?:tx |rx )?checksum\w*|(?:segmentation |checksum |hardware )?offload\w*)\b[^;]{0,60}\b(?:boost|improv\w+|faster|help(?:s|ed)|better|increas\w+|doubl\w+|went from|jump\w*)\b`)},
}
