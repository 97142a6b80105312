package observe

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/netip"
	"regexp"
	"strings"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
)

// Anonymous maps a host's addresses, hardware addresses and name, each to the
// same wherever it stands, so that nothing leads back and everything can still
// be judged: addresses that share a prefix share one of the same length
// afterwards (the scheme of Xu, Fan, Ammar and Moon, "Prefix-Preserving IP
// Address Anonymization", 2002, with HMAC-SHA-256). IPv4 addresses come out in
// 240.0.0.0/4, which is nobody's, private ones in their own private range,
// IPv6 ones in 2001:db8::/32 (RFC 3849), link-local ones stay link-local;
// hardware addresses become locally administered ones. Loopback, unspecified,
// multicast and reserved addresses stay. The key is made for this call and
// not kept.
func Anonymous(h netstate.Host) (netstate.Host, error) {
	text, err := json.Marshal(h)
	if err != nil {
		return netstate.Host{}, fmt.Errorf("make anonymous: %w", err)
	}
	m := &mapper{macs: make(map[string]string)}
	_, _ = rand.Read(m.key[:]) // never fails (crypto/rand)
	var mapped netstate.Host
	if err := rewrite(text, &mapped, m.text); err != nil {
		return netstate.Host{}, fmt.Errorf("make anonymous: %w", err)
	}
	// Numbers with three dots that are no addresses.
	mapped.Kernel, mapped.CPU, mapped.Machine, mapped.Cards = h.Kernel, h.CPU, h.Machine, h.Cards
	for i := range mapped.Links {
		mapped.Links[i].Device, mapped.Links[i].Driver = h.Links[i].Device, h.Links[i].Driver
		delete(mapped.Links[i].Extra, "alias") // a person wrote it
	}
	mapped.Name = anonymousName
	if len(h.Name) > 2 {
		for i := range mapped.Missing {
			mapped.Missing[i] = strings.ReplaceAll(mapped.Missing[i], h.Name, anonymousName)
		}
	}
	return mapped, nil
}

const anonymousName = "host"

// mapper maps texts.
type mapper struct {
	key  [32]byte
	macs map[string]string
}

var (
	macText = regexp.MustCompile(`(?i)^(?:[0-9a-f]{2}:){5}[0-9a-f]{2}$`)
	// A link's name that holds a hardware address: systemd.net-naming-scheme(7).
	macName = regexp.MustCompile(`\b(enx|wlx)([0-9a-f]{12})\b`)
	// What may be an address, with a length where there is one, or a hardware
	// address.
	addressText = regexp.MustCompile(`(?i)\b(?:\d{1,3}\.){3}\d{1,3}\b(?:/\d{1,2}\b)?|[0-9a-f]*:[0-9a-f:]*:[0-9a-f:.]*(?:/\d{1,3})?`)
)

func (m *mapper) text(s string) string {
	s = macName.ReplaceAllStringFunc(s, func(name string) string {
		hex := name[3:]
		var colons []string
		for i := 0; i < len(hex); i += 2 {
			colons = append(colons, hex[i:i+2])
		}
		return name[:3] + strings.ReplaceAll(m.mac(strings.Join(colons, ":")), ":", "")
	})
	return addressText.ReplaceAllStringFunc(s, func(text string) string {
		// "192.0.2.1: no answer"
		word := strings.TrimRight(text, ":.")
		if strings.HasSuffix(text, "::") {
			word = text
		}
		if macText.MatchString(word) {
			return m.mac(word) + text[len(word):]
		}
		return m.address(word) + text[len(word):]
	})
}

// mac numbers hardware addresses in the order they are met. Those of groups
// and none stay: they are nobody's.
func (m *mapper) mac(text string) string {
	a, err := flow.ParseMAC(text)
	if err != nil || a.IsZero() || a[0]&1 == 1 {
		return text
	}
	if _, known := m.macs[a.String()]; !known {
		n := len(m.macs) + 1
		m.macs[a.String()] = flow.MAC{2, 0, 0, byte(n >> 16), byte(n >> 8), byte(n)}.String()
	}
	return m.macs[a.String()]
}

// address maps an address, or a prefix: of a network the network, of an
// address with a length the address.
func (m *mapper) address(text string) string {
	if p, err := netip.ParsePrefix(text); err == nil {
		a := m.scramble(p.Addr())
		mapped := netip.PrefixFrom(a, p.Bits())
		if p.Masked() == p {
			mapped = mapped.Masked()
		}
		return mapped.String()
	}
	if a, err := netip.ParseAddr(text); err == nil {
		return m.scramble(a).String()
	}
	return text
}

// private are the ranges whose addresses stay in them.
var private = []netip.Prefix{
	netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("172.16.0.0/12"), netip.MustParsePrefix("192.168.0.0/16"),
	netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("169.254.0.0/16"),
	netip.MustParsePrefix("fe80::/64"), netip.MustParsePrefix("fd00::/8"),
}

func (m *mapper) scramble(a netip.Addr) netip.Addr {
	if !a.IsValid() || a.IsUnspecified() || a.IsLoopback() || a.IsMulticast() || a.Is4() && a.As4()[0] >= 240 {
		return a
	}
	in := a.AsSlice()
	out := make([]byte, len(in))
	// The leading bits that stay, or are those of a range of nobody's.
	fixed, head := 4, []byte{0xf0}
	if len(in) == 16 {
		fixed, head = 32, []byte{0x20, 0x01, 0x0d, 0xb8}
	}
	for _, p := range private {
		if p.Contains(a) {
			fixed, head = p.Bits(), p.Addr().AsSlice()
		}
	}
	for bit := range len(in) * 8 {
		set := in[bit/8]>>(7-bit%8)&1 == 1
		if bit < fixed {
			set = head[bit/8]>>(7-bit%8)&1 == 1
		} else if m.flip(in, bit) {
			set = !set
		}
		if set {
			out[bit/8] |= 1 << (7 - bit%8)
		}
	}
	scrambled, _ := netip.AddrFromSlice(out)
	return scrambled
}

// flip decides over a bit by all the bits before it.
func (m *mapper) flip(in []byte, bit int) bool {
	h := hmac.New(sha256.New, m.key[:])
	before := append([]byte{byte(bit)}, in[:(bit+7)/8]...)
	if bit%8 != 0 {
		before[len(before)-1] &= 0xff << (8 - bit%8)
	}
	h.Write(before)
	return h.Sum(nil)[0]&1 == 1
}
