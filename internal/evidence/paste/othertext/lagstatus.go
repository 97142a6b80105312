package othertext

import (
	"strconv"
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// LAGStatus reads how FastIron, EXOS, OmniSwitch, ArubaOS, Check Point and VPP show which members of a group are in use.
var LAGStatus = piece.Reader{
	Kind:     "members of a LAG",
	Commands: []string{"show", "sh", "vppctl", "cphaprob"},
	Starts: func(line string) bool {
		return strings.HasPrefix(line, "=== LAG ") && fastironHead.MatchString(line) || strings.HasPrefix(line, "Load Sharing Monitor") ||
			strings.HasPrefix(line, "Bond name:") || strings.Contains(line, "Slot/Port") && omniHead.MatchString(line) || strings.HasPrefix(line, "BondEthernet") && vppBond.MatchString(line) || strings.HasPrefix(line, "Lag ") && exosHead.MatchString(line) || strings.HasPrefix(line, "port-channel ") && arubaHead.MatchString(line)
	},
	Read: reading(readLAGStatus),
}

var (
	fastironHead = piece.Compile(`^=== LAG "?([^"]+?)"? ID (\d+) \((dynamic|static|keep-alive) `)
	fastironRow  = piece.Compile(`^(\d+/\d+/\d+)\s+\d+\s+\d+\s+\d+\s+(?:Yes|No)\s+[LS]\s+\S+\s+(\S+)\s+(\S+)\s+(\S+)\s+(\S+)\s+(\S+)\s+(Ope|Ina|Dwn|Err|Blo)\b`)
	fastironMore = piece.Compile(`^(?:LAG Configuration|Ports:|Port Count:|Lag Interface:|Trunk Type:|LACP Key:|LACP Timeout:|Primary Port:|Deployment:|Port\s|\d+/\d+/\d+\s|Partner Info|Status:|Active Ports:)`)
	exosHead     = piece.Compile(`^Lag\s+Actor\s+Actor\s+Partner\b`)
	exosLag      = piece.Compile(`^(\d+(?::\d+)?)\s+\d+\s+0x[0-9a-f]+ [0-9a-f:]{17}\s`)
	exosMember   = piece.Compile(`^(\d+(?::\d+)?)\s+\d+\s+(Current|Defaulted|Expired|Initialize|Port_disabled|Idle)\s+(Selected|Unselected|Standby)\s+(Collect-Dist|Attached|Waiting|Detached|Not Attached)\b`)
	sharingLag   = piece.Compile(`^(\d+(?::\d+)?)\s+\d+(?::\d+)?\s+(LACP|Static|HlthChk)\s+\d+\s+(\S+)\s+\S+\s+(\d+(?::\d+)?)\s+([Y-])\s+(A|D|R|NP|L)\s+\d+`)
	sharingPort  = piece.Compile(`^(?:(L2|L3|L3_L4|L2_L3\S*)\s+)?(\d+(?::\d+)?)\s+([Y-])\s+(A|D|R|NP|L)\s+\d+$`)
	exosMore     = piece.Compile(`^(?:Config\s|Master\s|Sys-Pri|Port list:|Member\s|Port\s+Priority|Link State:|Load Sharing|Minimum Active|Distribution|Sharing|Actor Flag|Flags:|[=-]+$)`)
	omniHead     = piece.Compile(`^\s*Slot/Port\s+Aggregate\s+SNMP Id\s+Status\s+Agg\b`)
	omniRow      = piece.Compile(`^(\d+/\d+(?:/\d+)?)\s+(Dynamic|Static)\s+\d+\s+(CONFIGURED|PENDING|SELECTED|RESERVED|ATTACHED|AGGREGATED|COLLECT-DIST)\s+(\d+|NONE)\s+(?:UP|DOWN|NONE)\s+(?:UP|DOWN)\b`)
	arubaHead    = piece.Compile(`^port-channel (\d+) is administratively (Up|Down), Link is (?:Up|Down), Line protocol is (?:Up|Down)$`)
	arubaMember  = piece.Compile(`^(GE\d+/\d+/\d+) is administratively (Up|Down), Link is (Up|Down), Line protocol is (Up|Down)$`)
	arubaMore    = piece.Compile(`^(?:Hardware is Port-Channel(?:, (LACP) enabled)?|Description:|Member port\(s\):|Speed:|Interface index:|MTU \d|Flags:|Link status last|Last clearing|Statistics:|Received \d|Transmitted \d|GE\d\S*:$|\d+ )`)
	gatewayHead  = piece.Compile(`^Bond (name|mode|status):\s+(.*)$`)
	gatewayRow   = piece.Compile(`^([A-Za-z][\w-]*)\s*\|\s*(Active|Not Available|Down|Backup|Standby)[^|]*\|\s*(Yes|No)\b`)
	gatewayMore  = piece.Compile(`^(?:Balancing mode:\s+(\S+)(?: (Layer\S+))?|Configured slave|In use slave|Required slave|Slave name|[-+]+$)`)
	vppBond      = piece.Compile(`^(BondEthernet\d+)$`)
	vppMembers   = piece.Compile(`^number of (active )?(?:members|slaves): (\d+)$`)
	vppMore      = piece.Compile(`^(?:mode: (\S+)|load balance: (\S+)|device instance|interface id|sw_if_index|hw_if_index|numa only|weight)`)
)

// vppHashes are VPP's names of what a bond hashes.
var vppHashes = map[string]string{"l2": "layer2", "l23": "layer2+3", "l34": "layer3+4"}

// vppModes are VPP's names of modes as Linux has them.
var vppModes = map[string]string{"lacp": "802.3ad", "xor": "balance-xor", "round-robin": "balance-rr", "active-backup": "active-backup", "broadcast": "broadcast"}

func readLAGStatus(s *sink, lines []piece.Line) int {
	r := lagReader{s: s, active: make(map[string]bool)}
	read := piece.EachLine(lines, func(l piece.Line, text string) bool {
		switch {
		case strings.HasPrefix(lines[0].Text, "BondEthernet"):
			return r.vpp(text, l)
		case strings.HasPrefix(lines[0].Text, "==="):
			return r.fastiron(text, l)
		case strings.HasPrefix(lines[0].Text, "Bond name:"):
			return r.gateway(text, l)
		case arubaHead.MatchString(lines[0].Text):
			return r.aruba(text, l)
		case omniHead.MatchString(lines[0].Text):
			return r.omni(text, l)
		}
		return r.exos(text, l)
	})
	r.close()
	return read
}

// lagReader is what is known of the group that is read.
type lagReader struct {
	s       *sink
	channel string
	members []string
	up      int
	active  map[string]bool // VPP's members in use
	inUse   bool            // VPP lists these now
	last    piece.Line
}

func (r *lagReader) open(vendor, channel, protocol string, l piece.Line) {
	r.close()
	if !r.s.Host.Switch && r.s.Host.Name == "" {
		r.s.Host = r.s.C.NamelessSwitch()
	}
	r.s.Host.Switch = true
	r.s.Set("host", "vendor", vendor, l)
	r.channel = channel
	r.s.SetIf("channel "+channel, "protocol", protocol, l)
}

func (r *lagReader) member(port, flag string, bundled bool, l piece.Line) {
	subject := "port " + port
	r.s.Set(subject, "channel", r.channel, l)
	r.s.Set(subject, "flag", flag, l)
	r.s.Set(subject, "bundled", piece.YesNo[bundled], l)
	if bundled {
		r.up++
	}
	r.members, r.last = append(r.members, port), l
}

// close notes how many members there are and carry.
func (r *lagReader) close() {
	if r.channel != "" && len(r.members) > 0 {
		r.s.Set("channel "+r.channel, "members", strings.Join(r.members, " "), r.last)
		r.s.Set("channel "+r.channel, "up", strconv.Itoa(r.up), r.last)
	}
	r.channel, r.members, r.up = "", nil, 0
}

func (r *lagReader) fastiron(text string, l piece.Line) bool {
	if m := fastironHead.FindStringSubmatch(text); m != nil {
		r.open("fastiron", "lag "+m[2], map[string]string{"dynamic": "lacp", "static": "static"}[m[3]], l)
		return true
	}
	if m := fastironRow.FindStringSubmatch(text); m != nil {
		r.member(m[1], m[7], m[7] == "Ope" && m[4] == "Dis", l)
		return true
	}
	return fastironMore.MatchString(text)
}

func (r *lagReader) exos(text string, l piece.Line) bool {
	if m := sharingLag.FindStringSubmatch(text); m != nil {
		r.open("exos", m[1], map[string]string{"LACP": "lacp", "Static": "static"}[m[2]], l)
		r.s.Set("channel "+m[1], "hash", m[3], l)
		r.member(m[4], m[6], m[5] == "Y", l)
		return true
	}
	if m := sharingPort.FindStringSubmatch(text); m != nil && r.channel != "" {
		r.member(m[2], m[4], m[3] == "Y", l)
		return true
	}
	if m := exosLag.FindStringSubmatch(text); m != nil {
		r.open("exos", m[1], "lacp", l)
		return true
	}
	if m := exosMember.FindStringSubmatch(text); m != nil && r.channel != "" {
		r.member(m[1], m[2]+", "+m[4], m[4] == "Collect-Dist", l)
		return true
	}
	return exosHead.MatchString(text) || exosMore.MatchString(text)
}

func (r *lagReader) omni(text string, l piece.Line) bool {
	m := omniRow.FindStringSubmatch(text)
	if m == nil {
		return omniHead.MatchString(text) || strings.Trim(text, "-+") == ""
	}
	if m[4] == "NONE" {
		m[4] = r.channel // in no aggregate, though it was asked of one
	}
	if m[4] != r.channel {
		r.open("omniswitch", m[4], map[string]string{"Dynamic": "lacp", "Static": "static"}[m[2]], l)
	}
	if r.channel != "" {
		r.member(m[1], m[3], m[3] == "ATTACHED" || m[3] == "AGGREGATED" || m[3] == "COLLECT-DIST", l)
	}
	return true
}

// aruba reads ArubaOS's `show interface port-channel N`.
func (r *lagReader) aruba(text string, l piece.Line) bool {
	if m := arubaHead.FindStringSubmatch(text); m != nil {
		if r.close(); m[2] == "Up" { // one that was shut down carries nothing on purpose
			r.open("arubaos", m[1], "", l)
		}
		return true
	}
	if m := arubaMember.FindStringSubmatch(text); m != nil {
		if r.channel != "" && m[2] == "Up" {
			r.member(m[1], "link "+m[3]+", line protocol "+m[4], m[4] == "Up", l)
		}
		return true
	}
	m := arubaMore.FindStringSubmatch(text)
	if m != nil && m[1] != "" && r.channel != "" {
		r.s.Set("channel "+r.channel, "protocol", "lacp", l)
	}
	return m != nil
}

// gateway reads Check Point's `cphaprob show_bond BOND`.
func (r *lagReader) gateway(text string, l piece.Line) bool {
	s := r.s
	if m := gatewayHead.FindStringSubmatch(text); m != nil {
		if m[1] == "name" {
			r.channel = m[2]
			s.Set("link "+r.channel, "kind", "bond", l)
		}
		return true
	}
	if m := gatewayMore.FindStringSubmatch(text); m != nil {
		s.SetIf("link "+r.channel, "mode", m[1], l)
		s.SetIf("link "+r.channel, "xmit_hash_policy", strings.ToLower(m[2]), l)
		if m[1] == "802.3ad" {
			s.Set("link "+r.channel, "protocol", "lacp", l)
		}
		return true
	}
	if m := gatewayRow.FindStringSubmatch(text); m != nil && r.channel != "" {
		s.Port(r.channel, m[1], l)
		s.Set("link "+m[1], "bundled", piece.YesNo[m[2] == "Active"], l)
		return true
	}
	return false
}

func (r *lagReader) vpp(text string, l piece.Line) bool {
	s := r.s
	if m := vppBond.FindStringSubmatch(text); m != nil {
		r.channel, r.inUse = m[1], false
		s.Set("link "+m[1], "kind", "bond", l)
		return true
	}
	if m := vppMembers.FindStringSubmatch(text); m != nil {
		r.inUse = m[1] != ""
		return true
	}
	if m := vppMore.FindStringSubmatch(text); m != nil {
		s.SetIf("link "+r.channel, "mode", vppModes[m[1]], l)
		if m[1] == "lacp" {
			s.Set("link "+r.channel, "protocol", "lacp", l)
		}
		s.SetIf("link "+r.channel, "xmit_hash_policy", vppHashes[m[2]], l)
		return true
	}
	if strings.ContainsAny(text, " :") || r.channel == "" {
		return false
	}
	if r.inUse {
		r.active[text] = true
	} else {
		s.Port(r.channel, text, l)
		s.Set("link "+text, "bundled", piece.YesNo[r.active[text]], l)
	}
	return true
}
