package steer

import (
	"fmt"
	"strconv"
	"strings"
)

// MultipathPolicy is net.ipv4.fib_multipath_hash_policy, or IPv6's. Zero is the
// kernel's default.
type MultipathPolicy uint8

// The policies, by the kernel's numbers.
const (
	// MultipathL3 hashes the addresses, for IPv6 protocol and flow label too.
	MultipathL3 MultipathPolicy = iota
	// MultipathL4 hashes addresses, protocol and ports (Linux 4.12).
	MultipathL4
	// MultipathInner hashes the addresses inside tunnels that are forwarded,
	// else those of MultipathL3 (Linux 5.3).
	MultipathInner
	// MultipathFields hashes the fields of a bit mask (Linux 5.14).
	MultipathFields
)

// multipathWords is the one table of policy words, indexed by policy.
var multipathWords = [...]string{"l3", "l4", "inner", "fields"}

// String is the policy's word.
func (p MultipathPolicy) String() string {
	if int(p) < len(multipathWords) {
		return multipathWords[p]
	}
	return fmt.Sprintf("unknown-%d", uint8(p))
}

// HashFields is net.ipv4.fib_multipath_hash_fields, or IPv6's: the bits of
// FIB_MULTIPATH_HASH_FIELD_*, include/net/ip_fib.h. Zero stands for the
// kernel's default, DefaultFields: the kernel refuses a zero.
type HashFields uint16

// The fields. Those of the packet inside count for forwarded tunnels only.
const (
	FieldSrc HashFields = 1 << iota
	FieldDst
	FieldProto
	FieldFlowLabel
	FieldSport
	FieldDport
	FieldInnerSrc
	FieldInnerDst
	FieldInnerProto
	FieldInnerFlowLabel
	FieldInnerSport
	FieldInnerDport

	// DefaultFields are the kernel's.
	DefaultFields = FieldSrc | FieldDst | FieldProto

	outerFields = FieldInnerSrc - 1
	allFields   = FieldInnerDport<<1 - 1
)

// ParseMultipathPolicy reads a policy's word; "fields=0x37" names its fields.
func ParseMultipathPolicy(s string) (MultipathPolicy, HashFields, error) {
	word, mask, masked := strings.Cut(s, "=")
	for i, w := range multipathWords {
		if w != word || masked && MultipathPolicy(i) != MultipathFields {
			continue
		}
		if !masked {
			return MultipathPolicy(i), 0, nil
		}
		n, err := strconv.ParseUint(mask, 0, 16)
		if err != nil || n == 0 || HashFields(n)&^allFields != 0 {
			return 0, 0, fmt.Errorf("parse fields %q: want a bit mask from 1 to %#x", mask, uint16(allFields))
		}
		return MultipathFields, HashFields(n), nil
	}
	return 0, 0, fmt.Errorf("parse multipath policy %q: want l3, l4, inner, fields or fields=0x37", s)
}

func (m Multipath) fields() HashFields {
	if m.Fields == 0 {
		return DefaultFields
	}
	return m.Fields
}

// reach is Reach for a policy whose key is known.
func (p MultipathPolicy) reach(fields HashFields) Reach {
	switch p {
	case MultipathL3, MultipathInner:
		return Reach{Addresses: true,
			Why: p.String() + " hashes addresses, not ports: all flows of one pair of addresses share one next hop"}
	case MultipathL4:
		return Reach{Ports: true, Addresses: true,
			Why: "l4 hashes addresses, protocol and ports: each flow takes one next hop, and its source port decides which"}
	case MultipathFields:
		r := Reach{Ports: fields&FieldSport != 0, Addresses: fields&(FieldSrc|FieldDst) != 0}
		switch {
		case fields&outerFields == 0:
			r.Why = fmt.Sprintf("fields %#x are all of the packet inside a tunnel: the host's own flows all take the first next hop", uint16(fields))
		case r.Ports:
			r.Why = fmt.Sprintf("fields %#x hold the source port: it decides which next hop a flow takes", uint16(fields))
		default:
			r.Why = fmt.Sprintf("fields %#x leave out the source port: flows that differ in nothing else share one next hop", uint16(fields))
		}
		return r
	}
	return Reach{Why: "policy " + p.String() + " is newer than this program"}
}
