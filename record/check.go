package record

import (
	"fmt"
	"math"
	"slices"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/unit"
)

// Tolerances of Check.
const (
	laneTolerance    = 0.001
	leastOfIngress   = 0.90
	ceilingTolerance = 0.01
	// Streams and links are counted one after the other, seconds apart that
	// the links go on in: some milliseconds, and on a full processor, where
	// whoever counts has to wait for it, tens of them.
	ingressTolerance = 0.002
	countedApart     = 0.010
	countedApartFull = 0.050
	// FullProcessor is the share from which a core or a thread counts as full.
	FullProcessor = 0.9
)

// mostOfIngress is how far goodput may stand above what came in.
func (t Trial) mostOfIngress() float64 {
	apart := countedApart
	for _, c := range t.CPU {
		if c.Busiest >= FullProcessor {
			apart = countedApartFull
		}
	}
	if t.Window <= 0 {
		return 1 + ingressTolerance
	}
	return 1 + ingressTolerance + apart/t.Window
}

// Check returns what is impossible or doubtful about a trial's own numbers,
// in plain words; nil when they agree: the lanes sum to the goodput, the
// receiver's links took that much in, and no more than the ceiling was
// carried.
func (t Trial) Check() []string {
	var wrong []string
	var lanes unit.BitRate
	for _, l := range t.Lanes {
		lanes += l.Goodput
	}
	if math.Abs(float64(lanes-t.Goodput)) > laneTolerance*float64(t.Goodput) {
		wrong = append(wrong, fmt.Sprintf("inconsistent: lanes sum to %v, goodput is %v", lanes, t.Goodput))
	}
	// What was read in the window and had come before it, the links carried then.
	carried := t.Goodput + min(t.Unread, 0)
	if t.Ceiling > 0 && float64(carried) > float64(t.Ceiling)*(1+ceilingTolerance) {
		wrong = append(wrong, fmt.Sprintf("impossible: %v is above the physical ceiling of %v", carried, t.Ceiling))
	}
	// Trials of a group may share links: CheckGroup counts them together.
	if share, ok := t.ShareOfIngress(); t.Group == "" && ok && !t.stoodStill() && (share < t.leastOfIngress() || share > t.mostOfIngress()) {
		wrong = append(wrong, fmt.Sprintf("inconsistent: goodput is %.3f of what the receivers' links took in", share))
	}
	return append(wrong, t.checkDatagrams()...)
}

// stillShare is the share of the ceiling that a network's own chatter, and one
// timeout's segment after the other, do not reach.
const stillShare = 0.01

// stoodStill reports a trial in which nothing was read and hardly anything came
// in: what did is no payload that somebody swallowed.
func (t Trial) stoodStill() bool {
	var arrived unit.BitRate
	for _, l := range t.Links {
		arrived = max(arrived, l.RxPayload)
	}
	return t.Goodput == 0 && arrived < stillShare*t.Ceiling
}

// leastOfIngress is how far goodput may stand below what came in. Of UDP
// nothing is repeated: what the receiver could not take in is lost.
func (t Trial) leastOfIngress() float64 {
	if t.UDP != nil {
		return 0
	}
	return leastOfIngress
}

// datagramTolerance is how far goodput and the datagrams received, which are
// counted together, may differ: the last datagram of a stream may be shorter.
const datagramTolerance = 0.01

// checkDatagrams returns what is impossible about the datagrams counted.
func (t Trial) checkDatagrams() []string {
	if t.UDP == nil {
		return nil
	}
	u, wrong := *t.UDP, []string(nil)
	if u.Received > u.Sent || u.Lost != u.Sent-u.Received {
		wrong = append(wrong, fmt.Sprintf("inconsistent: %d datagrams sent, %d received and %d lost", u.Sent, u.Received, u.Lost))
	}
	if t.Window > 0 && u.Payload > 0 {
		carried := unit.FromBytes(float64(u.Received)*float64(u.Payload), t.Window)
		if math.Abs(float64(carried-t.Goodput)) > datagramTolerance*float64(max(carried, t.Goodput)) {
			wrong = append(wrong, fmt.Sprintf("inconsistent: %d datagrams of %d bytes are %v, goodput is %v", u.Received, u.Payload, carried, t.Goodput))
		}
	}
	return wrong
}

// ShareOfIngress is goodput, with what still waits to be read, over the
// payload that the receivers' links took in, headers accounted for. Of both
// directions a receiver whose links were not counted, as one that only speaks
// iperf3's protocol, is left out; ok is false when no link was.
func (t Trial) ShareOfIngress() (share float64, ok bool) {
	in := make(map[string]unit.BitRate)
	for _, l := range t.Links {
		in[l.Host] += l.RxPayload
	}
	var arrived unit.BitRate
	carried := t.Goodput
	for _, way := range t.Direction.Ways() {
		receiver, goodput := t.To, t.Forward
		if way == flow.Reverse {
			receiver, goodput = t.From, t.Reverse
		}
		arrived += in[receiver]
		if in[receiver] == 0 && t.Direction == flow.Both {
			carried -= goodput
		}
	}
	if arrived == 0 {
		return 0, false
	}
	return float64((carried + t.Unread) / arrived), true
}

// CPUBound reports a trial during which some processor, or a stream's own
// thread, was full: its rate may be the machine's, not the network's.
func (t Trial) CPUBound() bool {
	return slices.ContainsFunc(t.CPU, func(c CPUUse) bool { return max(c.Busiest, c.BusiestThread) >= FullProcessor })
}
