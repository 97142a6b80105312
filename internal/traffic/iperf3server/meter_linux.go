package iperf3server

import (
	"syscall"
	"time"

	"github.com/linerate/linerate/internal/traffic/iperf3"
)

// meter counts a test's streams, from the end of the omitted time on.
type meter struct {
	streams []*stream
	began   time.Time
	base    mark // the counts begin here
	last    mark // the latest interval began here
	final   mark // and here the counts end
	out     *output

	congestion           string
	user, system         time.Duration // of the process, when the test began
	cpu, cpuUser, cpuSys float64       // percent of one processor, after finish
}

func newMeter(s *session) *meter {
	m := &meter{streams: s.streams, began: time.Now(), out: newOutput(s)}
	m.user, m.system = processTime()
	m.base = mark{counts: make([]count, len(s.streams))}
	m.last = m.base
	return m
}

func (m *meter) take() mark {
	now := mark{at: time.Since(m.began), counts: make([]count, len(m.streams))}
	for i, st := range m.streams {
		now.counts[i] = st.count()
	}
	return now
}

// omitted ends the time that does not count.
func (m *meter) omitted() {
	now := m.take()
	m.interval(now, true)
	m.base, m.last = now, now
	for _, st := range m.streams {
		st.mu.Lock()
		st.arrived.Jitter = 0
		st.mu.Unlock()
	}
}

// tick ends an interval and returns how many bytes moved in it.
func (m *meter) tick(omitting bool) uint64 {
	now := m.take()
	moved := now.moved() - min(m.last.moved(), now.moved())
	m.interval(now, omitting)
	m.last = now
	return moved
}

func (m *meter) interval(now mark, omitting bool) {
	if now.at-m.last.at > 50*time.Millisecond { // iperf3's 5 % of an interval
		m.out.interval(m.last, now, m.base.at, omitting)
	}
}

// finish ends the counts.
func (m *meter) finish() {
	m.final = m.take()
	var busy time.Duration
	for _, st := range m.streams {
		busy += st.cpu()
	}
	m.cpu = 100 * busy.Seconds() / max(m.final.at.Seconds(), 1e-6)
	// The kernel does not say how a running thread's time divides; the
	// process's does it nearly so.
	user, system := processTime()
	user, system = user-m.user, system-m.system
	if all := user + system; all > 0 {
		m.cpuUser = m.cpu * user.Seconds() / all.Seconds()
	}
	m.cpuSys = m.cpu - m.cpuUser
}

// arrived ends the counts when the last byte came: a client that sends so many
// bytes may look only once a second whether it has.
func (m *meter) arrived() {
	receives := make([]bool, len(m.streams))
	for i, st := range m.streams {
		receives[i] = !st.sends && !st.udp
	}
	if end := m.final.at - m.final.quiet(receives); end > m.base.at {
		m.final.at = end
	}
}

// window is the time that the counts are of.
func (m *meter) window() time.Duration { return m.final.at - m.base.at }

// stream is what the i-th stream carried in the window.
func (m *meter) stream(i int) count { return m.final.counts[i].since(m.base.counts[i]) }

func processTime() (user, system time.Duration) {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0, 0
	}
	return time.Duration(u.Utime.Nano()), time.Duration(u.Stime.Nano())
}

// results is what the client is told.
func (m *meter) results(p iperf3.Parameters, text string) iperf3.Results {
	r := iperf3.Results{CPUTotal: m.cpu, CPUUser: m.cpuUser, CPUSystem: m.cpuSys,
		HasRetransmits: iperf3.NotSender, Congestion: m.congestion, OutputText: text}
	// 3.12 and before do not know of losses that were omitted.
	separate := !p.VersionBefore(3, 13)
	for i, st := range m.streams {
		c, before := m.stream(i), m.base.counts[i]
		out := iperf3.StreamResult{ID: iperf3.StreamID(i), Bytes: iperf3.Whole(c.bytes), Retransmits: iperf3.NotSender,
			End: m.window().Seconds()}
		switch {
		case st.udp:
			out.Packets = iperf3.Whole(m.final.counts[i].arrived.Highest)
			out.OmittedPackets = iperf3.Whole(before.arrived.Highest)
			out.Errors = iperf3.Whole(c.arrived.Lost)
			out.Jitter = c.arrived.Jitter.Seconds()
			if separate {
				out.Errors += iperf3.Whole(before.arrived.Lost)
				out.OmittedErrors = iperf3.Whole(before.arrived.Lost)
			}
			if st.sends {
				r.HasRetransmits = 0
			}
		case st.sends:
			out.Retransmits = iperf3.Whole(c.retransmits)
			r.HasRetransmits = 1
		}
		r.Streams = append(r.Streams, out)
	}
	return r
}
