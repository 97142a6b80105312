package root

import (
	"testing"

	"github.com/linerate/linerate/internal/cmd/console"
)

// The flags of a packet say what the columns of a file say.
func TestSteerShowPackets(t *testing.T) {
	lane := []string{"--json", "--src", "10.0.0.1", "--dst", "10.0.0.2"}
	for _, tt := range []struct {
		name  string
		flags []string
		csv   string
		known bool
	}{
		{"a ping", []string{"--proto", "icmp", "--icmp", "8/0/4711", "--dport", "0"}, "proto,src,dst,icmp_type,icmp_code,icmp_id\nicmp,10.0.0.1,10.0.0.2,8,0,4711\n", true},
		{"a ping without its identifier", []string{"--proto", "icmp", "--dport", "0"}, "proto,src,dst\nicmp,10.0.0.1,10.0.0.2\n", false},
		{"IPsec", []string{"--proto", "esp", "--spi", "0x1000", "--dport", "0"}, "proto,src,dst,spi\nesp,10.0.0.1,10.0.0.2,4096\n", true},
		{"a fragment", []string{"--proto", "udp", "--fragment", "--sport", "1", "--dport", "2"}, "proto,src,dst,sport,dport,fragment\nudp,10.0.0.1,10.0.0.2,1,2,yes\n", true},
	} {
		byFlags := document(t, run(t, "", steerArgs("show", append(lane, tt.flags...)...)...))["flows"].([]any)[0].(map[string]any)
		byFile := document(t, run(t, tt.csv, steerArgs("show", "--json", "--flows", "-")...))["flows"].([]any)[0].(map[string]any)
		for _, f := range []map[string]any{byFlags, byFile} {
			if f["known"] != tt.known || (f["link"] != nil) != tt.known {
				t.Errorf("%s: %v, want known %t", tt.name, f, tt.known)
			}
		}
		if byFlags["hash"] != byFile["hash"] {
			t.Errorf("%s: hash %v by flags, %v by file", tt.name, byFlags["hash"], byFile["hash"])
		}
	}
	encap := []string{"steer", "show", "--policy", "encap3+4", "--links", "2", "--kernel", "6.1", "--json", "--src", "10.0.0.1", "--dst", "10.0.0.2", "--sport", "1"}
	for forwarded, args := range map[bool][]string{false: encap, true: append(encap, "--forwarded")} {
		f := document(t, run(t, "", args...))["flows"].([]any)[0].(map[string]any)
		if f["known"] != forwarded {
			t.Errorf("encap3+4, forwarded %t: %v", forwarded, f)
		}
	}
	addresses := []string{"--src", "10.0.0.1", "--dst", "10.0.0.2"}
	refused(t, "", console.ExitUsage, "--icmp: parse ICMP message", "8/0/ID", steerArgs("show", append(addresses, "--proto", "icmp", "--icmp", "8/0/x")...)...)
	refused(t, "", console.ExitUsage, "--spi: want 1 to 4294967295, not 0", "ip xfrm state", steerArgs("show", append(addresses, "--proto", "esp", "--spi", "0")...)...)
	refused(t, "src,spi\n10.0.0.1,x\n", console.ExitUsage, "read flows standard input:2:10: spi: parse", "", steerArgs("show", "--flows", "-")...)
}
