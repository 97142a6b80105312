package evidence

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netlink/nl"

	"github.com/linerate/linerate/internal/kernel/rtnl"
	"github.com/linerate/linerate/internal/lab/labtest/floor"
	"github.com/linerate/linerate/unit"
)

const (
	frames    = 300
	frameSize = 1000
	slow      = 10e6 / 8 // bytes a second: the frames take a quarter of a second
	lateLooks = 5        // more, at the most
)

// handles of the queues that the cases build.
var (
	root  = netlink.MakeHandle(1, 0)
	below = netlink.MakeHandle(2, 0)
)

func queue(parent, handle uint32) netlink.QdiscAttrs {
	return netlink.QdiscAttrs{Parent: parent, Handle: handle}
}

// fifo is pfifo of a few packets: the library has no words for it.
type fifo struct {
	netlink.QdiscAttrs
	limit int
}

// TestQueueCounters: whatever queues lie below a link, a packet that one of
// them drops is counted once, and what waits is what is there.
func TestQueueCounters(t *testing.T) {
	tbf := func(parent, handle uint32, limit uint32) *netlink.Tbf {
		return &netlink.Tbf{QdiscAttrs: queue(parent, handle), Rate: slow, Limit: limit, Buffer: netlink.Xmittime(slow, 4000)}
	}
	netem := func(parent, handle uint32, a netlink.NetemQdiscAttrs) netlink.Qdisc {
		return netlink.NewNetem(queue(parent, handle), a)
	}
	lossy := netlink.NetemQdiscAttrs{Loss: 30, Limit: 1000}
	htb := netlink.NewHtb(queue(netlink.HANDLE_ROOT, root))
	htb.Defcls = 1
	fq := netlink.NewFq(queue(netlink.HANDLE_ROOT, root))
	fq.PacketLimit, fq.FlowPacketLimit, fq.FlowMaxRate, fq.Pacing = 50, 50, slow, 1
	for name, c := range map[string]struct {
		queues []any
		// waits: packets wait after the burst, and they are in a queue.
		waits, held, over bool
	}{
		"tbf":                  {[]any{tbf(netlink.HANDLE_ROOT, root, 20000)}, true, false, true},
		"fifo under tbf":       {[]any{tbf(netlink.HANDLE_ROOT, root, 1<<20), fifo{queue(root+1, below), 20}}, true, false, true},
		"loss under tbf":       {[]any{tbf(netlink.HANDLE_ROOT, root, 1<<20), netem(root+1, below, lossy)}, true, false, true},
		"netem full under tbf": {[]any{tbf(netlink.HANDLE_ROOT, root, 1<<20), netem(root+1, below, netlink.NetemQdiscAttrs{Limit: 20})}, true, false, true},
		"loss":                 {[]any{netem(netlink.HANDLE_ROOT, root, lossy)}, false, false, false},
		"delay full":           {[]any{netem(netlink.HANDLE_ROOT, root, netlink.NetemQdiscAttrs{Latency: 300_000, Limit: 40})}, false, false, false},
		"tbf under delay":      {[]any{netem(netlink.HANDLE_ROOT, root, netlink.NetemQdiscAttrs{Latency: 5000, Limit: 1000}), tbf(root+1, below, 20000)}, true, false, true},
		"fifo under htb":       {[]any{htb, netlink.NewHtbClass(netlink.ClassAttrs{Parent: root, Handle: root + 1}, netlink.HtbClassAttrs{Rate: 10e6, Buffer: 4000}), fifo{queue(root+1, below), 20}}, true, false, true},
		"fq":                   {[]any{fq}, true, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			var got outcome
			once := func() { t.Run("burst", func(t *testing.T) { got = burst(t, c.queues) }) }
			once()
			for range lateLooks { // a core that stood still looked when all had gone
				if !c.waits || got.during.QdiscBacklog > 0 {
					break
				}
				once()
			}
			dropped := uint64(frames) - got.passed
			if dropped == 0 || got.after.QdiscDrops != dropped {
				t.Errorf("of %d frames %d passed; %d drops counted", frames, got.passed, got.after.QdiscDrops)
			}
			if most := unit.Bytes(frames * frameSize); (got.during.QdiscBacklog > 0) != c.waits || got.during.QdiscBacklog > most || got.after.QdiscBacklog != 0 {
				t.Errorf("%v waited after the burst and %v at the end", got.during.QdiscBacklog, got.after.QdiscBacklog)
			}
			if (got.after.QdiscOverlimits > 0) != c.over || (got.after.QdiscThrottled > 0) != c.held {
				t.Errorf("overlimits %d, held back %d", got.after.QdiscOverlimits, got.after.QdiscThrottled)
			}
		})
	}
}

// outcome is what a burst of frames left.
type outcome struct {
	passed        uint64
	during, after rtnl.LinkCounters
}

// burst sends the frames through the queues and waits until all that pass have.
func burst(t *testing.T, queues []any) (out outcome) {
	here, there := floor.NewSpace(t, "queues-a"), floor.NewSpace(t, "queues-b")
	floor.Must(t, here.Builder.Veth("lr0", there.Builder, "lr1"))
	for _, s := range []floor.Space{here, there} { // nobody else's frames
		floor.Must(t, s.NS.Do(func() error { return os.WriteFile("/proc/sys/net/ipv6/conf/all/disable_ipv6", []byte("1"), 0o644) }))
	}
	floor.Must(t, here.Builder.Up("lr0"))
	floor.Must(t, there.Builder.Up("lr1"))
	floor.Must(t, here.NS.Do(func() error {
		link, err := netlink.LinkByName("lr0")
		if err != nil {
			return err
		}
		for _, q := range queues {
			if err := add(link.Attrs().Index, q); err != nil {
				return fmt.Errorf("add %T: %w", q, err)
			}
		}
		h, err := rtnl.Open()
		if err != nil {
			return err
		}
		defer h.Close()
		before, err := h.Counters([]string{"lr0"})
		if err != nil {
			return err
		}
		if err := send(link.Attrs().Index); err != nil {
			return err
		}
		count := func() rtnl.LinkCounters {
			now, countErr := h.Counters([]string{"lr0"})
			err = errors.Join(err, countErr)
			now[0].QdiscDrops -= before[0].QdiscDrops
			now[0].QdiscOverlimits -= before[0].QdiscOverlimits
			return now[0]
		}
		out.during = count()
		still := 0
		for range 200 { // until nothing has left for a while
			time.Sleep(20 * time.Millisecond)
			now := count()
			if still++; now.Counters.TxPackets != out.after.Counters.TxPackets {
				still = 0
			}
			if out.after = now; still == 25 {
				break
			}
		}
		out.passed = out.after.Counters.TxPackets - before[0].Counters.TxPackets
		return err
	}))
	return out
}

// add makes a queue or a class of one.
func add(index int, what any) error {
	switch q := what.(type) {
	case fifo:
		return q.add(index)
	case *netlink.HtbClass:
		q.LinkIndex = index
		return netlink.ClassAdd(q)
	case netlink.Qdisc:
		q.Attrs().LinkIndex = index
		return netlink.QdiscAdd(q)
	}
	return errors.ErrUnsupported
}

func (f fifo) add(index int) error {
	r := nl.NewNetlinkRequest(syscall.RTM_NEWQDISC, syscall.NLM_F_CREATE|syscall.NLM_F_EXCL|syscall.NLM_F_ACK)
	r.AddData(&nl.TcMsg{Family: nl.FAMILY_ALL, Ifindex: int32(index), Handle: f.Handle, Parent: f.Parent})
	r.AddData(nl.NewRtAttr(nl.TCA_KIND, nl.ZeroTerminated("pfifo")))
	r.AddData(nl.NewRtAttr(nl.TCA_OPTIONS, nl.Uint32Attr(uint32(f.limit)))) // struct tc_fifo_qopt
	_, err := r.Execute(syscall.NETLINK_ROUTE, 0)
	return err
}

// send hands the frames over as fast as it goes; a full queue is no error.
func send(index int) error {
	fd, err := syscall.Socket(syscall.AF_PACKET, syscall.SOCK_RAW|syscall.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer syscall.Close(fd)
	frame := make([]byte, frameSize)
	copy(frame, []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0, 0, 1, 0x88, 0xb5})
	for range frames {
		err := syscall.Sendto(fd, frame, 0, &syscall.SockaddrLinklayer{Ifindex: index})
		if err != nil && !errors.Is(err, syscall.ENOBUFS) {
			return err
		}
	}
	return nil
}
