package observe

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
)

// packed is a tar.gz of the given entries.
func packed(t testing.TB, entries ...tar.Header) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	for _, h := range entries {
		content := []byte(h.Linkname)
		if h.Typeflag == 0 {
			h.Typeflag, h.Linkname, h.Size = tar.TypeReg, "", int64(len(content))
		}
		if err := w.WriteHeader(&h); err != nil {
			t.Fatal(err)
		}
		if h.Typeflag == tar.TypeReg {
			if _, err := w.Write(content); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := errors.Join(w.Close(), z.Close()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// entry is a regular file; its content stands in Linkname until it is packed.
func entry(name, content string) tar.Header {
	return tar.Header{Name: name, Linkname: content, Mode: 0o644}
}

func written(t testing.TB, content []byte) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "host.tar.gz")
	if err := os.WriteFile(name, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestArchiveOfATree(t *testing.T) {
	tree := capturedTree(t)
	var entries []tar.Header
	for name, f := range tree {
		// As tar(1) of a copied tree writes them.
		entries = append(entries, entry("./"+name, string(f.Data)))
	}
	entries = append(entries, tar.Header{Name: "proc/sys/kernel/hostname", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"}, tar.Header{Name: "dev/sda", Typeflag: tar.TypeBlock})
	h, err := Observe(t.Context(), Config{Root: written(t, packed(t, entries...))})
	if err != nil {
		t.Fatal(err)
	}
	want, err := Captured(tree)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, h, cmpopts.EquateComparable(netip.Addr{}, netip.Prefix{}), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("(-tree +archive)\n%s", diff)
	}
}

func TestArchiveOfAHost(t *testing.T) {
	host := netstate.Host{Name: "alpha\x1b[31m", Links: []netstate.Link{{Name: "eth0", Counters: netstate.Counters{RxBytes: 1<<64 - 1}}},
		Sysctls: map[string]netstate.Sysctl{"net.ipv4.tcp_sack\x07": {Value: "1"}}}
	text, err := json.Marshal(host)
	if err != nil {
		t.Fatal(err)
	}
	about, _ := json.Marshal(About{Schema: CaptureSchema, Anonymous: true, Missing: []string{"/proc/net/x: permission denied"}})
	h, err := Observe(t.Context(), Config{Root: written(t, packed(t, entry(hostFile, string(text)), entry(aboutFile, string(about)), entry("sys/class/net/other/ifindex", "3")))})
	if err != nil {
		t.Fatal(err)
	}
	if h.Name != "alpha?[31m" || len(h.Links) != 1 || h.Links[0].Counters.RxBytes != 1<<64-1 || h.Sysctls["net.ipv4.tcp_sack?"].Value != "1" {
		t.Errorf("%+v", h)
	}
	if len(h.Missing) != 2 || h.Missing[0] != "when it was captured: /proc/net/x: permission denied" || !strings.Contains(h.Missing[1], "anonymous") {
		t.Errorf("missing %q", h.Missing)
	}
}

func TestBadArchives(t *testing.T) {
	host := `{"links":[{"name":"eth0"}]}`
	whole := packed(t, entry(hostFile, host))
	for _, tc := range []struct {
		name    string
		content []byte
	}{
		{"empty", nil},
		{"no gzip", []byte("linerate: v1\n")},
		{"cut off", whole[:len(whole)-20]},
		{"a name that leads out", packed(t, entry("../../etc/cron.d/x", "x"), entry(hostFile, host))},
		{"a name that leads out in the middle", packed(t, entry("proc/../../x", "x"), entry(hostFile, host))},
		{"a file that is a directory", packed(t, entry("proc", "x"), entry("proc/cpuinfo", "x"))},
		{"no host in it", packed(t, entry("README", "hello"))},
		{"no links", packed(t, entry(hostFile, `{"name":"x"}`))},
		{"broken JSON", packed(t, entry(hostFile, `{"links":[`))},
		{"another type", packed(t, entry(hostFile, `{"links":7}`))},
	} {
		if _, err := Observe(t.Context(), Config{Root: written(t, tc.content)}); !errors.Is(err, ErrArchive) {
			t.Errorf("%s: %v, want ErrArchive", tc.name, err)
		}
	}
	if _, err := Observe(t.Context(), Config{Root: filepath.Join(t.TempDir(), "absent")}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("absent: %v", err)
	}
}

// TestArchiveBounds: what little is packed may unpack to much.
func TestArchiveBounds(t *testing.T) {
	zeros := strings.Repeat("\x00", 1<<20)
	for _, tc := range []struct {
		name    string
		entries []tar.Header
		fits    bool
	}{
		{"one file", []tar.Header{entry("a", zeros)}, true},
		{"a file too large", []tar.Header{entry("a", zeros+"x")}, false},
		{"too large altogether", []tar.Header{entry("a", zeros), entry("b", zeros)}, false},
		{"too many files", []tar.Header{entry("a", "1"), entry("b", "2"), entry("c", "3")}, false},
	} {
		_, err := unpack(bytes.NewReader(packed(t, tc.entries...)), archiveBounds{files: 2, bytes: 3 << 19, file: 1 << 20})
		if (err == nil) != tc.fits {
			t.Errorf("%s: %v", tc.name, err)
		}
	}
}

// TestCaptureThisHost captures the machine that runs the test: what --root
// shows is what was read.
func TestCaptureThisHost(t *testing.T) {
	made, err := Capture(t.Context(), CaptureConfig{Version: "test"})
	if err != nil {
		t.Fatal(err)
	}
	if len(made.Content) == 0 || len(made.Content) > MostCapture || made.Files < 2 {
		t.Fatalf("%d bytes, %d files", len(made.Content), made.Files)
	}
	want, err := Observe(t.Context(), Config{})
	if err != nil {
		t.Fatal(err)
	}
	got, err := Observe(t.Context(), Config{Root: written(t, made.Content)})
	if err != nil {
		t.Fatal(err)
	}
	names := func(h netstate.Host) (all []string) {
		for _, l := range h.Links {
			all = append(all, l.Name)
		}
		return all
	}
	if !slices.Equal(names(got), names(want)) || got.Kernel != want.Kernel || got.Name != want.Name || len(got.Sysctls) < len(want.Sysctls)-1 {
		t.Errorf("captured %+v\nlive %+v", got, want)
	}
	for name, content := range entriesOf(t, made.Content) {
		for _, secret := range []string{"fastopen_key", "stable_secret", "rss_key", "hash_seed", "etc/netplan", "shadow"} {
			if strings.Contains(name, secret) && len(content) > 0 {
				t.Errorf("%s is in it", name)
			}
		}
	}
}

func entriesOf(t testing.TB, content []byte) map[string][]byte {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	all := make(map[string][]byte)
	r := tar.NewReader(z)
	for {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		if all[h.Name], err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAnonymousCapture(t *testing.T) {
	made, err := Capture(t.Context(), CaptureConfig{Name: "prod-db-17", Anonymous: true})
	if err != nil {
		t.Fatal(err)
	}
	live, err := Observe(t.Context(), Config{})
	if err != nil {
		t.Fatal(err)
	}
	telling := []string{"prod-db-17", live.Name}
	for _, l := range live.Links {
		if !l.MAC.IsZero() {
			telling = append(telling, l.MAC.String())
		}
		for _, p := range l.Addresses {
			if !p.Addr().IsLoopback() {
				telling = append(telling, p.Addr().String())
			}
		}
	}
	for name, content := range entriesOf(t, made.Content) {
		for _, text := range telling {
			if len(text) > 2 && bytes.Contains(content, []byte(text)) {
				t.Errorf("%s holds %s", name, text)
			}
		}
		if strings.HasPrefix(name, "proc/net/fib_trie") || strings.HasPrefix(name, "sys/class/net/") {
			t.Errorf("%s is in it", name)
		}
	}
}

func TestAnonymousKeepsWhatIsJudged(t *testing.T) {
	p, a := netip.MustParsePrefix, netip.MustParseAddr
	mac := flow.MAC{0x0c, 0x42, 0xa1, 1, 2, 3}
	h := netstate.Host{
		Name: "alpha", Kernel: netstate.Kernel{Release: "5.10.0.1"},
		Links: []netstate.Link{
			{Name: "enx0c42a1010203", MAC: mac, PermanentMAC: mac, Addresses: []netip.Prefix{p("192.0.2.10/24"), p("10.1.2.3/16"), p("2a01:4f8::5/64"), p("fe80::e42:a1ff:fe01:203/64")}, Extra: map[string]string{"alias": "to rack 7"}},
			{Name: "eth1", MAC: flow.MAC{0x0c, 0x42, 0xa1, 9, 9, 9}, Addresses: []netip.Prefix{p("192.0.2.11/24")}, Driver: "mlx5_core", Device: &netstate.Device{Firmware: "20.34.10.2"}},
		},
		Routes:  []netstate.Route{{Dst: p("0.0.0.0/0"), Gateway: a("192.0.2.1"), Link: "eth1"}, {Dst: p("192.0.2.0/24"), Link: "eth1"}, {Dst: p("::/0"), Gateway: a("fe80::1")}, {Dst: p("ff00::/8")}},
		Sysctls: map[string]netstate.Sysctl{"net.ipv4.conf.enx0c42a1010203.rp_filter": {Value: "1"}},
		Missing: []string{"alpha at 0c:42:a1:01:02:03 and 192.0.2.10: silent"},
	}
	m, err := Anonymous(h)
	if err != nil {
		t.Fatal(err)
	}
	first, second := m.Links[0], m.Links[1]
	if m.Name != "host" || m.Kernel != h.Kernel || second.Device.Firmware != "20.34.10.2" || first.Extra["alias"] != "" {
		t.Errorf("%+v", m)
	}
	if first.MAC != first.PermanentMAC || first.MAC == mac || first.MAC == second.MAC || first.MAC[0] != 2 {
		t.Errorf("hardware addresses %v %v %v", first.MAC, first.PermanentMAC, second.MAC)
	}
	if !regexp.MustCompile(`^enx020000[0-9a-f]{6}$`).MatchString(first.Name) {
		t.Errorf("the name %s still tells", first.Name)
	}
	if _, ok := m.Sysctls["net.ipv4.conf."+first.Name+".rp_filter"]; !ok {
		t.Errorf("sysctls %v of %s", m.Sysctls, first.Name)
	}
	one, other, gateway, network := first.Addresses[0], second.Addresses[0], m.Routes[0].Gateway, m.Routes[1].Dst
	if one == other || one.Masked() != other.Masked() || one.Masked() != network || !network.Contains(gateway) || one.Addr().As4()[0] < 240 {
		t.Errorf("%v, %v, gateway %v and network %v are no longer one subnet", one, other, gateway, network)
	}
	if b := first.Addresses[1]; b == h.Links[0].Addresses[1] || !p("10.0.0.0/8").Contains(b.Addr()) || b.Bits() != 16 {
		t.Errorf("private address became %v", b)
	}
	if !p("2001:db8::/32").Contains(first.Addresses[2].Addr()) || !p("fe80::/64").Contains(first.Addresses[3].Addr()) || first.Addresses[3] == h.Links[0].Addresses[3] {
		t.Errorf("IPv6 addresses became %v", first.Addresses[2:])
	}
	if m.Routes[0].Dst != h.Routes[0].Dst || m.Routes[3].Dst != h.Routes[3].Dst || !m.Routes[2].Gateway.IsLinkLocalUnicast() {
		t.Errorf("routes %+v", m.Routes)
	}
	for _, told := range []string{"alpha", "0c:42", "192.0.2.10"} {
		if strings.Contains(m.Missing[0], told) {
			t.Errorf("%q still tells", m.Missing[0])
		}
	}
}

func FuzzArchive(f *testing.F) {
	f.Add(packed(f, entry(hostFile, `{"links":[{"name":"eth0"}]}`), entry(aboutFile, `{"missing":["x"]}`)))
	f.Add(packed(f, entry("sys/class/net/lo/ifindex", "1"), tar.Header{Name: "x", Typeflag: tar.TypeLink, Linkname: "y"}))
	f.Add([]byte("\x1f\x8b"))
	f.Fuzz(func(t *testing.T, content []byte) {
		tree, err := readArchive(bytes.NewReader(content))
		if err != nil {
			if !errors.Is(err, ErrArchive) {
				t.Errorf("%v is not ErrArchive", err)
			}
			return
		}
		if h, err := opened(tree); err == nil && len(h.Links) == 0 {
			t.Error("a host without links")
		}
	})
}

func FuzzAnonymous(f *testing.F) {
	f.Add("eth0 at 0c:42:a1:01:02:03, 192.0.2.10/24 and 2a01:4f8::5")
	f.Add("1.2.3.4.5.6 ::1 0000:01:00.0 999.1.1.1/33")
	f.Fuzz(func(t *testing.T, text string) {
		m := &mapper{macs: make(map[string]string)}
		first := m.text(text)
		if again := m.text(text); again != first {
			t.Errorf("%q became %q and then %q", text, first, again)
		}
	})
}
