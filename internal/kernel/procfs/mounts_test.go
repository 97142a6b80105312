package procfs

import (
	"net/netip"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestParseMounts(t *testing.T) {
	text := `proc /proc proc rw 0 0
10.0.0.2:/export /mnt/my\040data nfs4 rw,vers=4.2,proto=tcp,clientaddr=10.0.0.1,addr=10.0.0.2 0 0
//nas/share /nas cifs rw,vers=3.1.1,addr=2001:db8::5 0 0
10.0.0.7:6789,10.0.0.8:6789:/ /ceph ceph rw,name=admin 0 0
server:/x /x nfs rw 0 0
broken
`
	got, err := ParseMounts([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	addrs := func(words ...string) (all []netip.Addr) {
		for _, w := range words {
			all = append(all, netip.MustParseAddr(w))
		}
		return all
	}
	want := []Mount{
		{Kind: "nfs4", Source: "10.0.0.2:/export", Point: "/mnt/my data", Servers: addrs("10.0.0.2")},
		{Kind: "cifs", Source: "//nas/share", Point: "/nas", Servers: addrs("2001:db8::5")},
		{Kind: "ceph", Source: "10.0.0.7:6789,10.0.0.8:6789:/", Point: "/ceph", Servers: addrs("10.0.0.7", "10.0.0.8")},
		{Kind: "nfs", Source: "server:/x", Point: "/x"},
	}
	if d := cmp.Diff(want, got, cmpopts.EquateComparable(netip.Addr{})); d != "" {
		t.Error(d)
	}
	for in, out := range map[string]string{`\`: `\`, `\04`: `\04`, `\134x`: `\x`, `\999`: `\999`} {
		if got := Unescaped(in); got != out {
			t.Errorf("%s: %s", in, got)
		}
	}
}
