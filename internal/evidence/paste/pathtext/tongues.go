package pathtext

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// tongue is how a language tells that a smaller MTU helped: the change, what it brought and
// what denies it.
type tongue struct{ changed, outcome, denied piece.Pattern }

// tongues are languages other than English, whose words sizes.go has.
var tongues = []tongue{
	{piece.Compile(`(?i)(?:mtu|mss)[^.;]{0,24}(?:уменьш|сниз|опуст|пониз|поменя|выстав|постав|сдела|измен|зада)\p{L}*|(?:уменьш|сниз|опуст|пониз|поменя|выстав|постав|сдела|измен|зада)\p{L}*[^.;]{0,24}(?:mtu|mss)`),
		piece.Compile(`(?i)полетел|заработал|помогл|решил|быстр|вырос|нормальн|отлично|исчез|проблем\p{L}* (?:нет|ушл)|полн\p{L}+ скорост`),
		piece.Compile(`(?i)(?:^|[^\p{L}])(?:не|ничего|без)[^\p{L}]`)},
	{piece.Compile(`(?i)(?:mtu|mss)[^.;]{0,40}(?:reduzier|gesenkt|senk|verringer|herunter|runter|verkleiner|gesetzt|gestellt|geändert|angepass)\p{L}*|(?:reduzier|senk|verringer|herunter|runter|verkleiner|setz|stell|änder)\p{L}*[^.;]{0,30}(?:mtu|mss)`),
		piece.Compile(`(?i)(?:läuft|lief|geht|ging) (?:es |jetzt |nun |wieder |alles )*(?:schnell|flott|gut|normal|rund|einwandfrei|problemlos|sauber|mit voller)|behoben|gelöst|geholfen|hilft|half[^\p{L}]|funktioniert|volle (?:geschwindigkeit|bandbreite|leistung)|schneller`),
		piece.Compile(`(?i)(?:^|[^\p{L}])(?:nicht|nichts|kein\p{L}*|trotzdem)(?:[^\p{L}]|$)`)},
	{piece.Compile(`(?i)(?:mtu|mss)[^.;]{0,40}(?:rédui|baiss|diminu|passé|mis |régl|chang)\p{L}*|(?:rédui|baiss|diminu|passant|mett|régl|chang)\p{L}*[^.;]{0,30}(?:mtu|mss)`),
		piece.Compile(`(?i)résol\p{L}+|rapide|fonctionne|marche|mieux|débit (?:normal|complet|maximal)|corrig\p{L}+`),
		piece.Compile(`(?i)(?:^|[^\p{L}])(?:pas|aucun\p{L}*|rien|sans)(?:[^\p{L}]|$)`)},
	{piece.Compile(`(?i)(?:mtu|mss)[^.;]{0,40}(?:baj|reduc|reduj|reduz|cambi|diminu|disminu|puse|ajust|mud)\p{L}*|(?:baj|reduc|reduj|reduz|cambi|diminu|disminu|puse|ajust|mud)\p{L}*[^.;]{0,30}(?:mtu|mss)`),
		piece.Compile(`(?i)funciona|funcionó|funcionou|resol[vu]\p{L}+|solucion\p{L}*|resuelt\p{L}+|rápid\p{L}+|mejor\p{L}*|melhor\p{L}*|normal`),
		piece.Compile(`(?i)(?:^|[^\p{L}])(?:no|não|nada|sin|sem)(?:[^\p{L}]|$)`)},
	{piece.Compile(`(?i)(?:mtu|mss)[^。；;]{0,16}(?:改|设|設|调|調|降|减小|減小)|(?:改|设|設|调|調|降低|减小|減小)[^。；;]{0,10}(?:mtu|mss)`),
		piece.Compile(`正常|恢复|恢復|解决|解決|好了|快了|跑满|跑滿|可以了|搞定|变快|變快|提升|顺畅`),
		piece.Compile(`没|沒|不|无|無`)},
	{piece.Compile(`(?i)(?:mtu|mss)[^。]{0,20}(?:下げ|変更|設定|小さく|減ら)`),
		piece.Compile(`改善|解決|直り|直っ|速く|治り|治っ|正常|出るように`),
		piece.Compile(`ない|なかっ|ません`)},
}

// lossElsewhere is a part of all packets that is lost or sent again, as other languages and
// lists of figures tell it.
var lossElsewhere = piece.Compile(`(?i)(?:重传率|重傳率|丢包率?|丟包率?|パケットロス率?|再送率|paketverlust\p{L}*|pertes? de paquets|pérdida de paquetes|perda de pacotes|потер\p{L}+ пакетов|retrans(?:mission|mit|mitted)?s? (?:rate|ratio))[^.;。\d]{0,12}(\d{1,2}(?:\.\d+)?)(?: ?%)?(?: ?[-–~～] ?\d{1,2}(?:\.\d+)?)? ?%`)

// tripElsewhere is a round trip by the names that the kernel gives it.
var tripElsewhere = piece.Compile(`(?i)\b(?:min|avg|s|mean)_?rtt\b[^.;\d]{0,8}(\d{1,4}(?:\.\d+)?) ?ms\b`)

// cured is how a sentence says that it is no longer slow with an offload off.
var cured = piece.Compile(`(?i)\b(?:after|by|once|since|with)\b (?:\w+ )?(?:disabl\w+|turn\w+ off|switch\w+ off)\b[^.;,]{0,16}` + offloadName + `[^.;]{0,90}\b(?:no longer|not any ?more|never again|gone|went away|disappear\w*)\b`)

// elsewhere notes what other readers of words do not: what people tell in other languages, of
// two sizes with the rate of each, and of losses by their names.
func (s *sink) elsewhere(text string, l piece.Line, said func(key, value string)) {
	low := strings.ToLower(text)
	if strings.Contains(low, "mtu") || strings.Contains(low, "mss") {
		s.sizeRates(text, l, said)
		if !strings.HasSuffix(text, "?") && !strings.HasSuffix(text, "？") {
			for _, t := range tongues {
				m := t.changed.FindStringIndex(text)
				if m != nil && t.outcome.MatchString(text[m[0]:]) && !t.denied.MatchString(text[m[0]:]) {
					said("mtu_helps", text[m[0]:m[1]])
					break
				}
			}
		}
	}
	if strings.Contains(text, "%") {
		if m := lossElsewhere.FindStringSubmatch(text); m != nil && piece.Float(m[1]) > 0 {
			said("loss_percent", m[1])
		}
	}
	if m := tripElsewhere.FindStringSubmatch(text); m != nil {
		said("trip_ms", m[1])
	}
	if m := cured.FindString(text); m != "" && !adviceRead.MatchString(text) {
		said("offload_helps", m)
	}
}

// sizeOrRate is a number, with a unit where it is a rate, or words of a rate below ten.
var sizeOrRate = piece.Compile(`(?i)(\d+(?:[.,]\d+)?) ?(?:([kmg])(?:i?b|bit)s?(?:/s(?:ec)?|ps| per second)?)?|(?:个位数|個位數|single[- ]digit) ?([kmg])b`)

const (
	leastSize  = 1200 // of what is told beside rates, in bytes
	mostSize   = 1500
	sizeGain   = 2 // how many times as fast the smaller size is
	nearlyNine = 9 // what a rate of one digit is at most
)

// sizeRates hears rates that are told with the MTU of each, in a line or in a list: where the
// smaller is far faster, the larger does not pass.
func (s *sink) sizeRates(text string, l piece.Line, said func(key, value string)) {
	size, rate := 0.0, -1.0
	first := "" // whether sizes stand before their rates or behind them
	for _, m := range sizeOrRate.FindAllStringSubmatch(text, 12) {
		n, unit := piece.Float(strings.ReplaceAll(m[1], ",", ".")), strings.ToUpper(m[2])
		if m[3] != "" {
			n, unit = nearlyNine, strings.ToUpper(m[3])
		}
		switch {
		case unit != "" && (first != "size" || size > 0):
			rate = n * piece.Decimal[unit]
			first = cmp.Or(first, "rate")
		case unit == "" && n >= leastSize && n <= mostSize && n == float64(int(n)) && (first != "rate" || rate >= 0):
			size = n
			first = cmp.Or(first, "size")
		}
		if size == 0 || rate < 0 {
			continue
		}
		s.sizeRate(size, rate, l, said)
		size, rate = 0, -1
	}
}

// sizeRate compares one such rate with the one before it.
func (s *sink) sizeRate(size, rate float64, l piece.Line, said func(key, value string)) {
	const key = "size and rate"
	if x, ok := s.C.Topics[key]; ok && x.File == l.File && l.Number-x.From <= 6 {
		other, bits, _ := strings.Cut(x.Text, " ")
		if was := piece.Float(other); was > size && rate >= sizeGain*piece.Float(bits) || was < size && piece.Float(bits) >= sizeGain*rate && was > 0 {
			said("mtu_helps", "with "+strconv.FormatFloat(min(was, size), 'f', 0, 64)+" it is faster than with "+strconv.FormatFloat(max(was, size), 'f', 0, 64))
		}
	}
	s.Topic(key, strconv.FormatFloat(size, 'f', 0, 64)+" "+strconv.FormatFloat(rate, 'f', 0, 64), l)
}

// heldStories are what people tell of limits that somebody set, of programs that have few
// requests under way, and of windows over a long way.
var heldStories = []storyWords{
	{"policing", piece.Compile(`(?i)\b(?:ingress|egress|traffic|rate)[ -]policing\b|\bpolicers?\b|\bpoliced\b`)},
	{"udp_near", piece.Compile(`(?i)\budp\b[^.;]{0,80}\b(?:close (?:to)?|equals?|match\w*|reach\w*|the full|as configured|near)\b`)},
	{"limit_set", piece.Compile(`(?i)\bmaxbw ?= ?\d|\benforc\w+ (?:a |the )?band ?wi?d?th? ?(?:limit|cap)|\b(?:set|setting|configur\w+|appl\w+|add\w*) (?:a |the )?(?:bandwidth|rate|traffic) (?:limit|cap|shap\w+)`)},
	{"below_limit", piece.Compile(`(?i)\b(?:far|well|much|way) (?:below|under|lower than|less than)\b[^.;]{0,30}\b(?:configured|limit|value)\w*`)},
	{"limited_by", piece.Compile(`(?i)\brate[- ]?limits?\b[^.;]{0,40}\b(?:htb|tbf|qdisc|policer|shaper|tc filter)\b|\b(?:htb|tbf|qdisc|shaper)\b[^.;]{0,30}\brate[- ]?limit\w*`)},
	{"stays_low", piece.Compile(`(?i)\b(?:throughput|rate|speed|bandwidth)\b[^.;]{0,30}\b(?:too low|remains low|stays low|very low|low\b)`)},
	{"pps_limit", piece.Compile(`(?i)\b(?:hit|hits|hitting|reach\w*|exceed\w*)\b[^.;]{0,16}\b(?:instance|vm|ec2|ena|provider|hypervisor|cloud)\S*(?: \w+){0,2} (?:pps|packets?[- ](?:per|a)[- ]second) (?:limit|cap|allowance)\w*`)},
	{"requests_fixed", piece.Compile(`(?i)\bmax_?(?:unconfirmed|outstanding|in_?flight|concurrent|pending)_?(?:reads?|writes?|requests?)\b|\b(?:hard[-\x{2010}\x{2011} ]?coded|fixed)\b[^.;]{0,50}\b(?:unconfirmed|outstanding|in[- ]flight|concurrent|pending|pipelined)\b[^.;]{0,12}\b(?:reads?|requests?|writes?|packets?)\b`)},
	{"long_wait", piece.Compile(`(?i)\b(?:high|large|long|great)[- ](?:round-?trip |network |link )?(?:latency|latencies|delays?|round-?trips?)\b|\b(?:latency|rtt|delay) (?:is|was|goes|gets|becomes) (?:high|large|up)\b`)},
	{"window_low", piece.Compile(`(?i)\b(?:due to|because of|caused by|limited by|owing to)\b[^.;]{0,24}\b(?:small|low|limited|max\w*|fixed)(?: tcp)? window(?: sizes?)?\b[^.;]{0,40}\b(?:latency|rtt|delay|round[- ]?trip|distance)|\bmax\w*(?: tcp)? window(?: sizes?)? and (?:the )?(?:latency|rtt|delay|round[- ]?trip)`)},
	{"speed_test", piece.Compile(`(?i)\bspeed[- ]?tests?\b|\bookla\b`)},
}
