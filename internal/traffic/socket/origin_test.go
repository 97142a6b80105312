package socket

import (
	"net/netip"
	"testing"
)

func TestOrigin(t *testing.T) {
	for from, want := range map[string]string{
		"192.0.2.7": "192.0.2.7", "::ffff:192.0.2.7": "192.0.2.7", "2001:db8:0:1:2:3:4:5": "2001:db8:0:1::", "2001:db8:0:2::5": "2001:db8:0:2::", "fe80::1%eth0": "fe80::1", "::1": "::",
	} {
		if got := Origin(netip.MustParseAddr(from)); got.String() != want {
			t.Errorf("%s: %s, want %s", from, got, want)
		}
	}
	if got := Origin(netip.Addr{}); got.IsValid() {
		t.Errorf("no address: %s", got)
	}
}
