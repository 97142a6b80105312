package switchtext

import (
	"cmp"
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// PolicyCounters reads `show policy-map interface` of IOS, IOS-XE, NX-OS and EOS: what
// each class of a port is held to, and what that dropped. Its subjects are
// "policy PORT WAY CLASS".
var PolicyCounters = piece.Reader{
	Kind:     "show policy-map interface",
	Commands: []string{"show", "sh"},
	Starts: func(line string) bool {
		return strings.Contains(line, "Service-policy") && policyAttached.MatchString(line) || strings.Contains(line, "lass") && policyClass.MatchString(line)
	},
	Owns: func(s piece.Segment, line string) bool {
		return strings.Contains(s.Command, "policy-map int") && policyPort.MatchString(line)
	},
	Read: reading(readPolicyCounters),
}

var policyPort = piece.Compile(`^ ?([A-Z][A-Za-z-]*\d[\d/.:]*)[ :]*$`)

var policyAttached = piece.Compile(`^\s*Service-policy(?: \(\w+\))? ?(input|output|\(?in\)?|\(?out\)?)\s*:\s*(\S+)`)

var policyClass = piece.Compile(`^\s*(?:(?i:class-map)(?: \(\w+\))?:\s+|Class: ?)(\S+)(?:\s+\(match|$)`)

var policyAsked = piece.Compile(`policy-map int\w*\s+([A-Za-z][A-Za-z-]*\s?\d[\d/.:]*)`)

var policyRate = piece.Compile(`(?:\bcir|^rate|target shape rate) (\d+)(?: ?([kmgKMG])bps)?`)

var policyCount = piece.Compile(`\b(conformed|exceeded|violated) (\d+) (?:packets|bytes)`)

var policyNow = piece.Compile(`\b(exceeded|exceed|violated|violate) (\d+) bps`)

var policyQueue = piece.Compile(`/total drops/no-buffer drops\)\s+\d+/(\d+)/\d+|^\(total drops\) (\d+)$`)

func readPolicyCounters(s *sink, lines []piece.Line) int {
	port, way, class, policy := "", "", "", ""
	if m := policyAsked.FindStringSubmatch(s.Segment.Command); m != nil {
		port = s.portName(m[1])
	}
	started, count := false, ""
	return piece.EachLine(lines, func(l piece.Line, text string) bool {
		if m := policyPort.FindStringSubmatch(l.Text); m != nil && !started {
			s.ofSwitch("", l)
			port = s.portName(m[1])
			return true
		}
		if m := policyAttached.FindStringSubmatch(text); m != nil {
			s.ofSwitch("", l)
			started, class, policy = true, "", m[2]
			way = map[bool]string{true: "in", false: "out"}[strings.Contains(m[1], "in")]
			return true
		}
		if m := policyClass.FindStringSubmatch(text); m != nil {
			s.ofSwitch("", l)
			started, class, count = true, m[1], ""
			return true
		}
		if m := policyPort.FindStringSubmatch(l.Text); m != nil && started {
			port, class = s.portName(m[1]), ""
			return true
		}
		if !started {
			return false
		}
		subject := "policy " + strings.Join([]string{cmp.Or(port, "?"), cmp.Or(way, "?"), class}, " ")
		if class == "" {
			return strings.HasPrefix(l.Text, " ") || policyWords.MatchString(text)
		}
		s.Set(subject, "policy", policy, l)
		if m := policyRate.FindStringSubmatch(text); m != nil {
			kind := map[bool]string{true: "shape_bps", false: "police_bps"}[strings.Contains(text, "shape")]
			s.SetIf(subject, kind, piece.Bps(m[1], m[2]), l)
		}
		if m := policyCount.FindStringSubmatch(text); m != nil {
			count = m[1]
			s.Set(subject, count, m[2], l)
		}
		if count != "" && count != "conformed" && (text == "drop" || strings.Contains(text, "action: drop") || strings.Contains(text, "actions: drop")) {
			s.Set(subject, "dropping", count, l)
		}
		if m := policyNow.FindStringSubmatch(text); m != nil {
			s.Set(subject, "exceeded_bps", m[2], l)
		}
		if m := policyQueue.FindStringSubmatch(text); m != nil {
			s.Set(subject, "queue_drops", m[1]+m[2], l)
		}
		return strings.HasPrefix(l.Text, " ") || strings.HasPrefix(l.Text, "\t") || policyWords.MatchString(text)
	})
}

// policyWords begin the rows below a class, where a page took their indents.
var policyWords = piece.Compile(`^(?:\d+ (?:packets|bytes)|\d+ (?:minute|second) offered|drop rate|[Mm]atch: |police:|cir \d|rate \d|[Qq]ueue|shape |\((?:queue|total|depth|pkts)|(?:conformed|exceeded|violated) \d|transmit$|drop$|set-\S+-transmit)`)

// PolicyConfig reads policy-map sections of a configuration, and Junos' policers: the
// rates, and the depth of a queue from which it marks or drops. Its subjects are
// "policy-config NAME CLASS".
var PolicyConfig = piece.Reader{
	Kind:     "policy-map",
	Commands: []string{"show", "sh"},
	Starts: func(line string) bool {
		text := strings.TrimSpace(line)
		_, bps := rateLine(text)
		return strings.HasPrefix(strings.ToLower(line), "policy") && policyMap.MatchString(line) || junosPolicer.MatchString(text) || bps != ""
	},
	Read: reading(readPolicyConfig),
}

var policyMap = piece.Compile(`^(?:policy-map|Policy Map) (?:type \S+ )?(\S+)\s*$`)

var policyMapClass = piece.Compile(`^[Cc]lass (?:type \S+ )?(\S+)$`)

var policyConfigRate = piece.Compile(`^(police|shape)(?: (?:cir|rate|average))* (\d+)(?: ?([kmgKMG])bps)?\b`)

var policyMarks = piece.Compile(`^random-detect\b.*?minimum-threshold (\d+) (\w?bytes|packets|segments)\s.*?maximum-threshold (\d+) (\w?bytes|packets|segments)`)

var junosPolicer = piece.Compile(`^(?:set firewall policer (\S+) if-exceeding )?bandwidth-limit (\d+)([kmg]?);?$`)

var byteWords = map[string]float64{"bytes": 1, "kbytes": 1e3, "mbytes": 1e6}

func readPolicyConfig(s *sink, lines []piece.Line) int {
	name, class := "", ""
	return piece.EachLine(lines, func(l piece.Line, text string) bool {
		if m := junosPolicer.FindStringSubmatch(text); m != nil {
			s.ofSwitch("junos", l)
			s.SetIf("policy-config "+cmp.Or(m[1], "policer"), "police_bps", piece.Bps(m[2], m[3]), l)
			return true
		}
		if kind, bps := rateLine(text); bps != "" && name == "" {
			s.ofSwitch("", l)
			s.Set("policy-config "+strings.Fields(text)[0], kind, bps, l)
			return true
		}
		if m := policyMap.FindStringSubmatch(l.Text); m != nil {
			s.ofSwitch("", l)
			name, class = m[1], ""
			return true
		}
		if name == "" {
			return false
		}
		if m := policyMapClass.FindStringSubmatch(text); m != nil {
			class = m[1]
			return true
		}
		subject := strings.TrimSpace("policy-config " + name + " " + class)
		if kind, bps := rateLine(text); bps != "" {
			s.Set(subject, kind, bps, l)
		} else if m := policyConfigRate.FindStringSubmatch(text); m != nil {
			s.SetIf(subject, m[1]+"_bps", piece.Bps(m[2], m[3]), l)
		}
		if m := policyMarks.FindStringSubmatch(text); m != nil && byteWords[m[4]] > 0 {
			s.Set(subject, "mark_from_bytes", piece.FormatFloat(piece.Float(m[1])*byteWords[m[2]]), l)
			s.Set(subject, "mark_to_bytes", piece.FormatFloat(piece.Float(m[3])*byteWords[m[4]]), l)
			if strings.HasSuffix(text, " ecn") || strings.Contains(text, " ecn ") {
				s.Set(subject, "marks", "ecn", l)
			}
		}
		return strings.HasPrefix(l.Text, " ") || text == "!" || text == "system qos" || strings.HasPrefix(text, "service-policy ")
	})
}

// rateLines are lines of a port's section, or of a policy, that hold it to a rate, with
// the unit that they mean where they say none.
var rateLines = []struct {
	kind, unit string
	shape      piece.Pattern
}{
	{"police_bps", "K", piece.Compile(`^qos car (?:inbound|outbound)?.*\bcir (\d+)()`)},
	{"shape_bps", "K", piece.Compile(`^qos (?:lr|gts)\b.*\bcir (\d+)()`)},
	{"police_bps", "K", piece.Compile(`^car cir (\d+)()`)},
	{"police_bps", "", piece.Compile(`^rate-limit (?:input|output) (?:access-group \S+ )?(\d+)()`)},
	{"shape_bps", "K", piece.Compile(`^shape rate (\d+)(?: ([kmg])bps)?`)},
	{"shape_bps", "", piece.Compile(`^(?:shaping-rate|set class-of-service interfaces \S+ shaping-rate) (\d+)([kmg]?);?$`)},
	{"shape_bps", "K", piece.Compile(`^set (?:inbandwidth|outbandwidth|maximum-bandwidth) ([1-9]\d*)()$`)},
}

// rateLine is the rate in bits a second of such a line; empty another line.
func rateLine(text string) (kind, bps string) {
	if !strings.Contains(text, "cir ") && !strings.Contains(text, "rate") && !strings.Contains(text, "bandwidth") {
		return "", ""
	}
	for _, r := range rateLines {
		if m := r.shape.FindStringSubmatch(text); m != nil {
			return r.kind, piece.Bps(m[1], cmp.Or(m[2], r.unit))
		}
	}
	return "", ""
}
