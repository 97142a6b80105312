package evidence

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/vishvananda/netlink"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/lab/labtest/floor"
	"github.com/linerate/linerate/internal/run/measure"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

const (
	lineRate = 200 * unit.Mbps
	bucket   = 128 * unit.KiB
	// deep is how long a byte may wait in a shaper's queue.
	deep = 30 * time.Millisecond
	// reply is the delay of the way back, which all trials have.
	reply = 4 * time.Millisecond
	// samplesLeast is how many a window has on a machine that is busy elsewhere.
	samplesLeast = 6
)

// cable is two hosts, near and far, and the link between them.
type cable struct {
	near, far floor.Space
	cfg       measure.Config
}

// laid is a cable whose near end spoil arranges.
func laid(t *testing.T, spoil func(near floor.Space) error) cable {
	t.Helper()
	c := cable{near: floor.NewSpace(t, "evidence-near"), far: floor.NewSpace(t, "evidence-far")}
	floor.Must(t, c.near.Builder.Veth("eth0", c.far.Builder, "eth0"))
	for s, addr := range map[floor.Space]string{c.near: "10.9.0.1/24", c.far: "10.9.0.2/24"} {
		floor.Must(t, s.Builder.Up("lo"))
		floor.Must(t, s.Builder.Up("eth0"))
		floor.Must(t, s.Builder.Address("eth0", netip.MustParsePrefix(addr)))
	}
	floor.Must(t, c.far.Builder.Delay("eth0", reply, 10000, false))
	floor.Must(t, spoil(c.near))
	c.cfg = measure.Config{Network: floor.Cabled(t, c.near, c.far, lineRate)}
	return c
}

func shaped(near floor.Space) error { return near.Builder.Shape("eth0", lineRate, bucket, deep) }

// fair puts fq on the link, so that the queue paces and not TCP itself.
func fair(near floor.Space) error {
	return near.NS.Do(func() error {
		link, err := netlink.LinkByName("eth0")
		if err != nil {
			return err
		}
		return netlink.QdiscAdd(netlink.NewFq(netlink.QdiscAttrs{LinkIndex: link.Attrs().Index, Handle: root, Parent: netlink.HANDLE_ROOT}))
	})
}

// lossy loses packets on the near end, one at a time.
func lossy(near floor.Space) error {
	if err := near.Builder.Singly("eth0"); err != nil {
		return err
	}
	if err := shaped(near); err != nil {
		return err
	}
	return near.Builder.Lose("eth0", 0, 0.01, 10000, true)
}

// jumbled lets packets overtake each other.
func jumbled(near floor.Space) error {
	if err := near.Builder.Singly("eth0"); err != nil {
		return err
	}
	if err := shaped(near); err != nil {
		return err
	}
	return near.Builder.Jitter("eth0", 3*time.Millisecond, 2*time.Millisecond, 10000, true)
}

// seen is what of a trial a case looks at: the one lane's, the sender's link
// and both hosts.
type seen struct {
	record.Trial
	lane      record.Lane
	link      record.LinkUse
	near, far record.CPUUse
}

func look(t *testing.T, r record.Trial) seen {
	t.Helper()
	s := seen{Trial: r, lane: r.Lanes[0]}
	for _, l := range r.Links {
		if l.Host == "near" {
			s.link = l
		}
	}
	for _, c := range r.CPU {
		if c.Host == "near" {
			s.near = c
		} else {
			s.far = c
		}
	}
	if s.link.Link == "" || s.near.Host == "" || s.far.Host == "" || s.lane.TCP.Samples < samplesLeast || s.near.TCPExt == nil || s.far.TCPExt == nil {
		t.Fatalf("not read: %+v %+v %+v, %d samples, %v %v", s.link, s.near, s.far, s.lane.TCP.Samples, s.near.TCPExt == nil, s.far.TCPExt == nil)
	}
	return s
}

// trialTries is how often a trial is made: an emulated core that stands still
// for a moment looks like a stream that does.
const trialTries = 3

// TestTrials: streams whose limit is known, and what a trial keeps of them.
func TestTrials(t *testing.T) {
	floor.Turn(t, floor.Evidence)
	const rate = 20 * unit.Mbps
	for _, c := range []struct {
		name  string
		spoil func(floor.Space) error
		spec  measure.Spec
		right func(s seen) error
	}{
		{"own queue full", shaped, measure.Spec{}, func(s seen) error {
			tcp := s.lane.TCP
			return all(
				is("nothing is late or lost", tcp.Starved < 0.1 && tcp.Unheeded < 0.1 && tcp.MaxPacing == 0),
				is("the sender has more to send", tcp.MeanNotSent > 0 && tcp.MeanInFlight > 10 && tcp.MeanCwnd >= tcp.MeanInFlight),
				is("what waits is the stream's own, on this host", s.link.MeanBacklog > 20*unit.KB && tcp.MeanBelow > s.link.MeanBacklog*8/10),
				is("round trips longer by the queue", tcp.MeanRTTMS > tcp.MinRTTMS+0.5 && tcp.HighestRTTMS >= tcp.MeanRTTMS),
				is("the shaper holds back", s.link.QdiscOverlimits > 0 && s.link.Throttled == 0),
				is("the receiver's end is read", tcp.RcvMSS > 500 && tcp.RcvRTTMS > 3),
			)
		}},
		{"paced by its socket", fair, measure.Spec{Socket: record.Socket{Pacing: rate}}, func(s seen) error {
			tcp := s.lane.TCP
			return all(
				is("the limit is read", tcp.MaxPacing == rate && tcp.Pacing <= rate && tcp.Pacing > rate/2),
				is("fq holds it back", s.link.Throttled > 50),
				is("and nothing else does", tcp.CwndLimited < 0.5 && tcp.Recovering == 0 && tcp.Starved < 0.1),
			)
		}},
		{"a slow application", shaped, measure.Spec{Rate: rate}, func(s seen) error {
			tcp := s.lane.TCP
			return all(
				is("nothing waits to be sent", tcp.Starved > 0.3 && tcp.MeanNotSent < 50*unit.KB),
				is("nothing waits in the queue", s.link.MeanBacklog < 20*unit.KB),
			)
		}},
		{"loss on its own link", lossy, measure.Spec{}, func(s seen) error {
			tcp := s.lane.TCP
			lost, sent := float64(s.link.QdiscDrops), float64(tcp.SegmentsOut)
			return all(
				is("as much as was arranged", lost > 0.006*sent && lost < 0.015*sent),
				is("sent again, and not much more", s.lane.Retransmits > 0 && float64(s.lane.Retransmits) < 1.5*lost+10),
				// A round trip for each: a tenth of the window, of which some twenty samples tell.
				is("TCP recovers from it", tcp.Recovering > 0 && tcp.Recovering < 0.4 && tcp.Ssthresh > 0),
				is("the host counts it", s.near.TCPExt["TCPFastRetrans"]+s.near.TCPExt["TCPSackRecovery"] > 10),
				is("the receiver sees holes", tcp.RcvOutOfOrder > 10 && s.far.TCPExt["TCPOFOQueue"] > 10),
				is("what was sent is more than what arrived", float64(tcp.BytesSent) > float64(s.lane.Goodput)/8*s.Window),
			)
		}},
		{"packets overtake", jumbled, measure.Spec{}, func(s seen) error {
			tcp := s.lane.TCP
			return all(
				is("nothing is lost", s.link.QdiscDrops == 0),
				is("TCP sees it", tcp.ReordSeen > 0 && tcp.Reordering > 3 && tcp.RcvOutOfOrder > 100),
				is("the host counts it", s.near.TCPExt["TCPSACKReorder"]+s.near.TCPExt["TCPTSReorder"] > 0),
			)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := laid(t, c.spoil)
			c.spec.From, c.spec.To, c.spec.Direction, c.spec.Streams = "near", "far", flow.Forward, 1
			c.spec.Ports, c.spec.Socket.Congestion, c.spec.Duration = "chosen", "cubic", 2500*time.Millisecond
			var s seen
			var wrong error
			for range trialTries {
				r, err := measure.Run(t.Context(), n.cfg, c.spec)
				floor.Must(t, err)
				s = look(t, r)
				if wrong = c.right(s); wrong == nil {
					break
				}
				t.Logf("looked at again: %v", wrong)
			}
			if err := wrong; err != nil {
				t.Errorf("%v of %v: %v\n%+v\n%+v\n%+v\n%+v", s.Goodput, s.Ceiling, err, s.lane.TCP, s.link, s.near.TCPExt, s.far.TCPExt)
			}
		})
	}
}

// all is the first of what does not hold.
func all(what ...error) error {
	for _, err := range what {
		if err != nil {
			return err
		}
	}
	return nil
}

func is(what string, so bool) error {
	if so {
		return nil
	}
	return fmt.Errorf("not so: %s", what)
}
