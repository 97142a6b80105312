package switchtext

import (
	"maps"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// MACTable reads tables of MAC addresses of any switch: a row has an address, a port,
// mostly a VLAN, in any order.
var MACTable = piece.Reader{
	Kind:     "mac address-table",
	Commands: []string{"show", "sh", "display", "dis"},
	Starts: func(line string) bool {
		return macHead.MatchString(line) || mayHaveMAC(line) && macRow(line, true) != nil
	},
	Read: reading(func(s *sink, lines []piece.Line) int {
		rows, portFirst := 0, false
		read := piece.EachLine(lines, func(l piece.Line, text string) bool {
			if m := macRow(text, portFirst); m != nil {
				s.ofSwitch("", l)
				rows++
				if strings.ContainsAny(m[0][1:2], "13579bdf") || strings.EqualFold(m[1], "cpu") { // a group's, or its own
					return true
				}
				s.Set("mac "+m[0], "port", s.portName(m[1]), l)
				s.SetIf("mac "+m[0], "vlan", m[2], l)
				return true
			}
			if rows == 0 && piece.Late(l, lines) {
				return false
			}
			low := strings.ToLower(text)
			if port := strings.Index(low, "port"); strings.HasPrefix(low, "mac address") && port > 0 {
				vlan := strings.Index(low, "vlan")
				portFirst = vlan < 0 || vlan > port
			}
			return macHead.MatchString(text) || macLegend.MatchString(text)
		})
		if rows == 0 {
			return 0
		}
		return read
	}),
}

var macHead = piece.Compile(`(?i)^\s*(?:Mac Address Table$|.*\bVlan\s+Mac Address\s+(?:Type|Port)|MAC Address\s+(?:VLAN|Port|Interface|Type)|Flags: I - Internal usage VLAN|Aging time is \d+ sec|Status and Counters - Port Address Table|Ethernet switching table|VLAN ID\s+MAC Address|No\.\s+Vlan\s+MacAddress)`)

var macLegend = piece.Compile(`(?i)^(?:[-=+ |]+|Legend:?.*|\* - primary entry.*|\(?[A-Za-z*+]\)? - .*|age - .*|Total .*|Multicast Mac.*|Unicast Entries|.*Mac Addresses for this criterion.*|VLAN/VNI.*|vlan .*mac address.*|Name +address.*|MAC Address +Port.*|---.*)$`)

var macPort = piece.Compile(`^(?i:(?:[a-z][a-z-]*)?\d+(?:[/.:]\d+)*|ae\d+\.\d+|swp\w+|sup-eth1\S*|vPC|cpu|router|switch)$`)

var macTypes = piece.Words("dynamic static learned learnt dynamicunicast d s permanent secure management self mgmt dhcp-snooping learn age aging y n true false ~~~ f t c l dlr * + g r 0 - ntfy dl dynamic(r) p")

// mayHaveMAC reports a run of hexadecimal digits and marks as long as an address.
func mayHaveMAC(line string) bool {
	run := 0
	for i := range len(line) {
		switch c := line[i]; {
		case c >= '0' && c <= '9', c >= 'a' && c <= 'f', c >= 'A' && c <= 'F', c == ':', c == '.', c == '-':
			if run++; run >= 11 {
				return true
			}
		default:
			run = 0
		}
	}
	return false
}

// macRow is the address, the port and the VLAN of a row; nil another line. Where
// both are numbers, the head says which comes first.
func macRow(line string, portFirst bool) []string {
	f := strings.Fields(strings.ReplaceAll(line, "|", " "))
	if len(f) < 2 || len(f) > 9 {
		return nil
	}
	mac, port, vlan := "", "", ""
	typed := false
	var before, after []string // numbers beside the address
	for _, w := range f {
		low := strings.ToLower(w)
		switch {
		case mac == "" && piece.MacText(w) != "" && strings.ContainsAny(w, ":.-"):
			mac = piece.MacText(w)
		case piece.Digits.MatchString(w) && len(w) <= 4 && mac == "":
			before = append(before, w)
		case piece.Digits.MatchString(w):
			after = append(after, w)
		case macTypes[low]:
			typed = typed || len(low) > 3
		case len(low) > 1 && low[0] == 'v' && piece.Digits.MatchString(w[1:]):
			vlan = w[1:]
		case macPort.MatchString(w):
			port = w
		case strings.HasPrefix(low, "aging") || strings.HasSuffix(low, "ago") || low == "days," || low == "all" || strings.Contains(w, ":") && len(w) <= 8:
		default:
			return nil
		}
	}
	if vlan == "" && len(before) > 0 {
		vlan = before[0]
	}
	switch n := len(after); {
	case port != "" && vlan == "" && n > 0 && len(after[0]) <= 4:
		vlan = after[0]
	case port != "" || n == 0:
	case n >= 2 && vlan == "" && !typed && portFirst:
		port, vlan = after[0], after[1]
	case n >= 2 && vlan == "":
		vlan, port = after[0], after[1]
	default:
		port = after[n-1]
		typed = typed || portFirst
	}
	if mac == "" || port == "" || !typed && vlan == "" {
		return nil
	}
	return []string{mac, port, vlan}
}

// LLDPTable reads the neighbours of LLDP and CDP, as tables.
var LLDPTable = piece.Reader{
	Kind:     "LLDP neighbours",
	Commands: []string{"show", "sh", "display", "dis"},
	Starts:   func(line string) bool { return lldpHead.MatchString(line) },
	Read:     reading(readLLDPTable),
}

var lldpHead = piece.Compile(`(?i)^\s*(?:(?:System c|C)apability (?:codes?|legend):?\s*|Device ID\s+Local Intf|Port\s+Neighbor Device ID|Local Interface\s+(?:Parent Interface\s+)?Chassis Id|LocalPort\s+\||LOCAL-PORT\s+CHASSIS-ID|System Name\s+Local Interface\s+Chassis ID|Local Intf\s+Neighbor Dev|LocalPort\s+RemoteDevice|LLDP Remote Devices? (?:Information|Summary) ?$|Lcl Port\s+Chassis ID|Port\s+Chassis ID\s+Port ID\s+TTL|Neighbor\s+Neighbor\s+Neighbor|LocalPort\s+Speed\s+Mode|Loc PortID\s|Last table change time|\s*Port\s+Device ID\s+Port ID\s+System Name|Chassis ID : \*|Device-ID\s+Local Intrfce)`)

var lldpLegend = piece.Compile(`^(?:.* -- -- |\([A-Z]\) |[A-Za-z] - |LLDP Remote Devices? (?:Information|Summary)|Local ?$|Neighbor\s+Neighbor|NOTE: |Total |Number of table|Last table|Capability|Chassis ID : \*|Local Interface|-{2,}|\{master)`)

// lldpColumns are the titles of columns as what they are.
var lldpColumns = []struct{ title, key string }{
	{"Loc PortID", "local"}, {"Rem Host Name", "name"}, {"Rem Port Id", "remote"}, {"Rem Chassis Id", "chassis"}, {"ChassisId", "chassis"}, {"PortId", "remote"}, {"SysName", "name"},
	{"Lcl Port", "local"}, {"Port Description", "description"}, {"RemID", "id"}, {"Age", "age"},
	{"Holdtme", "hold"}, {"Speed", "speed"}, {"Mode", "mode"},
	{"Neighbor Device ID", "name"}, {"Neighbor Port ID", "remote"}, {"Parent Interface", "parent"}, {"Local Interface", "local"}, {"Local Intf", "local"}, {"Local Intrfce", "local"}, {"Hold-time", "hold"},
	{"Hldtme", "hold"}, {"Capability", "capability"}, {"Capabilities", "capability"}, {"Chassis Id", "chassis"}, {"Chassis ID", "chassis"}, {"Port info", "remote"}, {"System Name", "name"}, {"Device ID", "name"}, {"Device-ID", "name"}, {"Platform", "platform"},
	{"Port ID", "remote"}, {"Port-ID", "remote"}, {"RemotePortID", "remote"}, {"RemoteDevice", "name"}, {"RemotePortDescr", "description"}, {"PortDescr", "description"}, {"RemoteHost", "name"}, {"RemotePort", "remote"}, {"LocalPort", "local"}, {"Neighbor Dev", "name"}, {"Neighbor Intf", "remote"}, {"Exptime(s)", "hold"},
	{"LOCAL-PORT", "local"}, {"CHASSIS-ID", "chassis"}, {"PORT-ID", "remote"}, {"PORT-DESC", "description"}, {"SYS-NAME", "name"}, {"Port", "local"}, {"Interface", "local"}, {"TTL", "hold"}, {"Expiration", "hold"},
}

// column is one column of a table: where its title begins.
type column struct {
	key string
	at  int
}

func lldpTitles(line string) (out []column) {
	if strings.Contains(line, "Device ID") && strings.Contains(line, "System Name") { // SG300: the device's is an address
		line = strings.Replace(line, "Device ID ", "Chassis ID", 1)
	}
	used := make([]bool, len(line))
	for _, c := range lldpColumns {
		at := strings.Index(line, c.title)
		if at < 0 || used[at] || at > 0 && line[at-1] != ' ' && line[at-1] != '|' || hasColumn(out, c.key) {
			continue
		}
		for i := at; i < at+len(c.title); i++ {
			used[i] = true
		}
		out = append(out, column{c.key, at})
	}
	return out
}

func hasColumn(all []column, key string) bool {
	for _, c := range all {
		if c.key == key {
			return true
		}
	}
	return false
}

func readLLDPTable(s *sink, lines []piece.Line) int {
	var columns []column
	var row map[string]string // waits for lines that go on with its cells
	rows, name := 0, ""
	var at piece.Line
	flush := func() {
		if row != nil {
			s.ofSwitch("", at)
			s.neighbour(row["local"], row["name"], row["remote"], row["chassis"], at)
			if parent := row["parent"]; parent != "-" && channelName.MatchString(parent) {
				s.join(parent, s.portName(row["local"]), at)
			}
		}
		row = nil
	}
	read := piece.EachLine(lines, func(l piece.Line, text string) bool {
		if t := lldpTitles(l.Text); len(t) >= 3 && hasColumn(t, "local") && (hasColumn(t, "name") || hasColumn(t, "chassis")) && hasColumn(t, "remote") {
			columns = t
			return true
		}
		if columns == nil && piece.Late(l, lines) {
			return false
		}
		if lldpLegend.MatchString(text) || strings.Trim(text, "-+=| ") == "" || columns != nil && lldpLocal.MatchString(text) {
			alignRule(columns, l.Text)
			return true
		}
		if columns == nil {
			return strings.Contains(text, " - ") && strings.Contains(text, ";") || lldpHead.MatchString(text)
		}
		if next := s.lldpRow(columns, l); next != nil {
			flush()
			if next["name"] == "" {
				next["name"] = name
			}
			row, at, name = next, l, ""
			rows++
			return true
		}
		if row != nil && goesOn(columns, row, l) {
			return true
		}
		if len(strings.Fields(text)) == 1 && len(text) > 8 { // a long name has a line of its own
			name = text
			return true
		}
		return false
	})
	flush()
	if rows == 0 && columns == nil {
		return 0
	}
	return read
}

// alignRule moves columns to where the rule below the titles begins each of them.
func alignRule(columns []column, rule string) {
	if strings.Trim(rule, "- ") != "" || strings.Count(rule, " ") == 0 {
		return
	}
	groups := piece.Rules.FindAllStringIndex(rule, -1)
	if len(groups) < 2 { // one line below all of them
		return
	}
	for _, group := range groups {
		for i := range columns {
			if columns[i].at >= group[0] && columns[i].at < group[1] {
				columns[i].at = group[0]
			}
		}
	}
}

// goesOn adds a line's cells to the row above, where that row's cells are full.
func goesOn(columns []column, row map[string]string, l piece.Line) bool {
	added := false
	for _, c := range columns {
		cell := cellOf(columns, c, l.Text)
		if cell == "" {
			continue
		}
		width := cellEnd(columns, c, 1<<16) - c.at - 1
		if c.key == "local" || strings.Contains(cell, " ") || width < 1 || len(row[c.key]) < width {
			return false
		}
		row[c.key] += cell
		added = true
	}
	return added
}

// cellEnd is where a column ends: before the next one.
func cellEnd(columns []column, c column, length int) int {
	end := length
	for _, o := range columns {
		if o.at > c.at && o.at < end {
			end = o.at
		}
	}
	return end
}

func cellOf(columns []column, c column, line string) string {
	if c.at >= len(line) {
		return ""
	}
	return strings.TrimSpace(line[c.at:cellEnd(columns, c, len(line))])
}

var lldpLocal = piece.Compile(`^(?i:(?:re\d:)?[a-z][a-z-]*\d+(?:[/.:]\d+)*|\d+(?:/\d+)*|mgmt\d)$`)

// lldpRow cuts a row by its columns, or where a column is too wide by its words.
func (s *sink) lldpRow(columns []column, l piece.Line) map[string]string {
	line := strings.ReplaceAll(l.Text, "|", " ")
	row := make(map[string]string)
	for _, c := range columns {
		row[c.key] = cellOf(columns, c, line)
	}
	fits := true
	for _, c := range columns { // a word must not stand across a border
		if c.at > 0 && c.at < len(line) && line[c.at] != ' ' && line[c.at-1] != ' ' && !strings.HasSuffix(line[:c.at], "...") {
			fits = false
		}
	}
	if fits && lldpLocal.MatchString(strings.ReplaceAll(row["local"], " ", "")) && (row["name"]+row["chassis"]+row["remote"] != "") {
		return row
	}
	// Names are cut at 20 columns and run into the port.
	if m := lldpGlued.FindStringSubmatch(line); m != nil {
		return map[string]string{"name": strings.TrimSpace(m[1]), "local": m[2], "remote": m[3]}
	}
	f := strings.Fields(line)
	if len(f) >= 3 && len(f) >= len(columns)-1 && columns[0].at == 0 && lldpLocal.MatchString(f[0]) && columnKey(columns, 0) == "local" {
		row = map[string]string{"local": f[0]}
		for i := 1; i < len(f) && i < len(columns); i++ {
			row[columnKey(columns, i)] = f[i]
		}
		return row
	}
	return nil
}

// columnKey is the key of the n-th column from the left.
func columnKey(columns []column, n int) string {
	for _, c := range columns {
		before := 0
		for _, o := range columns {
			if o.at < c.at {
				before++
			}
		}
		if before == n {
			return c.key
		}
	}
	return ""
}

var lldpGlued = piece.Compile(`^\s*(\S.*?)\s*((?:Gi|Te|Fa|Tw|Fi|Hu|Fo|Eth|Twe|mgmt)\d[\d/.]*)\s+\d+\s+(?:[BRTCWPSO,]+\s+)?(\S.*?)\s*$`)

func (s *sink) neighbour(local, name, remote, chassis string, l piece.Line) {
	if local == "" {
		return
	}
	heard := s.heard(local, l)
	chassis = joinedMAC(chassis)
	if at := strings.IndexByte(name, '('); at > 0 && serialNumber.MatchString(name[at:]) { // NX-OS has it behind the name
		name = name[:at]
	}
	if !strings.HasPrefix(name, "[") && !strings.HasPrefix(name, "-") {
		heard("neighbour", strings.Trim(name, `"`))
	}
	heard("neighbour_port", joinedMAC(strings.Trim(remote, `"`)))
	heard("neighbour_mac", piece.MacText(chassis))
	if piece.MacText(chassis) == "" {
		heard("neighbour_chassis", readable(chassis))
	}
}

var serialNumber = piece.Compile(`^\([A-Z0-9]{8,}\)$`)

var spacedMAC = piece.Compile(`^[0-9a-fA-F]{2}(?: [0-9a-fA-F]{2}){5}$`)

// joinedMAC is an address that AOS-S prints with blanks in it as others do.
func joinedMAC(s string) string {
	if s = strings.TrimSpace(s); spacedMAC.MatchString(s) {
		return strings.ReplaceAll(strings.ToLower(s), " ", ":")
	}
	return s
}

// heard begins one more neighbour of a port, and returns what sets its facts: the
// port's newest, and those of a neighbour of its own ("lldp PORT N").
func (s *sink) heard(local string, l piece.Line) func(key, value string) {
	local = s.portName(local)
	if m := junosLink.FindStringSubmatch(local); m != nil { // a unit hears at its port
		local = m[1]
	}
	n, _ := s.Host.Get("port "+local, "neighbours")
	count := strconv.Itoa(max(piece.Atoi(n.Text), 0) + 1)
	told := false
	return func(key, value string) {
		if value == "" || value == "-" || value == "--" {
			return
		}
		if !told {
			told = true
			s.setOnly("port "+local, "neighbours", count, l)
		}
		s.Set("port "+local, key, value, l)
		s.Set("lldp "+local+" "+count, key, value, l)
	}
}

// LLDPDetail reads neighbours as paragraphs: which port, then who is there.
var LLDPDetail = piece.Reader{
	Kind:     "LLDP neighbours",
	Commands: []string{"show", "sh", "display", "dis", "lldpctl", "lldpcli"},
	Starts: func(line string) bool {
		text := strings.TrimSpace(line)
		return lldpPort(text) != "" || strings.HasPrefix(text, "Chassis id: ") || strings.Contains(line, "LLDP") && lldpTitle.MatchString(line) || strings.Contains(line, " has 0 neighbo") ||
			text == "Local information:" || text == "Local Information:"
	},
	Read: reading(readLLDPDetail),
}

var lldpStarts = []piece.Pattern{
	piece.Compile(`^Local (?:Intf|Interface|Port id|interface|port|Port)\s*: ?([\w/.:-]+)$`),
	piece.Compile(`^Local (port[\d.]+):$`),
	piece.Compile(`^Interface (\S+) detected [1-9]\d* LLDP neighbou?rs`),
	piece.Compile(`^([A-Z][\w-]*\d(?:/\d+)+) has [1-9]\d* neighbou?r`),
	piece.Compile(`^LLDP neighbor-information of port \d+\[([^\]]+)\]`),
	piece.Compile(`^Port\s+: (\d+/\d+/\d+)$`),
	piece.Compile(`^Local Interface (\S+ ?\d+/\d+(?:/\d+)?) has [1-9]\d* neighbou?r`),
	piece.Compile(`^Interface:\s+(\S+), via: (?:LLDP|CDP)`),
	piece.Compile(`^LLDP Neighbor Information.*[Pp]ort (\S+)`),
}

var lldpTitle = piece.Compile(`^\s*(?:LLDP neighbors:|LLDP Neighbor Information:? ?$|LLDP Remote Device Information Detail|LLDP Detailed Neighbor Information:)`)

// lldpKnown are words that no description begins with.
var lldpKnown = piece.Compile(`^(?:Time remaining|System [Cc]apabilities|Enabled [Cc]apabilities|Management|Vlan ID|Port |-)`)

var lldpPair = piece.Compile(`^(?:[-+] ?)?([A-Za-z][\w /()-]*?)\s*(?:: ?|\.{3,} ?| {2,}| - not adv)(.*)$`)

// lldpPort is the port that a paragraph is about; "" another line.
func lldpPort(text string) string {
	if !strings.Contains(text, "Local") && !strings.Contains(text, "neighbo") && !strings.HasPrefix(text, "Port") && !strings.HasPrefix(text, "Interface:") && !strings.HasPrefix(text, "LLDP") {
		return ""
	}
	for _, shape := range lldpStarts {
		if m := shape.FindStringSubmatch(text); m != nil {
			return m[1]
		}
	}
	return ""
}

// lldpVendor tells the maker by how a paragraph begins.
func lldpVendor(text string) string {
	switch {
	case strings.HasPrefix(text, "LLDP neighbor-information"):
		return "comware"
	case strings.Contains(text, " detected "):
		return "eos"
	case strings.HasPrefix(text, "Local Interface ") && strings.Contains(text, " has "):
		return "os9"
	case strings.Contains(text, " has "):
		return "huawei"
	case strings.HasPrefix(text, "Local interface: "):
		return "panos"
	case strings.HasPrefix(text, "Local port1."):
		return "awplus"
	}
	return ""
}

func readLLDPDetail(s *sink, lines []piece.Line) int {
	port := ""
	heard := func(string, string) {}
	waits := ""
	host := false                   // lldpctl of a host
	seen := make(map[string]string) // of this neighbour
	return piece.EachLine(lines, func(l piece.Line, text string) bool {
		if p := lldpPort(text); p != "" {
			if host = strings.HasPrefix(text, "Interface:"); !host {
				s.ofSwitch(lldpVendor(text), l)
			}
			port = p
			if !strings.HasPrefix(text, "Local Port id") { // NX-OS names it after the neighbour's
				seen = make(map[string]string)
			}
			heard = s.lldpFacts(host, port, l)
			for _, key := range slices.Sorted(maps.Keys(seen)) {
				heard(key, seen[key])
			}
			return true
		}
		set := func(key, value string) {
			if _, again := seen[key]; again { // the same words for another thing
				return
			}
			if seen[key] = value; port != "" {
				heard(key, value)
			}
		}
		another := func() {
			if seen = make(map[string]string); port != "" {
				heard = s.lldpFacts(host, port, l)
			}
		}
		if strings.Trim(text, "-=") == "" || lldpTitle.MatchString(text) || strings.Contains(text, " has 0 neighbo") {
			return true
		}
		if strings.EqualFold(text, "Local information:") { // PAN-OS: who hears, then who is heard
			port, seen = "", make(map[string]string)
			return true
		}
		if lldpHead.MatchString(l.Text) && len(lldpTitles(l.Text)) >= 3 { // a table follows
			return false
		}
		m := lldpPair.FindStringSubmatch(text)
		if waits == "system description" && !lldpKnown.MatchString(text) {
			m = nil
		}
		if m != nil && !s.OthersLine("LLDP neighbours", l) {
			key, value := strings.ToLower(strings.Trim(m[1], " .")), strings.Trim(strings.TrimSpace(m[2]), `"`)
			waits = ""
			if value == "" && (key == "system description" || strings.HasPrefix(key, "management address")) {
				waits = key // it stands in the next line
			}
			switch key {
			case "neighbor index", "index", "remote chassis id subtype":
				another()
			case "system name", "remote system name", "neighbor chassis-name", "sysname", "system name tlv":
				set("neighbour", value)
			case "port id", "remote port id", "port-id", "neighbor port-id", "portid", "port id (mac address)", "port id (interface name)":
				set("neighbour_port", joinedMAC(strings.TrimPrefix(strings.TrimPrefix(value, "ifname "), "mac ")))
			case "port description", "remote port description", "neighbor port-desc", "portdescr":
				set("neighbour_description", value)
			case "chassis id", "remote chassis id", "chassis-id", "neighbor chassis-id", "chassisid", "chassis id (mac address)":
				if seen["neighbour_mac"]+seen["neighbour_chassis"] != "" && strings.HasPrefix(text, "Chassis id:") {
					seen, port = make(map[string]string), ""
				}
				chassis := joinedMAC(strings.TrimPrefix(value, "mac "))
				if set("neighbour_mac", piece.MacText(chassis)); piece.MacText(chassis) == "" {
					set("neighbour_chassis", readable(chassis))
				}
			case "system description", "remote system desc", "system descr", "neighbor system-desc", "sysdescr", "neighbor chassis-description":
				if value != "" {
					set("neighbour_text", value)
				}
			case "management address", "management addresses", "mgmtip", "management address value", "management address (ipv4)", "management address (ipv6)", "remote management address (ipv4)", "remote management address (ipv6)", "neighbor management-address", "ip address", "ip", "address":
				if a, err := netip.ParseAddr(strings.TrimSuffix(strings.Fields(value + " -")[0], ",")); err == nil {
					if seen["neighbour_address"] = a.String(); port != "" { // there may be several
						heard("neighbour_address", a.String())
					}
				}
			case "vlan id", "port vlan id", "port vlan id(pvid)", "pvid", "vlan-id":
				set("neighbour_vlan", piece.NumberText(strings.Fields(value + " -")[0]))
			case "maximum frame size", "ieee802.3 maximum frame size", "mfs":
				set("neighbour_frame", piece.NumberText(strings.Fields(value + " -")[0]))
			}
			return true
		}
		if waits == "system description" {
			set("neighbour_text", text)
		}
		waits = ""
		if strings.HasPrefix(text, "Neighbor ") { // EOS: another one of this port
			another()
		}
		return (port != "" || len(seen) > 0) && !s.OthersLine("LLDP neighbours", l) || strings.HasPrefix(text, "Index ")
	})
}

// lldpFacts begins one more neighbour, and returns what sets its facts: of a host's
// link, or of a switch's port.
func (s *sink) lldpFacts(host bool, port string, l piece.Line) func(key, value string) {
	if host {
		return func(key, value string) { s.lldpFact("link "+port, key, value, l) }
	}
	heard := s.heard(port, l)
	return func(key, value string) {
		if advertised(value) {
			heard(key, value)
		}
	}
}

func (s *sink) lldpFact(subject, key, value string, l piece.Line) {
	if advertised(value) {
		s.Set(subject, key, value, l)
	}
}

// readable is an identifier as it is; "" of one that was made unreadable.
func readable(id string) string {
	if strings.Trim(strings.ToLower(id), "x*.:-") == "" && !strings.HasPrefix(id, ":") {
		return ""
	}
	return id
}

// advertised reports a value that the neighbour sent: outputs say otherwise in words.
func advertised(value string) bool {
	return value != "" && !strings.HasPrefix(value, "[") && !strings.HasPrefix(value, "ertised") && !strings.HasPrefix(value, "not advertised")
}
