package scene

import (
	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/record"
)

// Bits of an LACP port state (IEEE 802.1AX 6.4.2.3).
const (
	StateDefaulted = 64
	StateExpired   = 128
)

const ZeroMAC = "00:00:00:00:00:00"

// SwitchPortOut is a switch's own word that a member is not bundled.
func (v *View) SwitchPortOut() (record.Evidence, bool) {
	for _, s := range v.Switches {
		for _, name := range s.Subjects("port") {
			x, ok := s.Get("port "+name, "bundled")
			if ok && x.Text != "yes" && x.Text != "" {
				return Saw("port "+name+" of "+NameOf(s), "not in the bundle: "+x.Text, x.Source), true
			}
		}
	}
	return record.Evidence{}, false
}

// portLoad is what a switch's ports send, each by the same measure: in bits a second, or in per cent, or in bytes
// since its counters were cleared where only that was read; false unknown.
func portLoad(s *piece.Host, ports []string) (load []float64, at piece.Source, ok bool) {
	for _, key := range []string{"seen_tx_bps", "seen_tx_util", "tx_share", "tx_bytes"} {
		load = load[:0]
		for _, p := range ports {
			n, from, read := Number(s, "port "+p, key)
			if !read {
				break
			}
			load, at = append(load, n), from
		}
		if len(load) == len(ports) {
			return load, at, true
		}
	}
	return nil, piece.Source{}, false
}

// Shared is how ports of a switch share what they send: each one's part.
func Shared(s *piece.Host, ports []string) (parts map[string]float64, at piece.Source, ok bool) {
	load, at, ok := portLoad(s, ports)
	parts, sum := make(map[string]float64), 0.0
	for i, n := range load {
		parts[ports[i]], sum = n, sum+n
	}
	if !ok || len(parts) < 2 || sum <= 1 {
		return nil, at, false
	}
	for p := range parts {
		parts[p] /= sum
	}
	return parts, at, true
}

// ChannelPorts are the ports that a switch has in a channel.
func ChannelPorts(s *piece.Host, channel string) (out []string) {
	for _, p := range s.Subjects("port") {
		if of, ok := s.Get("port "+p, "channel"); ok && of.Text == channel {
			out = append(out, p)
		}
	}
	return out
}

// UnevenChannel reports a channel of a switch whose members share unevenly.
func UnevenChannel(s *piece.Host) bool {
	for _, ch := range s.Subjects("channel") {
		parts, _, ok := Shared(s, ChannelPorts(s, ch))
		if _, part := Busiest(parts); ok && part > 1.6/float64(len(parts)) {
			return true
		}
	}
	return false
}

// EvenMembers reports a bundle all of whose members carry alike, both ways as far as
// they were read.
func EvenMembers(h *piece.Host, name string) bool {
	b := Bond{Host: h, Name: name}
	for _, link := range h.Ports[name] {
		b.Ports = append(b.Ports, Port{Name: link})
	}
	seen := false
	for _, way := range []string{"tx", "rx"} {
		parts, _, ok := b.Carried(way)
		if !ok {
			continue
		}
		seen = true
		if _, part := Busiest(parts); part > 1.4/float64(len(parts)) {
			return false
		}
	}
	return seen
}
