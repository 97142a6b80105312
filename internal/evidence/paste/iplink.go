package paste

import (
	"regexp"
	"slices"
	"strings"
)

// ipLink reads `ip link` and `ip addr`, with -d, -s and -o or without, and brief or
// not. Forums eat what stands in angle brackets, so flags are not needed.
var ipLink = reader{
	kind:     "ip link",
	commands: []string{"ip"},
	starts:   func(line string) bool { return ipHead.MatchString(line) || ipSub.MatchString(line) },
	read:     readIPLink,
}

var (
	ipHead = regexp.MustCompile(`^\s*(\d{1,6}):\s+([^\s:@]+)(?:@([^\s:]+))?:\s+(<[^>]*>)?\s*(.*\bmtu\s+\d+.*)$`)
	ipSub  = regexp.MustCompile(`^\s*(link/\w+|bond mode |bond_slave |inet6? \S+[/ ]|alias |vlan protocol |bridge_slave |RX: +bytes|TX: +bytes|valid_lft |altname |permaddr |vxlan id )`)
	digits = regexp.MustCompile(`^\d+$`)
)

func readIPLink(s *sink, lines []Line) (read int) {
	subject := ""
	var titles []string // of the counters' row that follows
	for i, l := range lines {
		text := strings.TrimSpace(l.Text)
		if text == "" {
			titles = nil
			continue
		}
		fields := strings.Fields(text)
		if m := ipHead.FindStringSubmatch(l.Text); m != nil {
			if strings.HasPrefix(m[2], "lo") && m[1] == "1" && subject != "" && s.host.Facts["link lo"] != nil {
				return read // another host begins
			}
			subject = "link " + m[2]
			s.ipHeader(subject, m, l)
			read, titles = i+1, nil
			continue
		}
		switch {
		case titles != nil && len(fields) >= 4 && digits.MatchString(fields[0]):
			s.ipCounters(subject, titles, fields, l)
			titles = nil
		case fields[0] == "RX:" || fields[0] == "TX:":
			titles = fields
		case ipSub.MatchString(l.Text):
			s.ipDetail(subject, fields, l)
		default:
			return read
		}
		read = i + 1
	}
	return read
}

// ipHeader reads the line with a link's number and name.
func (s *sink) ipHeader(subject string, m []string, l Line) {
	s.set(subject, "there", "yes", l)
	if m[3] != "" && m[3] != "NONE" {
		s.set(subject, "below", m[3], l)
	}
	if flags := strings.Trim(m[4], "<>"); flags != "" {
		s.set(subject, "flags", flags, l)
	}
	fields := strings.Fields(m[5])
	s.pairs(subject, fields, ipHeaderKeys, l)
	for i := 0; i+1 < len(fields); i++ { // -o: all in one line, parted by backslashes
		if fields[i] == `\` {
			s.ipDetail(subject, fields[i+1:], l)
			return
		}
	}
}

var (
	ipHeaderKeys = words("mtu qdisc master state qlen")
	bondKeys     = words(`mode active_slave miimon updelay downdelay peer_notify_delay use_carrier arp_interval arp_missed_max arp_ip_target
		arp_validate primary primary_reselect fail_over_mac xmit_hash_policy num_grat_arp min_links packets_per_slave lacp_active lacp_rate lacp_strict
		ad_select ad_aggregator ad_num_ports ad_actor_key ad_partner_key ad_partner_mac tlb_dynamic_lb`)
	slaveKeys = map[string]string{"state": "slave_state", "mii_status": "mii_status", "link_failure_count": "link_failure_count", "perm_hwaddr": "perm_mac",
		"ad_aggregator_id": "aggregator_id", "ad_actor_oper_port_state": "actor_state", "ad_partner_oper_port_state": "partner_state",
		"churn_actor_state": "actor_churn", "churn_partner_state": "partner_churn"}
)

// pairs sets the keys of a row of words and values.
func (s *sink) pairs(subject string, fields []string, keys map[string]bool, l Line) {
	for i := 0; i+1 < len(fields); i++ {
		if keys[fields[i]] {
			s.set(subject, fields[i], fields[i+1], l)
			i++
		}
	}
}

// ipDetail reads one of the lines below a link's first.
func (s *sink) ipDetail(subject string, fields []string, l Line) {
	if len(fields) < 2 {
		return
	}
	if subject == "" {
		subject = "link "
	}
	switch {
	case strings.HasPrefix(fields[0], "link/"):
		s.set(subject, "mac", fields[1], l)
		if at := slices.Index(fields, "permaddr"); at > 0 && at+1 < len(fields) {
			s.set(subject, "perm_mac", fields[at+1], l)
		}
	case fields[0] == "bond":
		s.set(subject, "kind", "bond", l)
		s.pairs(subject, fields, bondKeys, l)
	case fields[0] == "bond_slave":
		for i := 1; i+1 < len(fields); i++ {
			if key, ok := slaveKeys[fields[i]]; ok {
				s.set(subject, key, fields[i+1], l)
				i++
			}
		}
	case fields[0] == "inet" || fields[0] == "inet6":
		s.set(subject, "address "+fields[1], fields[0], l)
	case fields[0] == "vlan":
		s.set(subject, "kind", "vlan", l)
		s.pairs(subject, fields, words("id"), l)
	case fields[0] == "vxlan":
		s.set(subject, "kind", "vxlan", l)
		s.pairs(subject, fields, words("id dev dstport"), l)
	}
}

// ipCounters reads a row of counters by its titles, which changed over time.
func (s *sink) ipCounters(subject string, titles, fields []string, l Line) {
	way := strings.ToLower(strings.TrimSuffix(titles[0], ":"))
	names := titles[1:]
	if len(names) > 0 && names[0] == "errors:" { // -s -s
		names = names[1:]
		way += "_error"
	}
	for i, name := range names {
		if i < len(fields) && digits.MatchString(fields[i]) {
			s.set(subject, way+"_"+name, fields[i], l)
		}
	}
}
