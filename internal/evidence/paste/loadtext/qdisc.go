package loadtext

import (
	"strconv"
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// Queues reads tc qdisc, class and filter, with -s or without.
var Queues = piece.Reader{
	Kind:     "tc",
	Commands: []string{"tc"},
	Starts: func(line string) bool {
		text := strings.TrimSpace(line)
		return strings.HasPrefix(text, "qdisc ") && tcQdisc.MatchString(text) || strings.HasPrefix(text, "class ") && tcClass.MatchString(text) || tcSent.MatchString(text) ||
			strings.HasPrefix(text, "police ") && strings.Contains(text, " rate ")
	},
	Read: reading(readQueues),
}

var tcQdisc = piece.Compile(`^qdisc (\w+) ([0-9a-f]+:[0-9a-f]*) (?:\[\w+\] )?(?:dev (\S+) )?(root|parent \S+|ingress|clsact)?(.*)$`)

var tcClass = piece.Compile(`^class (\w+) ([0-9a-f]*:[0-9a-f]+)(?: dev (\S+))? (root|parent \S+)(.*)$`)

var tcSent = piece.Compile(`^Sent (\d+) bytes (\d+) pkts? \(dropped (\d+), overlimits (\d+) requeues (\d+)\)`)

var tcBacklog = piece.Compile(`^backlog (\d+)([KM]?)b (\d+)p`)

var tcMore = piece.Compile(`^(?:rate \d|\d+ flows|\d+ gc|maxpacket|new_flows_len|backlog|lended|tokens|ctokens|memory used|capacity|min/max|average|thresh|target|interval|pk_delay|av_delay|sp_delay|backlog|pkts|bytes|way_|drops|marks|ack_drop|sp_flows|bk_flows|un_flows|max_len|quantum|Tin|flows_plimit|highprio|throttled|ecn_mark|horizon|Bulk|police|filter|action|match|installed|index|ref|direct_|qmap|prio_|bands|priomap|queues|offload|options|fastpath|\d+ fastpath|\(inactive|(?:\d+ )?(?:highprio|throttled|pkts_too_long))`)

var tcRate = piece.Compile(`(?i)\b(rate|maxrate|bandwidth|ceil|max_rate) (\d[\d.]*)([KMG]?)(bit|bps|ibit)`)

var tcScale = map[string]float64{"": 1, "K": 1e3, "M": 1e6, "G": 1e9}

var tcPolice = piece.Compile(`^police (\S+) rate`)

var tcNetem = piece.Compile(`(?:delay|loss|reorder|duplicate|corrupt) \S+.*$`)

// tcBits is a rate that tc prints, in bits a second; 0 none.
func tcBits(text, word string) int64 {
	for _, m := range tcRate.FindAllStringSubmatch(text, 8) {
		if m[1] != word {
			continue
		}
		bits := piece.Float(m[2]) * tcScale[strings.ToUpper(m[3])]
		if strings.EqualFold(m[4], "bps") {
			bits *= 8
		}
		return int64(bits)
	}
	return 0
}

func readQueues(s *sink, lines []piece.Line) (read int) {
	of := s.behindDev()
	subject, handle := "link "+of, ""
	root := false
	for i, l := range lines {
		text := strings.TrimSpace(l.Text)
		if text == "" {
			continue
		}
		switch m := tcQdisc.FindStringSubmatch(text); {
		case m != nil:
			if m[3] != "" {
				of = m[3]
			}
			subject, handle, root = "link "+of, m[2], m[4] == "root"
			s.queue(subject, m, l)
		case strings.HasPrefix(text, "class "):
			c := tcClass.FindStringSubmatch(text)
			if c == nil {
				return read
			}
			if c[3] != "" {
				of = c[3]
			}
			subject, handle, root = "link "+of, c[2], false
			s.shaper(subject, c[1], c[2], c[5], l)
		case tcSent.MatchString(text):
			c := tcSent.FindStringSubmatch(text)
			prefix := "qdisc " + handle + " "
			if root {
				prefix = "qdisc "
			}
			s.Set(subject, prefix+"sent_bytes", c[1], l)
			for n, key := range []string{"dropped", "overlimits", "requeues"} {
				if c[3+n] != "0" || root {
					s.Set(subject, prefix+key, c[3+n], l)
				}
			}
		case tcBacklog.MatchString(text):
			c := tcBacklog.FindStringSubmatch(text)
			if root || c[3] != "0" {
				s.Set(subject, "qdisc backlog_packets", c[3], l)
			}
		case strings.HasPrefix(text, "police ") && tcPolice.MatchString(text):
			s.shaper(subject, "police", tcPolice.FindStringSubmatch(text)[1], text, l)
		case strings.Contains(text, " throttled"):
			for n, f := range strings.Fields(text) {
				if strings.HasPrefix(f, "throttled") && n > 0 {
					if v := strings.Fields(text)[n-1]; piece.Whole(v) > 0 {
						s.Set(subject, "qdisc throttled", v, l)
					}
				}
			}
		case read > 0 && tcMore.MatchString(text):
		default:
			return read
		}
		read = i + 1
	}
	return read
}

// behindDev is the device that a command names behind "dev"; "" none.
func (s *sink) behindDev() string {
	f := strings.Fields(s.Segment.Command)
	for i := 0; i+1 < len(f); i++ {
		if f[i] == "dev" {
			return strings.Trim(f[i+1], `;|"'`)
		}
	}
	return ""
}

// queue reads a qdisc's line.
func (s *sink) queue(subject string, m []string, l piece.Line) {
	kind, handle, where, rest := m[1], m[2], m[4], m[5]
	switch {
	case where == "root":
		s.Set(subject, "qdisc", kind, l)
	case strings.HasPrefix(where, "parent"):
		s.Set(subject, "qdisc_leaf", kind, l)
	}
	if kind == "netem" {
		s.Set(subject, "netem", tcNetem.FindString(rest), l)
	}
	s.shaper(subject, kind, handle, rest, l)
}

// shaper notes a rate that a queue holds traffic to. fq's maxrate is a flow's.
func (s *sink) shaper(subject, kind, handle, rest string, l piece.Line) {
	word := map[string]string{"tbf": "rate", "fq": "maxrate", "htb": "ceil", "hfsc": "rate", "cake": "bandwidth", "netem": "rate", "police": "rate", "cbq": "rate"}[kind]
	if word == "" {
		return
	}
	bits := tcBits(rest, word)
	if bits == 0 && kind == "htb" {
		bits = tcBits(rest, "rate")
	}
	if bits == 0 {
		return
	}
	s.Set(subject, "shaper "+kind+" "+handle, strconv.FormatInt(bits, 10), l)
}
