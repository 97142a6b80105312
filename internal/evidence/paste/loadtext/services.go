package loadtext

import (
	"slices"
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// Services reads what storage says of its own use of the network: Ceph's state and
// settings, the interfaces of Lustre, the policy of NVMe's paths.
var Services = piece.Reader{
	Kind:     "storage over the network",
	Commands: []string{"ceph", "lnetctl", "lctl", "cat", "nvme"},
	Starts: func(line string) bool {
		text := strings.TrimSpace(line)
		if !slices.ContainsFunc(serviceMarks, func(mark string) bool { return strings.Contains(text, mark) }) {
			return false
		}
		return cephRow.MatchString(text) || cephPGs.MatchString(text) || cephHead.MatchString(line) || lnetModule.MatchString(text) || nvmePolicyLine.MatchString(text) || cephSetting.MatchString(text) || podRate.MatchString(text) || pluginRate.MatchString(text)
	},
	Owns: func(s piece.Segment, line string) bool {
		return s.Runs("ceph", "lnetctl", "lctl") || strings.Contains(s.Command+s.Path, "iopolicy") && nvmePolicy.MatchString(strings.TrimSpace(line))
	},
	Read: reading(readServices),
}

// serviceMarks are words of which each line that begins such an output has one.
var serviceMarks = []string{"id: ", "recovery:", "client:", "backfill:", "active+", "osd_", "options lnet", "iopolicy", "kubernetes.io/", "gressRate\""}

var cephHead = piece.Compile(`^ {4}id:     [0-9a-f]{8}-`)

var cephRow = piece.Compile(`^(recovery|client|backfill):\s+([\d.]+) ([KMGT]?i?B)/s`)

var cephPGs = piece.Compile(`^(?:pgs:\s+)?(\d+)\s+(active\+\S+)$`)

var cephSetting = piece.Compile(`^(?:(?:global|osd(?:\.\d+)?)\s+(?:advanced|basic|dev)\s+)?(osd_(?:mclock_profile|max_backfills|recovery_max_active\w*|recovery_sleep\w*|mclock_override_recovery_settings))\s*[:=]?\s+"?(\S+?)"?\s*\*?$`)

var cephAsked = piece.Compile(`ceph config get \S+ (osd_\w+)`)

var podRate = piece.Compile(`^(?:Annotations:\s+)?"?kubernetes\.io/(egress|ingress)-bandwidth"?:\s*"?(\d+)([KMG]?)"?,?$`)

// pluginRate is a limit in the configuration of the CNI plugin bandwidth, in bits a second.
var pluginRate = piece.Compile(`^"(egress|ingress)Rate":\s*(\d+),?$`)

var pluginOther = piece.Compile(`^"(?:egress|ingress)Burst":\s*\d+,?$`)

var lnetModule = piece.Compile(`^options lnet .*\bnetworks="?([^"]*)"?`)

var lnetNID = piece.Compile(`^- nid: (\S+@\S+)$`)

var lnetInterface = piece.Compile(`^\d+: (\S+)$`)

var nvmePolicy = piece.Compile(`^(?:/\S*/)?(?:nvme-subsys\d+(?:/iopolicy)?:)?(numa|round-robin|queue-depth)$`)

var nvmePolicyLine = piece.Compile(`^(?:iopolicy\s*[=:]\s*"?|/sys/\S*/iopolicy:)(numa|round-robin|queue-depth)"?$`)

func readServices(s *sink, lines []piece.Line) int {
	nid := ""
	asked := cephAsked.FindStringSubmatch(s.Segment.Command)
	owned := s.Segment.Runs("ceph", "lnetctl", "lctl")
	peers := strings.Contains(s.Segment.Command, "peer")
	return piece.EachLine(lines, func(l piece.Line, text string) bool {
		if m := cephRow.FindStringSubmatch(text); m != nil {
			unit := strings.TrimSuffix(strings.TrimSuffix(m[3], "B"), "i")
			s.Set("ceph", m[1]+"_bps", piece.FormatFloat(piece.Float(m[2])*piece.Kibi[unit]*8), l)
		} else if m := cephPGs.FindStringSubmatch(text); m != nil {
			for _, state := range []string{"backfill_wait", "backfilling", "recovering", "recovery_wait"} {
				if strings.Contains(m[2], state) {
					s.Set("ceph", state, m[1], l)
				}
			}
		} else if m := cephSetting.FindStringSubmatch(text); m != nil {
			s.Set("ceph", m[1], m[2], l)
		} else if m := podRate.FindStringSubmatch(text); m != nil {
			s.SetIf("pod", m[1]+"_bps", piece.Bps(m[2], m[3]), l)
		} else if m := pluginRate.FindStringSubmatch(text); m != nil {
			s.Set("pod", m[1]+"_bps", m[2], l)
			s.Set("pod", "plugin", "bandwidth", l)
		} else if pluginOther.MatchString(text) {
			return true
		} else if asked != nil && strings.IndexByte(text, ' ') < 0 {
			s.Set("ceph", asked[1], text, l)
		} else if m := lnetModule.FindStringSubmatch(text); m != nil {
			s.Set("lnet", "networks", m[1], l)
		} else if m := lnetNID.FindStringSubmatch(text); m != nil && !peers {
			if nid = m[1]; !strings.HasSuffix(nid, "@lo") {
				s.Set("nid "+nid, "there", "yes", l)
			}
		} else if m := lnetInterface.FindStringSubmatch(text); m != nil && nid != "" && !peers {
			s.Set("nid "+nid, "link", m[1], l)
		} else if m := nvmePolicy.FindStringSubmatch(text); m != nil {
			s.Set("nvme", "iopolicy", m[1], l)
		} else if m := nvmePolicyLine.FindStringSubmatch(text); m != nil {
			s.Set("nvme", "iopolicy", m[1], l)
		} else {
			return owned || strings.HasPrefix(l.Text, "    ") || strings.HasPrefix(l.Text, "  ") && strings.HasSuffix(text, ":")
		}
		return true
	})
}
