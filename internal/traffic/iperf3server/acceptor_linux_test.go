package iperf3server

import (
	"encoding/binary"
	"net/netip"
	"syscall"
	"testing"
)

func TestArrivedAt(t *testing.T) {
	control := func(level, kind int, data []byte) []byte {
		b := make([]byte, syscall.CmsgSpace(len(data)))
		n := syscall.CmsgLen(0)
		binary.NativeEndian.PutUint64(b, uint64(syscall.CmsgLen(len(data))))
		binary.NativeEndian.PutUint32(b[n-8:], uint32(level))
		binary.NativeEndian.PutUint32(b[n-4:], uint32(kind))
		copy(b[n:], data)
		return b
	}
	four := func(own, sent string) []byte {
		b := append(make([]byte, 4), netip.MustParseAddr(own).AsSlice()...)
		return control(syscall.IPPROTO_IP, syscall.IP_PKTINFO, append(b, netip.MustParseAddr(sent).AsSlice()...))
	}
	six := func(sent string) []byte {
		return control(syscall.IPPROTO_IPV6, syscall.IPV6_PKTINFO, append(netip.MustParseAddr(sent).AsSlice(), 1, 0, 0, 0))
	}
	for name, tt := range map[string]struct {
		control []byte
		want    string
	}{
		"own address": {four("192.0.2.1", "192.0.2.1"), "192.0.2.1"},
		"broadcast":   {four("192.0.2.1", "192.0.2.255"), "192.0.2.1"},
		"IPv6":        {six("2001:db8::1"), "2001:db8::1"},
		"mapped":      {six("::ffff:192.0.2.1"), "192.0.2.1"},
		"multicast":   {six("ff02::1"), "invalid IP"},
		"nothing":     {nil, "invalid IP"},
		"short":       {control(syscall.IPPROTO_IP, syscall.IP_PKTINFO, make([]byte, 8)), "invalid IP"},
	} {
		if got := arrivedAt(tt.control).String(); got != tt.want {
			t.Errorf("%s: %s, want %s", name, got, tt.want)
		}
	}
}
