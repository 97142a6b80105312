package hosttext

import (
	"slices"
	"strconv"
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// OpenVSwitch reads `ovs-appctl bond/show` and `lacp/show`, `ovs-vsctl show` and
// `ovs-vsctl list port`. What was a slave is a member since 2.15.
var OpenVSwitch = piece.Reader{
	Kind:     "ovs",
	Commands: []string{"ovs-appctl", "ovs-vsctl"},
	Starts: func(line string) bool {
		return ovsBond.MatchString(line) || strings.HasPrefix(line, "bond_mode: ") || ovsMember.MatchString(line) || ovsTree.MatchString(line) || ovsUUID.MatchString(line)
	},
	Owns: func(s piece.Segment, line string) bool {
		return s.Runs("ovs-appctl", "ovs-vsctl") && (ovsColumn.MatchString(line) || ovsKey.MatchString(line))
	},
	Read: reading(readOpenVSwitch),
}

var ovsBond = piece.Compile(`^-{2,4} ([\w.@-]+) -{2,4}$`)

var ovsMember = piece.Compile(`^\s*(?:member|slave):? ([\w.@-]+): (enabled|disabled|current|expired|defaulted|[a-z ]*attached)(.*)$`)

var ovsHash = piece.Compile(`^\s*hash (\d+): (\d+) kB load`)

var ovsTree = piece.Compile(`^\s+(Bridge|Port|Interface|fail_mode:|datapath_type:|Controller|Manager) "?([\w.@][\w.@:-]*)"?$`)

var ovsUUID = piece.Compile(`^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

var ovsColumn = piece.Compile(`^(\w+) +: (.*)$`)

var ovsKey = piece.Compile(`^\s*([a-z][\w -]*): ?(.*)$`)

// ovsFacts are lines of a bond, as they are printed.
var ovsFacts = map[string]string{"bond_mode": "bond_mode", "lacp_status": "lacp_status", "updelay": "updelay", "downdelay": "downdelay", "bond-hash-basis": "hash_basis",
	"sys_id": "actor_system_mac", "aggregation key": "actor_key", "lacp_time": "lacp_rate", "status": "lacp_status", "active-backup primary": "primary",
	"lacp_fallback_ab": "lacp_fallback_ab", "next rebalance": "next_rebalance"}

var ovsPortFacts = map[string]string{"actor state": "actor_state", "partner state": "partner_state", "actor key": "actor_key", "partner key": "partner_key",
	"partner sys_id": "partner_system_mac", "may_enable": "may_enable", "actor sys_id": "actor_system_mac"}

func readOpenVSwitch(s *sink, lines []piece.Line) (read int) {
	r := ovsReader{sink: s}
	owned := s.Segment.Runs("ovs-appctl", "ovs-vsctl")
	for i, l := range lines {
		if strings.TrimSpace(l.Text) == "" {
			continue
		}
		if ovsBond.MatchString(l.Text) {
			owned = true
		}
		if !r.line(l, owned || read > 0) {
			break
		}
		read = i + 1
	}
	r.tree()
	return read
}

type ovsReader struct {
	*sink
	bond, member string
	bridge       string
	port         string
	at           piece.Line
	interfaces   []piece.Line // of the port, their names as text
	column       string       // a row's name of `list port`
}

func (r *ovsReader) line(l piece.Line, sure bool) bool {
	text := strings.TrimSpace(l.Text)
	if m := ovsBond.FindStringSubmatch(text); m != nil {
		r.bond, r.member = m[1], ""
		r.Set("link "+r.bond, "kind", "ovs-bond", l)
		return true
	}
	if m := ovsMember.FindStringSubmatch(l.Text); m != nil {
		r.member = m[1]
		if r.bond != "" {
			r.sink.Port(r.bond, r.member, l)
		}
		state := strings.Fields(m[2] + m[3])
		if state[0] == "enabled" || state[0] == "disabled" {
			r.Set("link "+r.member, "enabled", map[string]string{"enabled": "yes", "disabled": "no"}[state[0]], l)
		} else {
			r.Set("link "+r.member, "lacp_state", strings.TrimSpace(m[2]+m[3]), l)
		}
		return true
	}
	if m := ovsTree.FindStringSubmatch(l.Text); m != nil {
		r.treeLine(m[1], m[2], l)
		return true
	}
	if m := ovsHash.FindStringSubmatch(l.Text); m != nil {
		if r.member != "" {
			r.Set("link "+r.member, "hash "+m[1], m[2], l)
		}
		return true
	}
	switch {
	case ovsUUID.MatchString(text), text == "balanced", strings.HasPrefix(text, "is connected"):
		return true
	case text == "active member" || text == "active slave":
		if r.bond != "" && r.member != "" {
			r.Set("link "+r.bond, "active_slave", r.member, l)
		}
		return true
	}
	if m := ovsColumn.FindStringSubmatch(text); m != nil && !strings.Contains(m[1], " ") && strings.Contains(text, " : ") {
		r.listed(m[1], m[2], l)
		return true
	}
	m := ovsKey.FindStringSubmatch(text)
	if m == nil || !sure {
		return false
	}
	value := strings.TrimSuffix(strings.TrimSpace(m[2]), " ms")
	switch known := ovsPortFacts[m[1]]; {
	case value == "<none>" || value == "":
	case r.member != "" && (known == "actor_state" || known == "partner_state"):
		r.Set("link "+r.member, known, stateBits(value), l)
	case r.member != "" && known != "":
		r.Set("link "+r.member, known, value, l)
	case r.bond != "" && (r.member == "" || m[1] == "bond_mode") && ovsFacts[m[1]] != "":
		r.Set("link "+r.bond, ovsFacts[m[1]], value, l)
	case m[1] == "ovs_version":
		r.Set("host", "ovs_version", strings.Trim(value, `"`), l)
	case strings.HasPrefix(m[1], "active member mac") || strings.HasPrefix(m[1], "active slave mac"):
		if _, name, ok := strings.Cut(value, "("); ok && r.bond != "" {
			r.Set("link "+r.bond, "active_slave", strings.TrimSuffix(name, ")"), l)
		}
	case l.Text == text && r.bond == "" && r.bridge == "":
		return false
	}
	return true
}

// treeLine reads a row of `ovs-vsctl show`.
func (r *ovsReader) treeLine(what, name string, l piece.Line) {
	switch what {
	case "Bridge":
		r.tree()
		r.bridge = name
		r.Set("link "+name, "kind", "ovs-bridge", l)
	case "Port":
		r.tree()
		r.port, r.at = name, l
	case "Interface":
		l.Text = name
		r.interfaces = append(r.interfaces, l)
	}
}

// tree ends a port of `ovs-vsctl show`: one of several interfaces is a bond.
func (r *ovsReader) tree() {
	if r.port != "" && r.bridge != "" && r.port != r.bridge {
		r.Set("link "+r.port, "master", r.bridge, r.at)
	}
	if len(r.interfaces) > 1 && r.port != "" {
		r.Set("link "+r.port, "kind", "ovs-bond", r.at)
		for _, l := range r.interfaces {
			r.sink.Port(r.port, l.Text, l)
		}
	}
	r.port, r.interfaces = "", nil
}

// listed reads a row of `ovs-vsctl list port`.
func (r *ovsReader) listed(key, value string, l piece.Line) {
	if key == "name" {
		r.column = strings.Trim(value, `"`)
	}
	name := r.column
	if name == "" { // rows stand in the order of their names: some come before it
		name = strings.TrimPrefix(r.onlyLink("ovs-vsctl"), "link ")
	}
	value = strings.Trim(value, `"`)
	if key == "lacp" && value == "[]" {
		value = "off" // enable_lacp, vswitchd/bridge.c of 3.1
	}
	if name == "" || value == "[]" || value == "{}" {
		return
	}
	switch key {
	case "bond_mode", "lacp", "tag", "bond_updelay", "bond_downdelay", "other_config", "trunks", "vlan_mode":
		r.Set("config "+name, key, value, l)
	}
}

// lacpBits are the words of a port's state, from its lowest bit (IEEE 802.1AX 6.4.2.3).
var lacpBits = []string{"activity", "timeout", "aggregation", "synchronized", "collecting", "distributing", "defaulted", "expired"}

// stateBits is the number of a state's words, as bonding prints it.
func stateBits(text string) string {
	n := 0
	for _, w := range strings.Fields(text) {
		if at := slices.Index(lacpBits, w); at >= 0 {
			n |= 1 << at
		}
	}
	return strconv.Itoa(n)
}
