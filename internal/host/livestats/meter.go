package livestats

import (
	"cmp"
	"slices"
	"time"

	"github.com/linerate/linerate/internal/evidence/livetraffic"
	"github.com/linerate/linerate/internal/kernel/procfs"
	"github.com/linerate/linerate/internal/kernel/rtnl"
	"github.com/linerate/linerate/internal/kernel/sockdiag"
	"github.com/linerate/linerate/unit"
)

// meter adds up what the looks show.
type meter struct {
	cfg    Config
	handle *rtnl.Handle
	begin  time.Time
	last   time.Duration // of the newest look, since begin
	cost   time.Duration // of the newest look
	looks  int
	flows  map[uint64]*track // by cookie
	inside map[uint64]bool

	first, newest machine
	backlog       map[string]float64 // sums over the looks
	linkLooks     int
	unseen        []string
}

// machine is what the host as a whole has counted.
type machine struct {
	at      time.Time
	links   []rtnl.LinkCounters
	linksAt time.Time
	cores   []procfs.CPUTime
	softnet []procfs.Softnet
	tcpExt  map[string]int64
	snmp    map[string]map[string]int64 // /proc/net/snmp
}

func newMeter(cfg Config) (*meter, error) {
	h, err := rtnl.Open()
	if err != nil {
		return nil, err
	}
	return &meter{
		cfg: cfg, handle: h, begin: time.Now(), flows: make(map[uint64]*track), inside: make(map[uint64]bool),
		backlog: make(map[string]float64),
	}, nil
}

func (m *meter) close() { m.handle.Close() }

// rest is how long to wait before the next look.
func (m *meter) rest() time.Duration {
	return max(interval, time.Duration(float64(m.cost)/costShare))
}

// look reads connections, and links and cores: all of them where whole is set.
func (m *meter) look(whole bool) error {
	begin := time.Now()
	all, err := sockdiag.Connections()
	if err != nil {
		return err
	}
	m.last = begin.Sub(m.begin)
	m.looks++
	for _, d := range all {
		m.add(d)
	}
	if whole || len(m.cfg.Links) <= mostLinks {
		m.countLinks()
	}
	if whole {
		m.countMachine()
	}
	m.cost = time.Since(begin)
	return nil
}

func (m *meter) add(d sockdiag.Detail) {
	if d.Info == nil {
		return
	}
	if d.Dst.IsLoopback() || m.cfg.Own[d.Dst] {
		m.inside[d.Cookie] = true
		return
	}
	t := m.flows[d.Cookie]
	if t == nil {
		t = &track{first: d, begin: m.last}
		m.flows[d.Cookie] = t
	} else {
		t.add(d)
	}
	t.last, t.end = d, m.last
}

func (m *meter) countLinks() {
	counts, err := m.handle.Counters(m.cfg.Links)
	if err != nil && len(counts) == 0 {
		m.miss("links' counters", err)
		return
	}
	now := time.Now()
	if m.first.links == nil {
		m.first.links, m.first.linksAt = counts, now
	} else {
		m.linkLooks++
		for _, c := range counts {
			m.backlog[c.Link] += float64(c.QdiscBacklog)
		}
	}
	m.newest.links, m.newest.linksAt = counts, now
}

func (m *meter) countMachine() {
	seen := machine{at: time.Now(), links: m.newest.links, linksAt: m.newest.linksAt}
	var err error
	if seen.cores, err = procfs.Stat(); err != nil {
		m.miss("processors' time", err)
	}
	if seen.softnet, err = procfs.ReadSoftnet(); err != nil {
		m.miss("the receive path's counters", err)
	}
	groups, err := procfs.Netstat()
	if err != nil {
		m.miss("TCP's counters", err)
	}
	seen.tcpExt = groups["TcpExt"]
	if seen.snmp, err = procfs.SNMP(); err != nil {
		m.miss("the counters of UDP and of forwarding", err)
	}
	if m.first.at.IsZero() {
		seen.links, seen.linksAt = m.first.links, m.first.linksAt
		m.first = seen
	}
	seen.links, seen.linksAt = m.newest.links, m.newest.linksAt
	m.newest = seen
}

// miss notes what could not be read, once.
func (m *meter) miss(what string, err error) {
	line := what + ": " + err.Error()
	if !slices.Contains(m.unseen, line) {
		m.unseen = append(m.unseen, line)
	}
}

// heaviest are the connections that moved something or wait to, the heaviest
// first.
func (m *meter) heaviest() []*track {
	var all []*track
	for _, t := range m.flows {
		if t.moving() {
			all = append(all, t)
		}
	}
	slices.SortFunc(all, func(a, b *track) int {
		return cmp.Or(cmp.Compare(b.rate(), a.rate()), cmp.Compare(a.first.Cookie, b.first.Cookie))
	})
	return all
}

// result is everything seen, with the programs of the heaviest.
func (m *meter) result(programs *programs) livetraffic.Watched {
	all := m.heaviest()
	shown := all[:min(len(all), max(m.cfg.Flows, 0))]
	seen := livetraffic.Watched{
		Span: m.last, Flows: []livetraffic.Flow{},
		Links: m.links(), Cores: m.cores(), TCPExt: m.tcpExt(),
		Rest: livetraffic.Rest{Connections: len(all) - len(shown), Idle: len(m.flows) - len(all), Inside: len(m.inside)},
	}
	for _, t := range all[len(shown):] {
		seen.Rest.Rate += unit.BitRate(float64(t.rate()) * float64(t.span()) / float64(max(m.last, 1)))
	}
	seen.SoftnetDropped, seen.SoftnetSqueezed = m.softnet()
	programs.end(shown)
	for _, t := range shown {
		f := t.flow()
		f.Ended = t.end < m.last
		f.Program = programs.of(t)
		seen.Flows = append(seen.Flows, f)
	}
	seen.Unseen = append(m.unseen, programs.unseen(shown)...)
	seen.Unseen = append(seen.Unseen, fieldsMissing(shown)...)
	seen.Unseen = append(seen.Unseen, apart(m.first.snmp, m.newest.snmp, m.newest.at.Sub(m.first.at))...)
	return seen
}
