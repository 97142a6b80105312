package pathtext

import "github.com/linerate/linerate/internal/evidence/paste/piece"

// What people tell of a cloud's credits, of shared buses, of hosts with two addresses and
// of ports that know other speeds.
var (
	// burstWords: fast for some minutes, slow later, and fast again after a rest.
	burstWords = piece.Compile(`(?i)\b(?:fast|quick\w*|fine|good|full (?:speed|bandwidth|rate|throughput)|high (?:speed|bandwidth|throughput)|\d+(?:\.\d+)? ?[GM]b(?:it)?(?:/s|ps))\b[^.;]{0,40}\b(?:at first|at the beginning|in the beginning|initially|for (?:the first|a few|some|several|about|around|\d+)(?: \w+){0,2} ?(?:minutes?|mins?|hours?|seconds?))\b[^.;]{0,60}\b(?:slow\w*|drop\w*|throttl\w*|fall\w*|fell|goes down|reduc\w+|degrad\w+)|\b(?:initially|at first|after (?:a few|some|several|about|around|\d+)(?: \w+){0,2} ?(?:minutes?|mins?|hours?))\b[^.;]{0,40}\b(?:slow\w*|drops?|dropped|throttl\w*|falls?|fell|goes down|reduc\w+|degrad\w+)|\b(?:throttled|throttling|sustained) (?:[\w-]+ )?(?:bandwidth|throughput|rates?|network)\w*|\bnetwork throttling\b|\b(?:limited|low) baseline (?:bandwidth|network)|\bsustained\b[^.;]{0,12}\brate\b|\b(?:burst|network (?:i/o )?|i/o )credits?\b|\bburst(?:able|s)? (?:bandwidth|network|up to)\b`)
	// oneCore: one core gets all interrupts, or spreading them over cores helped.
	oneCore = piece.Compile(`(?i)\b(?:all|every)\b[^.;]{0,30}\b(?:rx|receive|packets?|processing|interrupts?|irqs?|softirqs?)\b[^.;]{0,30}\bon (?:a |the )?(?:single|one|same|1)\b(?: \w+)? (?:cpu|core)\b|\b(?:enabl\w+|with|turn(?:ed|ing) on|setting)\b[^.;]{0,12}\b(?:rps|rss|multi-?queue|irq affinity)\b[^;]{0,90}\b(?:improv\w+|faster|better|help(?:s|ed)|increas\w+|went from|doubl\w+)`)
	// usbShared: a network adapter and something else behind one USB hub or controller.
	usbShared = piece.Compile(`(?i)\b(?:same|one|single|shar(?:e|es|ed|ing)(?: \w+){0,3})(?: (?:usb|root)[ \d.-]*){0,2} ?(?:hub|bus|host controller|controller|dock\w*)\b[^.;]{0,80}|\b(?:hub|dock)\b[^.;]{0,60}\b(?:as well|shar(?:e|es|ed|ing)|both)\b`)
	// twoHomed: one end has several addresses, ports or portals for storage.
	twoHomed = piece.Compile(`(?i)\b(?:two|2|dual|four|4|both|multiple|several)\b(?: [\w.-]+){0,3} (?:nics?|ports?|interfaces?|ips?|ip addresses|addresses|portals?|vmks?|vmkernel ports?|subnets|links|paths)\b`)
	// oneUsed: and one of them carries all.
	oneUsed    = piece.Compile(`(?i)\b(?:only|just)\b(?: [\w.]+){0,4} (?:one|1|a single|first|single)\b(?: \w+){0,2} (?:nics?|ports?|interfaces?|links?|paths?|connections?|adapters?|cards?|portals?|Gbps|gigabit)\b|\b(?:only|just) (?:about |around |getting )*(?:1(?:\.0)? ?(?:Gb\w*|gig\w*)|11\d ?MB)|\bone (?:nic|port|interface|link|path) (?:is |was )?(?:idle|unused|not used|never used|does nothing)\b`)
	sameSubnet = piece.Compile(`(?i)\b(?:same|one|a single|single) (?:ip )?(?:subnet|network segment|vlan|broadcast domain|ip range)\b`)
	// multiGig: a card of 2.5 or 5 Gbit/s at a port of 10.
	multiGig = piece.Compile(`(?i)\b(?:2\.5 ?g\w*|5 ?gbe|rtl8125\w*|i225\S*|i226\S*|rtl8156\w*)\b[^.;]{0,100}\b(?:10 ?g\w*|sfp\+|x5[245]0\S*)(?: \w+){0,3} (?:ports?|switch|nics?|cards?|modules?|transceivers?)\b[^;]{0,100}\b(?:only|just|never|stuck|falls? back|negotiat\w+|links? (?:up )?(?:at|with)|com(?:es?|ing) up (?:at|with))\b[^.;]{0,40}\b(?:1 ?g\w*|1000 ?m\w*|100 ?m\w*|gigabit)\b`)
	// heavyCPU: a program that a sentence calls heavy on the processor, without a full core.
	heavyCPU = piece.Compile(`(?i)(?:\b(?:no|not|without)\b[^.;]{0,12}?)?\b(?:heavy|high|full|huge|much|lots? of|maxed(?: out)?|100 ?%)(?: \w+)? (?:cpu|processor)(?: (?:load|usage|use|utili[sz]ation|time))?\b[^.;]{0,20}\b(?:of|by|from|on|in|for)\b[^.;]{0,20}?\b(sshd?|scp|sftp|rsync|smbd|samba|nfsd|ksmbd|iperf3?|openvpn|qemu\S*|vhost\S*|afpd|proftpd|nginx|wireguard|kvm)\b|\b(sshd?|scp|sftp|rsync|smbd|nfsd|ksmbd|afpd|proftpd|qemu\S*|vhost\S*)\b[^.;]{0,30}\b(?:eats?|takes?|uses?|using|consum\w+|burn\w*|at|has)\b[^.;]{0,20}\b(?:a lot of|lots of|all|100 ?%|9\d ?%|heavy|high|full)(?: \w+){0,3} ?(?:cpu|core|processor)?`)
)

// besides are facts of which one alone is no reading: what they mean, others show.
var besides = map[string]piece.Pattern{"burst": burstWords, "usb_shared": usbShared, "two_homed": twoHomed, "one_used": oneUsed, "same_subnet": sameSubnet, "multi_gig": multiGig}
