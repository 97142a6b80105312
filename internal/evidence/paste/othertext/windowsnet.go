package othertext

import (
	"strconv"
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// Netsh reads `netsh interface tcp show global`, `netsh interface ipv4 show interfaces`
// and the counters of cores that Get-Counter prints.
var Netsh = piece.Reader{
	Kind:     "netsh",
	Commands: []string{"netsh", "get-counter"},
	Starts: func(line string) bool {
		return netshPair.MatchString(line) || netshHead.MatchString(line) || strings.HasPrefix(line, "TCP Global Parameters") || strings.HasPrefix(line, "Querying active state") || counterName.MatchString(line)
	},
	Read: reading(readNetsh),
}

var netshPair = piece.Compile(`^\s*(Receive-Side Scaling State|Receive Window Auto-Tuning Level|Add-On Congestion Control Provider|ECN Capability|RFC 1323 Timestamps|Initial RTO|Receive Segment Coalescing State|Non Sack Rtt Resiliency|Max SYN Retransmissions|Fast Open(?: Fallback)?|HyStart|Proportional Rate Reduction|Pacing Profile|Chimney Offload State|NetDMA State|Direct Cache Access \(DCA\)|Congestion Control Provider)\s*: ?(\S.*)$`)

var netshHead = piece.Compile(`^\s*Idx\s+Met\s+MTU\s+State\s+Name`)

var netshRow = piece.Compile(`^\s*(\d+)\s+(\d+)\s+(\d+)\s+(connected|disconnected)\s+(\S.*)$`)

var counterName = piece.Compile(`(?i)\\(?:processor|processor information)\((\S+)\)\\% (processor|dpc|interrupt|privileged) time :`)

func readNetsh(s *sink, lines []piece.Line) int {
	core := ""
	return piece.EachLine(lines, func(l piece.Line, text string) bool {
		if m := netshPair.FindStringSubmatch(text); m != nil {
			s.OfSystem("windows", l)
			switch m[1] {
			case "Receive Window Auto-Tuning Level":
				s.Set("host", "autotuning", strings.ToLower(m[2]), l)
			case "Receive-Side Scaling State":
				s.Set("host", "rss_global", strings.ToLower(m[2]), l)
			}
			return true
		}
		if m := netshRow.FindStringSubmatch(text); m != nil {
			s.OfSystem("windows", l)
			subject := "link " + strings.TrimSpace(m[5])
			s.Set(subject, "ifindex", m[1], l)
			s.Set(subject, "metric", m[2], l)
			s.Set(subject, "mtu", m[3], l)
			s.Set(subject, "carrier", piece.YesNo[m[4] == "connected"], l)
			return true
		}
		if m := counterName.FindStringSubmatch(text); m != nil {
			s.OfSystem("windows", l)
			core = ""
			if strings.EqualFold(m[2], "processor") {
				core = strings.TrimPrefix(m[1], "0,")
			}
			return true
		}
		if n, err := strconv.ParseFloat(strings.Replace(text, ",", ".", 1), 64); err == nil && n >= 0 && n <= 100.5 {
			if core != "" {
				s.windowsCore(core, n, l)
				core = ""
			}
			return true
		}
		return netshHead.MatchString(text) || strings.Trim(text, "-* ") == "" || strings.HasPrefix(text, "TCP Global Parameters") || strings.HasPrefix(text, "Querying active state") || strings.HasPrefix(text, "**")
	})
}

// windowsCore notes a core's load.
func (s *sink) windowsCore(id string, busy float64, l piece.Line) {
	if strings.EqualFold(id, "_total") {
		id = "all"
	}
	for i, c := range s.Host.Cores {
		if c.ID == id {
			s.Host.Cores[i].Idle = min(c.Idle, 100-busy)
			return
		}
	}
	s.Host.Cores = append(s.Host.Cores, piece.Core{ID: id, System: busy, Idle: 100 - busy, Source: l.Source()})
}

// psMore says what an object is that is no adapter; false for others.
func (s *sink) psMore(o psObject, l piece.Line) bool {
	alias := o.first("InterfaceAlias", "ifAlias")
	if o.first("VmqWeight", "VrssEnabled") != "" {
		subject := "vnic " + o.first("VMName", "VM", "Name")
		s.SetIf(subject, "vmq_weight", piece.NumberText(o["VmqWeight"]), l)
		s.SetIf(subject, "vrss", map[string]string{"True": "on", "False": "off"}[o["VrssEnabled"]], l)
	}
	switch {
	case o["BaseVmqProcessor"] != "" && o["Name"] != "":
		s.Set("link "+o["Name"], "there", "yes", l)
		s.SetIf("link "+o["Name"], "description", o["InterfaceDescription"], l)
		s.SetIf("link "+o["Name"], "vmq", map[string]string{"True": "on", "False": "off"}[o["Enabled"]], l)
	case o["IPv4Enabled"] != "" && o["Name"] != "":
		s.OfSystem("windows", l)
		s.SetIf("link "+o["Name"], "rsc", map[string]string{"True": "on", "False": "off"}[o.first("IPv4Operational", "IPv4OperationalState", "IPv4Enabled")], l)
	case o["CookedValue"] != "":
		if n, err := strconv.ParseFloat(strings.Replace(o["CookedValue"], ",", ".", 1), 64); err == nil && n >= 0 && n <= 100.5 {
			s.windowsCore(strings.TrimPrefix(o["InstanceName"], "0,"), n, l)
		}
	case o.first("AutoTuningLevelLocal", "AutoTuningLevelEffective") != "":
		if name := o["SettingName"]; name == "" || strings.HasPrefix(name, "Internet") {
			s.Set("host", "autotuning", strings.ToLower(o.first("AutoTuningLevelLocal", "AutoTuningLevelEffective")), l)
		}
	case o["EnableMultiChannel"] != "":
		s.Set("host", "smb_multichannel", strings.ToLower(o["EnableMultiChannel"]), l)
	case o["FailureReason"] != "":
		s.psAdapter(o["Name"], o, l)
		s.Set("link "+o["Name"], "failure", o["FailureReason"], l)
		s.SetIf("link "+o["Name"], "team_status", o["OperationalStatus"], l)
	case o.first("VmqWeight", "VrssEnabled") != "" && o["MaximumBandwidth"] == "":
	case o["MaximumBandwidth"] != "" || o["BandwidthPercentage"] != "":
		subject := "vnic " + o.first("VMName", "VM") + "/" + o.first("Name", "VMName")
		if n := piece.Whole(o["MaximumBandwidth"]); n > 0 {
			s.Set(subject, "limit_bps", strconv.FormatInt(n, 10), l)
			s.Set(subject, "limit_words", "MaximumBandwidth "+o["MaximumBandwidth"], l)
		}
	case o["ThrottleRate"] != "" || o["ThrottleRateAction"] != "":
		if m := throttle.FindStringSubmatch(o.first("ThrottleRate", "ThrottleRateAction")); m != nil {
			if bits := piece.Float(m[1]) * piece.Decimal[m[2]]; bits > 0 {
				s.limit("the QoS policy "+o["Name"], "ThrottleRate "+m[0], bits, l)
			}
		}
	case alias != "" && o.first("InterfaceMetric", "NlMtu(Bytes)", "NlMtu") != "":
		s.SetIf("link "+alias, "metric", o["InterfaceMetric"], l)
		s.SetIf("link "+alias, "mtu", piece.NumberText(o.first("NlMtu(Bytes)", "NlMtu")), l)
		s.SetIf("link "+alias, "ifindex", o["ifIndex"], l)
	case alias != "" && o["IPAddress"] != "" && o["PrefixLength"] != "":
		s.Set("link "+alias, "address "+o["IPAddress"]+"/"+o["PrefixLength"], "inet", l)
	case alias != "" && (o["NextHop"] != "" || o["IPAddress"] != ""):
		if s.Segment.Command == "" || piece.Program(s.Segment.Command) == "find-netroute" {
			s.Set("host", "chosen_link", alias, l)
			if m := netRouteTo.FindStringSubmatch(s.Segment.Command); m != nil {
				s.Set("path "+m[1], "dev", alias, l)
			}
		}
	default:
		return false
	}
	return true
}

var netRouteTo = piece.Compile(`(?i)-RemoteIPAddress ?:?"?([\d.]+)`)

var throttle = piece.Compile(`^([\d.]+) ?([KMG]?)(?:[Bb]its?(?:/sec|/s)|bps)?$`)
