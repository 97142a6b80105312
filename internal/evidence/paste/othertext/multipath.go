package othertext

import (
	"encoding/binary"
	"math/bits"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// Multipathing reads how ESXi and Windows choose among paths to a disk: esxcli storage
// nmp device list and core path list, esxcli iscsi networkportal and session list, and
// mpclaim -s -d, of all disks or of one.
// Disks are "lun NAME" with psp, working (the paths in use) and paths (all that are up).
var Multipathing = piece.Reader{
	Kind:     "path selection",
	Commands: []string{"esxcli", "mpclaim"},
	Starts: func(line string) bool {
		return nmpLine.MatchString(line) || nmpLUN.MatchString(line) || mpioRow.MatchString(line) || mpioDisk.MatchString(line) || iscsiOfESX.MatchString(line) || strings.HasPrefix(line, "Interface  Port Group") || vmkRow.MatchString(line) || portalLine.MatchString(line)
	},
	Owns: func(s piece.Segment, line string) bool {
		return nmpCommand.MatchString(s.Command) && (nmpPair.MatchString(line) || nmpName.MatchString(strings.TrimSpace(line)))
	},
	Read: reading(readMultipathing),
}

var nmpCommand = piece.Compile(`storage nmp (?:device|path)|storage core path|iscsi networkportal|iscsi session`)

var nmpLine = piece.Compile(`^\s*(?:Path Selection Policy: VMW_PSP_|Storage Array Type: VMW_SATP_|Working Paths: vmhba|Runtime Name: vmhba)`)

var nmpLUN = piece.Compile(`^(?:naa|eui|t10|mpx)\.\S+$`)

var nmpName = piece.Compile(`^(?:(?:naa|eui|t10|mpx)\.\S+|vmhba\d+(?:,iqn\.\S+)?|iqn\.\S+|\S+-naa\.\S+)$`)

var nmpPair = piece.Compile(`^\s*([A-Z][\w /-]*?)(?: \([^)]*\))?: ?(.*)$`)

var portalLine = piece.Compile(`^\s*(?:Vmknic: vmk\d+|Compliant Status: (?:compliant|non-compliant))`)

var mpioRow = piece.Compile(`^\s*MPIO Disk(\d+)\s+Disk (\d+)\s+(FOO|RR|RRWS|LQD|WP|LB)\s`)

var mpioDisk = piece.Compile(`^\s*MPIO Disk(\d+): (\d+) Paths, (Fail Over Only|Round Robin with Subset|Round Robin|Least Queue Depth|Weighted Paths|Least Blocks)\b`)

var mpioPath = piece.Compile(`^\s*([0-9A-F]{16}) (Active/Optimized|Active/Unoptimized|Standby|Unavailable|Failed)\s`)

// mpioPolicies are mpclaim's short names.
var mpioPolicies = map[string]string{"Fail Over Only": "FOO", "Round Robin": "RR", "Round Robin with Subset": "RRWS", "Least Queue Depth": "LQD", "Weighted Paths": "WP", "Least Blocks": "LB"}

var iscsiOfESX = piece.Compile(`^vmhba\d+,iqn\.\S+,[0-9a-f]+$`)

var mpioOther = piece.Compile(`^(?:Controlling DSM: |SN: |Supported Load Balance Policies: |Path ID |-+$)`)

var vmkRow = piece.Compile(`^\s*(vmk\d+)\s+\S.*?\s+IPv4\s+(\d+\.\d+\.\d+\.\d+)\s+(\d+\.\d+\.\d+\.\d+)\s+\d+\.\d+\.\d+\.\d+\s+[0-9a-f:]{17}\s+(\d+)\s`)

// maskLength is the length of a mask's prefix.
func maskLength(mask string) (int, bool) {
	a, err := netip.ParseAddr(mask)
	if err != nil || !a.Is4() {
		return 0, false
	}
	b := a.As4()
	return bits.LeadingZeros32(^binary.BigEndian.Uint32(b[:])), true
}

var nmpIOPS = piece.Compile(`\biops=(\d+)`)

func readMultipathing(s *sink, lines []piece.Line) int {
	if nmpLUN.MatchString(lines[0].Text) || nmpLine.MatchString(lines[0].Text) || iscsiOfESX.MatchString(lines[0].Text) || portalLine.MatchString(lines[0].Text) || nmpCommand.MatchString(s.Segment.Command) {
		s.OfSystem("esxi", lines[0])
	}
	lun, vmk, disk, target, active := "", "", "", "", 0
	var at piece.Line
	for _, w := range strings.Fields(s.Segment.Command) {
		if nmpLUN.MatchString(w) {
			lun = w
		}
	}
	flush := func() {
		if active > 0 {
			s.Set("lun "+lun, "paths", strconv.Itoa(active), at)
		}
		active = 0
	}
	runtime := ""
	read := piece.EachLine(lines, func(l piece.Line, text string) bool {
		if m := vmkRow.FindStringSubmatch(text); m != nil {
			s.OfSystem("esxi", l)
			if bits, ok := maskLength(m[3]); ok {
				s.Set("link "+m[1], "address "+m[2]+"/"+strconv.Itoa(bits), "inet", l)
			}
			s.Set("link "+m[1], "mtu", m[4], l)
			return true
		}
		if strings.HasPrefix(text, "Interface  Port Group") {
			return true
		}
		if m := mpioRow.FindStringSubmatch(text); m != nil {
			s.OfSystem("windows", l)
			s.Set("lun Disk "+m[2], "psp", m[3], l)
			return true
		}
		if m := mpioDisk.FindStringSubmatch(text); m != nil {
			s.OfSystem("windows", l)
			disk = "lun Disk " + m[1]
			s.Set(disk, "psp", mpioPolicies[m[3]], l)
			if m[3] == "Fail Over Only" {
				s.Set(disk, "paths", strings.TrimLeft(m[2], "0"), l)
			}
			return true
		}
		if disk != "" && mpioOther.MatchString(text) {
			return true
		}
		if m := mpioPath.FindStringSubmatch(text); m != nil && disk != "" {
			if policy, _ := s.Host.Get(disk, "psp"); policy.Text == "FOO" && strings.HasPrefix(m[2], "Active") {
				before, _ := s.Host.Get(disk, "working")
				s.Set(disk, "working", strings.TrimSpace(before.Text+" "+m[1]), l)
			}
			return true
		}
		if nmpName.MatchString(text) {
			if nmpLUN.MatchString(text) && text != lun {
				flush()
				lun = text
			}
			return true
		}
		m := nmpPair.FindStringSubmatch(text)
		if m == nil {
			return false
		}
		value := strings.TrimSpace(m[2])
		switch m[1] {
		case "Path Selection Policy":
			s.SetIf("lun "+lun, "psp", strings.TrimPrefix(value, "VMW_PSP_"), l)
		case "Path Selection Policy Device Config":
			if n := nmpIOPS.FindStringSubmatch(value); n != nil {
				s.Set("lun "+lun, "iops", n[1], l)
			}
		case "Working Paths":
			s.Set("lun "+lun, "working", strings.Join(strings.FieldsFunc(value, func(r rune) bool { return r == ',' || r == ' ' }), " "), l)
		case "Device":
			if nmpLUN.MatchString(value) && value != lun {
				flush()
				lun = value
			}
		case "Runtime Name":
			runtime = value
		case "State":
			if runtime != "" && value == "active" {
				active, at = active+1, l
			}
			runtime = ""
		case "Group State":
			if strings.HasPrefix(value, "active") {
				active, at = active+1, l
			}
		case "Target":
			target = value
		case "ISID":
			if state := "ISID " + value; target != "" && !slices.ContainsFunc(s.Host.Paths, func(p piece.Path) bool { return p.Device == target && p.State == state }) {
				s.Host.Paths = append(s.Host.Paths, piece.Path{Kind: "iscsi", Device: target, State: state, Source: l.Source()})
			}
		case "Vmknic":
			vmk = value
		case "IPv4":
			s.SetIf("vmk "+vmk, "address", value, l)
		case "Path Status", "Compliant Status":
			s.SetIf("vmk "+vmk, strings.ToLower(strings.ReplaceAll(m[1], " ", "_")), value, l)
		}
		return true
	})
	flush()
	return read
}
