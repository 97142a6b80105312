package paste

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/internal/evidence/switchstate"
	"github.com/linerate/linerate/netstate"
)

// claim is one field that others' readers find: what is asked of a switch's state, and
// the answer.
type claim struct {
	about string // "channel Po1", "port Gi1/0/1", "lldp Gi1/0/1", "switch"
	field string
	want  string
}

func (c claim) String() string { return c.about + " " + c.field }

// found is the field's value in a state, in the words of the claims.
func (c claim) found(sw switchstate.Switch) (string, bool) {
	kind, name, _ := strings.Cut(c.about, " ")
	switch kind {
	case "switch":
		return switchField(sw, c.field), true
	case "channel":
		for _, ch := range sw.Channels {
			if same(ch.Name, name) {
				if c.field == "there" {
					return "yes", true
				}
				return channelField(ch, c.field), true
			}
		}
	case "port":
		if c.field == "there" {
			for _, p := range sw.Ports {
				if same(p.Name, name) {
					return "yes", true
				}
			}
			return "", false
		}
		for _, m := range sw.Loose {
			if got := memberField(m, c.field); same(m.Port, name) && got != "" {
				return got, true
			}
		}
		for _, ch := range sw.Channels {
			for _, m := range ch.Members {
				if got := memberField(m, c.field); same(m.Port, name) && got != "" {
					return got, true
				}
			}
			if same(ch.Name, name) {
				return portField(ch.Port, c.field), true
			}
		}
		for _, p := range sw.Ports {
			if same(p.Name, name) {
				return portField(p, c.field), true
			}
		}
	case "lldp":
		return neighbourField(sw, name, c.field, c.want), true
	}
	return "", false
}

// same reports two names of one port.
func same(a, b string) bool { return short(a) == short(b) }

// shorter are the words that names of ports begin with, as one of each.
var shorter = map[string]string{"ge": "gi", "xge": "te", "wge": "twe", "fge": "fo", "hge": "hu", "gigabitethernet": "gi", "fastethernet": "fa", "tengigabitethernet": "te", "ten-gigabitethernet": "te",
	"xgigabitethernet": "te", "tengige": "te", "twogigabitethernet": "tw", "fivegigabitethernet": "fi", "twentyfivegige": "twe", "twentyfivegigabitethernet": "twe", "twenty-fivegige": "twe", "fortygige": "fo", "fortygigabitethernet": "fo",
	"hundredgige": "hu", "fourhundredgige": "fou", "ethernet": "et", "eth": "et", "management": "ma", "port-channel": "po", "bundle-ether": "be", "bridge-aggregation": "bagg", "route-aggregation": "ragg"}

// short is a port's name so that every way to write it comes to the same.
func short(name string) string {
	name = strings.ToLower(strings.ReplaceAll(name, " ", ""))
	at := strings.IndexAny(name, "0123456789")
	if at <= 0 {
		return name
	}
	return cmp.Or(shorter[name[:at]], name[:at]) + name[at:]
}

func switchField(sw switchstate.Switch, field string) string {
	switch field {
	case "system":
		return sw.System.String()
	case "hash":
		return sw.Hash.Words
	case "hash non_ip":
		return sw.Hash.NonIP
	case "hash ipv4":
		return sw.Hash.IPv4
	case "hash ipv6":
		return sw.Hash.IPv6
	case "answer":
		return short(sw.Answer)
	}
	return ""
}

func channelField(ch switchstate.Channel, field string) string {
	switch field {
	case "protocol":
		return string(ch.Protocol)
	case "mode":
		return ch.Activity
	case "rate":
		return ch.Rate
	case "min_links":
		return strconv.Itoa(ch.MinLinks)
	case "members":
		var names []string
		for _, m := range ch.Members {
			names = append(names, m.Port)
		}
		return set(names)
	case "hash":
		return ch.Hash.Words
	case "bundled":
		n := 0
		for _, m := range ch.Members {
			if m.State == switchstate.Bundled {
				n++
			}
		}
		return strconv.Itoa(n)
	}
	return portField(ch.Port, field)
}

// set is a list of ports in no order.
func set(names []string) string {
	var out []string
	for _, n := range names {
		out = append(out, short(n))
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

// lacpBits are the bits of an LACP state (IEEE 802.1AX 6.4.2.3) that letters stand for.
func lacpBits(letters string, order string) string {
	n := 0
	for _, r := range letters {
		if at := strings.IndexRune(order, r); at >= 0 && r != '-' {
			n |= 1 << at
		}
	}
	return strconv.Itoa(n)
}

// Letters of the bits, the lowest first: Comware's, IOS-XR's.
const (
	comwareLetters = "ABCDEFGH"
	xrLetters      = "AFascd" // then D and E, defaulted and expired
)

// protocolOf is a protocol by any maker's word.
func protocolOf(word string) string {
	switch strings.ToLower(word) {
	case "lacp", "dynamic":
		return "lacp"
	case "pagp":
		return "pagp"
	case "-", "none", "static", "on", "trunk", "manual", "normal":
		return "static"
	}
	return ""
}

func memberField(m switchstate.Member, field string) string {
	side, of := m.Actor, field
	if rest, ok := strings.CutPrefix(field, "partner "); ok {
		side, of = m.Partner, rest
	} else if rest, ok := strings.CutPrefix(field, "actor "); ok {
		of = rest
	} else {
		of = ""
	}
	switch of {
	case "mode":
		return side.Activity
	case "rate":
		return side.Rate
	case "system":
		return side.System.String()
	case "key":
		return strconv.Itoa(side.Key)
	case "port":
		return strconv.Itoa(side.Port)
	case "state":
		return strconv.Itoa(side.State)
	case "aggregating", "in sync", "collecting", "distributing", "defaulted", "expired":
		bit := map[string]int{"aggregating": 4, "in sync": 8, "collecting": 16, "distributing": 32, "defaulted": 64, "expired": 128}[of]
		return piece.YesNo[side.State&bit != 0]
	}
	switch field {
	case "bundled":
		if m.State == "" {
			return ""
		}
		return piece.YesNo[m.State == switchstate.Bundled]
	case "member state":
		return string(m.State)
	case "flag":
		return m.Flag
	case "mode":
		return m.Mode
	case "buckets":
		return m.Buckets
	}
	return ""
}

func portField(p switchstate.Port, field string) string {
	switch field {
	case "state":
		return p.Oper
	case "admin":
		return p.Admin
	case "description":
		return p.Description
	case "channel":
		return p.Channel
	case "speed":
		return strconv.FormatFloat(float64(p.Speed)/1e6, 'f', -1, 64)
	}
	if name, ok := strings.CutPrefix(field, "count "); ok {
		n, told := p.Counters[switchstate.Counter(name)]
		if !told {
			return ""
		}
		return strconv.FormatUint(n, 10)
	}
	return ""
}

// neighbourField is the field of a port's neighbour: of several the one that has what
// is wanted, else the first.
func neighbourField(sw switchstate.Switch, port, field, want string) string {
	first := ""
	for _, n := range sw.Neighbors {
		if !same(n.Link, port) {
			continue
		}
		got := neighbourText(n, field)
		for _, a := range n.Management {
			if field == "management" && a.String() == want {
				got = want
			}
		}
		if got == want {
			return got
		}
		if first == "" {
			first = got
		}
	}
	return first
}

func neighbourText(n netstate.Neighbor, field string) string {
	switch field {
	case "name":
		return n.SystemName
	case "port":
		return macOr(n.Port)
	case "chassis":
		return macOr(n.Chassis)
	case "port description":
		return n.PortDescription
	case "text":
		return n.SystemText
	case "frame":
		return strconv.Itoa(n.MaxFrame)
	case "vlan":
		return strconv.Itoa(n.VLAN)
	case "management":
		if len(n.Management) > 0 {
			return n.Management[0].String()
		}
	}
	return ""
}

// macOr is a MAC address in one form, or the text as it is.
func macOr(s string) string {
	if m := piece.MacText(s); m != "" {
		return m
	}
	return s
}

// claims are the fields of one sample that a switch's state has; the names of the
// others are noted as outside.
func claims(command string, want any, outside map[string]bool) (out []claim) {
	if rows, ok := want.([]any); ok {
		for _, row := range rows {
			if fields, ok := row.(map[string]any); ok {
				out = append(out, rowClaims(command, fields, outside)...)
			}
		}
		return out
	}
	if tree, ok := want.(map[string]any); ok {
		return treeClaims(command, tree, outside)
	}
	return nil
}

func one(v any) string {
	all := texts(v)
	if len(all) == 1 {
		return all[0]
	}
	return ""
}

func texts(v any) (out []string) {
	switch v := v.(type) {
	case nil:
	case []any:
		for _, x := range v {
			out = append(out, texts(x)...)
		}
	case bool:
		out = append(out, piece.YesNo[v])
	default:
		if s := fmt.Sprint(v); s != "" && s != "--" {
			out = append(out, s)
		}
	}
	return out
}
