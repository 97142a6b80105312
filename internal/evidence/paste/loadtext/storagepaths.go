package loadtext

import (
	"strconv"
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// StoragePaths reads multipath -ll, iscsiadm -m session, nvme list-subsys, smbstatus,
// and the lines of smb.conf and ksmbd.conf that are about interfaces and channels.
var StoragePaths = piece.Reader{
	Kind:     "paths of storage",
	Commands: []string{"multipath", "multipathd", "iscsiadm", "nvme", "smbstatus", "testparm"},
	Starts: func(line string) bool {
		text := strings.TrimSpace(line)
		switch {
		case strings.Contains(text, " dm-"):
			return multipathHead.MatchString(text)
		case strings.Contains(text, "policy='"):
			return true
		case strings.HasPrefix(text, "tcp: [") || strings.HasPrefix(text, "iser: ["), strings.HasPrefix(text, "Current Portal:"), strings.HasPrefix(text, "Target: iqn."):
			return true
		case strings.Contains(text, "NQN="), strings.HasPrefix(text, "+- nvme"):
			return true
		case strings.HasPrefix(text, "Samba version"), strings.Contains(text, "Protocol Version") && strings.Contains(text, "Machine"):
			return true
		}
		return strings.Contains(text, "=") && smbSetting.MatchString(text)
	},
	Owns: func(s piece.Segment, line string) bool {
		return smbFile(s) && smbOther.MatchString(strings.TrimSpace(line))
	},
	Read: reading(readStoragePaths),
}

var multipathHead = piece.Compile(`^(?:\w+: )?(\S+)(?: \(([0-9A-Za-z_.:-]+)\))? (dm-\d+)(?: (\S.*))?$`)

var multipathGroup = piece.Compile(`policy='([\w-]+)(?: \d+)?' prio=(-?\d+) status=(\w+)`)

var multipathPath = piece.Compile("^[|` -]*[|`]- *(\\d+:\\d+:\\d+:\\d+|#:#:#:#) +(\\S+) +(\\S+) +(\\S.*)$")

var iscsiSession = piece.Compile(`^(tcp|iser): \[(\d+)\] (\S[^,]*?),(-?\d+) (\S+)`)

var iscsiField = piece.Compile(`^(Target|Current Portal|Persistent Portal|Iface Name|Iface Transport|Iface Initiatorname|Iface IPaddress|Iface HWaddress|Iface Netdev|SID|iSCSI Connection State|iSCSI Session State|Internal iscsid Session State|Attached scsi disk \S+.*|Host Number|\w+DataSegmentLength|HeaderDigest|DataDigest|MaxBurstLength|FirstBurstLength|ImmediateData|InitialR2T|MaxOutstandingR2T|Recovery Timeout|Target Reset Timeout|LUN Reset Timeout|Abort Timeout|CHAP|username|password\w*|username_in|\w+_in|Timeouts|Negotiated iSCSI params|Attached SCSI devices|Interface|scsi\d+ Channel .*)\s*:\s*(.*)$`)

var nvmeSubsystem = piece.Compile(`^(nvme-subsys\d+) - NQN=(\S+)`)

var nvmePath = piece.Compile(`^\+- (nvme\d+) (\w+) (.*)$`)

var smbRow = piece.Compile(`^(\d+)\s+(\S+)\s+(\S+)\s+(\S+)\s+\(ipv[46]:(\S+)\)\s+(\S+)\s+(.*)$`)

var smbSetting = piece.Compile(`^[#;]?\s*(server multi channel support|bind interfaces only|interfaces|smb2 max (?:read|write|trans|credits)|aio (?:read|write) size|use sendfile|socket options)\s*=\s*(\S.*)$`)

func readStoragePaths(s *sink, lines []piece.Line) int {
	for _, l := range lines[:min(len(lines), 2)] {
		text := strings.TrimSpace(l.Text)
		switch {
		case text == "":
		case strings.HasPrefix(text, "Samba version"), strings.Contains(text, "Protocol Version"):
			return s.smbStatus(lines)
		case smbSetting.MatchString(text) || smbFile(s.Segment):
			return s.smbSettings(lines)
		case multipathHead.MatchString(text) && strings.Contains(text, " dm-"), strings.Contains(text, "policy='"):
			return s.multipath(lines)
		case strings.Contains(text, "NQN=") || strings.HasPrefix(text, "+- nvme"):
			return s.nvme(lines)
		}
	}
	return s.iscsi(lines)
}

func (s *sink) addPath(p piece.Path, l piece.Line) {
	p.Source = l.Source()
	s.Host.Paths = append(s.Host.Paths, p)
}

func (s *sink) multipath(lines []piece.Line) (read int) {
	now := piece.Path{Kind: "multipath"}
	for i, l := range lines {
		text := strings.TrimSpace(l.Text)
		if text == "" {
			continue
		}
		path := multipathPath.FindStringSubmatch(text)
		group := multipathGroup.FindStringSubmatch(text)
		switch {
		case path != nil && group == nil:
			p := now
			p.Remote, p.Local, p.State = path[1], path[2], strings.TrimSpace(path[4])
			s.addPath(p, l)
		case group != nil:
			now.Group++
			now.Policy = group[1]
			s.Set("multipath "+now.Device, "group "+strconv.Itoa(now.Group), group[3], l)
		case strings.HasPrefix(text, "size=") || strings.HasPrefix(text, "[size="):
			s.Set("multipath "+now.Device, "size", text, l)
		case multipathHead.MatchString(text):
			m := multipathHead.FindStringSubmatch(text)
			now = piece.Path{Kind: "multipath", Device: m[1]}
			s.Set("multipath "+m[1], "dm", m[3], l)
		default:
			return read
		}
		read = i + 1
	}
	return read
}

func (s *sink) iscsi(lines []piece.Line) (read int) {
	target := ""
	last := -1
	for i, l := range lines {
		text := strings.TrimSpace(l.Text)
		if text == "" || piece.Ruled(text) {
			continue
		}
		if m := iscsiSession.FindStringSubmatch(text); m != nil {
			s.addPath(piece.Path{Kind: "iscsi", Device: m[5], Remote: m[3]}, l)
			read = i + 1
			continue
		}
		m := iscsiField.FindStringSubmatch(text)
		if m == nil {
			break
		}
		switch m[1] {
		case "Target":
			target, _, _ = strings.Cut(m[2], " ")
		case "Current Portal":
			portal, _, _ := strings.Cut(m[2], ",")
			s.addPath(piece.Path{Kind: "iscsi", Device: target, Remote: portal}, l)
			last = len(s.Host.Paths) - 1
		}
		if last >= 0 && m[2] != "" && m[2] != "<empty>" && m[2] != "[default]" {
			switch p := &s.Host.Paths[last]; m[1] {
			case "Iface IPaddress":
				p.Local, p.To = m[2], l.Number
			case "Iface Netdev":
				p.Link, p.To = m[2], l.Number
			case "Iface Name":
				p.Policy, p.To = m[2], l.Number // "default": the routes choose the link
			case "iSCSI Connection State":
				p.State, p.To = m[2], l.Number
			}
		}
		read = i + 1
	}
	return read
}

func (s *sink) nvme(lines []piece.Line) (read int) {
	device, policy := "", ""
	for i, l := range lines {
		text := strings.TrimSpace(l.Text)
		if text == "" || piece.Ruled(text) {
			continue
		}
		path := nvmePath.FindStringSubmatch(text)
		switch {
		case path != nil:
			p := piece.Path{Kind: "nvme", Device: device, Policy: policy}
			state := []string{}
			for _, w := range strings.FieldsFunc(path[3], func(r rune) bool { return r == ' ' || r == ',' }) {
				key, value, pair := strings.Cut(w, "=")
				switch {
				case !pair:
					state = append(state, w)
				case key == "traddr":
					p.Remote = value
				case key == "host_traddr" || key == "src_addr" && p.Local == "":
					p.Local = value
				case key == "host_iface":
					p.Link = value
				}
			}
			p.State = strings.Join(state, " ")
			s.addPath(p, l)
		case nvmeSubsystem.MatchString(text):
			device, policy = nvmeSubsystem.FindStringSubmatch(text)[2], ""
		case strings.HasPrefix(text, "iopolicy="):
			policy = strings.TrimPrefix(text, "iopolicy=")
			s.Set("nvme "+device, "iopolicy", policy, l)
		case strings.HasPrefix(text, "hostnqn=") || strings.HasPrefix(text, "type="):
		default:
			return read
		}
		read = i + 1
	}
	return read
}

func (s *sink) smbStatus(lines []piece.Line) (read int) {
	for i, l := range lines {
		text := strings.TrimSpace(l.Text)
		if text == "" || piece.Ruled(text) {
			continue
		}
		if version, ok := strings.CutPrefix(text, "Samba version "); ok {
			s.Set("host", "samba_version", version, l)
		} else if m := smbRow.FindStringSubmatch(text); m != nil {
			s.addPath(piece.Path{Kind: "smb", Device: "pid " + m[1], Remote: m[5], State: m[6]}, l)
		} else if !strings.HasPrefix(text, "PID ") && !strings.HasPrefix(text, "Service ") && !smbShare.MatchString(text) {
			break
		}
		read = i + 1
	}
	return read
}

var smbShare = piece.Compile(`^\S+\s+\d+\s+\S+\s+(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) `)

// smbSettings reads the settings of a server that decide which addresses it names to
// its clients.
func (s *sink) smbSettings(lines []piece.Line) (read int) {
	for i, l := range lines {
		text := strings.TrimSpace(l.Text)
		if m := smbSetting.FindStringSubmatch(text); m != nil {
			if text[0] != '#' && text[0] != ';' {
				s.Set("config smb", strings.ReplaceAll(m[1], " ", "_"), m[2], l)
			}
			read = i + 1
		} else if smbFile(s.Segment) && smbOther.MatchString(text) {
			read = i + 1
		} else if text != "" {
			break
		}
	}
	return read
}

var smbOther = piece.Compile(`^(?:\[[^\]]+\]|[#;].*|[a-z][\w :-]* = .*)$`)

// smbFile reports the text of a server's settings.
func smbFile(s piece.Segment) bool {
	return strings.Contains(s.Command+s.Path, "smb.conf") || strings.Contains(s.Command+s.Path, "ksmbd.conf") || s.Program() == "testparm"
}
