package trial

import (
	"fmt"

	"github.com/linerate/linerate/diagnose"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

const (
	// otherShare is the part of a side's links that somebody else must have for it to
	// count: headers, repetitions and the start of a window are below it.
	otherShare = 0.12
	// copiedShare of the segments came twice where something copies packets; a sender
	// that repeats too early makes a few.
	copiedShare = 0.2
)

// otherTraffic: the links of one side are full by their own counters, and a good
// part of that is not this trial's.
func (v *wayView) otherTraffic() (hypothesis, bool) {
	if v.trial.UDP != nil || v.goodput <= 0 || v.trial.Protocol == "mptcp" {
		return hypothesis{}, false
	}
	for i, side := range [][]linkLoad{v.ingress, v.egress} {
		host := []string{v.to, v.from}[i]
		ceiling, carried := total(side), unit.BitRate(0)
		for _, l := range side {
			carried += l.payload
			if l.share() < slackLink {
				ceiling = 0
			}
		}
		own := v.goodput
		if host == v.from {
			own *= unit.BitRate(1 + v.sentAgain())
		}
		if ceiling <= 0 || carried < ceiling*slackLink || carried-own < ceiling*otherShare {
			continue
		}
		h := hypothesis{cause: record.LineRate, seen: true, sure: 0.8, nothingToWin: true}
		if carried >= ceiling*fullLink {
			h.sure = 0.92
		}
		full := "the links of " + host + " are"
		if len(side) == 1 {
			full = fmt.Sprintf("%s of %s is", side[0].link, side[0].host)
		}
		h.evidence = append(v.loads(), record.Evidence{What: "payload that is this trial's", Value: fmt.Sprintf("%v, %s of what they carried", v.goodput, diagnose.Percent(diagnose.Fraction(v.goodput, carried))), Source: "bytes that the receiving sockets read, over the common window"})
		h.evidence = append(h.evidence, v.tcpEvidence()...)
		if copies := v.copies(); copies >= copiedShare {
			h.evidence = append(h.evidence, record.Evidence{What: "segments that arrived twice", Value: diagnose.Percent(copies), Source: "DSACK, counted by TCP_INFO"})
			h.summary = fmt.Sprintf("%s full, but half or less of it is new: packets arrive more than once, and the copies take the rest of the link.", upper(full))
			h.remedy = record.ByHand("find what copies them: a mirror port, a broadcast bond, two bridges or VLANs that lead to the same port, a loop (`tcpdump` on the receiver shows each packet twice)")
			return h, true
		}
		h.summary = fmt.Sprintf("%s full: %v of the %v there are this trial's, the rest is other traffic.", upper(full), v.goodput, carried)
		h.remedy = record.ByHand(fmt.Sprintf("see who else sends there (`ss -tin`, `nload` or the switch's counters on %s); measure again when it is gone, or give it links of its own", host))
		return h, true
	}
	return hypothesis{}, false
}

func upper(s string) string {
	if s != "" && s[0] == 't' {
		return "T" + s[1:]
	}
	return s
}

// sentAgain is the part of its segments that the trial sent again.
func (v *wayView) sentAgain() float64 {
	var again, sent float64
	for _, l := range v.lanes {
		again += float64(l.Retransmits)
		sent += float64(l.TCP.SegmentsOut)
	}
	if sent == 0 {
		return 0
	}
	return again / sent
}

// copies is the part of the segments that the receivers say they had already,
// though the senders sent them once.
func (v *wayView) copies() float64 {
	var twice, again, sent float64
	for _, l := range v.lanes {
		twice += float64(l.TCP.DSACKDups)
		again += float64(l.Retransmits)
		sent += float64(l.TCP.SegmentsOut)
	}
	if sent == 0 || twice <= again {
		return 0
	}
	return (twice - again) / sent
}
