package othertext

import (
	"cmp"
	"net/netip"
	"strconv"
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/netstate"
)

// PowerShell reads what PowerShell prints of teams, cards, SMB and iSCSI: tables with
// a rule under their titles, and lists of words with values.
var PowerShell = piece.Reader{
	Kind: "PowerShell",
	Commands: []string{"get-netlbfoteam", "get-netadapter", "get-smbmultichannelconnection", "get-netlbfoteamnic", "get-netadapterstatistics", "get-vmswitchteam",
		"get-netadapterrss", "get-netadaptervmq", "get-netadapterrsc", "get-vmnetworkadapter", "get-netlbfoteammember", "get-iscsisession", "get-iscsiconnection"},
	Starts: func(line string) bool {
		return psTitles.MatchString(line) || psItem.MatchString(line)
	},
	Read: reading(func(s *sink, lines []piece.Line) int {
		if psTitles.MatchString(lines[0].Text) {
			if n := readPSTable(s, lines); n > 0 {
				return n
			}
		}
		return readPSList(s, lines)
	}),
}

var psTitles = piece.Compile(`^\s*(?:Name\s+(?:InterfaceDescription|IPv4Enabled|Status\s+LinkSpeed|LinkSpeed|ReceivedBytes|Members|TeamingMode|Enabled|ifIndex|InterfaceAlias|Team\b)|Server Name\s+Selected|ServerName\s+Selected|(?:ifIndex|InterfaceAlias)\s+.*LinkSpeed|ifIndex\s+InterfaceAlias\s|InstanceName\s+CookedValue|IPAddress\s+(?:InterfaceAlias|PrefixLength)|InterfaceAlias\s+(?:IPAddress|NextHop|InterfaceMetric|PrefixLength|NlMtu)|SettingName\s+\S*(?:AutoTuning|Congestion)|VMName\s+[A-Z])`)

var psItem = piece.Compile(`^(Name|VMName|InterfaceAlias|ServerName|Server Name|InitiatorPortalAddress|InitiatorAddress|ConnectionIdentifier|AuthenticationType|TeamingMode|LoadBalancingAlgorithm|Members|TeamNics|InterfaceDescription|NetAdapterInterfaceDescription|LinkSpeed|NumberOfReceiveQueues|ClientRSSCapable|MacAddress|EnableMultiChannel|AutoTuningLevelLocal|SettingName|FailureReason|MaximumBandwidth|ThrottleRate(?:Action)?|InterfaceMetric|VmqWeight|VrssEnabled)\s*: ?`)

var psLine = piece.Compile(`^([A-Z][\w .()/-]*?)\s*:(?: (.*))?$`)

var psMarks = piece.Phrases("TeamingMode", "LoadBalancingAlgorithm", "TeamNics", "NetAdapterInterfaceDescription", "InterfaceDescription", "NumberOfReceiveQueues", "ClientRSSCapable", "Client RSS Capable",
	"InitiatorPortalAddress", "TargetPortalAddress", "TargetNodeAddress", "TargetAddress", "LinkSpeed", "MediaConnectionState", "ReceivedBytes", "CurrentChannels", "EnableMultiChannel", "AutoTuningLevelLocal", "AutoTuningLevelEffective", "FailureReason", "MaximumBandwidth", "ThrottleRate", "ThrottleRateAction", "InterfaceMetric", "VmqWeight", "VrssEnabled")

// psObject is one object that PowerShell prints, by its properties.
type psObject map[string]string

// readPSTable reads a table. Texts are under the left end of their title, numbers
// under the right one.
func readPSTable(s *sink, lines []piece.Line) int {
	var titles []string
	var spans [][]int
	read, more := 0, "" // the rest of titles that are cut to the width of the screen
	for i, l := range lines {
		text := strings.TrimSpace(l.Text)
		switch {
		case i == 1 && len(lines) > 2 && text != "" && psRule(lines[2].Text) && strings.HasPrefix(l.Text, " "):
			more = l.Text
			continue
		case i == 0:
			titles = psNames(l.Text)
			read = 1
			continue
		case text == "":
			if spans != nil && read > 2 {
				return read
			}
			continue
		case psRule(text) && i <= 2:
			spans = piece.Rules.FindAllStringIndex(l.Text, -1)
			if names := cutTitles(lines[0].Text, spans); names != nil {
				titles = names
			}
			for n, span := range spans {
				if len(spans) == len(titles) && span[0] < len(more) {
					titles[n] += strings.TrimSpace(more[span[0]:min(span[1], len(more))])
				}
			}
			read = i + 1
			continue
		}
		object := psRow(titles, spans, l.Text)
		if object == nil {
			return read
		}
		s.psObject(object, l)
		read = i + 1
	}
	if spans == nil && read == 1 {
		return 0
	}
	return read
}

// psRule reports the line below titles.
func psRule(line string) bool {
	return strings.Trim(line, "- ") == "" && strings.Contains(line, "--")
}

// psNames are titles that are parted by blanks; those of two words are known.
func psNames(line string) []string {
	for _, two := range []string{"Server Name", "Client IP", "Server IP", "Client Interface Index", "Server Interface Index", "Client RSS Capable", "Client RDMA Capable"} {
		line = strings.Replace(line, two, strings.ReplaceAll(two, " ", "_"), 1)
	}
	out := strings.Fields(line)
	for i := range out {
		out[i] = strings.ReplaceAll(out[i], "_", " ")
	}
	return out
}

// cutTitles are the titles above a rule's parts; nil where they do not fit.
func cutTitles(line string, spans [][]int) (out []string) {
	for _, span := range spans {
		if span[1] > len(line) {
			return nil
		}
		out = append(out, strings.TrimSpace(line[span[0]:span[1]]))
	}
	for _, title := range out {
		if title == "" {
			return nil
		}
	}
	return out
}

// psRow cuts a row: each word belongs to the title above it, else to the last one
// that begins before it.
func psRow(titles []string, spans [][]int, line string) psObject {
	fields := strings.Fields(line)
	if len(fields) == len(titles) && !blankedName(fields, spans, line) {
		object := make(psObject)
		for i, title := range titles {
			object[title] = fields[i]
		}
		return object
	}
	if len(spans) != len(titles) || len(spans) == 0 {
		return nil
	}
	object := make(psObject)
	for at := 0; at < len(line); {
		if line[at] == ' ' {
			at++
			continue
		}
		end := at
		for end < len(line) && line[end] != ' ' {
			end++
		}
		which := 0
		for i, span := range spans {
			if span[0] < end && at < span[1] {
				which = i
				break
			}
			if span[0] <= at {
				which = i
			}
		}
		object[titles[which]] = strings.TrimSpace(object[titles[which]] + " " + line[at:end])
		at = end
	}
	return object
}

// blankedName reports a row whose first two words are one name: both stand under the
// first title, with one blank between them.
func blankedName(fields []string, spans [][]int, line string) bool {
	if len(fields) < 2 || len(spans) < 2 {
		return false
	}
	at := strings.Index(line, fields[0]+" "+fields[1])
	return at >= 0 && at+len(fields[0])+1+len(fields[1]) <= spans[1][0]
}

// readPSList reads objects as lists of properties, one a line, parted by blank lines
// or by a property that comes again.
func readPSList(s *sink, lines []piece.Line) int {
	object, marked, read := make(psObject), false, 0
	var at piece.Line
	last := ""
	flush := func(upTo int) {
		if marked {
			s.psObject(object, at)
			read = upTo
		}
		object, marked, last = make(psObject), false, ""
	}
	for i, l := range lines {
		text := strings.TrimSpace(l.Text)
		if text == "" {
			continue
		}
		m := psLine.FindStringSubmatch(text)
		if m == nil || strings.HasPrefix(l.Text, " ") && strings.Count(l.Text[:min(len(l.Text), 12)], " ") >= 12 {
			if last != "" && strings.HasPrefix(l.Text, "    ") { // a value that goes on
				object[last] += text
				continue
			}
			flush(i)
			return read
		}
		key := strings.TrimSpace(m[1])
		if _, again := object[key]; again {
			if !marked { // some other list
				return read
			}
			flush(i)
		}
		if !marked && piece.Late(l, lines) {
			return read
		}
		if len(object) == 0 {
			at = l
		}
		object[key] = strings.TrimSpace(m[2])
		last = key
		marked = marked || psMarks[key]
	}
	flush(len(lines))
	for read > 0 && strings.TrimSpace(lines[read-1].Text) == "" {
		read--
	}
	return read
}

func (o psObject) first(keys ...string) string {
	for _, key := range keys {
		if v := strings.TrimSpace(o[key]); v != "" {
			return v
		}
	}
	return ""
}

// braced are the names of a list in braces, cut by "..." or not.
func braced(s string) (out []string) {
	for _, name := range strings.Split(strings.Trim(s, "{} "), ",") {
		if name = strings.TrimSpace(name); name != "" && !strings.HasSuffix(name, "...") && name != "..." {
			out = append(out, name)
		}
	}
	return out
}

// psObject says what an object is by its properties.
func (s *sink) psObject(o psObject, l piece.Line) {
	s.OfSystem("windows", l)
	name := o.first("Name", "InterfaceAlias")
	switch {
	case s.psMore(o, l):
	case o.first("Client IP", "ClientIpAddress") != "":
		s.smbConnection(o, l)
	case o.first("InitiatorPortalAddress", "InitiatorAddress") != "":
		s.Host.Paths = append(s.Host.Paths, piece.Path{Kind: "iscsi", Device: o.first("TargetNodeAddress"), Local: o.first("InitiatorPortalAddress", "InitiatorAddress"),
			Remote: o.first("TargetPortalAddress", "TargetAddress"), State: map[string]string{"True": "connected", "False": "not connected"}[o["IsConnected"]], Source: l.Source()})
	case name == "":
	case o.first("TeamingMode", "LoadBalancingAlgorithm", "TeamNics") != "":
		s.team(name, o, l)
	default:
		s.psAdapter(name, o, l)
	}
}

func (s *sink) team(name string, o psObject, l piece.Line) {
	subject := "link " + name
	members, set := o["Members"], o.first("NetAdapterInterfaceDescription")
	s.Set(subject, "kind", map[bool]string{true: "set", false: "lbfo"}[set != "" && members == ""], l)
	s.SetIf(subject, "mode", o["TeamingMode"], l)
	s.SetIf(subject, "load_balance", o["LoadBalancingAlgorithm"], l)
	s.SetIf(subject, "lacp_rate", strings.ToLower(o["LacpTimer"]), l)
	s.SetIf(subject, "status", o["Status"], l)
	for _, port := range braced(cmp.Or(members, set)) {
		s.Port(name, port, l)
	}
}

func (s *sink) smbConnection(o psObject, l piece.Line) {
	local, remote := o.first("Client IP", "ClientIpAddress"), o.first("Server IP", "ServerIpAddress")
	s.Host.Paths = append(s.Host.Paths, piece.Path{Kind: "smb", Device: o.first("Server Name", "ServerName"), Local: local, Remote: remote,
		State: map[string]string{"True": "selected", "False": "not selected"}[o["Selected"]], Source: l.Source()})
	subject := "smb " + local + " " + remote
	s.SetIf(subject, "rss", strings.ToLower(o.first("Client RSS Capable", "ClientRSSCapable")), l)
	s.SetIf(subject, "rdma", strings.ToLower(o.first("Client RDMA Capable", "ClientRdmaCapable")), l)
	s.SetIf(subject, "client_index", o.first("Client Interface Index", "ClientInterfaceIndex"), l)
	s.SetIf(subject, "channels", o.first("CurrentChannels"), l)
	s.SetIf(subject, "max_channels", o.first("MaxChannels"), l)
}

func (s *sink) psAdapter(name string, o psObject, l piece.Line) {
	subject := "link " + name
	s.Set(subject, "there", "yes", l)
	s.SetIf(subject, "description", o["InterfaceDescription"], l)
	s.SetIf(subject, "ifindex", o.first("ifIndex", "InterfaceIndex"), l)
	s.SetIf(subject, "mac", piece.MacText(o.first("MacAddress", "PermanentAddress")), l)
	s.SetIf(subject, "speed", piece.Mbits(o.first("LinkSpeed")), l)
	if gbps := o.first("TransmitLinkSpeed(Gbps)"); gbps != "" {
		s.SetIf(subject, "speed", piece.Mbits(gbps+"G"), l)
	}
	s.SetIf(subject, "mtu", piece.NumberText(o.first("MtuSize")), l)
	s.SetIf(subject, "master", o.first("Team"), l)
	s.SetIf(subject, "channels", piece.NumberText(o.first("NumberOfReceiveQueues")), l)
	if _, ok := o["NumberOfReceiveQueues"]; ok {
		s.SetIf(subject, "rss", map[string]string{"True": "on", "False": "off"}[o["Enabled"]], l)
	}
	switch status := o.first("Status", "MediaConnectionState"); status {
	case "Up", "Connected":
		s.Set(subject, "state", "UP", l)
		s.Set(subject, "carrier", "yes", l)
	case "Disconnected", "Disabled", "Not Present", "Down":
		s.Set(subject, "state", "DOWN", l)
		s.Set(subject, "carrier", "no", l)
	}
	for from, to := range map[string]string{"ReceivedBytes": "rx_bytes", "SentBytes": "tx_bytes", "ReceivedUnicastPackets": "rx_packets", "SentUnicastPackets": "tx_packets",
		"ReceivedDiscardedPackets": "rx_dropped", "ReceivedPacketErrors": "rx_errors", "OutboundDiscardedPackets": "tx_dropped", "OutboundPacketErrors": "tx_errors"} {
		s.SetIf(subject, to, piece.NumberText(o[from]), l)
	}
}

// RoutePrint reads Windows' `route print`, in any language: its rows have five
// columns, and the list of interfaces has numbers, addresses and names.
var RoutePrint = piece.Reader{
	Kind:     "route print",
	Commands: []string{"route", "netstat"},
	Starts: func(line string) bool {
		return strings.HasPrefix(line, "=====") && strings.Trim(line, "=") == "" && len(line) > 60 || winRoute.MatchString(line) || winInterface.MatchString(line)
	},
	Read: reading(readRoutePrint),
}

var winRoute = piece.Compile(`^\s*(\d+\.\d+\.\d+\.\d+)\s+(\d+\.\d+\.\d+\.\d+)\s+(\d+\.\d+\.\d+\.\d+|[A-Za-zÀ-ÿ][\w -]*?)\s+(\d+\.\d+\.\d+\.\d+)\s+(\d+)$`)

var winPersist = piece.Compile(`^\s*\d+\.\d+\.\d+\.\d+\s+\d+\.\d+\.\d+\.\d+\s+\d+\.\d+\.\d+\.\d+\s+\S+$`)

var winInterface = piece.Compile(`^\s*(\d+)\.{3}((?:[0-9a-f]{2} ){6})\.+(.*)$`)

var winLoopback = piece.Compile(`^\s*\d+\.{10,}\S`)

func readRoutePrint(s *sink, lines []piece.Line) int {
	rows := 0
	read := piece.EachLine(lines, func(l piece.Line, text string) bool {
		if m := winInterface.FindStringSubmatch(text); m != nil {
			s.OfSystem("windows", l)
			subject := "link " + strings.TrimSpace(m[3])
			s.Set(subject, "ifindex", m[1], l)
			s.SetIf(subject, "mac", piece.MacText(strings.ReplaceAll(strings.TrimSpace(m[2]), " ", ":")), l)
			rows++
			return true
		}
		if m := winRoute.FindStringSubmatch(text); m != nil {
			s.winRoute(m, l)
			rows++
			return true
		}
		if rows == 0 && piece.Late(l, lines) {
			return false
		}
		return strings.Trim(text, "=") == "" || strings.HasSuffix(text, ":") || winLoopback.MatchString(text) || winPersist.MatchString(text) || rows > 0 && (strings.Count(text, "  ") >= 3 || !strings.Contains(text, " ")) ||
			strings.HasSuffix(text, "List") || strings.HasSuffix(text, "Route Table")
	})
	if rows == 0 {
		return 0
	}
	return read
}

func (s *sink) winRoute(m []string, l piece.Line) {
	addr, err := netip.ParseAddr(m[1])
	mask, err2 := netip.ParseAddr(m[2])
	via, err3 := netip.ParseAddr(m[4])
	if err != nil || err2 != nil || err3 != nil || addr.IsLoopback() || addr.IsMulticast() {
		return
	}
	s.OfSystem("windows", l)
	bits := 0
	for _, b := range mask.As4() {
		for ; b&0x80 != 0; b <<= 1 {
			bits++
		}
	}
	route := netstate.Route{Dst: netip.PrefixFrom(addr, bits).Masked(), Source: via, Metric: max(piece.Atoi(m[5]), 0)}
	if gw, err := netip.ParseAddr(m[3]); err == nil {
		route.Gateway = gw
	}
	if bits == 32 && addr == via || bits == 32 && addr.As4()[3] == 255 { // its own address, a broadcast
		return
	}
	s.Host.Routes = append(s.Host.Routes, piece.Route{Route: route, Source: l.Source()})
}

// IPConfig reads `ipconfig /all`, in any language: a heading that ends in a colon,
// and words with dots before their values.
var IPConfig = piece.Reader{
	Kind:     "ipconfig",
	Commands: []string{"ipconfig"},
	Starts: func(line string) bool {
		return strings.Contains(line, " . ") && ipcPair.MatchString(strings.TrimSpace(line)) || ipcHead.MatchString(line) || strings.HasPrefix(line, "Windows IP Configuration")
	},
	Read: reading(readIPConfig),
}

var ipcHead = piece.Compile(`^(?:[\w-]+ (?:LAN )?[Aa]dapter|Ethernet-Adapter|Carte [\w-]+|Adaptador de [\w-]+|Scheda [\w-]+|Adattatore [\w-]+|Drahtlos-LAN-Adapter) (.+?) ?:$`)

var ipcPair = piece.Compile(`^(.+?)(?: ?\. ?)*(?: \.)+ ?: ?(.*)$`)

var ipcAddr = piece.Compile(`^(\d+\.\d+\.\d+\.\d+)(?:\(\S+\))?$`)

func readIPConfig(s *sink, lines []piece.Line) int {
	subject, addr := "", ""
	rows := 0
	read := piece.EachLine(lines, func(l piece.Line, text string) bool {
		if m := ipcHead.FindStringSubmatch(text); m != nil {
			subject, addr = "link "+m[1], ""
			return true
		}
		m := ipcPair.FindStringSubmatch(text)
		if m == nil && rows == 0 && piece.Late(l, lines) {
			return false
		}
		if m == nil {
			return strings.HasPrefix(text, "Windows ") || subject != "" && strings.HasPrefix(l.Text, "  ") && strings.HasSuffix(text, ":") || rows > 0 && strings.HasPrefix(l.Text, "     ") && len(strings.Fields(text)) == 1
		}
		rows++
		s.OfSystem("windows", l)
		value := strings.TrimSpace(m[2])
		if subject == "" {
			return true
		}
		if mac := piece.MacText(value); mac != "" {
			s.Set(subject, "mac", mac, l)
		}
		if a := ipcAddr.FindStringSubmatch(value); a != nil {
			switch {
			case strings.HasPrefix(a[1], "255.") && addr != "":
				if ip, err := netip.ParseAddr(a[1]); err == nil {
					bits := 0
					for _, b := range ip.As4() {
						for ; b&0x80 != 0; b <<= 1 {
							bits++
						}
					}
					s.Set(subject, "address "+addr+"/"+strconv.Itoa(bits), "inet", l)
				}
				addr = ""
			case strings.Contains(text, "IPv4") || strings.Contains(text, "IP Address") || strings.Contains(text, "IP-A"):
				addr = a[1]
			case strings.Contains(strings.ToLower(text), "gateway") || strings.Contains(text, "asserelle") || strings.Contains(text, "enlace"):
				s.Set(subject, "gateway", a[1], l)
			}
		}
		if strings.HasPrefix(m[1], "Desc") || strings.HasPrefix(m[1], "Besch") {
			s.SetIf(subject, "description", value, l)
		}
		return true
	})
	if rows == 0 {
		return 0
	}
	return read
}
