package networkd

import (
	"slices"
	"strconv"

	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/render/device"
	"github.com/linerate/linerate/render/ledger"
	"github.com/linerate/linerate/render/node"
	"github.com/linerate/linerate/render/readback"
	"github.com/linerate/linerate/render/unitfile"
)

// keyRow is a key of a section and the key of netplan that says the same.
type keyRow struct {
	section, word, key string
	form
}

// form turns a value of netplan's into networkd's and back; read gives nil for
// what netplan has no value for.
type form struct {
	write func(string) string
	read  func(string) *yamldoc.Node
}

var (
	text  = form{func(s string) string { return s }, node.Plain}
	size  = form{text.write, func(s string) *yamldoc.Node { return node.Plain(readback.SizeText(s, 1024)) }}
	yesNo = form{func(s string) string { return map[bool]string{true: "yes", false: "no"}[node.Yes(s)] }, func(s string) *yamldoc.Node {
		if on, ok := readback.ZeroOne(s); ok {
			return node.Plain(strconv.FormatBool(on == "1"))
		}
		return nil
	}}
	// The overrides of DHCP stand as they are written, and are read as text.
	said  = form{text.write, node.Quoted}
	truth = form{text.write, func(s string) *yamldoc.Node {
		if n := yesNo.read(s); n != nil {
			s = n.Text
		}
		return node.Quoted(s)
	}}
)

// keyRows is the one table of them (systemd.network(5) and systemd.netdev(5) of
// systemd 252; doc/netplan-yaml.md).
var keyRows = [...]keyRow{
	{"Network", "EmitLLDP", "emit-lldp", yesNo}, {"Network", "IPv6AcceptRA", "accept-ra", yesNo},
	{"Network", "IPv6PrivacyExtensions", "ipv6-privacy", yesNo}, {"Network", "IPv6MTUBytes", "ipv6-mtu", size},
	{"Network", "IPv6LinkLocalAddressGenerationMode", "ipv6-address-generation", size}, {"Network", "KeepConfiguration", "critical", yesNo},
	{"Bridge", "STP", "parameters.stp", text}, {"Bridge", "Priority", "parameters.priority", text}, {"Bridge", "ForwardDelaySec", "parameters.forward-delay", text},
	{"Bridge", "HelloTimeSec", "parameters.hello-time", text}, {"Bridge", "MaxAgeSec", "parameters.max-age", text}, {"Bridge", "AgeingTimeSec", "parameters.ageing-time", text},
	{"DHCPv4", "UseDNS", "dhcp4-overrides.use-dns", truth}, {"DHCPv4", "UseNTP", "dhcp4-overrides.use-ntp", truth},
	{"DHCPv4", "UseHostname", "dhcp4-overrides.use-hostname", truth}, {"DHCPv4", "UseDomains", "dhcp4-overrides.use-domains", truth},
	{"DHCPv4", "SendHostname", "dhcp4-overrides.send-hostname", truth}, {"DHCPv4", "UseMTU", "dhcp4-overrides.use-mtu", truth},
	{"DHCPv4", "Hostname", "dhcp4-overrides.hostname", said}, {"DHCPv4", "UseRoutes", "dhcp4-overrides.use-routes", truth},
	{"DHCPv4", "RouteMetric", "dhcp4-overrides.route-metric", said},
	{"DHCPv6", "UseDNS", "dhcp6-overrides.use-dns", truth}, {"DHCPv6", "UseNTP", "dhcp6-overrides.use-ntp", truth},
	{"DHCPv6", "UseHostname", "dhcp6-overrides.use-hostname", truth}, {"DHCPv6", "UseDomains", "dhcp6-overrides.use-domains", truth},
	{"DHCPv6", "RouteMetric", "dhcp6-overrides.route-metric", said},
}

// putKeys writes the keys of a section that the fabric says.
func putKeys(d device.Device, s *unitfile.Section, l *ledger.Ledger) {
	for _, row := range keyRows {
		if value := d.Text(row.key); row.section == s.Name && value != "" {
			s.Put(row.word, row.write(value))
			l.Say(d.ID, row.key)
		}
	}
}

// key reads a key of the sections named; false for one that is not theirs.
func (r reader) key(a unitfile.Assignment, id string, sections ...string) bool {
	done := false
	for _, row := range keyRows {
		if row.word != a.Key || !slices.Contains(sections, row.section) {
			continue
		}
		if value := row.read(a.Value); value != nil {
			node.PutAt(r.Device(id), row.key, value)
			done = true
		}
	}
	return done
}
