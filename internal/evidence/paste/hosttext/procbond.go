package hosttext

import (
	"slices"
	"strconv"
	"strings"

	"github.com/linerate/linerate/internal/bondopt"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// ProcBond reads /proc/net/bonding/BOND, whole or cut anywhere, or what grep left of
// it: its lines say what they are (drivers/net/bonding/bond_procfs.c bond_info_show).
var ProcBond = piece.Reader{
	Kind:   "/proc/net/bonding",
	Starts: func(line string) bool { _, key, _, ok := bondLine(line); return ok && bondMarks[key] },
	Owns: func(s piece.Segment, line string) bool {
		if !strings.Contains(s.Command, "/bonding/") && !strings.Contains(s.Path, "/bonding/") {
			return false
		}
		_, key, _, ok := bondLine(line)
		return ok && (bondFacts[key] != "" || aggregatorFacts[key] != "" || portFacts[key] != "" || actorFacts[key] != "" || partnerFacts[key] != "")
	},
	Read: reading(readProcBond),
}

// bondMarks are lines that nothing else has.
var bondMarks = piece.Phrases("Ethernet Channel Bonding Driver", "Bonding Mode", "Transmit Hash Policy", "Slave Interface", "Active Aggregator Info",
	"details actor lacp pdu", "details partner lacp pdu", "Actor Churn State", "Partner Churn State", "MII Polling Interval (ms)",
	"Link Failure Count", "Permanent HW addr", "Slave queue ID", "Partner Mac Address", "Currently Active Slave")

// grepPath is the file's name that grep puts in front of a line, of several files.
var grepPath = piece.Compile(`^(?:/proc/net/bonding/)?([\w.-]+):([A-Z\t a-z(][^:]*:.*)$`)

// bondLine is a line's key and value, and the bond that grep names in front.
func bondLine(line string) (bond, key, value string, ok bool) {
	line = strings.TrimSpace(line)
	if strings.HasPrefix(line, "/proc/net/bonding/") {
		if m := grepPath.FindStringSubmatch(line); m != nil {
			bond, line = m[1], m[2]
		}
	}
	key, value, ok = strings.Cut(line, ":")
	return bond, strings.TrimSpace(key), strings.TrimSpace(value), ok
}

var bondFacts = map[string]string{"MII Status": "mii_status", "Currently Active Slave": "active_slave", "LACP rate": "lacp_rate", "Min links": "min_links",
	"Aggregator selection policy (ad_select)": "ad_select", "System priority": "ad_actor_sys_prio", "System MAC address": "ad_system_mac"}

var aggregatorFacts = map[string]string{"Aggregator ID": "ad_aggregator", "Number of ports": "ad_num_ports", "Actor Key": "ad_actor_key",
	"Partner Key": "ad_partner_key", "Partner Mac Address": "ad_partner_mac"}

var portFacts = map[string]string{"MII Status": "mii_status", "Speed": "speed", "Duplex": "duplex", "Link Failure Count": "link_failure_count",
	"Permanent HW addr": "perm_mac", "Slave queue ID": "queue_id", "Aggregator ID": "aggregator_id", "Actor Churn State": "actor_churn",
	"Partner Churn State": "partner_churn", "Actor Churned Count": "actor_churned_count", "Partner Churned Count": "partner_churned_count"}

var actorFacts = map[string]string{"system priority": "actor_system_priority", "system mac address": "actor_system_mac", "port key": "actor_key",
	"port priority": "actor_port_priority", "port number": "actor_port_number", "port state": "actor_state"}

var partnerFacts = map[string]string{"system priority": "partner_system_priority", "system mac address": "partner_system_mac", "oper key": "partner_key",
	"port priority": "partner_port_priority", "port number": "partner_port_number", "port state": "partner_state"}

var bondTitles = piece.Phrases("802.3ad info", "Active Aggregator Info")

func readProcBond(s *sink, lines []piece.Line) (read int) {
	s.fromShell()
	r := procReader{sink: s, loose: make(map[string][]bondFact)}
	bond := s.bondName()
	for n := 0; strings.ContainsAny(s.Segment.Command, "*") && s.Host.Ports[bond] != nil && n < 16; n++ { // the next of several files
		bond = "bond" + strconv.Itoa(n)
	}
	if s.anothers(bond, lines) {
		s.Host = s.C.Another(s.Host)
	}
	r.start(bond)
	for i, l := range lines {
		text := strings.TrimSpace(l.Text)
		if text == "" {
			continue
		}
		if strings.HasPrefix(text, "bond ") && strings.HasSuffix(text, " has no active aggregator") {
			s.Set("link "+r.bond, "active_aggregator", "none", l)
		} else if !bondTitles[text] && !strings.HasPrefix(text, "NS IPv6 target/s") {
			bond, key, value, ok := bondLine(text)
			if bond != "" && bond != r.bond {
				r.start(bond)
			}
			if !ok || key == "Ethernet Channel Bonding Driver" && r.headed || !r.line(key, value, l) {
				break
			}
		}
		read = i + 1
	}
	r.end()
	return read
}

// procReader follows the paragraphs of one bond's file.
type procReader struct {
	*sink
	bond    string
	headed  bool              // its first line was read
	listed  []string          // ports whose names came without a line of their own between
	turn    map[string]int    // how many of listed have a key
	facts   map[string]string // of the paragraph
	subject string
	seen    map[string]bool // keys of the bond's own paragraphs
	loose   map[string][]bondFact
}

// bondFact is a port's line that stands below no port's name.
type bondFact struct {
	value string
	at    piece.Line
}

func (r *procReader) start(bond string) {
	r.bond, r.headed, r.listed, r.turn = bond, false, nil, nil
	r.subject, r.facts, r.seen = "link "+bond, bondFacts, make(map[string]bool)
}

// line reads one line; false for one that is no bond's.
func (r *procReader) line(key, value string, l piece.Line) bool {
	switch key {
	case "Ethernet Channel Bonding Driver":
		r.headed = true
		r.Set(r.subject, "kind", "bond", l)
		r.driver(value, l)
	case "Slave Interface":
		if !piece.LinkName.MatchString(value) {
			return false
		}
		r.Set("link "+r.bond, "kind", "bond", l)
		r.Port(r.bond, value, l)
		if r.turn != nil {
			r.listed, r.turn = nil, nil
		}
		r.listed = append(r.listed, value)
		r.subject, r.facts = "link "+value, portFacts
	case "Active Aggregator Info":
		r.subject, r.facts = "link "+r.bond, aggregatorFacts
	case "details actor lacp pdu":
		r.facts = actorFacts
	case "details partner lacp pdu":
		r.facts = partnerFacts
	case "Bonding Mode":
		mode, rest, known := bondopt.ModeByTitle(value)
		if !known {
			return false
		}
		r.Set("link "+r.bond, "kind", "bond", l)
		r.Set("link "+r.bond, "mode", mode.String(), l)
		if word, ok := strings.CutPrefix(rest, " (fail_over_mac "); ok {
			r.Set("link "+r.bond, "fail_over_mac", strings.TrimSuffix(word, ")"), l)
		}
	default:
		return r.fact(key, value, l)
	}
	return true
}

// fact reads a line of a key and a value. What grep left out may be the heading of
// its paragraph.
func (r *procReader) fact(key, value string, l piece.Line) bool {
	if r.subject == "link "+r.bond {
		if o, ok := bondopt.ByProc(key); ok {
			if o.Words != nil || o.Kind == bondopt.Port {
				value, _, _ = strings.Cut(value, " ")
			}
			r.Set(r.subject, o.Name, value, l)
			return true
		}
		indented := strings.TrimLeft(l.Text, " \t") != l.Text
		name := r.facts[key]
		if name == "" {
			name = aggregatorFacts[key]
		}
		if name == "" {
			name = bondFacts[key]
		}
		if port := portFacts[key]; port != "" && (name == "" || r.seen[key] || key == "Aggregator ID" && !indented && r.facts["Aggregator ID"] == "") {
			r.loose[port] = append(r.loose[port], bondFact{r.canonical(port, value), l})
			return true
		}
		if name == "" {
			return false
		}
		r.seen[key] = true
		r.Set(r.subject, name, value, l)
		return true
	}
	name := r.facts[key]
	if name == "" && r.facts["port key"]+r.facts["oper key"] != "" {
		name = portFacts[key]
	}
	if name == "" {
		name = actorFacts[key] // of several like it the order cannot say which
		if name != "" && partnerFacts[key] != "" {
			return true
		}
	}
	if name == "" {
		name = partnerFacts[key]
	}
	if name == "" {
		return false
	}
	r.Set(r.listedSubject(name), name, r.canonical(name, value), l)
	return true
}

// listedSubject is whose a port's line is. Where several names came first, the
// lines of a key come in the same order.
func (r *procReader) listedSubject(name string) string {
	if r.turn == nil {
		r.turn = make(map[string]int)
	}
	if len(r.listed) < 2 {
		return r.subject
	}
	n := r.turn[name]
	r.turn[name]++
	return "link " + r.listed[min(n, len(r.listed)-1)]
}

// end gives lines without a port's name to the ports, where there are as many.
func (r *procReader) end() {
	ports := r.Host.Ports[r.bond]
	for name, all := range r.loose {
		if len(all) != len(ports) {
			continue
		}
		for i, f := range all {
			r.Set("link "+ports[i], name, f.value, f.at)
		}
	}
}

// canonical is a port's value: a speed in Mbit/s.
func (r *procReader) canonical(name, value string) string {
	switch name {
	case "speed":
		return megabits(value)
	case "duplex":
		return strings.ToLower(value)
	}
	return value
}

var speedWords = piece.Compile(`(?i)^(\d+(?:\.\d+)?) ?([MG])(?:b/s|bps|bit|base|$)`)

// megabits is a speed as programs print it, in Mbit/s; "unknown" where they do not
// know it.
func megabits(text string) string {
	m := speedWords.FindStringSubmatch(text)
	switch {
	case m == nil && piece.Digits.MatchString(text):
		return text
	case m == nil:
		return "unknown"
	case strings.EqualFold(m[2], "G"):
		return thousand(m[1])
	}
	return m[1]
}

// thousand is a decimal times a thousand.
func thousand(s string) string {
	whole, part, _ := strings.Cut(s, ".")
	return strings.TrimLeft(whole+(part + "000")[:3], "0")
}

// bondName is the bond whose file is printed: by the command or heading, else the
// next that has no head yet.
func (s *sink) bondName() string {
	for _, w := range strings.FieldsFunc(s.Segment.Command+" "+s.Segment.Path, func(r rune) bool { return r == ' ' || r == '|' || r == ';' }) {
		if at := strings.LastIndex(w, "/bonding/"); at >= 0 && strings.HasPrefix(w, "/proc") && !strings.ContainsAny(w[at:], "*?$") && len(w) > at+len("/bonding/") {
			return w[at+len("/bonding/"):]
		}
	}
	if bonds := s.linksOfKind("bond"); len(bonds) == 1 {
		return bonds[0]
	}
	return "bond0"
}

// anothers reports a bond's file that is of another host than the one of that bond that
// was read: none of its ports is the same.
func (s *sink) anothers(bond string, lines []piece.Line) bool {
	if !strings.Contains(s.Segment.Command+s.Segment.Path, "/bonding/"+bond) {
		return false // which bond's it is, nobody says
	}
	known, ports := s.Host.Ports[bond], 0
	for i, l := range lines {
		_, key, value, ok := bondLine(l.Text)
		switch {
		case i > 0 && key == "Ethernet Channel Bonding Driver":
			return len(known) > 0 && ports > 0
		case !ok || key != "Slave Interface":
			continue
		case slices.Contains(known, value):
			return false
		}
		ports++
	}
	return len(known) > 0 && ports > 0
}

// linksOfKind are the host's links that were read as such.
func (s *sink) linksOfKind(kind string) []string {
	var out []string
	for _, name := range s.Host.Subjects("link") {
		if v, ok := s.Host.Get("link "+name, "kind"); ok && v.Text == kind {
			out = append(out, name)
		}
	}
	return out
}

// driver reads the release that newer kernels print in place of a version.
func (s *sink) driver(value string, l piece.Line) {
	release := strings.TrimPrefix(strings.Fields(value + " -")[0], "v")
	if strings.Contains(value, "(") || release == "" || release[0] == '-' {
		s.Set("host", "bonding_driver", value, l)
		return
	}
	s.Set("host", "release", strings.TrimLeft(release, "a"), l)
}
