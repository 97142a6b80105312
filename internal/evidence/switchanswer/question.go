package switchanswer

import (
	"fmt"
	"strings"

	"github.com/linerate/linerate/flow"
)

// Systems are those that can be asked, in the order of help texts.
func Systems() []string { return []string{"ios", "iosxe", "nxos", "eos", "procurve", "comware", "ovs"} }

// Question is the command that asks a system's switch which member of a channel a flow
// takes. What the flow does not say is a name in capitals. Why is set, and the command
// "", where the system cannot be asked, or not for such a flow.
func Question(system, channel string, f flow.Frame) (command, why string) {
	number := strings.TrimLeft(strings.ToLower(channel), "abcdefghijklmnopqrstuvwxyz- ")
	if channel == "" {
		number = "CHANNEL"
	}
	ip := f.Src.IsValid() && f.Dst.IsValid()
	six := ip && !f.Src.Is4()
	src, dst := text(ip, f.Src.String(), "SRC-IP"), text(ip, f.Dst.String(), "DST-IP")
	ports := f.Proto.HasPorts() && f.Sport > 0 && f.Dport > 0
	sport, dport := fmt.Sprint(f.Sport), fmt.Sprint(f.Dport)
	smac, dmac := text(!f.SrcMAC.IsZero(), f.SrcMAC.String(), "SRC-MAC"), text(!f.DstMAC.IsZero(), f.DstMAC.String(), "DST-MAC")
	switch system {
	case "ios":
		if six {
			return "", "how this command takes IPv6 is unknown: look it up with `test etherchannel load-balance interface port-channel " + number + " ?`"
		}
		if !ip && !f.SrcMAC.IsZero() {
			return fmt.Sprintf("test etherchannel load-balance interface port-channel %s mac %s %s", number, grouped(smac, ".", 4), grouped(dmac, ".", 4)), ""
		}
		return fmt.Sprintf("test etherchannel load-balance interface port-channel %s ip %s %s", number, src, dst), ""
	case "iosxe":
		begin := "show platform software fed switch active etherchannel " + number + " load-balance "
		switch {
		case six && ports:
			return fmt.Sprintf("%sip-fl-nh-port-v6 %s %s %d %d %s %s", begin, src, dst, f.FlowLabel, f.Proto, sport, dport), ""
		case six:
			return fmt.Sprintf("%sip-fl-nh-v6 %s %s %d %d", begin, src, dst, f.FlowLabel, f.Proto), ""
		case ports:
			return fmt.Sprintf("%sip-protocol-port-v4 %s %s %d %s %s", begin, src, dst, f.Proto, sport, dport), ""
		}
		return fmt.Sprintf("%sip-protocol-v4 %s %s %d", begin, src, dst, f.Proto), ""
	case "nxos":
		if six {
			return "", "how this command takes IPv6 is unknown: look it up with `show port-channel load-balance forwarding-path interface port-channel " + number + " ?`"
		}
		line := fmt.Sprintf("show port-channel load-balance forwarding-path interface port-channel %s src-ip %s dst-ip %s", number, src, dst)
		if ports {
			line += fmt.Sprintf(" l4-src-port %s l4-dst-port %s protocol %d", sport, dport, f.Proto)
		}
		if f.VLAN&vlanID > 0 {
			line += fmt.Sprintf(" vlan %d", f.VLAN&vlanID)
		}
		return line, ""
	case "eos":
		if six {
			return "", "how this command takes IPv6 is unknown: look it up with `show load-balance destination ?`"
		}
		line := fmt.Sprintf("show load-balance destination ip ingress-interface INGRESS src-ipv4-address %s dst-ipv4-address %s ip-protocol %d", src, dst, f.Proto)
		if ports {
			line += fmt.Sprintf(" src-l4-port %s dst-l4-port %s", sport, dport)
		}
		return line, ""
	case "procurve":
		line := fmt.Sprintf("show trunks load-balance interface trk%s mac %s %s", number, grouped(smac, "-", 6), grouped(dmac, "-", 6))
		if ip {
			line += " ip " + src + " " + dst
		}
		if kind := f.Proto; ports && (kind == flow.TCP || kind == flow.UDP) {
			line += fmt.Sprintf(" src-%s-port %s dest-%s-port %s", kind, sport, kind, dport)
		}
		return line + " inbound-port INGRESS", ""
	case "comware":
		family := ""
		if six {
			family = "v6"
		}
		line := fmt.Sprintf("display link-aggregation load-sharing path interface bridge-aggregation %s ingress-port INGRESS source-ip%s %s destination-ip%s %s ip-protocol %d", number, family, src, family, dst, f.Proto)
		if ports {
			line += fmt.Sprintf(" source-port %s destination-port %s", sport, dport)
		}
		return line, ""
	case "ovs":
		kind := "ip"
		if ports {
			kind = f.Proto.String()
		}
		words := []string{kind, "in_port=INGRESS", "dl_src=" + smac, "dl_dst=" + dmac, "nw_src=" + src, "nw_dst=" + dst}
		if six {
			words[0], words[4], words[5] = kind+"6", "ipv6_src="+src, "ipv6_dst="+dst
		}
		if ports {
			words = append(words, "tp_src="+sport, "tp_dst="+dport)
		}
		if f.VLAN&vlanID > 0 {
			words = append(words, fmt.Sprintf("dl_vlan=%d", f.VLAN&vlanID))
		}
		return "ovs-appctl ofproto/trace BRIDGE " + strings.Join(words, ","), ""
	}
	return "", "no command of it is known that answers: `steer probe --learn` learns its hash"
}

// vlanID are the bits of a tag without its priority.
const vlanID = 0xfff

// text is the value where it is known, else what stands for it.
func text(known bool, value, instead string) string {
	if known {
		return value
	}
	return instead
}

// grouped writes an address's digits in groups; what stands for one stays.
func grouped(mac, sep string, size int) string {
	digits := strings.ReplaceAll(mac, ":", "")
	if len(digits) != 12 || digits == mac {
		return mac
	}
	var groups []string
	for ; digits != ""; digits = digits[size:] {
		groups = append(groups, digits[:size])
	}
	return strings.Join(groups, sep)
}
