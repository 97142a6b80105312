package livestats

import (
	"cmp"
	"net/netip"
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
	cfg      Config
	handle   *rtnl.Handle
	follower *sockdiag.Follower
	begin    time.Time
	last     time.Duration // of the newest look, since begin
	list     time.Duration // of the newest list of all connections, since begin
	cost     time.Duration // of the newest list
	lists    int
	met      map[uint64]met    // all connections, by cookie
	kept     []byte            // what connections that were met said
	flows    map[uint64]*track // those that were seen to move
	followed []*track
	crowded  bool // more move than are followed, and which of them most is not known
	// established are the connections of the first list that TCP counts as such, inside
	// those that it left out.
	established, inside int
	asked               map[uint64]bool // by cookie: those that waited for an answer to their SYN at the first list
	sent                sent            // at the second sample; zero until then

	first, newest machine
	backlog       map[string]float64 // sums over the looks
	linkLooks     int
	unseen        []string
}

// mostExpected bounds what is made room for before it comes.
const mostExpected = 100_000

// sent is how many segments TCP has sent in all, and how many the followed connections.
type sent struct {
	at  time.Duration
	all int64
	by  map[uint64]uint32 // by cookie
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

// met is a connection as it was seen first. Most never move, and are not worth more.
type met struct {
	said            sockdiag.Message
	at              time.Duration
	acked, received uint64
}

func newMeter(cfg Config) (*meter, error) {
	h, err := rtnl.Open()
	if err != nil {
		return nil, err
	}
	f, err := sockdiag.Follow()
	if err != nil {
		h.Close()
		return nil, err
	}
	return &meter{
		cfg: cfg, handle: h, follower: f, begin: time.Now(), flows: make(map[uint64]*track),
		asked: make(map[uint64]bool), backlog: make(map[string]float64),
	}, nil
}

func (m *meter) close() {
	m.handle.Close()
	m.follower.Close()
}

// within are the peers inside the host.
func (m *meter) within() []netip.Prefix {
	all := []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}
	for a := range m.cfg.Own {
		if !a.IsLoopback() {
			all = append(all, netip.PrefixFrom(a.WithZone(""), a.BitLen()))
		}
	}
	return all
}

// countInside counts the connections to peers within the host: what TCP has in all but
// those that were listed, where both counts before and after the list are the same; else
// the kernel looks through them.
func (m *meter) countInside(before, after map[string]int64) {
	now, counted := after["CurrEstab"]
	if all := now - int64(m.established); counted && before["CurrEstab"] == now && all >= 0 {
		m.inside = int(all)
		return
	}
	n, err := sockdiag.CountTo(m.within())
	if err != nil {
		m.miss("connections inside the host", err)
	}
	m.inside = n
}

// silent is how often a SYN is sent again before its peer counts as one that answers
// nothing: three seconds mostly.
const silent = 2

// unanswered are the peers of connections that waited at the first list and still do, or
// have waited long; most connections first.
func (m *meter) unanswered() (peers []livetraffic.Unanswered) {
	const named = "TCPSynRetrans"
	before, counted := m.first.tcpExt[named]
	if len(m.asked) == 0 && counted && m.newest.tcpExt[named] == before {
		return nil // no SYN was sent again: it takes a walk through all sockets to find none
	}
	all, err := sockdiag.Unanswered()
	if err != nil {
		m.miss("connections that are not answered", err)
	}
	counts := map[netip.AddrPort]int{}
	for _, d := range all {
		if m.asked[d.Cookie] || d.Again >= silent {
			counts[netip.AddrPortFrom(d.Dst, d.Dport)]++
		}
	}
	for peer, n := range counts {
		peers = append(peers, livetraffic.Unanswered{Peer: peer, Connections: n})
	}
	slices.SortFunc(peers, func(a, b livetraffic.Unanswered) int {
		return cmp.Or(cmp.Compare(b.Connections, a.Connections), a.Peer.Compare(b.Peer))
	})
	return peers
}

// due reports that all connections may be listed at a look, that long before the end: a
// list that would cost too much so near the last one waits for it.
func (m *meter) due(left time.Duration) bool {
	free := time.Duration(float64(m.cost) / costShare)
	return free <= interval || m.last-m.list >= free && left >= free
}

// look reads connections, and links and cores: all of them where whole is set, which is
// the first sample and the last.
func (m *meter) look(whole bool) error {
	m.last = time.Since(m.begin)
	if err := m.lookAtConnections(whole); err != nil {
		return err
	}
	if whole || len(m.cfg.Links) <= mostLinks {
		m.countLinks()
	}
	if whole {
		m.countMachine()
	}
	return nil
}

// lookAtConnections looks at the followed ones. It lists all at first, and where others
// moved something meanwhile: when that is due, and at the end.
func (m *meter) lookAtConnections(end bool) error {
	if m.lists == 0 || m.crowded {
		return m.listAll()
	}
	may, all := end || m.due(m.cfg.Span-m.last), int64(0)
	if may && m.sent.by != nil {
		all = allSent()
	}
	if err := m.follow(); err != nil {
		return err
	}
	switch {
	case may && (m.sent.by == nil && end || len(m.followed) == mostFollowed):
		return m.listAll()
	case m.sent.by == nil:
		m.sent = m.sentUntil(allSent())
	case may && m.othersSent(m.sentUntil(all)):
		return m.listAll()
	}
	return nil
}

// allSent is how many segments TCP has sent, but for those that ask whether an idle peer is
// still there.
func allSent() int64 {
	groups, _ := procfs.Netstat() // countMachine says what cannot be read
	tcp := tcpCounts()
	return tcp["OutSegs"] + tcp["RetransSegs"] - groups["TcpExt"]["TCPKeepAlive"]
}

// sentUntil is what was sent until the newest sample, in all as it was read behind the first
// sample, and before a later one: so what the followed connections sent between two readings
// is never another's. What comes is acknowledged, so that who only receives sends too.
func (m *meter) sentUntil(all int64) sent {
	now := sent{at: m.last, all: all, by: make(map[uint64]uint32)}
	for _, t := range m.followed {
		now.by[t.last.Cookie] = t.last.Info.SegsOut
	}
	return now
}

// othersSent reports that more was sent meanwhile than by the followed connections.
func (m *meter) othersSent(now sent) bool {
	all := float64(now.all - m.sent.all)
	others := all
	for cookie, n := range now.by {
		if before, ok := m.sent.by[cookie]; ok {
			others -= float64(n - before)
		}
	}
	return others > othersRate*(now.at-m.sent.at).Seconds()+othersShare*all
}

// tcpCounts are TCP's counters of the calling thread's network namespace; nil where they
// cannot be read.
func tcpCounts() map[string]int64 {
	groups, _ := procfs.SNMP() // countMachine says that it cannot be read
	return groups["Tcp"]
}

// listAll looks at every connection, and chooses those to follow.
func (m *meter) listAll() error {
	begin, before := time.Now(), tcpCounts()
	m.list = m.last
	m.lists++
	m.sent = sent{}
	if m.lists == 1 {
		m.met = make(map[uint64]met, min(max(before["CurrEstab"], 0), mostExpected))
	}
	var broken error
	// The first list is of many that are idle: the rest of the few that move comes with
	// the next sample of them.
	if err := sockdiag.ConnectionsBut(m.within(), m.lists == 1, func(said sockdiag.Message) {
		if err := m.meet(said); err != nil {
			broken = err
		}
	}); err != nil {
		return err
	}
	if broken != nil {
		return broken
	}
	m.followed = m.heaviest()
	for _, t := range m.flows { // what has moved, though not since it is looked at
		if !t.moving() && t.end == m.last && len(m.followed) < mostFollowed {
			m.followed = append(m.followed, t)
		}
	}
	m.crowded = m.lists == 1 && len(m.flows) > mostFollowed
	m.followed = m.followed[:min(len(m.followed), mostFollowed)]
	if m.lists == 1 {
		m.countInside(before, tcpCounts())
	}
	m.cost = time.Since(begin)
	return nil
}

// keep copies a message, many of them into one piece of memory.
func (m *meter) keep(said sockdiag.Message) sockdiag.Message {
	const piece = 256 << 10
	if cap(m.kept)-len(m.kept) < len(said) {
		m.kept = make([]byte, 0, max(piece, len(said)))
	}
	at := len(m.kept)
	m.kept = append(m.kept, said...)
	return sockdiag.Message(m.kept[at:])
}

// meet takes what a list says of a connection.
func (m *meter) meet(said sockdiag.Message) error {
	if m.lists == 1 {
		switch said.State() {
		case sockdiag.Established, sockdiag.CloseWait:
			m.established++
		case sockdiag.SynSent:
			m.asked[said.Cookie()] = true
		}
	}
	if said.State() == sockdiag.SynSent {
		return nil
	}
	acked, received, ago, ok := said.Moved()
	if !ok {
		return nil
	}
	cookie := said.Cookie()
	was, known := m.met[cookie]
	if !known {
		was = met{m.keep(said), m.last, acked, received}
		m.met[cookie] = was
	}
	t := m.flows[cookie]
	if t == nil {
		// A connection that has only been opened has the time of it, and a byte acknowledged.
		if moved := said.Waiting() || ago <= lately && acked+received > 1 || acked != was.acked || received != was.received; !moved {
			return nil
		}
	}
	now, err := said.Detail()
	if err != nil {
		return err
	}
	if m.cfg.Own[now.Dst] { // of more addresses than the kernel was told
		return nil
	}
	if t == nil {
		first := now
		if known {
			if first, err = was.said.Detail(); err != nil {
				return err
			}
		}
		t = &track{first: first, begin: was.at}
		m.flows[cookie] = t
	}
	if m.last > was.at {
		t.look(now, m.last)
	} else {
		t.last, t.end = now, m.last
	}
	return nil
}

// follow looks at the followed connections.
func (m *meter) follow() error {
	for _, t := range m.followed {
		if t.end < m.list {
			continue // it has ended
		}
		now, there, err := m.follower.Look(t.last)
		if err != nil {
			return err
		}
		if there {
			t.look(now, m.last)
		}
	}
	return nil
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
		Unanswered: m.unanswered(), Links: m.links(), Cores: m.cores(), TCPExt: m.tcpExt(),
		Rest: livetraffic.Rest{Connections: len(all) - len(shown), Idle: len(m.met) - len(all), Inside: m.inside},
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
