package act

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"net/netip"
	"strconv"
	"strings"
	"syscall"

	"github.com/vishvananda/netlink/nl"

	"github.com/linerate/linerate/internal/kernel/nlattr"
	"github.com/linerate/linerate/internal/kernel/rtnl"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/plan"
)

// Message kinds and attributes of a rule, include/uapi/linux/fib_rules.h.
const (
	rtmNewRule = 32
	rtmDelRule = 33

	fraDst           = 1
	fraSrc           = 2
	fraIif           = 3
	fraPriority      = 6
	fraFwmark        = 10
	fraTunnel        = 12 // FRA_TUN_ID
	fraSuppressGroup = 13
	fraSuppress      = 14
	fraTable         = 15
	fraFwmask        = 16
	fraOif           = 17
	fraL3MDev        = 19
	fraUIDRange      = 20
	fraProtocol      = 21
	fraIPProto       = 22
	fraSport         = 23
	fraDport         = 24
	fraDSCP          = 25

	ruleInvert = 2 // FIB_RULE_INVERT
)

// setRule adds or removes one rule, with everything that the step says of it.
func setRule(r *netstate.Rule, want string) error {
	message, err := encodeRule(r)
	if err != nil {
		return err
	}
	if want == plan.Absent {
		return change(rtmDelRule, 0, message)
	}
	return change(rtmNewRule, syscall.NLM_F_CREATE|syscall.NLM_F_EXCL, message)
}

// ruleFamily is the rule's own word, or that of its addresses.
func ruleFamily(r netstate.Rule) string {
	for _, p := range []netip.Prefix{r.From, r.To} {
		switch {
		case r.Family != "" || !p.IsValid():
		case p.Addr().Is4():
			return "ipv4"
		default:
			return "ipv6"
		}
	}
	if r.Family == "" {
		return "ipv4"
	}
	return r.Family
}

// encodeRule is a rule as struct fib_rule_hdr and its attributes.
func encodeRule(r *netstate.Rule) ([]byte, error) {
	if r == nil {
		return nil, fmt.Errorf("no rule: %w", fs.ErrInvalid)
	}
	f, ok := map[string]byte{"ipv4": syscall.AF_INET, "ipv6": syscall.AF_INET6}[ruleFamily(*r)]
	action, known := rtnl.RuleAction(r.Action)
	if !ok || !known || r.Action == "goto" {
		return nil, fmt.Errorf("rule with action %q of family %q: %w", r.Action, r.Family, errors.ErrUnsupported)
	}
	for _, p := range []netip.Prefix{r.From, r.To} {
		if p.IsValid() && family(p.Addr()) != f {
			return nil, fmt.Errorf("rule for %s of family %s: %w", p, r.Family, fs.ErrInvalid)
		}
	}
	var e ruleEncoder
	if err := e.selectors(strings.Fields(r.Selectors)); err != nil {
		return nil, err
	}
	from, to := max(r.From.Bits(), 0), max(r.To.Bits(), 0)
	// Family, lengths of destination and source, tos, table, two unused, action.
	b := []byte{f, byte(to), byte(from), e.tos, 0, 0, 0, action}
	b = binary.NativeEndian.AppendUint32(b, e.flags)
	if to > 0 {
		b = append(b, nlattr.Encode(fraDst, r.To.Masked().Addr().AsSlice())...)
	}
	if from > 0 {
		b = append(b, nlattr.Encode(fraSrc, r.From.Masked().Addr().AsSlice())...)
	}
	b = append(b, nlattr.Encode(fraPriority, number32(uint32(r.Priority)))...)
	if r.Table != 0 {
		b = append(b, nlattr.Encode(fraTable, number32(uint32(r.Table)))...)
	}
	if r.Protocol != "" {
		protocol, known := rtnl.RouteProtocol(r.Protocol)
		if !known {
			return nil, fmt.Errorf("rule of protocol %q: %w", r.Protocol, errors.ErrUnsupported)
		}
		b = append(b, nlattr.Encode(fraProtocol, []byte{protocol})...)
	}
	return append(b, e.attributes...), nil
}

// ruleEncoder turns a rule's conditions, in ip-rule(8)'s words as netstate.Rule
// has them, into a header's fields and attributes.
type ruleEncoder struct {
	tos        byte
	flags      uint32
	attributes []byte
}

func (e *ruleEncoder) selectors(words []string) error {
	for len(words) > 0 {
		word := words[0]
		words = words[1:]
		switch word {
		case "not":
			e.flags |= ruleInvert
			continue
		case "l3mdev":
			e.add(fraL3MDev, []byte{1})
			continue
		}
		if len(words) == 0 {
			return fmt.Errorf("rule condition %q without a value: %w", word, fs.ErrInvalid)
		}
		if err := e.condition(word, words[0]); err != nil {
			return fmt.Errorf("rule condition %s %q: %w", word, words[0], err)
		}
		words = words[1:]
	}
	return nil
}

func (e *ruleEncoder) add(kind uint16, v []byte) {
	e.attributes = append(e.attributes, nlattr.Encode(kind, v)...)
}

func (e *ruleEncoder) condition(word, value string) error {
	switch word {
	case "iif", "oif":
		kind := uint16(fraIif)
		if word == "oif" {
			kind = fraOif
		}
		if len(value) >= syscall.IFNAMSIZ {
			return fs.ErrInvalid
		}
		e.add(kind, nl.ZeroTerminated(value))
		return nil
	case "fwmark":
		mark, mask, masked := strings.Cut(value, "/")
		m, err := numberOf(mark, math.MaxUint32)
		bits := uint32(math.MaxUint32)
		if err == nil && masked {
			bits, err = numberOf(mask, math.MaxUint32)
		}
		e.add(fraFwmark, number32(m))
		e.add(fraFwmask, number32(bits))
		return err
	case "sport", "dport":
		kind := uint16(fraSport)
		if word == "dport" {
			kind = fraDport
		}
		from, to, err := rangeOf(value, math.MaxUint16)
		e.add(kind, binary.NativeEndian.AppendUint16(binary.NativeEndian.AppendUint16(nil, uint16(from)), uint16(to)))
		return err
	case "tun_id":
		n, err := strconv.ParseUint(value, 0, 64)
		e.add(fraTunnel, binary.BigEndian.AppendUint64(nil, n))
		return err
	case "uidrange":
		from, to, err := rangeOf(value, math.MaxUint32)
		e.add(fraUIDRange, binary.NativeEndian.AppendUint32(number32(from), to))
		return err
	}
	return e.plain(word, value)
}

// plain are the conditions that are one number.
func (e *ruleEncoder) plain(word, value string) error {
	n, err := numberOf(value, math.MaxUint32)
	switch word {
	case "tos", "dsfield":
		e.tos = byte(n)
		if n > math.MaxUint8 {
			return fs.ErrInvalid
		}
	case "suppress_prefixlength":
		e.add(fraSuppress, number32(n))
	case "suppress_ifgroup":
		e.add(fraSuppressGroup, number32(n))
	case "ipproto", "dscp":
		kind := uint16(fraIPProto)
		if word == "dscp" {
			kind = fraDSCP
		}
		e.add(kind, []byte{byte(n)})
		if n > math.MaxUint8 {
			return fs.ErrInvalid
		}
	default:
		return errors.ErrUnsupported
	}
	return err
}

func numberOf(s string, most uint32) (uint32, error) {
	n, err := strconv.ParseUint(s, 0, 32)
	if err != nil || uint32(n) > most {
		return 0, fs.ErrInvalid
	}
	return uint32(n), nil
}

// rangeOf reads "80-90", or one number for both.
func rangeOf(s string, most uint32) (from, to uint32, err error) {
	low, high, two := strings.Cut(s, "-")
	if !two {
		high = low
	}
	from, err1 := numberOf(low, most)
	to, err2 := numberOf(high, most)
	return from, to, errors.Join(err1, err2)
}

// readRule is present when a rule is there that is all the step says; a
// Protocol of "" is whatever the kernel has.
func readRule(r *netstate.Rule) (string, error) {
	if r == nil {
		return "", fmt.Errorf("no rule: %w", fs.ErrInvalid)
	}
	h, err := rtnl.Open()
	if err != nil {
		return "", err
	}
	defer h.Close()
	all, err := h.Rules()
	if err != nil {
		return "", err
	}
	want := canonicalRule(*r)
	for _, have := range all {
		if want.Protocol == "" {
			have.Protocol = ""
		}
		if canonicalRule(have) == want {
			return plan.Present, nil
		}
	}
	return plan.Absent, nil
}

// canonicalRule is the rule with one spelling of what has two.
func canonicalRule(r netstate.Rule) netstate.Rule {
	r.Family = ruleFamily(r)
	r.Selectors = plan.SortedConditions(r.Selectors)
	for _, p := range []*netip.Prefix{&r.From, &r.To} {
		if *p = p.Masked(); p.Bits() <= 0 {
			*p = netip.Prefix{}
		}
	}
	return r
}
