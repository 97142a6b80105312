package paste

import (
	"strings"

	"github.com/linerate/linerate/internal/bondopt"
)

// procBond reads /proc/net/bonding/BOND, whole or cut anywhere: its lines say what
// they are (drivers/net/bonding/bond_procfs.c bond_info_show).
var procBond = reader{
	kind:   "/proc/net/bonding",
	starts: func(line string) bool { key, _, ok := bondLine(line); return ok && bondMarks[key] },
	read:   readProcBond,
}

// bondMarks are lines that nothing else has.
var bondMarks = words2("Ethernet Channel Bonding Driver", "Bonding Mode", "Transmit Hash Policy", "Slave Interface", "Active Aggregator Info",
	"details actor lacp pdu", "details partner lacp pdu", "Actor Churn State", "Partner Churn State", "MII Polling Interval (ms)",
	"Link Failure Count", "Permanent HW addr", "Slave queue ID", "Partner Mac Address", "Currently Active Slave")

func words2(all ...string) map[string]bool {
	out := make(map[string]bool)
	for _, w := range all {
		out[w] = true
	}
	return out
}

func bondLine(line string) (key, value string, ok bool) {
	key, value, ok = strings.Cut(strings.TrimSpace(line), ":")
	return strings.TrimSpace(key), strings.TrimSpace(value), ok
}

// The lines of the paragraphs below the bond's own, as facts' keys.
var (
	bondFacts = map[string]string{"MII Status": "mii_status", "Currently Active Slave": "active_slave", "LACP rate": "lacp_rate", "Min links": "min_links",
		"Aggregator selection policy (ad_select)": "ad_select", "System priority": "ad_actor_sys_prio", "System MAC address": "ad_system_mac"}
	aggregatorFacts = map[string]string{"Aggregator ID": "ad_aggregator", "Number of ports": "ad_num_ports", "Actor Key": "ad_actor_key",
		"Partner Key": "ad_partner_key", "Partner Mac Address": "ad_partner_mac"}
	portFacts = map[string]string{"MII Status": "mii_status", "Speed": "speed", "Duplex": "duplex", "Link Failure Count": "link_failure_count",
		"Permanent HW addr": "perm_mac", "Slave queue ID": "queue_id", "Aggregator ID": "aggregator_id", "Actor Churn State": "actor_churn",
		"Partner Churn State": "partner_churn", "Actor Churned Count": "actor_churned_count", "Partner Churned Count": "partner_churned_count"}
	actorFacts = map[string]string{"system priority": "actor_system_priority", "system mac address": "actor_system_mac", "port key": "actor_key",
		"port priority": "actor_port_priority", "port number": "actor_port_number", "port state": "actor_state"}
	partnerFacts = map[string]string{"system priority": "partner_system_priority", "system mac address": "partner_system_mac", "oper key": "partner_key",
		"port priority": "partner_port_priority", "port number": "partner_port_number", "port state": "partner_state"}
	bondTitles = words2("802.3ad info", "Active Aggregator Info")
)

func readProcBond(s *sink, lines []Line) (read int) {
	bond := s.bondName()
	subject, facts := "link "+bond, bondFacts
	seen := false // the head of a bond, after which another one is another bond
	for i, l := range lines {
		text := strings.TrimSpace(l.Text)
		if text == "" {
			continue
		}
		key, value, ok := bondLine(text)
		if bondTitles[text] {
			read = i + 1
			continue
		}
		if !ok {
			break
		}
		switch key {
		case "Ethernet Channel Bonding Driver":
			if seen {
				return read
			}
			seen = true
			subject, facts = "link "+bond, bondFacts
			s.set(subject, "kind", "bond", l)
			s.driver(value, l)
		case "Slave Interface":
			s.port(bond, value, l)
			subject, facts = "link "+value, portFacts
		case "Active Aggregator Info":
			subject, facts = "link "+bond, aggregatorFacts
		case "details actor lacp pdu":
			facts = actorFacts
		case "details partner lacp pdu":
			facts = partnerFacts
		case "Bonding Mode":
			mode, rest, known := bondopt.ModeByTitle(value)
			if !known {
				return read
			}
			s.set("link "+bond, "mode", mode.String(), l)
			if word, ok := strings.CutPrefix(rest, " (fail_over_mac "); ok {
				s.set("link "+bond, "fail_over_mac", strings.TrimSuffix(word, ")"), l)
			}
		default:
			name, known := facts[key]
			if o, ok := bondopt.ByProc(key); ok && strings.HasPrefix(subject, "link "+bond) && !known {
				name, known = o.Name, true
			}
			if !known {
				return read
			}
			if name == "xmit_hash_policy" || name == "primary" {
				value, _, _ = strings.Cut(value, " ")
			}
			s.set(subject, name, value, l)
		}
		read = i + 1
	}
	return read
}

// bondName is the bond whose file is printed: by the command or heading, else the
// next that has no head yet.
func (s *sink) bondName() string {
	for _, w := range strings.FieldsFunc(s.segment.Command+" "+s.segment.Path, func(r rune) bool { return r == ' ' || r == '|' || r == ';' }) {
		if at := strings.LastIndex(w, "/bonding/"); at >= 0 && !strings.ContainsAny(w[at:], "*?$") {
			return w[at+len("/bonding/"):]
		}
	}
	return "bond0"
}

// driver reads the release that newer kernels print in place of a version.
func (s *sink) driver(value string, l Line) {
	release := strings.TrimPrefix(strings.Fields(value + " -")[0], "v")
	if strings.Contains(value, "(") || release == "" || release[0] == '-' {
		s.set("host", "bonding_driver", value, l)
		return
	}
	s.set("host", "release", strings.TrimLeft(release, "a"), l)
}

// port notes a bond's port, in the order that they are read.
func (s *sink) port(bond, name string, l Line) {
	s.set("link "+name, "master", bond, l)
	for _, p := range s.host.Ports[bond] {
		if p == name {
			return
		}
	}
	s.host.Ports[bond] = append(s.host.Ports[bond], name)
}
