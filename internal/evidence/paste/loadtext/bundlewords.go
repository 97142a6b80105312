package loadtext

import "github.com/linerate/linerate/internal/evidence/paste/piece"

// groupWords are names of bundles and their settings beside bundleWords.
var groupWords = piece.Compile(`(?i)\b(?:team\d+|(?:new-|get-)?net(?:lbfo|switch)team|port channels?|nic ?teaming|teamed|team (?:them|the|two|three|four|all|my|both|\d|ports?|nics?|cards?|links?)|switch ?team|aggr\d+|802\.1ax|trunk group|(?:lacp|link) group|eth-?trunk|ip[- ]hash|ecmp|ifgrps?|interface groups?)\b`)

// bundleStates are how sentences say what is wrong with a bundle that is not just slow,
// by the fact of "said" that each comes to, the plainest first.
var bundleStates = []struct {
	key   string
	shape piece.Pattern
}{
	// The other end has no LACP, or no bundle.
	{"no_lacp", piece.Compile(`(?i)\b(?:does(?:n'?t| not)|do(?:n'?t| not)) (?:seem to |even |appear to )?(?:have|support|speak|do)\b[^.;!?]{0,30}\b(?:802\.3ad|lacp|link[- ]aggregation|ether ?channel)\b`)},
	{"no_lacp", piece.Compile(`(?i)\bno (?:ether ?channel|lacp|port[- ]?channel|lag|link[- ]aggregation)\b[^.;!?]{0,30}\b(?:is |was |are )?(?:configured|enabled|set up)\b[^.;!?]{0,20}\bswitch`)},
	{"no_lacp", piece.Compile(`(?i)\b(?:dumb|unmanaged)\W{1,3}(?:\w+ ){0,2}switch\b`)},
	// It does not come up.
	{"not_up", piece.Compile(`(?i)\b(?:port-?channel|lagg?|bond|team|aggr|ae|po|ether-?channel|trk|bundle)[- ]?\w{0,9}\b[^.;!?]{0,40}\b(?:(?:does|did)(?:n'?t| not)|do(?:n'?t| not)|won'?t|will not|never|no longer|(?:can|could) ?not|can'?t) (?:come|get|go|comes?|goes|came) up\b`)},
	{"not_up", piece.Compile(`(?i)\b(?:lagg?|bond|team|aggr|port-?channel|ether-?channel|bundle)(?:[- ]?(?:links?|ports?|interfaces?|members?|\d+))?\b[^.;!?]{0,24}\b(?:not|never) comm?ing up\b`)},
	{"not_up", piece.Compile(`(?i)\b(?:port-?channels?|lagg?|bond|team|aggr|ether-?channel|bundle)(?: ?interface| ?\d+)?\b (?:is|are|was|stays?|remains?|goes|went|shows?(?: as)?|keeps? going) (?:always |in |still )?down\b`)},
	{"not_up", piece.Compile(`(?i)\bno-carrier\b[^.;!?]{0,40}\b(?:bond|team|lagg|aggr|port-?channel)`)},
	{"not_up", piece.Compile(`(?i)\b(?:bond|team|lagg|aggr|port-?channel)\w*\b[^.;!?]{0,40}\bno-carrier\b`)},
	{"not_up", piece.Compile(`(?i)\blacp\b[^.;!?]{0,30}\b(?:does(?:n'?t| not)|won'?t|never|kept|keeps|is|not) (?:come up|negotiat\w+|form\w*|establish\w*|work|fail\w+)\b`)},
	{"not_up", piece.Compile(`(?i)\b(?:bond|team|lagg|aggr|port-?channel|po)\d+ (?:is|was) not(?: (?:up|ready|active|running|working|coming up|getting up|forming)\b|\.?$)`)},
	{"not_up", piece.Compile(`(?i)\b(?:ports?|members?|links?|interfaces?|nics?)\b[^.;!?]{0,40}\b(?:as|is|are|status|states?|stays?|flag(?:ged)?|remains?|become?s?|marked)\W{1,4}(?:in )?\W?(?:stand-?alone|unselected|not bundled)\b`)},
	{"not_up", piece.Compile(`(?i)\b(?:uplinks?|vmnics?|ports?|members?|interfaces?)\b[^.;!?]{0,120}\bstates? (?:of |is |= ?|: ?)\W?stand-?alone\b`)},
	{"not_up", piece.Compile(`(?i)\b(?:lag|lacp|port-?channel|ports?|members?|interfaces?)\b[^.;!?]{0,60}\b(?:in|to|into|as|stays?|remains?) (?:the )?(?:lag )?deselected\b`)},
	{"not_up", piece.Compile(`(?i)\binterface stopped distributing\b`)},
	{"not_up", piece.Compile(`(?i)\b(?:has|have|with|shows?|says?)? ?no active aggregator\b`)},
	{"not_up", piece.Compile(`(?i)(?:lacp|bond\d?|聚合)[^。；;\n]{0,12}(?:协商(?:失败|不成功|不上|不起来)|起不来|未及时(?:发出|收到))`)},
	// Some of its links carry, others do not.
	{"few_links", piece.Compile(`(?i)\b(?:hash(?:ed|es)?|sent|mapped|pinned|go(?:es)?|fall|land)(?: in)? ?to the same (?:ecmp |lag |bond |channel )?(?:path|member|next[- ]?hop|link)s?\b`)},
	{"few_links", piece.Compile(`(?i)\bwithin each (?:port-?channel|lag|bundle|channel)\b[^.;!?]{0,60}\b(?:one|a single|the same)(?: and the same)? (?:members?|links?|ports?)\b`)},
	{"few_links", piece.Compile(`(?i)\balways (?:picks?|uses?|takes?|chooses?|selects?|hash(?:es)? to) (?:only )?(?:one|the same|a single) (?:of the |one of the )?(?:lag |bond |channel |bundle |ecmp )?(?:members?|links?|ports?|slaves?|next[- ]?hops?)\b`)},
	{"few_links", piece.Compile(`(?i)(?:\bnot|n['’]t|\bnever)\b(?: \w+){0,2} (?:us(?:e|es|ed|ing)|utili[sz](?:e|es|ed|ing)|tak(?:e|es|ing)) all(?: of)?(?: \w+){0,3} (?:links?|nics?|ports?|slaves?|interfaces?|members?|uplinks?|vmnics?|adapters?)\b`)},
	{"few_links", piece.Compile(`(?i)\bonly (?:two|2|three|3)\b(?: \w+){0,3} (?:links?|nics?|ports?|slaves?|interfaces?|members?|uplinks?|vmnics?)\b`)},
}

// bundleState is what a sentence says of a bundle, and its words; "" nothing.
func bundleState(line string) (key, words string) {
	for _, b := range bundleStates {
		if m := b.shape.FindString(line); m != "" {
			return b.key, m
		}
	}
	return "", ""
}

// uneven is how a sentence says that the links of a bundle do not carry alike, and byChance
// that another run fares better.
var (
	uneven   = piece.Compile(`(?i)\b(?:not|n't|never|hardly|barely)\b[^.;!?]{0,40}\b(?:equally|evenly|uniformly|balanced|(?:load[- ]?)?balancing|load[- ]?balanced?|distribut(?:ed|ing)|spread(?:ing)?)\b|\b(?:unevenly?|unequal(?:ly)?|unbalanced|imbalanced?|lopsided)\b|\b(?:load[- ]?(?:balanc|shar)\w+|hash\w*)\b[^.;!?]{0,24}\b(?:is|are|do|does|did)(?: not|n't) (?:seem to |really |actually )?(?:work|happen|balanc|distribut|spread)\w*|\bone (?:of (?:the|my|our|its)(?: \w+)? )?(?:ports?|links?|nics?|interfaces?|members?|uplinks?|slaves?)\b[^.;]{0,30}\b(?:heavily|fully|highly|over-?)(?: \w+)? ?(?:utili[sz]ed|used|loaded)\b[^;]{0,40}\b(?:other|second|rest|remaining)\b[^.;]{0,24}\b(?:less|hardly|barely|lightly|under-?(?:used|utili[sz]ed)|idle|little|not)\b`)
	byChance = piece.Compile(`(?i)\b(?:sometimes|occasionally|now and then|at times|by chance|randomly|every so often|from run to run|(?:on|in|with) (?:some|other) runs?|depending on (?:the )?(?:luck|run|ports?))\b[^.;!?]{0,60}\b(?:both|combined|double|twice|aggregated?|the sum|all (?:two|three|four|\d|links|of them))\b`)
)

// flowsAdd is how a sentence says that each connection has a limit of its own, without rates.
var flowsAdd = piece.Compile(`(?i)\b(?:two|three|four|\d{1,2}|parallel|multiple|several|more|second)\b(?: \w+){0,3} ?(?:downloads?|uploads?|connections?|streams?|transfers?|flows?|sessions?|threads?|copies)\b[^.;]{0,30}\b(?:doubl\w+|twice|tripl\w+|add(?:s)? up|scal(?:es?|ing) (?:linearly|up)|(?:saturat|fill|max)\w* (?:out )?the (?:link|line|pipe|nic))|\bonly (?:one|each|a single|single) (?:connection|stream|download|flow)s?\b[^.;]{0,20}\b(?:limited|capped|throttled|slow)`)

// hashRefused is how a switch or its owner says that the hash cannot be set there (SONiC's
// switchorch says "Switch LAG hash configuration is not supported"), and hashShort that
// the hash reads no ports.
var (
	hashRefused = piece.Compile(`(?i)\b(?:ecmp|lag|switch|load[- ]?balanc\w+|port-?channel)(?:[ -]\w+)?[ -]hash\w*\b[^.;]{0,50}\b(?:not supported|unsupported|not_supported|cannot be (?:set|changed|configured))|\bhash\w* (?:algorithm |fields? |configuration )?(?:is |are )?not supported\b|\bSAI\w*HASH\w*\b[^;]{0,60}\bNOT_SUPPORTED\b`)
	hashShort   = piece.Compile(`(?i)\bonly (?:an? )?(?:l3|layer[ -]?3|ip|l2|layer[ -]?2|mac)(?: addresses)?\b[^.;]{0,12}\bhash\w*|\bhash\w*\b[^.;]{0,30}\bonly\b[^.;]{0,16}\b(?:l3|layer[ -]?3|ip address\w*|ips|l2|layer[ -]?2|mac\w*)\b|\b(?:l4|layer[ -]?4|tcp|udp|source|src)[ -]?ports? (?:is|are) not (?:used|included|part|considered|hashed)\b|\bignor\w+ (?:the )?(?:l4|layer[ -]?4|tcp|udp)?[ -]?ports?\b[^.;]{0,20}\bhash`)
)
