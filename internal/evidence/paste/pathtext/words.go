package pathtext

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// PathWords is the reader of such sentences.
var PathWords = piece.Reader{
	Kind:      "a path in words",
	Starts:    mayTell,
	Sentences: true,
	Read:      func(s *piece.Sink, lines []piece.Line) int { return readWords(&sink{s}, lines) },
}

// fewestWords are those of a sentence.
const fewestWords = 5

// fewestPairs are those of a line of keys and values, which nobody speaks.
const fewestPairs = 5

// marks are words of which each line that counts has one.
var marks = []string{"stall", "flannel", "calico", "cilium", "weave", "canal", "vxlan", "geneve", "ipip", "wireguard", "openvpn", "ipsec", "strongswan", "tailscale", "zerotier", "netbird", "tunnel", "vpn", "overlay", "nebula", "tinc", "n2n", " gre", "backend",
	"pod", "container", "kube", "k3s", "k8s", "rke", "docker", "virtio", "vmxnet", "netvsc", "hyper-v", "e1000", "guest", "mtu", "mss", "offload", "lro", "gro", "tso", "lso", "gso", "checksum",
	"bps", "bit", "b/s", "ring", "window", "tcp_", "mem_max", "cable", "transceiver", "driver", "firmware", "buffer", "pci", "relay", "derp", "socket", "pause", "flow control", "802.3x", "per connection", "downloads", " ms", "ping", "iperf", "stream", "starlink", "lte", "loss", "cpu", "core", "gateway", "interface", "nic", "queue", "frame", "repl", "respon", "eni", "rout", "asymmetr", "reach", "communicate", "usb", "subnet", "portal", "arp ", "fast at", "for a while", "minutes", "load", "10g", "rx ", "rps", "rss", "irq", "interrupt", "throttl", "2.5g", "mptcp", "multipath", "mile", "distance", "ocean", "transatlantic", "region", "data center", "datacenter", "away", "ack", "udp", "bbr", "forward", "firewall", "/2", "/1",
	"lacp", "802.3ad", "static", "switch", "uplink", "icmp", "gigabit", "gbe", "1g", "instead of", "rather than", "out of order", "out-of-order", "per-packet", "per packet", "robin", "iscsi", "portal", "depth", "sync", "moderate", "limited", "limit", "capped", "quota", "oversubscri", "multichannel", "multi-channel", "smb", "480m", "culprit", "root cause", "turned out", "to blame", "the problem was", "the issue was", "the cause was", "disk", "storage", "x1", "slot", "lane", "traffic", "packet", "martian", "the other", "speed", "client", "initiator", "ethtool", "drop", "discard", "aggregator", "partner", "rx_", "not use", "n't use", "crc", "fcs", "too long", "only", "softnet", "squeeze", "churn", "aspm", "eee", "energy", "duplex", "fragment", "black hole", "blackhole", "collision", "shaping", "autotun", "auto-tun", " arp", "frag", "handshake", "hello", "retrans", "direct", "direkt", "sqm", "qos", "firmware", "slower than", "iowait", "nfs", "read-ahead", "readahead", "read_ahead", "mac", "polic", "htb", "tbf", "maxbw", "bandwi", "below", "pps", " wan", "conntrack", "table", "unconfirmed", "outstanding", "in flight", "in-flight", "latency", "hash", "port", "bond", "trunk", "multi-path", "throughput", "rtt", "vmkernel", "network card", "the same file", "网口", "宽带", "nccl", "rdma", "infiniband", "improvement", "enable the", "重", "丢包", "丟包", "パケット", "再送", "потер", "paketverlust", "paquet", "pacote"}

// shortRate is a short line that tells the rate of a way: "with the VPN: 20 Mbps".
var shortRate = piece.Compile(`(?i)^[\s>*-]*(?:\w+ )?(?:with(?:out)?|via|by|over|through|using|inside)\b[^.;]{2,30}\d ?[kmg](?:i?b|bit)`)

// wayLabel is what people write above an output to say by which way it went: "Over Tailscale:".
var wayLabel = piece.Compile(`(?i)^[\s#>*-]*(?:\w+ ){0,3}(?:wire ?guard|open ?vpn|ip-?sec|tailscale|zero ?tier|vpn|tunnel|vxlan|overlay)(?: \w+){0,2}\**:\**\s*$`)

// bufferSet is a line of a program that sets a socket's buffer.
var bufferSet = piece.Compile(`\bset(?:Send|Receive)BufferSize\(|\bSO_(?:SND|RCV)BUF\b`)

func mayTell(line string) bool {
	if tellsSize(line) {
		return true
	}
	if strings.Contains(line, "EMSGSIZE Path-MTU=") || bufferSet.MatchString(line) {
		return true
	}
	if !piece.Spoken(line) || strings.Count(line, "=") >= fewestPairs {
		return false
	}
	low := strings.ToLower(line)
	if backend.MatchString(low) || directive.MatchString(line) || volumeWords.MatchString(line) || workedThen.MatchString(line) || thisHelped.MatchString(line) || fixedIt.MatchString(line) {
		return true
	}
	return (piece.WordCount(line) >= fewestWords || shortRate.MatchString(line) || wayLabel.MatchString(line)) && slices.ContainsFunc(marks, func(m string) bool { return strings.Contains(low, m) })
}

// emulated reports a guest's card that copies one which machines have as well.
func emulated(card string) bool {
	low := strings.ToLower(card)
	return strings.HasPrefix(low, "e1000") || strings.HasPrefix(low, "rtl")
}

// tunnels are what sentences name, the surest first.
var tunnels = []struct {
	name  string
	words piece.Pattern
}{
	{"wireguard", piece.Compile(`(?i)\bwire ?guard\b|\bwg[-\d]\w*\b|\btailscale\b|\bnetbird\b|\bnetmaker\b`)},
	{"openvpn", piece.Compile(`(?i)\bopen ?vpn\b`)},
	{"ipsec", piece.Compile(`(?i)\bip-?sec\b|\b(?:strong|libre|open)swan\b`)},
	{"geneve", piece.Compile(`(?i)\bgeneve\b|\bovn\b`)},
	{"vxlan", piece.Compile(`(?i)\bvxlan\w*\b`)},
	{"ipip", piece.Compile(`(?i)\bip-?in-?ip\b|\bipip\b`)},
	{"gre", piece.Compile(`(?i)\bgre(?:tap)?\b`)},
	{"zerotier", piece.Compile(`(?i)\bzero ?tier\b`)},
	{"vpn", piece.Compile(`(?i)\b(?:nebula|tinc|n2n|softether|\w{2,}vpn)\b`)},
	{"tunnel", piece.Compile(`(?i)\b(?:vpn|l2tp|6in4|overlay|tunnell?(?:ed|ing|s)?)\b`)},
}

var (
	backend    = piece.Compile(`(?i)\bbackend\b[^:]*:\s*\{?"?(?:type"?\s*[:=]\s*)?["'` + "`" + `]?(udp|vxlan|host-gw|wireguard|ipip|ipsec)\b`)
	directive  = piece.Compile(`^\s*(?:(dev tun\d*|cipher [A-Z\d-]+|proto (?:udp|tcp)[46]?|tun-mtu \d+|ip tcp window-size \d+)|(AllowedIPs ?= ?[\d.:/, a-f]+)|(esp ?= ?[\w!,-]+|keyexchange ?= ?ikev\d))\s*$`)
	flannelUDP = piece.Compile(`(?i)\bflannel\b[^.;]{0,50}\budp\b|\budp\b[^.;]{0,20}\bbackend\b`)
	notUDP     = piece.Compile(`(?i)\b(?:not|no|instead of|than) ["'` + "`" + `]?udp\b|\bor udp\b|\bvxlan\b`)
	cluster    = piece.Compile(`(?i)\b(?:pods?|kubernetes|kubelet|k8s|k3s|microk8s|rke2?|flannel|calico|cilium|weave|canal|kube-?router|docker|podman|gvisor|cni|containers?(?:['’]s)? (?:ip|network\w*|address\w*))\b`)
	guests     = piece.Compile(`(?i)\b(virtio(?:[-_ ]?net)?|vmxnet ?3?|netvsc|hv_netvsc|netkvm|e1000[eg]?|rtl ?8139|xen-?netfront)\b`)
	virtual    = piece.Compile(`(?i)\b(?:vms?|virtual\w*|guests?|vmware|esxi?|qemu|kvm|proxmox|hyper-?v|emulat\w+|hypervisors?|xen\w*|xcp\w*|vmxnet\w*|virtio\S*|unraid|bhyve|domu)\b`)
)

// What an offload is called, and what is said of a rate that went down.
const (
	offloadName = `\b(?:offload\w*|lro|gro|tso|lso|gso|rsc)\b`
	gotWorse    = `\b(?:\d+ times slower|slower|worse|crawls?|very (?:low|slow)|(?:becomes?|gets?|is|goes|went) (?:\w+ )?(?:slow|unusable|terrible|down)|(?:drops?|falls?|fell) to|stalls?|hangs?)\b`
)

// Sentences that tell what helped, or what passes.
var (
	mtuHelps  = piece.Compile(`(?i)\b(?:the )?(?:mtu|mss)\b(?: \w+){0,3} (?:has |have )?(?:fixed|solved|resolved) (?:it|this|that|the)\b|\b(?:success\w*|full|good|better|faster|fix(?:ed)?|solved?|works?)\b[^.;]{0,120}\bby (?:lower|reduc|decreas|clamp)\w*(?: \w+){0,2} (?:mtu|mss|mru)\b|\b(?:lower(?:ed|ing)?|reduc(?:e|ed|ing)|decreas(?:e|ed|ing)|dropp(?:ed|ing)|smaller)\b[^.;]{0,30}\b(?:mtu|mss|mru)\b[^.;]{0,60}\b(?:improves?d?|restor\w+|fix(?:es|ed)?|solve[sd]?|helps?|works?|resolve[sd]?|better|faster|full speed)\b|\b(?:set|setting|forc(?:e|ed|ing)|chang(?:e|ed|ing))\b[^.;]{0,44}\b(?:mtu|mss|mru)\b[^.;]{0,60}\b(?:improves?d?|fix(?:es|ed)?|solve[sd]?|resolve[sd]?|full speed|works? (?:perfectly|normally|again|now))\b|\bmss clamp\w*\b[^.;]{0,40}\b(?:fix(?:es|ed)?|solve[sd]?|help(?:s|ed)?|works?)\b|\bmtu\b[^.;]{0,80}\b(?:dropp|lower|reduc|decreas)ing\b[^.;]{0,30}\b1[0-4]\d\d\b[^.;]{0,60}\b(?:to stop|stops?|stopped|goes away|went away|full (?:speed|bandwidth)|works?)\b|\b(?:drop|set|lower|reduc|decreas|chang)\w*\b[^.;]{0,30}\b(?:mtu|mss)\b[^.;]{0,80}\b(?:full (?:speed|bandwidth|rate)|(?:problems?|issues?|stalls?|hangs?|stalling|hanging) (?:is gone|are gone|stops?|stopped|goes? away|went away|disappears?))\b|\bwith (?:an? |the )?(?:mtu|mss) (?:of |set to |at |= ?)?1[0-4]\d\d\b[^.;]{0,24}\b(?:everything|all|it|downloads?|transfers?|uploads?)\b[^.;]{0,12}\b(?:works?|is (?:fine|fast)|are (?:fine|fast)|runs? (?:fine|fast|at full))\b|\b(?:fix|set|lower|reduc|decreas|chang)\w*\b[^.;]{0,40}\b(?:mtu|mss)\b[^.;]{0,60}\b(?:eliminat|avoid|prevent|stop)\w*\b[^.;]{0,20}\bfragment\w*`)
	large     = piece.Compile(`(?i)\b(?:jumbo|8[5-9]\d\d|9[0-2]\d\d)\b`)
	mtuRaised = piece.Compile(`(?i)\bset(?:ting)?\b[^.;]{0,20}\bmtu\b[^.;]{0,16}\b(?:8[5-9]\d\d|9[0-2]\d\d)\b[^.;]{0,60}\b(?:reach\w*|gets?|got|can (?:get|reach|do)|up to)\b|\b(?:rais(?:e|ed|ing)|increas(?:e|ed|ing))\b[^.;]{0,40}\b(?:mtu|frames?)\b[^.;]{0,80}\b(?:increas\w+|improv\w+|went from|faster|got (?:\w+ ){0,2}(?:speeds?|throughput)|reach\w*)\b|\b(?:mtu|frames?)\b[^.;]{0,30}\b(?:rais|increas)(?:ed|ing)\b[^.;]{0,80}\b(?:increas\w+|improv\w+|went from|faster)\b|\bmtu (?:to|of|=) ?(?:9000|8950|8951|8900)\b[^.;]{0,80}\b(?:increas\w+|improv\w+|went from)\b`)
	oneQueue  = piece.Compile(`(?i)\b(?:interrupt\w*|irqs?|load|packets|traffic)\b[^.;]{0,24}\b(?:concentrat\w+|pile\w* up|all land)\b[^.;]{0,40}\b(?:queue|core|cpu)\b|\b(?:by|on|in|to|only|into) (?:the )?(?:same|one|a single|single|1) (?:rx |tx |rss |receive |hardware |nic )?queue\b|\ball (?:packets|traffic|interrupts|irqs)\b[^.;]{0,40}\b(?:one|same|single) (?:cpu|core|queue)\b`)
	noHelp    = piece.Compile(`(?i)\b(?:no|not|n't|doesn.t|didn.t|without|nothing|never|neither|cannot|same)\b`)
	offloads  = piece.Compile(`(?i)\b(?:disabl(?:e|ed|ing)|turn(?:ed|ing)? off|switch(?:ed|ing)? off|with(?:out)?|un-?check(?:ed|ing)?)\b[^.;]{0,50}\b(?:offload\w*|lro|gro|tso|lso|gso|rsc|checksum\w*|segmentation)\b`)
	helped    = piece.Compile(`(?i)\b(?:improves?d?|restor(?:es?|ed)|fix(?:es|ed)?|solves?d?|helps?|increases?|resolves?d?|acceptable|normal|full speed|faster|much better|goes (?:up|back)|back to)\b`)
	pingGood  = piece.Compile(`(?i)\bping(?:s|ing|all)?\b[^.;]{0,40}\b(?:works?|working|fine|ok|okay|good|success\w*|pass(?:es)?|answers?)\b|\b(?:can|able to) ping\b`)
	bulkFails = piece.Compile(`(?i)\b(?:iperf\d?|scp|curl|http|tcp|ssh|transfer|download|copy)\b[^.;]{0,50}\b(?:0(?:\.0+)? ?[KMGkmg]?(?:bits?|bps|bytes?)(?:/s(?:ec)?)?|hangs?|hung|stalls?|fails?|freez\w+|times? out|stuck|nothing|does(?:n.t| not) work)`)
	fullCPU   = piece.Compile(`(?i)\b(?:cpu (?:load|usage|use)\b[^.;]{0,24}\b(?:100|9[5-9]) ?%[^.;]{0,40}\b(?:on|by|of) (?:only |just )?a? ?((?:one|single) (?:cpu|core))\b|(openvpn|charon|wireguard|wg-crypt\w*|flanneld|iperf3?|vhost\S*|qemu\S*|kworker\S*|ovs-vswitchd|smbd|nginx|haproxy|ksoftirqd?(?:/\d+)?|(?:one|single|1|a|allocated|the same|that|each) (?:of (?:the |my |its )?)?(?:(?:\d{1,2}|two|four|eight|six) )?(?:cpu|v?core|vcpu|thread)s?)\b[^.;]{0,56}?\b(?:100|9[5-9]) ?%|\b(?:irq|softirq|interrupt|rx|polling|core[- ]bind)[- ](?:cpu|core)s?\b[^.;]{0,30}\b(?:100|9[5-9]) ?%|(?:100|9[5-9]) ?% (?:of |on |by )[^.;]{0,30}\b(openvpn|charon|flanneld|iperf3?|(?:\w+ )?(?:cpu|core|vcpu|thread))\b|\b(?:only|just) ((?:1|one|a single) (?:cpu|core|vcpu))\b[^.;]{0,40}\b(?:max\w* out|full|saturated|pegged)|\b(?:one of the (?:cpu|core|vcpu)s)\b[^;]{0,80}\bmaxe[ds] out|\b(one (?:cpu|core|vcpu)) (?:(?:is |was |at )?max\.?|fully)[^.;]{0,2} (?:cpu )?(?:load|use|usage|loaded|used|busy)\b|\b(?:cpu|core|processor)\b[^.;]{0,16}\b(?:100|9[5-9]) ?%(?: \w+)?[^.;]{0,24}\b(?:with|by|in)\W{1,3}(ksoftirqd(?:/\d+)?)|(?:maxes|maxing|maxed|pegs?|pegged|pegging|capp(?:ed|ing)|saturat\w+) (?:out )?(?:at )?(?:just |only )?(one|a|a single|single|1) (?:cpu|core|vcpu|processor))`)
	oldIperf3 = piece.Compile(`(?i)\biperf ?3?(?: version)?[ :]*v?(3\.[01](?:\.\d+|b\d+)?)(?:[^.\d]|\.?$|\.\s)`)
	udpLoss   = piece.Compile(`(?i)\biperf ?3\b[^.;]{0,24}\bpacket loss\b[^.;]{0,24}\biperf ?2\b[^.;]{0,12}\bnone\b|\budp\b[^;]{0,80}\b(?:loss|lost|losing)\b|\b(?:loss|lost|losing)\b[^;]{0,80}\budp\b`)
	lossSaid  = piece.Compile(`(?i)\b(\d{1,2}(?:\.\d+)?)(?: ?(?:-|–|to) ?\d{1,2}(?:\.\d+)?)? ?% (?:of )?(?:packet )?loss\b|\bpacket loss (?:of |is |about |around )*(\d{1,2}(?:\.\d+)?) ?%`)
	sizes     = piece.Compile(`\bVpnGw[1-5](?:AZ)?\b`)
	gateways  = piece.Compile(`\b(?:(?:Azure )?VPN [Gg]ateway|Site-to-Site VPN|[Tt]ransit [Gg]ateway|TGW|Cloud VPN|Cloud NAT|NAT [Gg]ateway|ExpressRoute|Direct Connect|virtual private gateway|VGW)\b`)
	// fullElsewhere is a full processor as other languages tell it.
	fullElsewhere = piece.Compile(`(?i)(?:^|[^\p{L}])(?:(?:kern|prozessor|c(?:œ|oe)ur|processeur|núcleo|procesador|ядр(?:о|а)|процессор)(?:[^.;\p{L}][^.;]{0,24})?100 ?%|(?:cpu|kern|prozessor)(?:-?last)?[^.;\p{L}][^.;]{0,24}(?:ausgelastet|am anschlag)|(?:cpu|c(?:œ|oe)ur|processeur)[^.;\p{L}][^.;]{0,24}(?:satur(?:é|ée|és)|à fond)|(?:cpu|núcleo|procesador)[^.;\p{L}][^.;]{0,24}(?:saturad\p{L}+|a tope)|(?:cpu|ядр\p{L}|процессор)[^.;\p{L}][^.;]{0,24}загруж\p{L}+ полностью|упира\p{L}+ в (?:процессор|cpu|(?:одно )?ядро))|(?:cpu|处理器|单核|核心)[^。；;\s]{0,10}(?:达到极限|打满|跑满|吃满|占满|满载|满了|爆满)|(?:处理器|单核|核心|cpu(?:占用|使用|利用)率?)[^。；;\d]{0,8}100 ?%`)
	notElsewhere  = piece.Compile(`(?i)(?:nicht|kein|pas|no |не |没有|未|不)`)
	// sameTest is a test that is repeated, and no result that is the same.
	sameTest = piece.Compile(`(?i)\bsame (?:speed ?|iperf\d? )?tests?\b`)
	// routerCPU is a router whose processor is nearly full: which of its cores, nobody says.
	routerCPU = piece.Compile(`(?i)\b((?:router|firewall|gateway)(?:'s)? (?:cpu|processor))(?: (?:load|usage|use))?\b[^.;]{0,24}\b(?:[89]\d|100)(?: ?%|(?: ?- ?| to )\d{2,3} ?%)`)
	forwarder = piece.Compile(`(?i)\b(?:as a router|as (?:a |my |the )?firewall|routed (?:via|through)|forwarded traffic|forwarding (?:traffic|packets)|router vm|openwrt|lede|(?:hardware|software|flow|nat|hw)[ -]off-?load\w*|(?:via|through|by) nat|nat (?:forward\w*|through|throughput|speed)|(?:my|the|our) router(?:'s)? (?:cpu|processor|seems?|is|can))\b`)
	failsOver = piece.Compile(`(?i)\b(?:fail-?over|teamd|bond\w*|lacp|standby|active-backup|recovers?)\b`)
	wrongWay  = piece.Compile(`(?i)\b(?:repl(?:y|ies)|respon(?:se|ses|ds)|answers?|return(?:ing)? (?:traffic|packets)|syn-?ack|outgoing (?:traffic|packets)|traffic)\b[^.;]{0,60}\b(?:wrong|the other|(?:the|a) different|(?:the )?first|default) (?:interface|nic|gateway|card|port|adapter)\b|\bass?ym+\w{0,3}t\w?ric(?:al)?\w* rout\w+|\brout\w+\b[^.;]{0,12}\bass?ym+\w{0,3}t\w?ric\w*|\breturn(?:ing)? path\b[^.;]{0,40}\b(?:different|another|the other|wrong)\b|\banswers? arp (?:requests? )?for (?:any|every|all|each|the other)\b|\bweak (?:host|end[- ]system) model\b|\b(?:inbound|incoming|ingress)\b[^.;]{0,40}\b(?:over|via|on|through|by)\b[^.;]{0,30}\b(?:while|but|and|whereas)\b[^.;]{0,12}\b(?:outbound|outgoing|egress)\b[^.;]{0,30}\b(?:over|via|on|through|by)\b|\b(?:repl(?:y|ies)|answers?|responses?)\b(?: \w+)? (?:go(?:es|ing)?|leav\w+|sent|come?s?|coming) (?:out )?(?:of|by|via|through|from|on|over) (?:the )?(?:eth|en[opsx]|em)\w*\d\b`)
	shaping   = piece.Compile(`(?i)^traffic[- ]shap`)
	noReach   = piece.Compile(`(?i)\b(?:can(?:no|')?t|cannot|can not|could(?: not|n't)|unable to|not able to)\b[^.;]{0,30}\b(?:ping|reach|connect|communicate|ssh)\b|\bping\b[^.;]{0,20}\bfail\w*|\b(?:not reachable|unreachable)\b`)
	multipath = piece.Compile(`(?i)\b(?:mptcp|multipath tcp)\b`)
	farWords  = piece.Compile(`(?i)\b\d[\d,.]* ?(?:miles|km) (?:apart|away|distance)\b|\b(?:distance|apart|separated|away)\b[^.;]{0,40}\b\d[\d,]{2,} ?(?:miles|km)\b|\b(?:over|long|larger?|great) distances?\b|\b(?:high|large|long|great)[- ](?:network )?(?:latency|latencies|rtts?|round[- ]trips?(?: times?)?)\b|\bfarther away\b|\b(?:geostationary|satellite)\b|\b(?:transatlantic|trans-atlantic|intercontinental|overseas|across the (?:ocean|atlantic|pacific|world))\b|\b(?:different|other|two|between) (?:\w+ )?(?:regions|continents|data ?cent(?:er|re)s)\b|\b(?:west|east) coast\b|\b(?:Singapore|Sydney|Tokyo|Frankfurt|London|Los Angeles|Virginia|Ohio|Oregon|Helsinki|N(?:ü|ue)rnberg|Mumbai|S(?:ã|a)o Paulo|Hong Kong)\b[^.;]{0,60}\b(?:Singapore|Sydney|Tokyo|Frankfurt|London|Los Angeles|Virginia|Ohio|Oregon|Helsinki|N(?:ü|ue)rnberg|Mumbai|S(?:ã|a)o Paulo|Hong Kong)\b`)
	lossy     = piece.Compile(`(?i)\b(?:dup(?:licate)? ?acks?|(?:packet|many|frequent|single|some) loss(?:es)?|packets? (?:are )?lost|(?:many|constant\w*|lots of|high|huge|heavy|frequent|massive|excessive|thousands of)(?: (?:number|amount|rate|count)s? of)?(?: tcp| packet| [a-z]{3})? re-?trans\w+)\b`)
	bbrHelps  = piece.Compile(`(?i)\bbbr\b[^.;]{0,80}\b(?:faster|better|improv\w+|fix(?:es|ed)?|solve[sd]?|help(?:s|ed)?|full speed|increas\w+|went from)\b`)
	udpFine   = piece.Compile(`(?i)\budp\b[^.;]{0,60}\b(?:problem disappears|full (?:speed|rate|bandwidth)|works? fine|no problem|line rate|is fine|saturat\w+)\b`)
	// offloadBreaks is how a sentence says that all is well with an offload off, or not with it.
	offloadBreaks = piece.Compile(`(?i)\bwork-?around\b[^.;]{0,24}\b(?:is|was)\b[^.;]{0,12}\b(?:disabl\w+|turn\w* off)\b[^.;]{0,24}\b(?:offload\w*|lro|gro|tso|lso|gso|rsc)\b|\b(?:unless|until)\b[^.;]{0,40}\b(?:offload\w*|lro|gro|tso|lso|gso|rsc)\b[^.;]{0,24}\b(?:disabled|off)\b|\b(?:disabl\w+|turn(?:ed|ing)? off|switch(?:ed|ing)? off)\b[^;]{0,50}\b(?:offload\w*|lro|gro|tso|lso|gso|rsc)\b[^;]{0,160}\b(?:no|without) (?:more |further |any )?(?:problems?|issues?|drops?|errors?|failures?|trouble|stalls?)\b`)
	// offloadHurts is how a sentence says that it is slow with an offload on.
	offloadHurts = piece.Compile(`(?i)\b(?:with|if|when|once|whenever|as soon as)\b[^.;,]{0,50}` + offloadName + `\)?[^.;,]{0,16}\b(?:(?:is |are |was )?(?:enabled|turned on|switched on|active|on))\b[^;]{0,160}` + gotWorse + `|\b(?:if|when|once|whenever|as soon as) (?:i|we|you)\b[^.;]{0,60}\b(?:enabl\w+|turn(?:ed|ing)? on|switch(?:ed|ing)? on|un-?check\w*)\b[^.;]{0,60}` + offloadName + `[^;]{0,140}` + gotWorse)
	socketFull   = piece.Compile(`(?i)\b(?:udp ?)?rcvbuf ?errors\b|\b(?:socket|(?:socket|udp|receive|recv|kernel)[ -](?:receive )?(?:buffers?|queue))\b[^.;]{0,24}\b(?:full|overflow\w*|overrun\w*|exhausted)\b`)
	relayed      = piece.Compile(`(?i)\b(?:relay (?:mode|connections?|servers?)|relayed|via (?:a )?(?:derp|relay)|derp (?:relays?|servers?)|through (?:a )?(?:derp|relay))\b`)
	slotWords    = piece.Compile(`(?i)\bpci-?e?(?: ?express)?\b[^.;\d]{0,16}([1-5])(?:\.0)?\b[^.;]{0,12}?\bx ?(1|2|4|8|16)\b`)
	listed       = piece.Compile(`(?:^|[\s(*-])((?:eth|en[opsx]|em|ens|eno|bond|br|vlan)[\w.]*\d[\w.]*)\)?\s*(?:[:=]|->|has|is)\s*(?:inet |ip(?: address)?:? ?)?(\d{1,3}(?:\.\d{1,3}){3}/\d{1,2})\b`)
	tripAfter    = piece.Compile(`(?i)\b(?:rtt|latency|pings?|round[ -]?trip\w*|delay)\b[^.;\d]{0,50}(\d{1,4}(?:[.,]\d+)?)(?: ?(?:-|–|to) ?\d{1,4})? ?ms\b`)
	tripFirst    = piece.Compile(`(?i)\b(\d{1,4}(?:\.\d+)?) ?ms (?:of |one-way )?(?:rtt|latency|ping|round|delay|away|apart)|\b(?:sites?|offices?|data ?centers?|regions?|cities|locations?|continents?|link|line|path|wan|connection|circuit)\b[^.;]{0,40} (?:at|with|over|of) (\d{2,3}) ?ms\b`)
)

// aRate is what follows "cannot reach" where a rate is meant and no host.
var aRate = piece.Compile(`(?i)^(?: to| the| a| my| our| its| full| max\w*| line| wire)* ?(?:~|about |around )?(?:\d+(?:\.\d+)? ?[kmgt](?:i?b|bit|ig)|(?:rate|speeds?|bandwidth|throughput|capacity)\b)`)

// ofTCP is how a full socket is a connection's, whose peer waits for it and loses nothing.
var ofTCP = piece.Compile(`(?i)\btcp\b[^.;]{0,40}$`)

// plain are facts that are told by their words alone.
var plain = map[string]piece.Pattern{"unreachable": noReach, "mptcp": multipath, "far": farWords, "lossy": lossy, "bbr_helps": bbrHelps, "udp_fine": udpFine, "udp_loss": udpLoss, "socket_full": socketFull, "relayed": relayed}

// none is how a sentence says that there is none of it.
var none = piece.Compile(`(?i)\b(?:no|zero|without|0 ?%) (?:packet |any )?(?:loss|losses|retransmi\w+|dup)|\bdid(?: not|n't) help\b`)

// deniable are facts of plain that a sentence may deny: "direct (not relayed)".
var deniable = map[string]bool{"relayed": true, "socket_full": true}

// deniedWithin is a denial among the words of such a fact.
var deniedWithin = piece.Compile(`(?i)\b(?:not|never|no longer)\b|n['’]t\b`)

// lossless is how a loss goes on that is none: the title of a column, or a part of zero.
var lossless = piece.Compile(`(?i)^(?: ?\(%\)|[^.;\d]{0,16}\b0(?:[.,]0+)? ?%)`)

// perhaps are words just before losses that nobody saw for sure.
var perhaps = piece.Compile(`(?i)\b(?:possibl[ey]|potential|apparent|suspected|maybe)(?: [a-z]+){0,3} $`)

// windowTold is a window as a sentence gives it, in bytes or in kilobytes.
var windowTold = piece.Compile(`(?i)\bwindows?\b[^.;\d]{0,60}\b(?:(\d{1,3}(?:,\d{3})+|\d{4,7}) ?bytes\b|(\d{2,3}) ?k(?:i?b|i?bytes?)\b)`)

// plainWords takes a forum's bold off, and dots that end no sentence.
var plainWords = strings.NewReplacer("**", "", "i.e. ", "that is ", "e.g. ", "as ")

// offAgain is an offload that is on in one sentence, and off in the next with what was expected.
var offAgain = piece.Compile(`(?i)` + offloadName + `(?: is)? (?:turned |switched )?on\b.{0,200}\b(?:turn|switch)\w* it off\b.{0,60}\b(?:expected|full|normal|good|fine|fast)\b`)

// shareOfRate is how a per cent goes on that is of a rate and no core's.
var shareOfRate = piece.Compile(`(?i)^ ?(?:of|da|de la|der|des|von|du) (?:(?:the|its|my|full|target|a|o) )*(?:target|line|link|wire|bandwidth|largura|banda|rate|speed|throughput|capacity|ziel\w*|bandbreite)\b`)

// speedLost is how a text calls a lower rate a loss: its per cents are none of packets.
var speedLost = piece.Compile(`(?i)\bloss (?:of|in) (?:\w+ )?(?:speeds?|throughput|bandwidth|performance)\b`)

// ofSpeed is how a loss goes on that is none of packets.
var ofSpeed = piece.Compile(`(?i)^ (?:of|in|on) (?:(?:the|my|our|its|upload|download|internet|network) )*(?:speeds?|throughput|bandwidth|performance|rates?)\b`)

func readWords(s *sink, lines []piece.Line) (read int) {
	l := lines[0]
	said := func(key, value string) {
		s.Set("said", key, value, l)
		read = 1
	}
	text := plainWords.Replace(l.Text)
	readTunnel(text, said)
	if m := guests.FindStringSubmatch(text); m != nil && (!emulated(m[1]) || virtual.MatchString(text)) {
		said("guest_card", strings.ToLower(m[1]))
	}
	s.sizeTable(l, said)
	s.elsewhere(text, l, said)
	for _, sentence := range sentences(sameTest.ReplaceAllString(text, "test")) {
		switch {
		case mtuRaised.MatchString(sentence) && !noHelp.MatchString(sentence) && !adviceRead.MatchString(sentence):
			said("mtu_raised", mtuRaised.FindString(sentence))
		case largeGives.MatchString(sentence) && compares(sentence) && s.fasterThan(sentence, largeGives.FindStringIndex(sentence)[1]):
			said("mtu_raised", largeGives.FindString(sentence))
		case mtuHelps.MatchString(sentence) && !noHelp.MatchString(sentence) && !large.MatchString(sentence) && !adviceRead.MatchString(sentence):
			said("mtu_helps", mtuHelps.FindString(sentence))
		case offloads.MatchString(sentence) && helped.MatchString(sentence) && !noHelp.MatchString(sentence) && !adviceRead.MatchString(sentence):
			said("offload_helps", offloads.FindString(sentence))
		case offloads.MatchString(sentence) && !noEffect.MatchString(sentence):
			s.Topic("remedy", "offload_helps "+offloads.FindString(sentence), l)
		}
		s.remedies(sentence, l, said)
		s.sizesOf(sentence, l, said)
		s.costs(sentence, l)
		s.limits(sentence, l)
		if m := offloadBreaks.FindString(sentence); m != "" && !adviceRead.MatchString(sentence) && !noEffect.MatchString(sentence) && !wonders.MatchString(sentence) {
			said("offload_helps", m)
		}
		if m := offloadHurts.FindString(sentence); m != "" && !noHelp.MatchString(m) && !wonders.MatchString(sentence) {
			said("offload_helps", m)
		}
	}
	if m := offAgain.FindString(text); m != "" {
		said("offload_helps", m)
	}
	if offloads.MatchString(text) && strings.Contains(text, "must ") {
		said("offload_helps", offloads.FindString(text))
	}
	if pingGood.MatchString(text) {
		s.Topic("ping", pingGood.FindString(text), l)
	}
	if m := bulkFails.FindString(text); m != "" {
		if _, ok := s.C.Topics["ping"]; ok {
			said("bulk_fails", m)
		}
	}
	trip := tripAfter.FindStringSubmatch(text)
	if trip == nil {
		if trip = tripFirst.FindStringSubmatch(text); trip != nil {
			trip[1] = cmp.Or(trip[1], trip[2])
		}
	}
	if trip != nil {
		said("trip_ms", strings.Replace(trip[1], ",", ".", 1))
	}
	if at := fullCPU.FindStringIndex(text); at != nil && !noHelp.MatchString(text[at[0]:at[1]]) && !shareOfRate.MatchString(text[at[1]:]) {
		said("cpu_full", strings.ToLower(strings.Join(fullCPU.FindStringSubmatch(text)[1:], ""))) // groups cost more than a match
	} else if m := fullElsewhere.FindStringIndex(text); m != nil && !notElsewhere.MatchString(text[max(0, m[0]-12):m[1]]) {
		said("cpu_full", "one core")
	} else if m := routerCPU.FindStringSubmatch(text); m != nil && !noHelp.MatchString(text) {
		said("cpu_heavy", strings.ToLower(m[1]))
		said("forwards", m[0])
	}
	if m := heavyCPU.FindStringSubmatch(text); m != nil && !noHelp.MatchString(m[0]) && !(strings.EqualFold(m[1], "kvm") && kvmGuest.MatchString(text)) {
		said("cpu_heavy", strings.ToLower(m[1]+m[2]))
	}
	if m := speedLost.FindString(text); m != "" {
		s.Topic("speed lost", m, l)
	}
	if m := lossSaid.FindStringSubmatchIndex(text); m != nil && !ofSpeed.MatchString(text[m[1]:]) && (s.C.Topics["speed lost"].Text == "" || strings.Contains(text[m[0]:m[1]], "packet")) {
		if percent := lossSaid.FindStringSubmatch(text); piece.Float(percent[1]+percent[2]) > 0 {
			said("loss_percent", percent[1]+percent[2])
		}
	}
	if m := cmp.Or(sizes.FindString(text), gateways.FindString(text)); m != "" {
		said("gateway", m)
	}
	if m := oldIperf3.FindStringSubmatch(text); m != nil {
		said("old_iperf3", m[1])
	}
	if m := windowTold.FindStringSubmatch(text); m != nil {
		bytes := piece.Float(strings.ReplaceAll(m[1], ",", ""))
		if m[2] != "" {
			bytes = piece.Float(m[2]) * 1024
		}
		s.Set("said", "window_bytes", strconv.FormatFloat(bytes, 'f', 0, 64), l)
	}
	for key, words := range plain {
		m := words.FindStringIndex(text)
		if m == nil || deniable[key] && (denies.MatchString(text[:m[0]]) || deniedWithin.MatchString(text[m[0]:m[1]])) || (key == "lossy" || key == "bbr_helps") && none.MatchString(text) || key == "lossy" && (perhaps.MatchString(text[:m[0]]) || lossless.MatchString(text[m[1]:])) || key == "socket_full" && ofTCP.MatchString(text[:m[0]]) || key == "unreachable" && aRate.MatchString(text[m[1]:]) {
			continue
		}
		said(key, text[m[0]:m[1]])
	}
	for key, words := range besides {
		if m := words.FindStringIndex(text); m != nil && !denies.MatchString(text[:m[0]]) {
			s.Set("said", key, text[m[0]:m[1]], l)
		}
	}
	before := s.toldOf(alone)
	s.tellStories(text, l)
	if s.toldOf(alone) > before {
		read = 1
	}
	s.percents(text, l)
	if s.told("two_homed") && s.told("one_used") && s.told("same_subnet") || s.told("multi_wan") && s.told("adds_not") || s.told("standby_bond") && s.told("alone_fast") {
		read = 1
	}
	if m := forwarder.FindString(text); m != "" {
		said("forwards", m)
	}
	if m := oneQueue.FindString(text); m != "" {
		said("one_queue", m)
	} else if m := oneCore.FindString(text); m != "" && !noHelp.MatchString(m) {
		said("one_queue", m)
	}
	if m := wrongWay.FindStringIndex(text); m != nil && !denies.MatchString(text[:m[0]]) && !shaping.MatchString(text[m[0]:m[1]]) && !(failsOver.MatchString(text) && strings.Contains(text[m[0]:m[1]], "other")) {
		said("wrong_way", text[m[0]:m[1]])
	}
	if m := slotWords.FindStringSubmatch(text); m != nil {
		s.Set("said", "slot", m[1]+" x"+m[2], l)
	} else if m := lanesFirst.FindStringSubmatch(text); m != nil {
		s.Set("said", "slot", m[2]+" x"+m[1], l)
	}
	for _, m := range listed.FindAllStringSubmatch(text, 8) {
		s.Set("link "+m[1], "address "+m[2], "", l)
		read = 1
	}
	return read
}

// alone are stories of which one by itself is an answer.
var alone = []string{"no_partner", "aggregators_differ", "port_drops", "ring_drops", "crc_grows", "zero_window", "too_long", "softnet_grows", "churned", "frag_asked", "small_window", "greeting_hangs", "mtu_limit", "mtu_blamed", "cpu_bound", "shallow_buffers", "buffer_helps", "model_blamed", "one_bgp_path", "limited_by", "pps_limit", "requests_fixed", "window_low", "half_duplex", "fixed_buffer", "rpf_drops", "device_window", "radio_phy", "other_part", "shaper_slows", "table_full", "bad_sums", "second_unreached", "group_down", "isp_per_flow", "send_buffer_gains", "send_buffer_small", "receive_buffer_small", "order_lost", "not_aggregatable", "tunnel_mtu", "leaves_by_first", "same_actor", "udp_alone_loses", "card_fine"}

// toldOf is how many of these were told.
func (s *sink) toldOf(keys []string) (n int) {
	for _, key := range keys {
		if s.told(key) {
			n++
		}
	}
	return n
}
