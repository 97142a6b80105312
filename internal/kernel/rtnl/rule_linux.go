package rtnl

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/linerate/linerate/internal/kernel/nlattr"
	"github.com/linerate/linerate/netstate"
)

// Attributes of a rule, include/uapi/linux/fib_rules.h.
const (
	fraDst           = 1
	fraSrc           = 2
	fraIif           = 3
	fraPriority      = 6
	fraFwmark        = 10
	fraSuppress      = 14
	fraGoto          = 4
	fraTunnel        = 12 // FRA_TUN_ID
	fraSuppressGroup = 13
	fraPad           = 18
	fraL3MDev        = 19
	fraProtocol      = 21
	fraTable         = 15
	fraFwmask        = 16
	fraOif           = 17
	fraUIDRange      = 20
	fraIPProto       = 22
	fraSport         = 23
	fraDport         = 24
	fraDSCP          = 25
	fraSportMask     = 28 // Linux 6.15
	fraDportMask     = 29

	ruleInvert  = 2 // FIB_RULE_INVERT
	actionTable = 1
)

var ruleActions = map[uint8]string{2: "goto", 3: "nop", 6: "blackhole", 7: "unreachable", 8: "prohibit"}

// decodeRule reads an RTM_NEWRULE message (struct fib_rule_hdr).
func decodeRule(message []byte) (rule netstate.Rule, ok bool) {
	if len(message) < routeHead {
		return rule, false
	}
	ipv6 := message[0] == familyIPv6
	rule.Family = "ipv4"
	if ipv6 {
		rule.Family = "ipv6"
	}
	rule.Table = int(message[4])
	if action := message[7]; action != actionTable {
		if rule.Action = ruleActions[action]; rule.Action == "" {
			rule.Action = strconv.Itoa(int(action))
		}
	}
	var s selectors
	if u32(message[8:])&ruleInvert != 0 {
		s.add("not")
	}
	if tos := message[3]; tos != 0 {
		s.add("tos %#x", tos)
	}
	err := nlattr.Each(message[routeHead:], func(kind uint16, v []byte) {
		switch kind {
		case fraDst:
			rule.To = prefix(addr(v), int(message[1]), ipv6)
		case fraSrc:
			rule.From = prefix(addr(v), int(message[2]), ipv6)
		case fraPriority:
			rule.Priority = int(u32(v))
		case fraTable:
			rule.Table = int(u32(v))
		case fraGoto:
			rule.Goto = int(u32(v))
		case fraProtocol:
			rule.Protocol = protocolWord(u8(v))
		default:
			s.attribute(kind, v)
		}
	})
	rule.Selectors = s.text()
	return rule, err == nil
}

// selectors collects a rule's further conditions in ip-rule(8)'s words.
type selectors struct {
	words      []string
	mark, mask uint32
	marked     bool
}

func (s *selectors) add(format string, args ...any) {
	s.words = append(s.words, fmt.Sprintf(format, args...))
}

func (s *selectors) attribute(kind uint16, v []byte) {
	switch kind {
	case fraIif:
		s.add("iif %s", text(v))
	case fraOif:
		s.add("oif %s", text(v))
	case fraFwmark:
		s.mark, s.marked = u32(v), true
	case fraFwmask:
		s.mask = u32(v)
	case fraSuppress:
		// -1 is none.
		if n := int32(u32(v)); n >= 0 {
			s.add("suppress_prefixlength %d", n)
		}
	case fraIPProto:
		s.add("ipproto %d", u8(v))
	case fraSport:
		s.add("sport %d-%d", u16(v), u16(v[min(2, len(v)):]))
	case fraDport:
		s.add("dport %d-%d", u16(v), u16(v[min(2, len(v)):]))
	case fraUIDRange:
		s.add("uidrange %d-%d", u32(v), u32(v[min(4, len(v)):]))
	case fraL3MDev:
		if u8(v) != 0 {
			s.add("l3mdev")
		}
	case fraSuppressGroup:
		if n := int32(u32(v)); n >= 0 {
			s.add("suppress_ifgroup %d", n)
		}
	case fraDSCP:
		s.add("dscp %d", u8(v))
	case fraSportMask, fraDportMask:
		// All ones come with every port that is one.
		if u16(v) != math.MaxUint16 {
			s.add("fra-%d %s", kind, kept(v))
		}
	case fraTunnel:
		if len(v) == 8 {
			s.add("tun_id %d", binary.BigEndian.Uint64(v))
		}
	case fraPad:
		// No condition.
	default:
		s.add("fra-%d %s", kind, kept(v))
	}
}

// text joins the conditions. The kernel sends a mask of all ones with every
// mark, and a mark of zero with a mask alone.
func (s *selectors) text() string {
	if s.marked && (s.mark != 0 || s.mask != 0) {
		if s.mask == math.MaxUint32 || s.mask == 0 {
			s.add("fwmark %#x", s.mark)
		} else {
			s.add("fwmark %#x/%#x", s.mark, s.mask)
		}
	}
	return strings.Join(s.words, " ")
}

// RuleAction is the kernel's number of a rule's Action, FR_ACT_*; false for
// another word.
func RuleAction(word string) (uint8, bool) {
	if word == "" {
		return actionTable, true
	}
	for n, w := range ruleActions {
		if w == word {
			return n, true
		}
	}
	return 0, false
}
