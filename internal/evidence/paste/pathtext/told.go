package pathtext

import (
	"strconv"
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// What people tell of a cloud's credits, of shared buses, of hosts with two addresses and
// of ports that know other speeds.
var (
	// burstWords: fast for some minutes, slow later, and fast again after a rest.
	burstWords = piece.Compile(`(?i)\b(?:fast|quick\w*|fine|good|full (?:speed|bandwidth|rate|throughput)|high (?:speed|bandwidth|throughput)|\d+(?:\.\d+)? ?[GM]b(?:it)?(?:/s|ps))\b[^.;]{0,40}\b(?:at first|at the (?:beginning|start|onset)|in the beginning|initially|for (?:the first|a few|some|several|about|around|\d+)(?: \w+){0,2} ?(?:minutes?|mins?|hours?|seconds?))\b[^.;]{0,60}\b(?:slow\w*|drop\w*|throttl\w*|fall\w*|fell|goes down|reduc\w+|degrad\w+)|\b(?:initially|at first|after (?:a few|some|several|about|around|\d+)(?: \w+){0,2} ?(?:minutes?|mins?|hours?))\b[^.;]{0,40}\b(?:slow\w*|drops?|dropped|throttl\w*|falls?|fell|goes down|reduc\w+|degrad\w+)|\b(?:throttled|throttling|sustained) (?:[\w-]+ )?(?:bandwidth|throughput|rates?|network)\w*|\bnetwork throttling\b|\b(?:limited|low) baseline (?:bandwidth|network)|\bsustained\b[^.;]{0,12}\brate\b|\b(?:burst|network (?:i/o )?|i/o )credits?\b|\bburst(?:able|s)? (?:bandwidth|network|up to)\b`)
	// oneCore: one core gets all interrupts, or spreading them over cores helped.
	oneCore = piece.Compile(`(?i)\b(?:all|every)\b[^.;]{0,30}\b(?:rx|receive|packets?|processing|interrupts?|irqs?|softirqs?)\b[^.;]{0,40}\b(?:on|by|to) (?:only )?(?:(?:a |the )?(?:single|one|same|1)\b(?: \w+)? (?:cpu|core)\b|cpu ?#?0\b)|\b(?:enabl\w+|with|turn(?:ed|ing) on|setting)\b[^.;]{0,12}\b(?:rps|rss|multi-?queue|irq affinity)\b[^;]{0,90}\b(?:improv\w+|faster|better|help(?:s|ed)|increas\w+|went from|doubl\w+)`)
	// usbShared: a network adapter and something else behind one USB hub or controller.
	usbShared = piece.Compile(`(?i)\b(?:same|one|single|shar(?:e|es|ed|ing)(?: \w+){0,3})(?: (?:usb|root)[ \d.-]*){0,2} ?(?:hub|bus|host controller|controller|dock\w*)\b[^.;]{0,80}|\b(?:hub|dock)\b[^.;]{0,60}\b(?:as well|shar(?:e|es|ed|ing)|both)\b`)
	// twoHomed: one end has several addresses, ports or portals for storage.
	twoHomed = piece.Compile(`(?i)\b[248] ?x ?(?:1|2\.5|5|10|25|40|50|100) ?g\w*\b|\b(?:two|2|dual|four|4|eight|8|all|both|multiple|several)\b(?: [\w.-]+){0,3} (?:nics?|adapters|ports?|interfaces?|ips?|ip addresses|addresses|portals?|vmks?|vmkernel ports?|subnets|links|paths)\b`)
	// oneUsed: and one of them carries all.
	oneUsed    = piece.Compile(`(?i)\b(?:all (?:the )?(?:traffic|packets|data|flows)|everything)\b[^.;]{0,24}\b(?:through|over|via|by|on|out of|from)\b (?:just |only )?(?:a single|one|the same|the first) (?:nic|port|interface|link|path|adapter)\b|\barp\b[^.;]{0,90}\b(?:other|other one'?s|wrong|both|incorrect)\b[^.;]{0,12}\bmacs?\b|\b(?:only|just)\b(?: [\w.]+){0,4} (?:one|1|a single|first|single)\b(?: \w+){0,2} (?:nics?|ports?|interfaces?|links?|paths?|connections?|adapters?|cards?|portals?|Gbps|gigabit)\b|\b(?:only|just) (?:about |around |getting )*(?:1(?:\.0)? ?(?:Gb\w*|gig\w*)|11\d ?MB)|\ball (?:the )?(?:traffic|packets|data|flows)\b[^.;]{0,24}\b(?:through|over|via|by|on|out of) (?:just |only )?(?:eth|en[opsx]|em|igb|ixl?|vmnic)\w*\d\w*\b|\bone (?:nic|port|interface|link|path) (?:is |was )?(?:idle|unused|not used|never used|does nothing)\b`)
	sameSubnet = piece.Compile(`(?i)\b(?:same|one|a single|single) (?:ip )?(?:subnet|network segment|vlan|broadcast domain|ip range)\b|\bsame (?:wire|ip network)\b|\b(?:all|both)\b[^.;]{0,30}\b(?:in|on) the same network\b`)
	// multiGig: a card of 2.5 or 5 Gbit/s at a port of 10.
	multiGig = piece.Compile(`(?i)\b(?:2\.5 ?g\w*|5 ?gbe|rtl8125\w*|i225\S*|i226\S*|rtl8156\w*)\b[^.;]{0,100}\b(?:10 ?g\w*|sfp\+|x5[245]0\S*)(?: \w+){0,3} (?:ports?|switch|nics?|cards?|modules?|transceivers?)\b[^;]{0,100}\b(?:only|just|never|stuck|falls? back|negotiat\w+|links? (?:up )?(?:at|with)|com(?:es?|ing) up (?:at|with))\b[^.;]{0,40}\b(?:1 ?g\w*|1000 ?m\w*|100 ?m\w*|gigabit)\b`)
	// heavyCPU: a program that a sentence calls heavy on the processor, without a full core.
	heavyCPU = piece.Compile(`(?i)(?:\b(?:no|not|without)\b[^.;]{0,12}?)?\b(?:heavy|high|full|huge|much|lots? of|maxed(?: out)?|100 ?%)(?: \w+)? (?:cpu|processor)(?: (?:load|usage|use|utili[sz]ation|time))?\b[^.;]{0,20}\b(?:of|by|from|on|in|for)\b[^.;]{0,20}?\b(sshd?|scp|sftp|rsync|smbd|samba|nfsd|ksmbd|iperf3?|openvpn|qemu\S*|vhost\S*|afpd|proftpd|nginx|wireguard|kvm|ksoftirqd?(?:/\d+)?)\b|\b(sshd?|scp|sftp|rsync|smbd|nfsd|ksmbd|afpd|proftpd|openvpn|charon|flanneld|haproxy|qemu\S*|vhost\S*|ksoftirqd?(?:/\d+)?)\b[^.;]{0,30}\b(?:show\w*|eats?|takes?|uses?|using|causes?|consum\w+|burn\w*|at|has)\b[^.;]{0,20}\b(?:(?:a ?lot of|lots of|all|much|heavy|heavily|high|full)\b(?: \w+){0,3} ?(?:cpu|cores?|processors?)\b|(?:cpu|processor)\b[^.;]{0,12}\b(?:heavily|a lot|much|intensive\w*)|(?:100|9\d) ?%)`)
	// kvmGuest is a guest by its hypervisor's name, which is no program of the host's.
	kvmGuest = piece.Compile(`(?i)\bkvm (?:guests?|vms?|virtual)`)
)

// volumeWords are disks of clouds, which have limits of their own.
var volumeWords = piece.Compile(`(?i)\b(?:gp[23]|io[12]|ebs|iops|volume type|provisioned (?:iops|throughput)|persistent disk|managed disk|premium ssd)\b`)

// usbTwo is a network adapter at USB 2.
var usbTwo = piece.Compile(`(?i)\b(?:ethernet|lan|network|adapter|dongle|nic)\b[^.;]{0,40}\b(?:usb ?2(?:\.0)?|480 ?mbit?p?s?)\b|\busb ?2(?:\.0)?\b[^.;]{0,30}\b(?:ethernet|lan|network|adapter|dongle|nic)\b`)

// besides are facts of which one alone is no reading: what they mean, others show.
var besides = map[string]piece.Pattern{"usb2": usbTwo, "volume": volumeWords, "burst": burstWords, "usb_shared": usbShared, "two_homed": twoHomed, "one_used": oneUsed, "same_subnet": sameSubnet, "multi_gig": multiGig}

// Remedies that people say they tried, by the fact of "said" that each comes to: its
// name alone says that it helped, with "_not" that it did not.
var (
	ringWords   = piece.Compile(`(?i)\b(?:rings?(?: (?:buffers?|size|parameters?))?|buffer rings?|(?:rx|tx|receive|transmit) (?:buffers?|descriptors?|rings?)|ethtool ?--?(?:G|set-ring))\b`)
	windowWords = piece.Compile(`(?i)\b(?:(?:tcp |receive |rcv |send |socket )*window(?: ?sizes?)?|(?:tcp|receive|rcv|send|socket) windows?(?: ?sizes?)?|(?:tcp|socket) (?:receive |send )?buffers?(?: ?sizes?)?)\b|\biperf3? (?:\S+ )*-w ?\d|\b(?:tcp_[rw]mem|[rw]mem_max|(?:snd|rcv)buf\w*|so_(?:snd|rcv)buf)\b`)
	larger      = piece.Compile(`(?i)\b(?:rais\w+|increas\w+|modif\w+|adjust\w*|bump\w*|enlarg\w+|scal(?:e|ed|ing) up|larger|bigger|chang\w+|set(?:ting)?|explicit\w+|maxim\w+|tun\w+|-w ?\d)`)
	tunedWords  = piece.Compile(`(?i)\b(?:helps?|helped|fix(?:es|ed)?|solve[sd]?|resolve[sd]?|removes? (?:the )?(?:issue|problem|drops?|loss)|improves?d?|faster|fast again|(?:is|are|was|were|runs?) (?:fast|fine|ok|okay) now|full speed|works?|gone|goes away|disappear\w*|all is (?:good|well|fine)|good again|could (?:ship|get|reach)|can (?:sustain|reach)|(?:speeds?|throughput|rates?) (?:c(?:o|a)mes?|is|are|was|were|went|goes) back|went (?:up )?(?:from|to)|jump\w*|increases?)\b`)
	flowControl = piece.Compile(`(?i)\b(?:flow control|pause frames?|802\.3x|ethernet pause)\b|\b(?:enabled|disabled|turned on|turned off) fc\b[^.;]{0,24}\b(?:switch|nic|port|link|router)`)
	swapped     = piece.Compile(`(?i)\b(?:swap|replac|exchang|chang)\w*\b[^.;]{0,25}\b(?:cables?|patch cords?|dac|transceivers?|sfp\S*|modules?)\b|\b(?:new|another|different|other) (?:(?:ethernet|patch|cat ?\d\w?|network) ?)*(?:cable|patch cord|dac|transceiver|sfp\S*|module)\b|\b(?:bad|faulty|broken|damaged) (?:(?:ethernet|patch|cat ?\d\w?|network) ?)*(?:cable|transceiver|sfp\S*|module)\b|\b(?:problem|fault|issue|defect|damage)\w*\b[^.;]{0,16}\b(?:cables?|transceivers?|sfp\S*|modules?)\b[^.;]{0,60}\b(?:chang|replac|swapp|exchang)\w*`)
	savingWords = piece.Compile(`(?i)\b(?:pcie?_?aspm|aspm|active[- ]state power\w*|eee|energy[- ]efficient[- ]ethernet|green[- ]ethernet)\b`)
	driverWords = piece.Compile(`(?i)\b(?:updat|upgrad|downgrad|chang|install|revert|roll\w* back|us|switch)\w*\b[^.;]{0,40}\b(?:drivers?|firmware|nvm)\b`)
)

// tried are those remedies with their facts.
var tried = []struct {
	key   string
	words []piece.Pattern
}{
	{"ring_helps", []piece.Pattern{ringWords, larger}}, {"window_helps", []piece.Pattern{windowWords, larger}},
	{"pause_helps", []piece.Pattern{flowControl}}, {"cable_helps", []piece.Pattern{swapped}}, {"driver_helps", []piece.Pattern{driverWords}},
	{"saving_helps", []piece.Pattern{savingWords}},
}

// thisHelped is how a sentence says that what an earlier one tells to do helped.
var thisHelped = piece.Compile(`(?i)^\W*(?:(?:this|that|these|those)(?: (?:workaround|change|setting|fix|one))?|the (?:above|workaround|change)|doing (?:this|that|so))\b[^.;,]{0,20}\b(?:fix(?:es|ed)?|solve[sd]?|resolve[sd]?|help(?:s|ed)|worked|does the trick|did the trick)\b`)

// adviceRead is how a sentence tells what others advise, and not what it did.
var adviceRead = piece.Compile(`(?i)\bways to (?:increase|improve|speed|boost|get|fix|make)\b|\b(?:from|in) other (?:threads|posts|issues|forums?)\b|\b(?:i|we)(?:['’]ve| have)? read (?:that|about|somewhere|online)\b|\b(?:people|posts|threads|guides|articles|everyone) (?:often )?(?:says?|suggests?|recommends?|advises?|claims?)\b`)

// noEffect is how a sentence says that a remedy changed nothing.
var noEffect = piece.Compile(`(?i)\b(?:no|not|never|n't|doesn.t|didn.t|without|nothing|neither|hardly|barely)\b[^.;]{0,30}\b(?:effects?|difference|help\w*|chang\w+|improv\w+|better|faster|fix\w*|solv\w*|matter)\b|\b(?:same (?:result|speed|rate|thing|problem|behaviou?r)|makes? no|made no|to no avail|(?:nothing|not) chang\w+|result is same)\b`)

// mayNot is how a sentence says that somebody is not able to try it.
var mayNot = piece.Compile(`(?i)\b(?:can'?t|can ?not|unable to|no way (?:to|we can)|not (?:allowed|able) to)\b[^.;]{0,12}\b(?:chang\w+|set|alter|tun\w+|configur\w+)\b`)

// remedies notes what people say they tried: that it helped, or that it did not, which
// alone is no reading.
func (s *sink) remedies(sentence string, l piece.Line, said func(key, value string)) {
	denied := func(key, value string) { s.Set("said", key, value, l) }
	for _, r := range tried {
		match := ""
		for i, words := range r.words {
			m := words.FindString(sentence)
			if m == "" {
				match = ""
				break
			}
			if i == 0 {
				match = m
			}
		}
		switch {
		case match == "":
		case noEffect.MatchString(sentence):
			denied(r.key+"_not", match)
		case tunedWords.MatchString(sentence) && !noHelp.MatchString(sentence) && !adviceRead.MatchString(sentence) && !question.MatchString(sentence+" "):
			said(r.key, match)
		default:
			s.Topic("remedy", r.key+" "+match, l)
		}
	}
	s.turned(sentence, said)
	if m := thisHelped.FindString(sentence); m != "" && !noHelp.MatchString(m) && !question.MatchString(sentence+" ") {
		if x, ok := s.C.Topics["remedy"]; ok && x.File == l.File && l.Number-x.From <= 6 {
			key, match, _ := strings.Cut(x.Text, " ")
			said(key, match)
		}
	}
	if m := turnedOut.FindString(sentence); m != "" {
		said("pause_helps", m)
	}
	for key, words := range map[string]piece.Pattern{"mtu_helps_not": mtuWord, "offload_helps_not": offloadWord, "bbr_helps_not": bbrWord} {
		if m := words.FindString(sentence); m != "" && noEffect.MatchString(sentence) && !mayNot.MatchString(sentence) {
			denied(key, m)
		}
	}
	if m := idleCPU.FindStringSubmatch(sentence); m != nil && (m[1] == "" || piece.Float(m[1]) < 70) {
		denied("cpu_full_not", m[0])
	}
}

var (
	// turnedOut is how a sentence says that pause frames were it.
	turnedOut   = piece.Compile(`(?i)\b(?:turned out|turns out|was|is|caused by|due to|because of|culprit)\b[^.;]{0,30}\b(?:802\.3x|pause frames?|(?:ethernet )?flow control)\b(?: pause)?`)
	mtuWord     = piece.Compile(`(?i)\b(?:mtu|mss)\b`)
	offloadWord = piece.Compile(`(?i)\b(?:offload\w*|lro|gro|tso|lso|gso|rsc)\b`)
	bbrWord     = piece.Compile(`(?i)\bbbr\b`)
	// idleCPU is how a sentence says that no core is full.
	idleCPU = piece.Compile(`(?i)\b(?:cpus?|cores?|processors?)\b(?: (?:load|usage|use|utili[sz]ation))?[^.;%]{0,20}\b(?:idle|fine|low|bored|not (?:the |a )?(?:bottleneck|problem|issue|limit|full|maxed|busy|loaded)|(?:below|under|only|at|around|about|is|was)\b[^.;%]{0,12}?\b(\d{1,2}) ?%)|\bno (?:cpu|core)s? (?:is |was |are )?(?:full|maxed|above|over|at 100)`)
)

// told reports that somebody said so.
func (s *sink) told(key string) bool {
	_, ok := s.Host.Get("said", key)
	return ok
}

// tunnelCost is the part of a rate that a sentence says is lost, in percent.
var tunnelCost = piece.Compile(`(?i)\b(?:loss(?: of)?|loses?|slow\w*(?: down)?|drop\w*|reduc\w+|decreas\w+|less|penalty|overhead|degrad\w+)\b[^.;\d]{0,24}(?:(\d{2}) ?%|%(\d{2})\b)|\b(\d{2}) ?% (?:\w+ )?(?:slower|less|loss|drop|overhead|penalty|decrease|bandwidth drop|degradation)\b`)

// limitTold is a rate to which a rule limits something, as a sentence says, and onlySeems
// what makes that an impression.
var (
	limitTold   = piece.Compile(`\b(?i:rate[- ]?limit(?:ed|s|ing)?|traffic[- ]shap(?:ed|ing|er)|shaped|policed|policer|qos limit)\b(?: \w+){0,2}? ?(?:to|at|for|of|by|:|=) ?(?:about |around |~ ?)?(\d+(?:\.\d+)?) ?([kKmMgG])i?(b|B|bit|Bit|byte|Byte)s?(?:ps|/s|it/s|it/sec|/sec)?\b|\b(\d+(?:\.\d+)?) ?([kKmMgG])i?(b|B|bit|Bit|byte|Byte)s?(?:ps|/s|/sec) (?i:rate|bandwidth|traffic|throughput|egress|ingress)[- ]?(?i:limit\w*|cap)\b`)
	asksWhether = piece.Compile(`(?i)^\W*(?:is|are|was|were|could|can|does|do|did|how|what|why)\b`)
	onlySeems   = piece.Compile(`(?i)\b(?:seems?|seemed|looks?|looked|appears?|appeared|feels?|as (?:if|though)|like|think|believe)\b`)
)

// limits notes such a rate, in bits per second.
func (s *sink) limits(sentence string, l piece.Line) {
	m := limitTold.FindStringSubmatchIndex(sentence)
	if m == nil || asksWhether.MatchString(sentence) || denies.MatchString(sentence[:m[0]]) || wonders.MatchString(sentence[:m[0]]) || onlySeems.MatchString(sentence[:m[0]]) {
		return
	}
	first := 2
	if m[first] < 0 {
		first = 8 // the number stands before the words
	}
	part := func(i int) string { return sentence[m[first+2*i]:m[first+2*i+1]] }
	rate := piece.Float(part(0)) * piece.Decimal[strings.ToUpper(part(1))]
	if strings.HasPrefix(part(2), "B") && part(2) != "Bit" || part(2) == "byte" {
		rate *= 8
	}
	s.Set("said", "limit_told_bps", strconv.FormatFloat(rate, 'f', 0, 64), l)
}

// costs notes which part of the rate something takes, in percent.
func (s *sink) costs(sentence string, l piece.Line) {
	if m := tunnelCost.FindStringSubmatch(sentence); m != nil && !strings.Contains(strings.ToLower(m[0]), "packet") && !s.told("costs_percent") {
		s.Set("said", "costs_percent", strings.Join(m[1:], ""), l)
	}
}
