package pasted

import (
	"slices"
	"strconv"
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/unit"
)

// view is a case with what several rules ask of it.
type view struct {
	c        *piece.Case
	hosts    []*piece.Host // that are no switch
	switches []*piece.Host
	bonds    []bond
	findings []Finding
}

// bond is a bundle of links as far as it was read: of what runs, else of what a
// file declares.
type bond struct {
	host   *piece.Host
	name   string
	mode   string // "" not read
	policy string // "" not read
	ports  []port
}

// port is one of a bond's links.
type port struct {
	name  string
	speed unit.BitRate // zero unknown
	down  bool         // false where nothing says so
}

func viewOf(c *piece.Case) *view {
	v := &view{c: c}
	for _, h := range c.Hosts {
		facts := len(h.Facts)
		if h.Facts["said"] != nil {
			facts-- // what a sentence names is no output of the host's
		}
		if facts+len(h.Routes)+len(h.Sockets)+len(h.Cores)+len(h.Processes)+len(h.Events)+len(h.Mounts)+len(h.Counters)+len(h.Pings)+len(h.Paths) == 0 {
			continue
		}
		if h.Switch {
			v.switches = append(v.switches, h)
			continue
		}
		v.hosts = append(v.hosts, h)
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
func (v *view) unseenBonds(h *piece.Host) {
	for _, link := range h.Subjects("link") {
		flags, _ := h.Get("link "+link, "flags")
		master, _ := h.Get("link "+link, "master")
		if _, seen := v.bond(h, master.Text); seen || master.Text == "" || !strings.Contains(flags.Text, "SLAVE") {
			continue
		}
		b := bond{host: h, name: master.Text}
		for _, other := range h.Subjects("link") {
			if m, ok := h.Get("link "+other, "master"); ok && m.Text == master.Text {
				b.ports = append(b.ports, v.port(h, other))
			}
		}
		v.bonds = append(v.bonds, b)
	}
}

// fact is a link's fact: of what runs, else of what a file declares.
func fact(h *piece.Host, link, key string) (piece.Value, bool) {
	if x, ok := h.Get("link "+link, key); ok {
		return x, true
	}
	return h.Get("config "+link, key)
}

func word(h *piece.Host, link, key string) string {
	x, _ := fact(h, link, key)
	return strings.ToLower(x.Text)
}

func (v *view) addBond(h *piece.Host, name string) {
	b := bond{host: h, name: name, mode: word(h, name, "mode"), policy: word(h, name, "xmit_hash_policy")}
	names := h.Ports[name]
	if len(names) == 0 {
		ports, _ := h.Get("config "+name, "ports")
		names = strings.Fields(ports.Text)
	}
	if len(names) == 0 {
		for _, link := range slices.Concat(h.Subjects("link"), h.Subjects("config")) {
			if word(h, link, "master") == strings.ToLower(name) && !slices.Contains(names, link) {
				names = append(names, link)
			}
		}
	}
	for _, key := range []string{"ad_aggregator", "ad_num_ports", "ad_partner_mac"} {
		if _, lacp := h.Get("link "+name, key); b.mode == "" && lacp {
			b.mode = "802.3ad" // what only that mode prints
		}
	}
	switch kind := word(h, name, "kind"); {
	case kind == "team":
		b.mode, b.policy = teamMode(h, name)
	case kind != "bond" && !isMode(b.mode) && b.policy == "":
		return
	}
	for _, p := range names {
		b.ports = append(b.ports, v.port(h, p))
	}
	_, declared := h.Get("config "+name, "mode")
	_, runs := h.Get("link "+name, "mode")
	if b.policy == "" && declared && !runs && (b.mode == "802.3ad" || b.mode == "balance-xor") {
		b.policy = "layer2" // the kernel's own, where the file has none
	}
	v.bonds = append(v.bonds, b)
}

// teamMode is what a team's runner comes to among a bond's modes, and its hash
// among the policies; "" where it is none of them.
func teamMode(h *piece.Host, name string) (mode, policy string) {
	switch word(h, name, "runner") {
	case "roundrobin":
		return "balance-rr", ""
	case "activebackup":
		return "active-backup", ""
	case "lacp":
		mode = "802.3ad"
	case "loadbalance":
		mode = "balance-xor"
	}
	if hash := word(h, name, "tx_hash"); strings.Contains(hash, "l4") || strings.Contains(hash, "tcp") {
		policy = "layer3+4"
	}
	return mode, policy
}

func isMode(s string) bool {
	switch s {
	case "balance-rr", "active-backup", "balance-xor", "broadcast", "802.3ad", "balance-tlb", "balance-alb":
		return true
	}
	return false
}

func (v *view) port(h *piece.Host, name string) port {
	state := word(h, name, "state")
	down := word(h, name, "mii_status") == "down" || word(h, name, "carrier") == "no" || state == "down" || state == "lowerlayerdown"
	return port{name: name, speed: speedOf(h, name), down: down}
}

// speedOf is a link's speed; zero unknown.
func speedOf(h *piece.Host, link string) unit.BitRate {
	x, _ := fact(h, link, "speed")
	return piece.Speed(x.Text)
}

func (v *view) bond(h *piece.Host, name string) (bond, bool) {
	for _, b := range v.bonds {
		if b.host == h && b.name == name {
			return b, true
		}
	}
	return bond{}, false
}

// speeds are the sum of a bond's ports that are up, and the fastest of them; zero
// where one is not known.
func (b bond) speeds() (sum, fastest unit.BitRate) {
	for _, p := range b.ports {
		if p.down {
			continue
		}
		if p.speed == 0 {
			return 0, fastest
		}
		sum += p.speed
		fastest = max(fastest, p.speed)
	}
	return sum, fastest
}

// best is the highest rate that a run of the case came to; zero none.
func (v *view) best() (most unit.BitRate) {
	for _, r := range v.c.Runs {
		most = max(most, r.Rate)
	}
	return most
}

// number is a fact that is a whole number.
func number(h *piece.Host, subject, key string) (float64, piece.Source, bool) {
	x, ok := h.Get(subject, key)
	if !ok {
		return 0, piece.Source{}, false
	}
	n, err := strconv.ParseFloat(strings.TrimSpace(x.Text), 64)
	return n, x.Source, err == nil
}

// carried is how the traffic of a bond's ports is shared one way.
func (b bond) carried(way string) (parts map[string]float64, at piece.Source, ok bool) {
	names := make([]string, len(b.ports))
	for i, p := range b.ports {
		names[i] = p.name
	}
	return Shares(b.host, names, way)
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
			n, source, read := number(h, "link "+name, kind)
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

// busiest is the port with the largest part, and its part.
func busiest(parts map[string]float64) (name string, part float64) {
	for n, p := range parts {
		if p > part || p == part && n < name {
			name, part = n, p
		}
	}
	return name, part
}

// hostOf is the host of a name; nil none.
func (v *view) hostOf(name string) *piece.Host {
	for _, h := range v.c.Hosts {
		if h.Name == name && !h.Switch {
			return h
		}
	}
	return nil
}
