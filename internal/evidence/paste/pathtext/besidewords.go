package pathtext

import "github.com/linerate/linerate/internal/evidence/paste/piece"

// rateWord is a rate of a network as people write it.
const rateWord = `\d[\d.,]*\*{0,2} ?[mg](?:b(?:it|ps|/s)?\w*|bit\w*)\*{0,2}`

// overRadio is how a sentence goes on that says a rate was over Wi-Fi.
const overRadio = `(?:wi-?fi|wlan|wireless(?: lan)?|802\.11\w*)\b`

// besideStories are what people tell of what stands beside the links: containers' networks
// in a program, filters, several lines to the Internet, Wi-Fi, and other systems on the same
// machine; each a fact of "said" as those of stories are.
var besideStories = []storyWords{
	// Where that network is on the way.
	{"inside_container", piece.Compile(`(?i)\b(?:in(?:side|to)?|within|from|to|of|between|under)\b[- ](?:(?:the|a|my|our|rootless|docker|podman)[- ])*(?:containers?|images?|pods?|podman)\b|\bcontainers? (?:to|and|is|are|gets?)\b|\b(?:docker|container) image\b|\brootless\b`)},
	// The kernel drops what it would not answer by the same interface.
	{"rpf_drops", piece.Compile(`(?i)\brp_?filter ?(?:=|to|at) ?[02]\b[^.;]{0,80}\b(?:clear\w*|fix\w*|solv\w*|help\w*|works?)\b|(?:\b(?:rp_?filter|u?rpf|reverse[- ]path[- ]filter\w*)\b|\breverse path\b)[^.;]{0,50}\b(?:drop\w*|discard\w*|block\w*|reject\w*)|\b(?:drop\w*|discard\w*|block\w*|reject\w*)\b[^.;]{0,40}\b(?:by|due to|because of)\b[^.;]{0,20}\b(?:rp_?filter|u?rpf|reverse[- ]path)`)},
	// Several lines to the Internet.
	{"spare_line", piece.Compile(`(?i)\b(?:fail-?over|backup (?:line|wan|link)|spare line)\b`)},
	{"multi_wan", piece.Compile(`(?i)(?:两|双|多|二)(?:条|个)?[^。；，]{0,6}(?:宽带|wan|线路)|\b(?:mwan3?|dispatch(?:-proxy)?|speedify|(?:wi-?fi|wlan) and (?:ethernet|lan|cable)|multi-?wan|dual[- ]?wan|pbr|(?:two|2|three|both|several|multiple) (?:\w+ )?(?:wans?(?: connections?)?|isps?|internet (?:lines?|connections?|links?|providers?)|[avs]?dsl lines?|lte modems?|4g modems?|modems))\b`)},
	{"adds_not", piece.Compile(`(?i)只有(?:一|1)(?:条|个|路)[^。；]{0,12}(?:跑|用|走|速度)|\b(?:super-?impos\w+|bandwidth (?:remains?|is|stays?) the same|bandwidth (?:is|was|does|do)(?: not|n['’]t) (?:add\w*|combin\w*|aggregat\w*|sum\w*)|(?:not|n['’]t|never|cannot)\b[^.;]{0,24}\b(?:combined?|aggregated?|summed|merged?|added up|add up|1 ?\+ ?1 ?= ?2)|1 ?\+ ?1 ?= ?1|(?:only|just|all)\b[^.;]{0,30}\b(?:one|a single|1) wan)\b|\b(?:to|over|by|via|through) (?:only |just )?(?:one|a single|single)(?: of (?:the|my|our))? wan\b|\bonly (?:one|1|a single)(?: [\d.]+ ?[mg]\w*)? (?:line|wan|link) (?:is |was |gets )?(?:utili[sz]ed|used)\b`)},
	{"proxied", piece.Compile(`(?i)\b(?:open ?clash|clash|v2ray|xray|shadowsocks|passwall|squid|(?:transparent |http |socks5? )?proxy)\b`)},
	// The one who measures is on Wi-Fi, the line is faster.
	{"radio_rate", piece.Compile(`(?i)` + rateWord + `[^.;\d]{0,16}\b(?:over|via|on|by|through|with|using)\b (?:the |my )?` + overRadio)},
	{"cable_rate", piece.Compile(`(?i)` + rateWord + `[^.;\d]{0,16}\b(?:over|via|on|by|through|with|using|when)\b[^.;\d]{0,12}\b(?:ethernet|cables?|wired?|lan|copper)\b|\b(?:ethernet|cables?|wired?|lan)\b[^.;\d]{0,24}` + rateWord)},
	// A radio's own rate, as OpenWrt and iw list it.
	{"radio_phy", piece.Compile(`(?i)\b\d{2,4}(?:\.\d)? ?mbit/s,? (?:(?:ht|vht|he)-?)?(?:mcs|nss|(?:20|40|80|160) ?mhz)`)},
	// A bond of which one link waits.
	{"standby_bond", piece.Compile(`(?i)\bactive[-/ ](?:passive|backup|standby)\b[^.;]{0,24}\b(?:bond|team|fail-?(?:over|safe))\w*|\b(?:bond|team|fail-?(?:over|safe))\w*\b[^.;]{0,24}\bactive[-/ ](?:passive|backup|standby)\b`)},
	{"slow_part", piece.Compile(`(?i)\b(?:just|only|still)\b[^.;]{0,16}\b(?:gigabit|1 ?g(?:b|bit|bps|be)?\w*)\b(?: speeds?)?`)},
	{"alone_fast", piece.Compile(`(?i)\b(?:2\.5|5|10|25|40) ?g\w*(?:/s)?\b[^.;]{0,24}\b(?:works?|fine|ok)\b[^.;]{0,40}\b(?:on it['’]?s own|alone|by itself|without the bond)\b`)},
	// The same test with one part changed.
	{"other_part", piece.Compile(`(?i)\b(?:a|an|the|my|with|using) (?:second|another|different|other|spare)\b(?: [\w.-]+){0,3} (?:adapters?|nics?|(?:network )?cards?|dongles?)\b[^.;]{0,60}\b(?:full speed|line rate|works? (?:fine|well|perfectly)|(?:is|are) (?:fine|fast))\b`)},
	// The same machine with another system.
	{"other_system", piece.Compile(`(?i)\b(?:but|while|whereas)\b[^.;]{0,12}\b(?:in|on|under|with|from) (?:linux|ubuntu|debian|windows|macos|freebsd)\b(?: it)?(?: can| gets?| reach\w*| does| is)?[^.;\d]{0,12}\b(?:full speed|fast|fine|\d[\d.]* ?g(?:b|bit|bps)\w*)\b|\b(?:full speed|fast|fine|ok(?:ay)?|no (?:problems?|issues?)|improved significantly|much (?:better|faster)|normal(?:ly)?|line rate)\b[^.;]{0,24}\b(?:on|in|under|with|using|from) (?:a |the |my )?(?:linux|ubuntu|debian|centos|fedora|windows|macos|freebsd)\b|\b(?:same (?:test )?(?:hardware|machine|environment|box|server|host|pc|laptop|setup)\b[^.;]{0,24}\b|\bdual boot\w*\b[^.;]{0,20}|\bboot(?:ed|ing)? (?:in)?to\b[^.;]{0,12})\b(?:linux|ubuntu|debian|centos|fedora|windows|macos|freebsd)\b(?:[^.;]|\.\d){0,60}\b(?:full speed|fast|fine|improved significantly|much (?:better|faster)|line rate)\b`)},
	// Packets larger than a link, with sums that somebody else should have made.
	{"bad_sums", piece.Compile(`(?i)\b(?:packets?|frames?|segments?)\b[^.;]{0,16}\b(?:larger|bigger|longer) than (?:the )?(?:\d{4}(?: bytes?)?(?: mtu)?|mtu)\)?[^.;]{0,30}\b(?:incorrect|bad|wrong) (?:checksums?|cksum)|\b(?:incorrect|bad|wrong) (?:checksums?|cksum)[^.;]{0,40}\b(?:larger|bigger|longer) than (?:the )?(?:\d{4}|mtu)`)},
	// An offload that carries more in all, whatever one flow does without it.
	{"offload_gains", piece.Compile(`(?i)\boffload\w*\b[^.;]{0,12}\b(?:enabled|on|active)\b[^.;]{0,60}\b(?:double|twice|higher|more|better)\b`)},
	// A table of connections that is full.
	{"table_full", piece.Compile(`(?i)\b(?:nf_)?conntrack:? (?:table )?(?:is |was |gets )?(?:full|exhausted|overflow\w*)\b|\b(?:nat|state|session|connection)[- ]tables? (?:is |was |gets )?(?:full|exhausted)\b`)},
	// A router's or a switch's own window.
	{"device_window", piece.Compile(`(?i)\bip tcp window-size [1-9]\d{3}\b`)},
}
