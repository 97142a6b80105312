package pathtext

import (
	"slices"
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// What people tell of packets' sizes beside one sentence that names the remedy and that it
// helped.
var (
	// sizeChanged is a sentence about a change of the MTU, whose outcome the next one tells.
	sizeChanged = piece.Compile(`(?i)\b(?:chang\w+|lower\w*|reduc\w+|decreas\w+|set(?:ting)?|adjust\w*|remov\w+|drop\w*|tun(?:e|ed|ing)|configur\w+|clamp\w*|tr(?:y|ied|ying))\b[^.;]{0,40}\b(?:mtu|mss)\b`)
	// workedThen is such an outcome.
	workedThen = piece.Compile(`(?i)\b(?:it|this|that|which|everything|all|now)\b(?: \w+){0,2} ?\b(?:worked|works|helped|helps|fixed|solved|resolved|did (?:the trick|it))\b`)
	// itWas is how a sentence blames the MTU, slowWithout one that needs it set.
	itWas = piece.Compile(`(?i)\b(?:culprit|root cause|cause|reason|problem) ?(?:here )?: ?(?:the |my |our |an? )?(?:wrong |too (?:high|large|big) )?(?:mtu|mss)\b|\bit (?:was|is|were) (?:really |indeed |just |simply )?(?:the |my |our |an? )?(?:wrong |too (?:high|large|big) )?(?:mtu|mss)\b`)
	// slowUnbuffered is one that needs a socket's buffers set.
	slowUnbuffered = piece.Compile(`(?i)\b(?:slow\w*|stalls?|hangs?|unusable)\b[^.;]{0,16}\bwithout\b[^.;]{0,24}\b(?:(?:snd|rcv)buf\w*|socket buffers?|(?:larger?|bigger) (?:tcp |socket )?(?:windows?|buffers?))`)
	slowWithout    = piece.Compile(`(?i)\b(?:slow\w*|stalls?|hangs?|does(?:n'?t| not) work|broken|unusable)\b[^.;]{0,16}\bwithout\b[^.;]{0,16}\b(?:mtu|mss)\b`)
	// adjusted is a change of the MTU to a smaller value with what it brought.
	adjusted = piece.Compile(`(?i)\b(?:adjust\w*|chang\w+|set\w*)\b[^.;]{0,24}\bmtu\b[^.;]{0,24}?\bfrom\b[^.;\d]{0,16}(\d{3,4}) to (\d{3,4})\b`)
	good     = piece.Compile(`(?i)\b(?:without a hitch|works?|worked|loads? (?:fine|quickly)|fine|fast|solution|solved|fixe[sd]|helped|perfect\w*)\b`)
	// passesUpTo is the size up to which packets pass, with how others fare; stopsAt the same
	// by two sizes.
	// failsFrom is the size from which packets no longer pass.
	failsFrom  = piece.Compile(`(?i)\b(?:unable|cannot|can't|can not|not able|fails?|failing|no (?:reply|response|answer)|lost|dropped)\b[^.;]{0,60}\b(\d{3,4}) ?bytes? (?:and|or) (?:higher|more|larger|above|bigger|over|up)\b|\b(?:packets?|pings?|frames?|payloads?)\b[^.;]{0,30}\b(?:of|from) (\d{3,4}) ?bytes? (?:and|or) (?:higher|more|larger|above|bigger|over|up)\b[^.;]{0,40}\b(?:fail\w*|lost|dropped|no (?:reply|response|answer)|time out|not (?:arriv|answer|pass)\w*)`)
	passesUpTo = piece.Compile(`(?i)\b(?:ping\w*|packets?|frames?|payloads?|mtus?)\b[^.;]{0,40}\bup to (\d{3,4})\b[^.;]{0,60}\b(?:larger|bigger|more|above|anything (?:over|above)|beyond)\b[^.;]{0,24}\b(?:not|n'?t|fail\w*|los[st]\w*|hangs?|drop\w*|time\w*|stall\w*|nothing)`)
	stopsAt    = piece.Compile(`(?i)\b(?:mtu|bytes|packets?|ping\w*)\b[^.;]{0,40}\b(?:to|of|up to|at|with) (\d{3,4})\b[^.;\d]{0,24}\b(?:at|with|and|but|from)\b[^.;\d]{0,8}(\d{3,4})\b[^.;]{0,16}\b(?:hangs?|fail\w*|stall\w*|stops?|drop\w*|breaks?|not|n'?t|nothing|los[st]\w*)`)
	// notLarger is a size beyond which nothing passes, where ofPackets says that it is packets'.
	notLarger = piece.Compile(`(?i)\b(?:can ?not|can'?t|unable|not able|fails?|hangs?)\b[^.;]{0,50}\b(?:large|larger|more|bigger|greater|longer) than (\d{3,4}) ?bytes?\b`)
	ofPackets = piece.Compile(`(?i)\b(?:packets?|frames?|pings?|icmp|mtu|mss|tcp|udp|tunl?\d*|tunnels?|vpn|vxlan\w*|ipip|overlay|wire ?guard|ipsec|gre|pods?)\b`)
	// sizeOutcome is a line of a table of packets' sizes with how many were lost.
	sizeOutcome = piece.Compile(`(?i)^[^,]{0,24}?\b(?:payload|size|mtu|mss|packets?|frames?|pings?(?: -\w+)*)\W{1,4}(\d{3,4}) ?(?:b|bytes?)?\b[^,%]*?\b(\d{1,3})(?:\.\d+)? ?% (?:packet )?(?:loss|lost)\b`)
	// smallerOutside is a way that is narrower than what goes by it.
	smallerOutside = piece.Compile(`(?i)\b(?:broken|fail\w*|hangs?|stall\w*|does(?:n'?t| not) work|drop\w*)\b[^.;]{0,24}\b(?:when|where|if|because|since|as)\b[^.;]{0,40}\bmtu\b[^.;]{0,12}\b(?:smaller|lower|less) than\b`)
)

// fullSizes are payloads and frames that are as large as hosts send them: what is larger
// passes nowhere.
var fullSizes = []float64{8972, 9000, 8952, 9014, 9216, 1472, 1500, 1452}

// mssTried is a test with smaller segments, and that it was fast.
var mssTried = piece.Compile(`(?i)\biperf3?\b[^.;]*(?:\.\d[^.;]*)* -M ?(?:\d{3}|1[0-3]\d\d)\b[^.;]{0,16}(?:#|:|->|=>)[^.;]{0,16}\b(?:back (?:to|at) ~?\d|full (?:speed|rate)|fast again)`)

// slowStill is how a sentence says that it was no faster.
var slowStill = piece.Compile(`(?i)\b(?:as slow|same|slow again|only|after a (?:second|while))\b`)

// sizesOf notes what a sentence tells of packets' sizes.
func (s *sink) sizesOf(sentence string, l piece.Line, said func(key, value string)) {
	asks := strings.HasSuffix(strings.TrimSpace(sentence), "?")
	if asks || wonders.MatchString(sentence) {
		return
	}
	denied := noHelp.MatchString(sentence)
	switch {
	case itWas.MatchString(sentence) && !denied:
		said("mtu_helps", itWas.FindString(sentence))
	case mssTried.MatchString(sentence) && !denied && !slowStill.MatchString(sentence):
		said("mtu_helps", mssTried.FindString(sentence))
	case slowWithout.MatchString(sentence):
		said("mtu_helps", slowWithout.FindString(sentence))
	case slowUnbuffered.MatchString(sentence):
		said("window_helps", slowUnbuffered.FindString(sentence))
	case smallerOutside.MatchString(sentence):
		said("mtu_limit", smallerOutside.FindString(sentence))
	}
	if m := adjusted.FindStringSubmatch(sentence); m != nil && piece.Float(m[2]) < piece.Float(m[1]) && good.MatchString(strings.Replace(sentence, m[0], "", 1)) && !noEffect.MatchString(sentence) {
		said("mtu_helps", m[0])
	}
	if m := passesUpTo.FindStringSubmatch(sentence); m != nil && !anyFull(piece.Float(m[1])) {
		said("mtu_limit", m[0])
	}
	if m := failsFrom.FindStringSubmatch(sentence); m != nil && odd(piece.Float(m[1]+m[2])) {
		said("mtu_limit", m[0])
	}
	if m := notLarger.FindStringSubmatch(sentence); m != nil && odd(piece.Float(m[1])) && ofPackets.MatchString(sentence) {
		said("mtu_limit", m[0])
	}
	if m := stopsAt.FindStringSubmatch(sentence); m != nil && piece.Float(m[2]) > piece.Float(m[1]) && piece.Float(m[2])-piece.Float(m[1]) < 300 && !anyFull(piece.Float(m[1])) {
		said("mtu_limit", m[0])
	}
	if x, ok := s.C.Topics["mtu change"]; ok && x.File == l.File && l.Number-x.From <= 2 && !denied && workedThen.MatchString(sentence) && !s.told("mtu_helps_not") {
		said("mtu_helps", x.Text+": "+workedThen.FindString(sentence))
	}
	if m := sizeChanged.FindString(sentence); m != "" && !large.MatchString(sentence) {
		if noEffect.MatchString(sentence) {
			delete(s.C.Topics, "mtu change")
			return
		}
		s.Topic("mtu change", m, l)
	}
}

// odd reports a size that hosts with whole frames would pass.
func odd(size float64) bool { return size > 500 && !anyFull(size) && !anyFull(size-1) }

func anyFull(size float64) bool { return slices.Contains(fullSizes, size) }

// tellsSize reports a line of a table of sizes.
func tellsSize(line string) bool {
	return strings.Contains(line, "%") && strings.Contains(line, "lo") && sizeOutcome.MatchString(line)
}

// Parts of its packets, in percent, up to which a size passes and from which it does not.
const (
	mostPassing = 20
	leastGone   = 95
)

// sizeTable hears a table of sizes: with lines of sizes that pass and of larger ones of which
// none arrive, the way ends between them.
func (s *sink) sizeTable(l piece.Line, said func(key, value string)) {
	if !tellsSize(l.Text) {
		return
	}
	m := sizeOutcome.FindStringSubmatch(l.Text)
	size, lost := piece.Float(m[1]), piece.Float(m[2])
	switch {
	case lost <= mostPassing:
		s.Topic("size that passes", m[1], l)
	case lost >= leastGone:
		if x, ok := s.C.Topics["size that passes"]; ok && x.File == l.File && l.Number-x.From < 12 && piece.Float(x.Text) < size && !anyFull(piece.Float(x.Text)) {
			said("mtu_limit", "packets of "+x.Text+" pass, of "+m[1]+" all are lost")
		}
	}
}
