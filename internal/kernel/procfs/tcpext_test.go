package procfs

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// netstat618 is /proc/net/netstat of Linux 6.18, in one namespace.
func netstat618(t testing.TB) []byte {
	t.Helper()
	text, err := os.ReadFile("testdata/netstat-6.18")
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestParseEvidence: what it keeps is what ParseNetstat reads, and every name of
// the table is one that a kernel knows.
func TestParseEvidence(t *testing.T) {
	text := netstat618(t)
	groups, err := ParseNetstat(text)
	if err != nil {
		t.Fatal(err)
	}
	want := make(map[string]uint64)
	for name := range evidence {
		if name == "TcpInCsumErrors" || name == "UdpInCsumErrors" { // of snmp
			continue
		}
		v, tcp := groups["TcpExt"][name]
		ip, known := groups["IpExt"][name]
		if !tcp && !known {
			t.Errorf("no kernel knows %s", name)
		}
		if v+ip > 0 {
			want[name] = uint64(v + ip)
		}
	}
	got, err := ParseEvidence(text)
	if diff := cmp.Diff(want, got); err != nil || diff != "" || len(got) == 0 {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
}

// TestParseDamage: what arrived damaged is kept by its protocol, the rest of snmp is not.
func TestParseDamage(t *testing.T) {
	got, err := ParseEvidence([]byte("Ip: Forwarding InHdrErrors\nIp: 1 7\n" +
		"Icmp: InMsgs InErrors InCsumErrors\nIcmp: 9 8 7\n" +
		"Tcp: RtoMin MaxConn RetransSegs InErrs InCsumErrors\nTcp: 200 -1 12 40 38\n" +
		"Udp: InDatagrams InCsumErrors\nUdp: 5 3\n"))
	want := map[string]uint64{"TcpInCsumErrors": 38, "UdpInCsumErrors": 3}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got)\n%s", err, diff)
	}
}

func TestParseEvidenceBad(t *testing.T) {
	for name, text := range map[string]string{
		"names alone":     "TcpExt: TCPTimeouts\n",
		"other group":     "TcpExt: TCPTimeouts\nIpExt: 3\n",
		"too few":         "TcpExt: PruneCalled TCPTimeouts\nTcpExt: 3\n",
		"too many":        "TcpExt: TCPTimeouts\nTcpExt: 3 4\n",
		"no number":       "TcpExt: TCPTimeouts\nTcpExt: x\n",
		"negative number": "TcpExt: TCPTimeouts\nTcpExt: -1\n",
	} {
		if got, err := ParseEvidence([]byte(text)); err == nil {
			t.Errorf("%s: read as %v", name, got)
		}
	}
	// A kernel without them, or with others, is no error: nothing happened.
	for _, text := range []string{"", "MPTcpExt: A\nMPTcpExt: 1\n", "TcpExt: NewName\nTcpExt: 7\n"} {
		if got, err := ParseEvidence([]byte(text)); err != nil || got == nil || len(got) != 0 {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
}

func TestParseRunDelay(t *testing.T) {
	if got, err := ParseRunDelay([]byte("113652 80691 2\n")); err != nil || got != 80691*time.Nanosecond {
		t.Errorf("%v, %v", got, err)
	}
	for _, text := range []string{"", "1\n", "1 -2 3\n", "1 x 3\n"} {
		if got, err := ParseRunDelay([]byte(text)); err == nil {
			t.Errorf("%q was read as %v", text, got)
		}
	}
}

func FuzzParseEvidence(f *testing.F) {
	f.Add(string(netstat618(f)))
	f.Add("Tcp: MaxConn InCsumErrors\nTcp: -1 4\nUdp: InCsumErrors\nUdp: 2\n")
	f.Add("TcpExt: TCPTimeouts TCPOFOQueue\nTcpExt: 3 4\nIpExt: InCEPkts\nIpExt: 1\n")
	f.Fuzz(func(t *testing.T, text string) {
		got, err := ParseEvidence([]byte(text))
		if (err == nil) != (got != nil) {
			t.Fatalf("%v with %v", err, got)
		}
		for name, v := range got {
			bare := strings.TrimPrefix(strings.TrimPrefix(name, "Tcp"), "Udp")
			if !evidence[name] || v == 0 || !strings.Contains(text, bare) {
				t.Fatalf("%s %d", name, v)
			}
		}
		if d, err := ParseRunDelay([]byte(text)); err == nil && d < 0 {
			t.Fatalf("run delay %v", d)
		}
	})
}

func BenchmarkParseEvidence(b *testing.B) {
	text := netstat618(b)
	for b.Loop() {
		if _, err := ParseEvidence(text); err != nil {
			b.Fatal(err)
		}
	}
}
