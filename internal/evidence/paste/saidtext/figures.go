package saidtext

import (
	"slices"
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// anyRate is a number with its unit; the last of a range counts.
var anyRate = piece.Compile(`(\d{1,6}(?:\.\d+|,\d{1,3})?)\+? ?([kKMmGgTt])(i?)(?:(B|[Bb]ytes?)(?: ?/ ?[sS]|ps|/sec| ?per sec|s\b)|(bps|b ?/ ?s|bits? ?/ ?s|[Bb]its?\b|BIT(?:/s)?\b|egabits?\b|igabits?\b|bs\b|[Bb]\b)|([ei]gabytes?)(?: ?/ ?s(?:ec)?| per second)|(/s)\b)`)

// mostRates are looked at in one line.
const mostRates = 16

// figure is a rate as it stands in a text: in bits a second, and from where to where.
type figure struct {
	bits     float64
	from, to int
	// megabytes is what it is where people who tell of a copy write a small b; zero as bits.
	megabytes float64
	// short is one of gigabits whose unit is a letter, as people write what a test showed.
	short bool
	// bare is one without "a second": an amount, where a copy is told of.
	bare bool
	// bytes is one that is told in bytes.
	bytes bool
}

// figures are the rates that stand in a text, whatever is said of them.
func figures(text string) (out []figure) {
	for _, m := range anyRate.FindAllStringSubmatchIndex(text, mostRates) {
		part := func(i int) string {
			if m[2*i] < 0 {
				return ""
			}
			return text[m[2*i]:m[2*i+1]]
		}
		n := piece.Float(strings.ReplaceAll(part(1), ",", ".")) * piece.Decimal[strings.ToUpper(part(2))]
		f := figure{bits: n, from: m[0], to: m[1]}
		bits := part(5)
		switch small := strings.ToLower(bits); {
		case part(4) != "" || part(6) != "" || part(7) != "":
			f.bits, f.bytes = 8*n, true
		case bits == "B":
			continue // an amount
		case (strings.HasPrefix(small, "b/") || strings.HasPrefix(small, "b /")) && strings.EqualFold(part(2), "m"):
			f.megabytes = 8 * n
		case small == "b" && !strings.EqualFold(part(2), "g"):
			f.bare = true
		}
		out = append(out, f)
	}
	for _, m := range shortRate.FindAllStringSubmatchIndex(text, mostRates) {
		if bits := piece.Float(text[m[2]:m[3]]) * 1e9; !nominal(bits) {
			out = append(out, figure{bits: bits, from: m[0], to: m[1], short: true})
		}
	}
	slices.SortStableFunc(out, func(a, b figure) int { return a.from - b.from })
	return out
}

// shortRate is a broken number of gigabits without more of its unit.
var shortRate = piece.Compile(`\b(\d{1,2}\.\d{1,2}) ?G\b`)

// of is a figure in bits a second as a class of rates tells it: a small b is a byte's where
// a copy or a disk tells it in mega and it is no "bit"; zero an amount.
func (f figure) of(class string) float64 {
	switch {
	case f.bare && class != "", f.short && class != "net":
		return 0
	case f.megabytes > 0 && (class == "copy" || class == "disk"):
		return f.megabytes
	}
	return f.bits
}

// notTold are words before a rate that is wished, promised or another's.
var notTold = piece.Compile(`(?i)\b(?:should\w*|could|expect\w*|theor\w*|suppos\w*|want|would|instead of|capable|rated|maximum of|like to|hoping|target|limit of|bwlimit|capacity can)\b[^.;]{0,40}$`)

// setting is a key before a rate that somebody set: "bw=30Mbit/s".
var setting = piece.Compile(`(?i)\b(?:bw|bandwidth|rate|ceil|limit|capacity|speed) ?= ?$`)

// notReached are words just before a rate that was not reached.
var notReached = piece.Compile(`(?i)(?:\bnot\b|n'?t\b|\bcannot\b|\bunable to\b|\bnever\b|\bwithout\b)[^.;]{0,20}\b(?:reach\w*|achiev\w*|saturat\w*|fill\w*|utili[sz]\w*|hit\w*)(?: (?:to|the|a|its|full|all|of|my|our|up)){0,3} ?$`)

// asked ends a sentence whose rate its author wants to hear of: nobody measured it.
var asked = piece.Compile(`(?i)^[^.;!?]{0,24}\b(?:right|correct|is that so|or not|isn'?t it)\s*\?`)

// hardly are words before a rate that was carried and should have been more.
var hardly = piece.Compile(`(?i)\b(?:could|would|should) (?:only|just|merely|barely|hardly|at most)\b[^.;]{0,40}$`)

// linkSpeed is a link's speed as ethtool prints it.
var linkSpeed = piece.Compile(`\bSpeed: \d+Mb/s$`)

// thanIt is a rate that another is compared with.
var thanIt = piece.Compile(`(?i)\bthan\b[^.;]{0,40}$`)

// dipsBelow is how a rate is told that something falls below for a while.
var dipsBelow = piece.Compile(`(?i)\b(?:drop\w*|dip\w*|fall\w*|fell|goes|went|sags?|down) (?:down )?(?:to )?(?:less than|below|under|beneath) $`)

// ofLinks are words behind a rate that a link or a line is sold by: nobody measured it.
var ofLinks = piece.Compile(`(?i)^[- ]?(?:/s(?:ec)?)? ?(?:full|half|ethernet|links?|nics?|network|cards?|ports?|switch\w*|connections?|adapters?|lan|interfaces?|lines?|uplinks?|fib\w*|phy|internet|q?sfp\w*|dac|cables?|copper|lacp|lag+|trunks?|\(?theor\w*|router|dongle|usb|bonds?|module|circuit|mpls|leased|modes?\b|plan|bandwidth limit)`)

// speedWord makes a rate that links are sold by a link's own, unless seenSpeeds stands before
// it: "I only get 1 Gbps speeds".
var (
	speedWord  = piece.Compile(`(?i)^[- ]?(?:/s(?:ec)?)? ?speeds?\b`)
	seenSpeeds = piece.Compile(`(?i)\b(?:see(?:ing|n)?|saw|get(?:s|ting)?|got|only|just|reach\w*)\b[^.;\d]{0,12}$`)
	// ofTest is a test's name just behind the link's rate that it is about.
	ofTest = piece.Compile(`(?i)^ iperf\d?\b`)
)

// ofBus are words before a bus' own speed, which nothing on it reaches.
var ofBus = piece.Compile(`(?i)\b(?:usb|thunderbolt)\b[^.;]{0,60}$`)

// busSpeed reports the own speeds of USB and of Thunderbolt.
func busSpeed(bits float64) bool {
	return slices.Contains([]float64{480e6, 5e9, 10e9, 20e9, 40e9}, bits)
}

// diskBus names a bus of disks, and diskBusSpeed reports its own speeds.
var diskBus = piece.Compile(`(?i)\b(?:sata|sas)\b`)

func diskBusSpeed(bits float64) bool {
	return slices.Contains([]float64{1.5e9, 3e9, 6e9, 12e9, 22.5e9}, bits)
}

// ofPort are words just before a link's own speed: what is connected, not what it carried.
var ofPort = piece.Compile(`(?i)\b(?:connected|connecting|plugged|linked|equipped|fitted)(?: (?:to|at|with|via|by|over|using|in|into|through|on))?(?: (?:a|an|the|its|my|two|both|2 ?x))? ?$|\b(?:connected|plugged|equipped)\b[^.;]{0,40}\b(?:using|via|with|by|through) (?:a |an |the |its )?$|\b(?:interfaces?|ports?|links?|nics?|adapters?|cards?|lagg?\d*|bond\d*)\b(?: (?:both|each|all|also))? (?:(?:is|are) )?(?:shows?|showing|reports?|reporting|says?|displays?|displaying|up) (?:as |at |up |a |with )*$`)

// nominal reports a rate that links are sold by.
func nominal(bits float64) bool {
	return slices.Contains([]float64{10e6, 100e6, 1e9, 2.5e9, 5e9, 10e9, 25e9, 40e9, 50e9, 100e9, 200e9, 400e9}, bits)
}

// listed and afterListed are what stands behind and before one of several speeds that a port
// has: "1 Gbps/100 Mbps/10 Mbps".
var (
	listed      = piece.Compile(`(?i)^ ?/ ?(?:10|100|1000|1|2\.5|5|25|40) ?[mg](?:b|bit)?`)
	afterListed = piece.Compile(`(?i)\b(?:10|100|1000|1|2\.5|5|25|40) ?[mg](?:b|bit)?(?:ps|/s|it/s)? ?/ ?$`)
)

// wishedBehind is what stands behind a rate that nobody saw, and farFrom before it.
var (
	wishedBehind = piece.Compile(`(?i)^\s*(?:that |which )?(?:i|we|you|they)(?: (?:would(?: have)?|had|was|were)|['’](?:d|m))? (?:expect\w*|hop(?:ed|ing) for|aim(?:ed|ing) (?:at|for))\b`)
	farFrom      = piece.Compile(`(?i)\b(?:far|a long way|nowhere near|not even close) (?:from|to|off|below)? ?(?:the |my |our )?(?:expected |promised |theoretical )?[~≈]?[\d.,]*[-–]?$`)
)

// carried are the figures of a text that somebody says were carried: no link's speed, and
// none that was hoped for.
func carried(text string) (out []figure) {
	for _, f := range figures(text) {
		before := text[:f.from]
		if setting.MatchString(before) || wishedBehind.MatchString(text[f.to:]) || farFrom.MatchString(before) || strings.Contains(text[f.to:], "?") && asked.MatchString(text[f.to:]) {
			continue
		}
		own := nominal(f.bits) && (ofPort.MatchString(before) || ofTest.MatchString(text[f.to:]) || speedWord.MatchString(text[f.to:]) && !seenSpeeds.MatchString(before))
		if (!notTold.MatchString(before) || hardly.MatchString(before)) && !notReached.MatchString(before) && !linkSpeed.MatchString(text[max(0, f.from-8):f.to]) && !(busSpeed(f.bits) && ofBus.MatchString(text[:f.from])) && !ofLinks.MatchString(text[f.to:]) && !own && !(nominal(f.bits) && (listed.MatchString(text[f.to:]) || afterListed.MatchString(before))) {
			out = append(out, f)
		}
	}
	return out
}
