package campaign

import (
	"fmt"
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCandidateAddresses(t *testing.T) {
	taken := map[netip.Addr]bool{netip.MustParseAddr("10.7.0.1"): true, netip.MustParseAddr("10.7.0.3"): true}
	for _, c := range []struct {
		subnet string
		most   int
		want   []string
	}{
		{"10.7.0.0/29", 100, []string{"10.7.0.2", "10.7.0.4", "10.7.0.5", "10.7.0.6"}},
		{"10.7.0.4/29", 2, []string{"10.7.0.2", "10.7.0.4"}},
		{"10.8.0.0/31", 100, []string{"10.8.0.0", "10.8.0.1"}},
		{"10.8.0.9/32", 100, []string{"10.8.0.9"}},
		{"255.255.255.252/30", 100, []string{"255.255.255.253", "255.255.255.254"}},
		{"2001:db8::/126", 100, []string{"2001:db8::1", "2001:db8::2", "2001:db8::3"}},
		{"10.0.0.0/8", 1, []string{"10.0.0.1"}},
	} {
		var got []string
		for _, a := range candidateAddresses(netip.MustParsePrefix(c.subnet), taken, c.most) {
			got = append(got, fmt.Sprint(a))
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.subnet, diff)
		}
	}
	if n := len(candidateAddresses(netip.MustParsePrefix("10.77.0.0/24"), nil, 1000)); n != 254 {
		t.Errorf("a /24 has room for %d", n)
	}
}
