package sysctl

import (
	"errors"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/linerate/linerate/netstate"
)

func TestPath(t *testing.T) {
	for _, tc := range []struct{ key, path, canonical string }{
		{"net.ipv4.tcp_rmem", "proc/sys/net/ipv4/tcp_rmem", "net.ipv4.tcp_rmem"},
		{"net/ipv4/tcp_rmem", "proc/sys/net/ipv4/tcp_rmem", "net.ipv4.tcp_rmem"},
		{"net.ipv4.conf.eth0/100.rp_filter", "proc/sys/net/ipv4/conf/eth0.100/rp_filter", "net.ipv4.conf.eth0/100.rp_filter"},
		{"net/ipv4/conf/eth0.100/rp_filter", "proc/sys/net/ipv4/conf/eth0.100/rp_filter", "net.ipv4.conf.eth0/100.rp_filter"},
		{"net.ipv4.conf.enP4p65s0f0np0.arp_ignore", "proc/sys/net/ipv4/conf/enP4p65s0f0np0/arp_ignore", "net.ipv4.conf.enP4p65s0f0np0.arp_ignore"},
		{"vm", "proc/sys/vm", "vm"},
	} {
		if got, err := Path(tc.key); err != nil || got != tc.path {
			t.Errorf("Path(%q) = %q, %v; want %q", tc.key, got, err, tc.path)
		}
		if got, err := Canonical(tc.key); err != nil || got != tc.canonical {
			t.Errorf("Canonical(%q) = %q, %v; want %q", tc.key, got, err, tc.canonical)
		}
	}
	for _, bad := range []string{"", ".", "..", "net..ipv4", "net.ipv4.", "/etc/passwd", "../etc/passwd",
		"net/../../etc/passwd", "net.//.//.x", "net.ipv4.a b", "net.ipv4.x\x00", "net.ipv4.é", "net.ipv4.conf.//.x", "kernel.*"} {
		if got, err := Path(bad); !errors.Is(err, fs.ErrInvalid) {
			t.Errorf("Path(%q) = %q, %v; want fs.ErrInvalid", bad, got, err)
		}
	}
}

func TestLinkSysctlIsCanonical(t *testing.T) {
	key := netstate.LinkSysctl("ipv4", "bond1.1904", "arp_announce")
	if got, err := Canonical(key); err != nil || got != key || key != "net.ipv4.conf.bond1/1904.arp_announce" {
		t.Errorf("LinkSysctl %q, canonical %q, %v", key, got, err)
	}
}

func TestScopeOf(t *testing.T) {
	for key, want := range map[string]netstate.Scope{
		"net.ipv4.tcp_rmem":                         netstate.ScopeNamespace,
		"net.ipv4.tcp_wmem":                         netstate.ScopeNamespace,
		"net.ipv4.tcp_congestion_control":           netstate.ScopeNamespace,
		"net.ipv4.tcp_available_congestion_control": netstate.ScopeNamespace,
		"net.ipv4.conf.eth0/100.rp_filter":          netstate.ScopeNamespace,
		"net/ipv4/conf/all/rp_filter":               netstate.ScopeNamespace,
		"net.ipv4.fib_multipath_hash_policy":        netstate.ScopeNamespace,
		"net.mptcp.enabled":                         netstate.ScopeNamespace,
		"net.core.somaxconn":                        netstate.ScopeNamespace,
		"net.ipv4.tcp_mem":                          netstate.ScopeGlobal,
		"net.ipv4.tcp_mem_not_yet_invented":         netstate.ScopeNamespace,
		"net.core.rmem_max":                         netstate.ScopeGlobal,
		"net.core.wmem_max":                         netstate.ScopeGlobal,
		"net.core.netdev_max_backlog":               netstate.ScopeGlobal,
		"net.core.netdev_budget":                    netstate.ScopeGlobal,
		"net.core.default_qdisc":                    netstate.ScopeGlobal,
		"net.netfilter.nf_conntrack_max":            netstate.ScopeGlobal,
		"kernel.hostname":                           netstate.ScopeGlobal,
		"vm.swappiness":                             netstate.ScopeGlobal,
		"../x":                                      netstate.ScopeGlobal,
	} {
		if got := ScopeOf(key); got != want {
			t.Errorf("ScopeOf(%q) = %q, want %q", key, got, want)
		}
	}
}

func TestReadFrom(t *testing.T) {
	tree := fstest.MapFS{
		"proc/sys/net/ipv4/tcp_rmem":                {Data: []byte("4096\t131072\t6291456\n")},
		"proc/sys/net/core/rmem_max":                {Data: []byte("212992\n")},
		"proc/sys/net/ipv4/conf/eth0.100/rp_filter": {Data: []byte("2\n")},
		"proc/sys/net/ipv4/tcp_fastopen_key/x":      {},
	}
	got, err := ReadFrom(tree, "net.ipv4.tcp_rmem", "net/core/rmem_max", "net.ipv4.conf.eth0/100.rp_filter", "net.ipv4.absent")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]netstate.Sysctl{
		"net.ipv4.tcp_rmem":                {Value: "4096 131072 6291456", Scope: netstate.ScopeNamespace},
		"net.core.rmem_max":                {Value: "212992", Scope: netstate.ScopeGlobal},
		"net.ipv4.conf.eth0/100.rp_filter": {Value: "2", Scope: netstate.ScopeNamespace},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	got, err = ReadFrom(tree, "net.ipv4.tcp_fastopen_key", "..", "net.core.rmem_max")
	if err == nil || !errors.Is(err, fs.ErrInvalid) || got["net.core.rmem_max"].Value != "212992" {
		t.Errorf("a directory and a bad key: %v, %v", got, err)
	}
}

func TestWriteRefusesBeforeTouching(t *testing.T) {
	for _, tc := range []struct {
		key, value  string
		inNamespace bool
		want        error
	}{
		{"net.core.rmem_max", "1", true, ErrGlobal},
		{"net/core/rmem_max", "1", true, ErrGlobal},
		{"net..x", "1", false, fs.ErrInvalid},
		{"net.ipv4.tcp_rmem", "1\n2", true, fs.ErrInvalid},
	} {
		if err := Write(tc.key, tc.value, tc.inNamespace); !errors.Is(err, tc.want) {
			t.Errorf("Write(%q, %q, %v) = %v, want %v", tc.key, tc.value, tc.inNamespace, err, tc.want)
		}
	}
}

func FuzzPath(f *testing.F) {
	for _, s := range []string{"net.ipv4.tcp_rmem", "net/ipv4/conf/eth0.100/rp_filter", "net.ipv4.conf.eth0/100.rp_filter", "../x", "a./.b", "//"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, key string) {
		p, err := Path(key)
		if err != nil {
			if !errors.Is(err, fs.ErrInvalid) {
				t.Errorf("Path(%q): %v, want fs.ErrInvalid", key, err)
			}
			return
		}
		if !strings.HasPrefix(p, "proc/sys/") || !fs.ValidPath(p) {
			t.Errorf("Path(%q) = %q leaves the tree", key, p)
		}
		canonical, err := Canonical(key)
		if err != nil {
			t.Fatalf("Canonical(%q): %v", key, err)
		}
		if again, err := Path(canonical); err != nil || again != p {
			t.Errorf("Path(%q) = %q, Path(%q) = %q, %v", key, p, canonical, again, err)
		}
	})
}
