package scene

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// View is a case with what several rules ask of it.
type View struct {
	Case     *piece.Case
	Hosts    []*piece.Host // that are no switch
	Switches []*piece.Host
	Bonds    []Bond
	Findings []Finding
	best     unit.BitRate
	// The hosts that sent and that received in the runs.
	senders, receivers map[string]bool
	// What every run is compared with, nil until it is asked for.
	tunnels []Tunnel
	speeds  []unit.BitRate
}

// Bond is a bundle of links as far as it was read: of what runs, else of what a
// file declares.
type Bond struct {
	Host   *piece.Host
	Name   string
	Mode   string // "" not read
	Policy string // "" not read
	Ports  []Port
}

// Port is one of a bond's links.
type Port struct {
	Name  string
	Speed unit.BitRate // zero unknown
	Down  bool         // false where nothing says so
}

// loopback reports a run that never left its host: it says nothing of links.
func loopback(r piece.Run) bool {
	if a, err := netip.ParseAddr(r.Detail["target"]); err == nil {
		return a.IsLoopback()
	}
	if r.Detail["target"] == "localhost" {
		return true
	}
	return len(r.Streams) > 0 && r.Streams[0].Remote.IsValid() && r.Streams[0].Remote.Addr().IsLoopback()
}

// ViewOf is a case as the rules see it, with no finding yet; runs within a host are
// left out.
func ViewOf(c *piece.Case) *View {
	c.Runs = slices.DeleteFunc(slices.Clone(c.Runs), loopback)
	v := &View{Case: c, senders: make(map[string]bool), receivers: make(map[string]bool)}
	for _, r := range c.Runs {
		v.best = max(v.best, r.Rate)
		from, to := Sides(r)
		v.senders[from], v.receivers[to] = true, true
	}
	for _, h := range c.Hosts {
		facts := len(h.Facts)
		if h.Facts["said"] != nil {
			facts-- // what a sentence names is no output of the host's
		}
		if facts+len(h.Routes)+len(h.Sockets)+len(h.Cores)+len(h.Processes)+len(h.Events)+len(h.Mounts)+len(h.Counters)+len(h.Pings)+len(h.Paths) == 0 {
			continue
		}
		if h.Switch {
			v.Switches = append(v.Switches, h)
			continue
		}
		v.Hosts = append(v.Hosts, h)
		for _, name := range h.Subjects("link") {
			v.addBond(h, name)
		}
		for _, name := range h.Subjects("config") {
			if _, seen := v.bond(h, name); !seen {
				v.addBond(h, name)
			}
		}
		v.unseenBonds(h)
	}
	return v
}

// unseenBonds are bonds of which only the ports were read: links with a master and
// the flag of a bond's port.
func (v *View) unseenBonds(h *piece.Host) {
	seen := map[string]bool{}
	for _, b := range v.Bonds {
		seen[b.Name] = seen[b.Name] || b.Host == h
	}
	for _, link := range h.Subjects("link") {
		flags, _ := h.Get("link "+link, "flags")
		master, _ := h.Get("link "+link, "master")
		if seen[master.Text] || master.Text == "" || !strings.Contains(flags.Text, "SLAVE") {
			continue
		}
		b := Bond{Host: h, Name: master.Text}
		seen[b.Name] = true
		for _, other := range h.Members(b.Name) {
			if m, ok := h.Get("link "+other, "master"); ok && m.Text == master.Text {
				b.Ports = append(b.Ports, v.port(h, other))
			}
		}
		v.Bonds = append(v.Bonds, b)
	}
}

// Fact is a link's fact: of what runs, else of what a file declares.
func Fact(h *piece.Host, link, key string) (piece.Value, bool) {
	if x, ok := h.Get("link "+link, key); ok {
		return x, true
	}
	return h.Get("config "+link, key)
}

// Word is a fact of a link in lower case; "" not read.
func Word(h *piece.Host, link, key string) string {
	x, _ := Fact(h, link, key)
	return strings.ToLower(x.Text)
}

func (v *View) addBond(h *piece.Host, name string) {
	b := Bond{Host: h, Name: name, Mode: Word(h, name, "mode"), Policy: Word(h, name, "xmit_hash_policy")}
	for _, key := range []string{"ad_aggregator", "ad_num_ports", "ad_partner_mac"} {
		if _, lacp := h.Get("link "+name, key); b.Mode == "" && lacp {
			b.Mode = "802.3ad" // what only that mode prints
		}
	}
	switch kind := Word(h, name, "kind"); {
	case kind == "team":
		b.Mode, b.Policy = teamMode(h, name)
	case kind != "bond" && !isMode(b.Mode) && b.Policy == "":
		return
	}
	for _, p := range portNames(h, name) {
		b.Ports = append(b.Ports, v.port(h, p))
	}
	_, declared := h.Get("config "+name, "mode")
	_, runs := h.Get("link "+name, "mode")
	if b.Policy == "" && declared && !runs && (b.Mode == "802.3ad" || b.Mode == "balance-xor") {
		b.Policy = "layer2" // the kernel's own, where the file has none
	}
	v.Bonds = append(v.Bonds, b)
}

// portNames are a bundle's ports: as it lists them, else those that name it.
func portNames(h *piece.Host, bundle string) []string {
	if names := h.Ports[bundle]; len(names) > 0 {
		return names
	}
	ports, _ := h.Get("config "+bundle, "ports")
	names := strings.Fields(ports.Text)
	if len(names) > 0 {
		return names
	}
	return slices.Clone(h.Members(bundle))
}

// teamMode is what a team's runner comes to among a bond's modes, and its hash
// among the policies; "" where it is none of them.
func teamMode(h *piece.Host, name string) (mode, policy string) {
	switch Word(h, name, "runner") {
	case "roundrobin":
		return "balance-rr", ""
	case "activebackup":
		return "active-backup", ""
	case "lacp":
		mode = "802.3ad"
	case "loadbalance":
		mode = "balance-xor"
	}
	if hash := Word(h, name, "tx_hash"); strings.Contains(hash, "l4") || strings.Contains(hash, "tcp") {
		policy = "layer3+4"
	}
	return mode, policy
}

// Bundled reports a host that has a bundle of links: a bond, team, lagg or other.
func (v *View) Bundled(h *piece.Host) bool {
	return len(h.Ports) > 0 || slices.ContainsFunc(v.Bonds, func(b Bond) bool { return b.Host == h })
}

func isMode(s string) bool {
	switch s {
	case "balance-rr", "active-backup", "balance-xor", "broadcast", "802.3ad", "balance-tlb", "balance-alb":
		return true
	}
	return false
}

func (v *View) port(h *piece.Host, name string) Port {
	state := Word(h, name, "state")
	down := Word(h, name, "mii_status") == "down" || Word(h, name, "carrier") == "no" || state == "down" || state == "lowerlayerdown"
	return Port{Name: name, Speed: SpeedOf(h, name), Down: down}
}

// SpeedOf is a link's speed; zero unknown.
func SpeedOf(h *piece.Host, link string) unit.BitRate {
	x, _ := Fact(h, link, "speed")
	return piece.Speed(x.Text)
}

func (v *View) bond(h *piece.Host, name string) (Bond, bool) {
	for _, b := range v.Bonds {
		if b.Host == h && b.Name == name {
			return b, true
		}
	}
	return Bond{}, false
}

// Speeds are the sum of a bond's ports that are up, and the fastest of them; zero
// where one is not known.
func (b Bond) Speeds() (sum, fastest unit.BitRate) {
	for _, p := range b.Ports {
		if p.Down {
			continue
		}
		if p.Speed == 0 {
			return 0, fastest
		}
		sum += p.Speed
		fastest = max(fastest, p.Speed)
	}
	return sum, fastest
}

// Best is the highest rate that a run of the case came to; zero none.
func (v *View) Best() unit.BitRate { return v.best }

// Number is a fact that is a whole number.
func Number(h *piece.Host, subject, key string) (float64, piece.Source, bool) {
	x, ok := h.Get(subject, key)
	if !ok {
		return 0, piece.Source{}, false
	}
	n, err := strconv.ParseFloat(strings.TrimSpace(x.Text), 64)
	return n, x.Source, err == nil
}

// Carried is how the traffic of a bond's ports is shared one way.
func (b Bond) Carried(way string) (parts map[string]float64, at piece.Source, ok bool) {
	names := make([]string, len(b.Ports))
	for i, p := range b.Ports {
		names[i] = p.Name
	}
	return Shares(b.Host, names, way)
}

// Shares is how traffic is shared over links one way ("tx" or "rx"): each link's part,
// from 0 to 1, by its counters or by a monitor, and where that was read. False where
// one of them was not read, or too little went.
func Shares(h *piece.Host, links []string, way string) (parts map[string]float64, at piece.Source, ok bool) {
	parts, sum := make(map[string]float64), 0.0
	for _, kind := range []string{"seen_" + way + "_bps", way + "_bytes"} {
		sum = 0
		clear(parts)
		for _, name := range links {
			n, source, read := Number(h, "link "+name, kind)
			if !read || n < 0 {
				sum = -1
				break
			}
			parts[name] = n
			sum += n
			at = source
		}
		least := 1e6 // bits a second
		if kind == way+"_bytes" {
			least = 100e6 // bytes
		}
		if sum >= least && len(parts) > 1 {
			for name := range parts {
				parts[name] /= sum
			}
			return parts, at, true
		}
	}
	return nil, piece.Source{}, false
}

// Busiest is the port with the largest part, and its part.
func Busiest(parts map[string]float64) (name string, part float64) {
	for n, p := range parts {
		if p > part || p == part && n < name {
			name, part = n, p
		}
	}
	return name, part
}

// HostOf is the host of a name; nil none.
func (v *View) HostOf(name string) *piece.Host {
	for _, h := range v.Case.Hosts {
		if h.Name == name && !h.Switch {
			return h
		}
	}
	return nil
}

// Events counts a host's events of a kind, and says where the first stands.
func Events(h *piece.Host, kind string) (n int, at piece.Source) {
	for _, e := range h.Events {
		if e.Kind == kind {
			if n == 0 {
				at = e.Source
			}
			n++
		}
	}
	return n, at
}

// HasFinding reports a finding of that cause so far.
func (v *View) HasFinding(cause record.Cause) bool {
	return slices.ContainsFunc(v.Findings, func(f Finding) bool { return f.Cause == cause })
}

// Contains reports one of several words in a text.
func Contains(s string, any ...string) bool {
	s = strings.ToLower(s)
	return slices.ContainsFunc(any, func(w string) bool { return strings.Contains(s, w) })
}

// Close reports a rate between two parts of another.
func Close(rate, of unit.BitRate, low, high float64) bool {
	return float64(rate) >= low*float64(of) && float64(rate) <= high*float64(of)
}

// MPTCP reports a host that uses MPTCP.
func (v *View) MPTCP(h *piece.Host) bool {
	for _, key := range []string{"net.mptcp.enabled", "net.mptcp.mptcp_enabled"} {
		if x, ok := h.Get("sysctl", key); ok && x.Text == "1" {
			return true
		}
	}
	for _, r := range v.Case.Runs {
		if r.MPTCP {
			return true
		}
	}
	return len(h.Subjects("mptcp")) > 0
}

// Said reports a sentence of the text that says one of these, by the keys of "said".
func (v *View) Said(keys ...string) bool {
	return slices.ContainsFunc(v.Case.Hosts, func(h *piece.Host) bool {
		return slices.ContainsFunc(keys, func(key string) bool { _, ok := h.Get("said", key); return ok })
	})
}

// SaidBy is who said what, and what, by a key of "said".
func (v *View) SaidBy(key string) (*piece.Host, piece.Value, bool) {
	for _, h := range v.Case.Hosts {
		if x, ok := h.Get("said", key); ok {
			return h, x, true
		}
	}
	return nil, piece.Value{}, false
}

// Complains reports a text in which somebody misses something, measured or compares
// rates: a how-to, an offer or a bare configuration has nothing to blame.
func (v *View) Complains() bool {
	_, misses := v.Case.Topics[piece.Complaint]
	return misses || len(v.Case.Runs) > 0 || v.Said("copy_bps") || v.Said("rate_through") && v.Said("rate_direct")
}

// Faulty reports a finding that something is wrong.
func (v *View) Faulty() bool {
	for _, f := range v.Findings {
		if f.Confidence >= 0.5 && f.Cause != Healthy && f.Cause != record.LineRate {
			return true
		}
	}
	return false
}
