package hosttext

import (
	"net/netip"
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/netstate"
)

// outer sets what `ip -d link` says of a tunnel's packets from outside: its two
// addresses, the link it is bound to, and a range of one source port.
func (s *sink) outer(subject string, fields []string, l piece.Line) {
	if !netstate.IsTunnel(fields[0]) {
		return
	}
	for i := 1; i+1 < len(fields); i++ {
		value := fields[i+1]
		switch fields[i] {
		case "local", "remote", "group":
			if a, err := netip.ParseAddr(value); err != nil || a.IsUnspecified() {
				continue
			}
			key := fields[i]
			if key == "group" {
				key = "remote"
			}
			s.Set(subject, "outer "+key, value, l)
		case "local6", "remote6", "group6":
			s.Set(subject, "outer "+strings.TrimSuffix(strings.Replace(fields[i], "group", "remote", 1), "6"), value, l)
		case "dev":
			s.Set(subject, "dev", value, l)
		case "srcport":
			if i+2 < len(fields) && piece.Atoi(fields[i+2])-piece.Atoi(value) == 1 {
				s.Set(subject, "outer port", value, l)
			}
		case "okey":
			s.Set(subject, "outer key", value, l)
		default:
			continue
		}
		i++
	}
}

// WireGuard reads `wg show`, and a file of wg-quick's, wg setconf's or `wg showconf`.
var WireGuard = piece.Reader{
	Kind:     "wg show",
	Commands: []string{"wg"},
	Starts: func(line string) bool {
		return wgHead.MatchString(line) || wgSection.MatchString(line) || wgFileKey.MatchString(line)
	},
	Read: reading(readWireGuard),
}

var (
	wgHead    = piece.Compile(`^interface: (\S+)$`)
	wgShown   = piece.Compile(`^\s+(public key|private key|listening port|preshared key|endpoint|allowed ips|latest handshake|transfer|persistent keepalive|fwmark): (.+)$`)
	wgPeer    = piece.Compile(`^peer: \S+`)
	wgSection = piece.Compile(`^\s*\[(?:Interface|Peer)\]\s*$`)
	wgFileKey = piece.Compile(`^\s*(?:PublicKey|PrivateKey|PresharedKey|AllowedIPs|Endpoint|PersistentKeepalive|ListenPort)\s*=\s*\S`)
	wgPair    = piece.Compile(`^\s*(\w+)\s*=\s*(.+)$`)
)

// wgFileKeys are those of wg(8)'s files, with wg-quick(8)'s own.
var wgFileKeys = piece.Words("PrivateKey ListenPort FwMark PublicKey PresharedKey AllowedIPs Endpoint PersistentKeepalive Address DNS MTU Table PreUp PostUp PreDown PostDown SaveConfig")

func readWireGuard(s *sink, lines []piece.Line) (read int) {
	subject := "link " + s.wireGuardName()
	for i, l := range lines {
		text := strings.TrimSpace(l.Text)
		switch {
		case text == "", strings.HasPrefix(text, "#"), wgPeer.MatchString(text), wgSection.MatchString(text):
		case wgHead.MatchString(text):
			subject = "link " + wgHead.FindStringSubmatch(text)[1]
		case wgShown.MatchString(l.Text):
			m := wgShown.FindStringSubmatch(l.Text)
			switch m[1] {
			case "endpoint":
				s.endpoint(subject, m[2], l)
			case "allowed ips":
				s.allowed(subject, m[2], l)
			}
		default:
			m := wgPair.FindStringSubmatch(text)
			if m == nil || !wgFileKeys[m[1]] {
				return read
			}
			switch m[1] {
			case "Endpoint":
				s.endpoint(subject, m[2], l)
			case "AllowedIPs":
				s.allowed(subject, m[2], l)
			case "MTU":
				s.Set(subject, "mtu", strings.TrimSpace(m[2]), l)
			case "Address":
				for a := range strings.SplitSeq(m[2], ",") {
					s.address(subject, strings.TrimSpace(a), l)
				}
			}
		}
		if text != "" {
			s.Set(subject, "kind", "wireguard", l)
			read = i + 1
		}
	}
	return read
}

// allowed sets which addresses a tunnel's peers have inside it.
func (s *sink) allowed(subject, text string, l piece.Line) {
	for word := range strings.SplitSeq(text, ",") {
		if p, err := netip.ParsePrefix(strings.TrimSpace(word)); err == nil {
			s.Set(subject, "inside "+p.Masked().String(), "yes", l)
		}
	}
}

// endpoint sets where a tunnel's packets go: the first peer's, as a tunnel has it.
func (s *sink) endpoint(subject, text string, l piece.Line) {
	if _, told := s.Host.Get(subject, "outer remote"); told {
		return
	}
	if to, err := netip.ParseAddrPort(strings.TrimSpace(text)); err == nil {
		s.Set(subject, "outer remote", to.Addr().String(), l)
	}
}

// wireGuardName is the device that the command or the file's name names; wg0 of none.
func (s *sink) wireGuardName() string {
	words := []string{s.Segment.Path}
	for _, st := range piece.Statements(s.Segment.Command) {
		if st[0] == "wg" && len(st) > 2 && (st[1] == "show" || st[1] == "showconf") {
			return st[2]
		}
		words = append(words, st...)
	}
	for _, word := range words {
		if name, ok := strings.CutSuffix(word, ".conf"); ok {
			return name[strings.LastIndexByte(name, '/')+1:]
		}
	}
	if known := s.linksOfKind("wireguard"); len(known) == 1 {
		return known[0]
	}
	return "wg0"
}
