// Package switchanswer asks a switch which member of a channel a flow takes, in the
// switch's own words, and reads what it answers. A switch that answers makes guessing
// at its hash needless. Text alone: nothing here talks to a switch.
package switchanswer

import (
	"net/netip"
	"regexp"
	"strconv"
	"strings"

	"github.com/linerate/linerate/flow"
)

// Answer is one answer of a switch.
type Answer struct {
	// Member is the port, in the switch's words; Channel the channel, "" not said.
	Member, Channel string
	// Vendor is whose answer it is: "ios", "nxos", "eos", "procurve", "ovs".
	Vendor string
	// Frame is the flow that was asked for, as far as the command above says it;
	// nil where there is no command above.
	Frame *flow.Frame
	Line  int // from 1
}

// forms are how switches answer: the first group is the member, a second the channel.
//
// IOS: `test etherchannel load-balance` (Cisco 116385); IOS-XE: `show platform software
// fed ... load-balance` (genieparser); NX-OS: `show port-channel load-balance
// forwarding-path`; EOS: `show load-balance destination`; AOS-S: `show trunks
// load-balance` (HPE 16.09 v38350661); Open vSwitch: `ofproto/trace` of balance-slb.
var forms = []struct {
	vendor, has string
	shape       *regexp.Regexp
}{
	{"ios", "Would select", regexp.MustCompile(`^\s*Would select ([A-Za-z][\w/.-]*\d) of (\S+?)\.?\s*$`)},
	{"ios", "Dest Port", regexp.MustCompile(`^\s*Dest Port\s*:[\s:]*([A-Za-z][\w/.-]*\d)\s*$`)},
	{"nxos", "Outgoing port id", regexp.MustCompile(`^\s*Outgoing port id\s*:\s*([A-Za-z][\w/.-]*\d)\s*$`)},
	{"nxos", "PC member", regexp.MustCompile(`^\s*PC member\s*:\s*([A-Za-z][\w/.-]*\d)\s*$`)},
	{"nxos", "outgoing-port-id", regexp.MustCompile(`"outgoing-port-id"\s*:\s*\{\s*"port"\s*:\s*"([A-Za-z][\w/.-]*\d)"`)},
	{"eos", "Output Interface", regexp.MustCompile(`^\s*Output Interface\s*:\s*([A-Za-z][\w/.-]*\d)\s*$`)},
	{"eos", "outputIntf", regexp.MustCompile(`"outputIntf"\s*:\s*"([A-Za-z][\w/.-]*\d)"`)},
	{"procurve", "Traffic in this flow", regexp.MustCompile(`^\s*Traffic in this flow will be forwarded out port ([A-Za-z]?\d[\w/]*) based on`)},
	{"ovs", "Datapath actions", regexp.MustCompile(`^\s*Datapath actions: (\d+)\s*$`)},
}

// mostLine is longer than any answer.
const mostLine = 4096

// Of reads one line; false for one that is no answer.
func Of(line string) (Answer, bool) {
	if len(line) > mostLine {
		return Answer{}, false
	}
	for _, f := range forms {
		if !strings.Contains(line, f.has) {
			continue
		}
		if m := f.shape.FindStringSubmatch(line); m != nil {
			a := Answer{Member: m[1], Vendor: f.vendor}
			if len(m) > 2 {
				a.Channel = m[2]
			}
			return a, true
		}
	}
	return Answer{}, false
}

// Parse reads all answers of a text, each with the flow that the command before it
// asked for. A command counts for the first answer below it. An answer of several lines
// in JSON is read too.
func Parse(text string) []Answer {
	var all []Answer
	var asked *Answer
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		line = strings.TrimRight(line, "\r")
		if f, channel, ok := Asked(line); ok {
			asked = &Answer{Frame: &f, Channel: channel}
			continue
		}
		a, ok := Of(line)
		if !ok && strings.Contains(line, `"outgoing-port-id"`) && i+1 < len(lines) {
			a, ok = Of(line + strings.TrimSpace(lines[i+1]))
		}
		if !ok {
			continue
		}
		a.Line = i + 1
		if asked != nil {
			a.Frame = asked.Frame
			if a.Channel == "" {
				a.Channel = asked.Channel
			}
			asked = nil
		}
		all = append(all, a)
	}
	return all
}

// question begins each command that asks, wherever a prompt ends.
var question = regexp.MustCompile(`(?i)\b(?:te(?:st)? eth(?:erchannel)? load-balance int(?:erface)? (\S+(?: \d+)?)|sh(?:ow)? plat\S* soft\S* fed \S+(?: \S+)? eth\S* (\d+) load-balance|sh(?:ow)? port-channel load-balance forwarding-path\d? int(?:erface)? (\S+(?: \d+)?)|sh(?:ow)? load-balance destination(?: port-channel (\S+))?|sh(?:ow)? trunks load-balance int(?:erface)? (\S+)|ofproto/trace (\S+))\s+(.*)$`)

// Asked reads a command that asks a switch for the member of a flow, and the channel
// it names; false for another line.
func Asked(line string) (f flow.Frame, channel string, ok bool) {
	if len(line) > mostLine || !strings.Contains(line, "load-balance") && !strings.Contains(line, "ofproto/trace") {
		return flow.Frame{}, "", false
	}
	m := question.FindStringSubmatch(line)
	if m == nil {
		return flow.Frame{}, "", false
	}
	for _, name := range m[1:6] {
		if name != "" {
			channel = strings.ReplaceAll(name, " ", "")
		}
	}
	if channel != "" && channel[0] >= '0' && channel[0] <= '9' {
		channel = "Po" + channel
	}
	if m[6] != "" { // Open vSwitch's flow is one word
		return words(strings.FieldsFunc(m[7], func(r rune) bool { return r == ',' || r == '=' || r == '\'' || r == '"' || r == ' ' })), "", true
	}
	return words(strings.Fields(m[7])), channel, true
}

// keys are words before a value, as what it is.
var keys = map[string]string{
	"src-ip": "src", "dst-ip": "dst", "src-ipv4-address": "src", "dst-ipv4-address": "dst", "src-ipv6-address": "src", "dst-ipv6-address": "dst", "nw_src": "src", "nw_dst": "dst",
	"l4-src-port": "sport", "l4-dst-port": "dport", "src-l4-port": "sport", "dst-l4-port": "dport", "src-tcp-port": "sport", "src-udp-port": "sport", "dest-tcp-port": "dport", "dest-udp-port": "dport",
	"tp_src": "sport", "tp_dst": "dport", "tcp_src": "sport", "tcp_dst": "dport", "udp_src": "sport", "udp_dst": "dport",
	"protocol": "proto", "ip-protocol": "proto", "nw_proto": "proto", "vlan": "vlan", "dl_vlan": "vlan", "src-mac": "smac", "dst-mac": "dmac", "dl_src": "smac", "dl_dst": "dmac",
}

// listed are words before several values, as what these are in turn.
var listed = map[string][]string{
	"ip": {"src", "dst"}, "mac": {"smac", "dmac"}, "ipv6": {"src", "dst"}, "l4port": {"sport", "dport"}, "ip-protocol-v4": {"src", "dst", "proto"},
	"mac-addr": {"smac", "dmac"}, "mac-vlanid": {"smac", "dmac", "vlan"}, "ip-protocol-port-v4": {"src", "dst", "proto", "sport", "dport"},
	"ip-fl-nh-v6": {"src", "dst", "label", "proto"}, "ip-fl-nh-port-v6": {"src", "dst", "label", "proto", "sport", "dport"},
	"mac-ip-protocol-v4": {"smac", "dmac", "src", "dst", "proto"}, "mac-ip-protocol-port-v4": {"smac", "dmac", "src", "dst", "proto", "sport", "dport"},
	"mac-vlan-ip-protocol-v4": {"smac", "dmac", "vlan", "src", "dst", "proto"}, "mac-vlan-ip-protocol-port-v4": {"smac", "dmac", "vlan", "src", "dst", "proto", "sport", "dport"},
}

// words reads a flow's parts.
func words(f []string) flow.Frame {
	out := flow.Frame{NoSport: true, NoDport: true}
	for i := 0; i < len(f); i++ {
		word := strings.ToLower(f[i])
		parts := listed[word]
		if key := keys[word]; key != "" {
			parts = []string{key}
		}
		switch word {
		case "src-tcp-port", "dest-tcp-port", "tcp", "tcp_src", "tcp_dst":
			out.Proto = flow.TCP
		case "src-udp-port", "dest-udp-port", "udp", "udp_src", "udp_dst":
			out.Proto = flow.UDP
		}
		for _, part := range parts {
			if i+1 >= len(f) || !put(&out, part, f[i+1]) {
				break
			}
			i++
		}
	}
	if out.Proto == 0 && !out.NoSport {
		out.Proto = flow.TCP
	}
	return out
}

// put sets one part; false for a value that is none.
func put(f *flow.Frame, part, value string) bool {
	number := func(bits int) (uint64, bool) {
		n, err := strconv.ParseUint(value, 0, bits)
		return n, err == nil
	}
	switch part {
	case "src", "dst":
		a, err := netip.ParseAddr(value)
		if err != nil {
			return false
		}
		if part == "src" {
			f.Src = a
		} else {
			f.Dst = a
		}
	case "sport", "dport", "vlan":
		n, ok := number(16)
		if !ok {
			return false
		}
		switch part {
		case "sport":
			f.Sport, f.NoSport = uint16(n), false
		case "dport":
			f.Dport, f.NoDport = uint16(n), false
		default:
			f.VLAN = uint16(n)
		}
	case "proto":
		if n, ok := number(8); ok {
			f.Proto = flow.Proto(n)
			return true
		}
		return f.Proto.UnmarshalText([]byte(strings.ToLower(value))) == nil
	case "label":
		n, ok := number(20)
		if !ok {
			return false
		}
		f.FlowLabel = uint32(n)
	case "smac", "dmac":
		m, ok := mac(value)
		if !ok {
			return false
		}
		if part == "smac" {
			f.SrcMAC = m
		} else {
			f.DstMAC = m
		}
	}
	return true
}

// mac reads an address with whatever stands between its digits.
func mac(text string) (flow.MAC, bool) {
	digits := strings.NewReplacer(":", "", ".", "", "-", "").Replace(text)
	if len(digits) != 12 {
		return flow.MAC{}, false
	}
	n, err := strconv.ParseUint(digits, 16, 64)
	if err != nil {
		return flow.MAC{}, false
	}
	var m flow.MAC
	for i := range m {
		m[i] = byte(n >> (40 - 8*i))
	}
	return m, true
}
