package formats

import (
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/linerate/linerate/render"
	"github.com/linerate/linerate/render/unitfile"
)

// generated is what netplan's own generator makes of netplan files: text by
// name below /run/systemd/network, and what it complains of.
func generated(t *testing.T, files []render.File) (units map[string]string, complaints string) {
	t.Helper()
	program := filepath.Join(parsers(t, "netplan/generate"), "netplan/generate")
	root := t.TempDir()
	for _, f := range files {
		if !strings.HasPrefix(f.Path, "/etc/netplan/") {
			continue
		}
		if f.Mode != 0o600 {
			t.Errorf("%s has mode %o", f.Path, f.Mode)
		}
		at := filepath.Join(root, f.Path)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(f.Text), os.FileMode(f.Mode)); err != nil {
			t.Fatal(err)
		}
	}
	text, err := exec.Command(program, "--root-dir", root).CombinedOutput()
	if err != nil {
		t.Fatalf("netplan generate: %v\n%s", err, text)
	}
	units = map[string]string{}
	made, _ := filepath.Glob(filepath.Join(root, "run/systemd/network/*"))
	for _, file := range made {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		units[filepath.Base(file)] = string(content)
	}
	return units, string(text)
}

// statements are a unit's assignments as "section key value", sorted; those of
// repeated sections carry what tells them apart.
func statements(text string) []string {
	var all []string
	for _, s := range unitfile.Read(text, nil) {
		id, repeated := unitfile.Identity(s)
		if !repeated {
			id = ""
		}
		for _, a := range s.Keys {
			all = append(all, strings.TrimSpace(s.Name+" "+id)+": "+a.Key+"="+spelled(a))
		}
	}
	sort.Strings(all)
	return all
}

// spelled is a value in one of the spellings that mean the same.
func spelled(a unitfile.Assignment) string {
	if a.Key == "AllSlavesActive" && a.Value == "1" {
		return "true"
	}
	return unitfile.BareHost(a.Value)
}

// TestNetworkdAsNetplanHasIt renders one host as netplan and as networkd's
// files: netplan's generator takes the first, and what it makes of them says
// key by key what the second say, but for the differences listed.
func TestNetworkdAsNetplanHasIt(t *testing.T) {
	in := input(t, "testdata/full/fabric.yaml", "a")
	units, complaints := generated(t, mustRender(t, render.FormatNetplan, in).Files)
	if complaints != "" {
		t.Errorf("netplan complains: %s", complaints)
	}
	ours := map[string][]string{}
	for _, f := range mustRender(t, render.FormatNetworkd, in).Files {
		ours[strings.TrimPrefix(filepath.Base(f.Path), "20-")] = statements(f.Text)
	}
	theirs := map[string][]string{}
	for name, text := range units {
		client := "[DHCPv4]" // netplan's [DHCP] is the old name of both
		if strings.Contains(text, "\nDHCP=ipv6\n") {
			client = "[DHCPv6]"
		}
		theirs[strings.TrimPrefix(name, "10-netplan-")] = statements(strings.Replace(text, "[DHCP]", client, 1))
	}
	apart := map[string]map[string]bool{}
	for name := range union2(ours, theirs) {
		apart[name] = map[string]bool{}
		for _, s := range without(ours[name], theirs[name]) {
			apart[name]["+"+s] = true
		}
		for _, s := range without(theirs[name], ours[name]) {
			apart[name]["-"+s] = true
		}
		for s := range apart[name] {
			for _, known := range differences {
				if strings.HasPrefix(s, known) {
					delete(apart[name], s)
				}
			}
		}
		if len(apart[name]) == 0 {
			delete(apart, name)
		}
	}
	if diff := cmp.Diff(map[string]map[string]bool{}, apart); diff != "" {
		t.Errorf("differences from netplan's files (-netplan's, +ours):\n%s", diff)
	}
}

// differences are what networkd is told of in another way on purpose.
var differences = []string{
	"-Link: WakeOnLan=off",                  // said only where the file says it
	"-DHCPv6: UseMTU=",                      // no such key
	"-Link: MTUBytes=", "-Match: Permanent", // .link: the .network file sets the MTU
	"+Match: OriginalName=", "+Link: MACAddressPolicy=none", // udev makes no address for bonds and bridges
	"+Link: NamePolicy=", "+Link: AlternativeNamesPolicy=", // a .link file stands in the place of 99-default.link
}

func union2(a, b map[string][]string) map[string]bool {
	all := map[string]bool{}
	for k := range a {
		all[k] = true
	}
	for k := range b {
		all[k] = true
	}
	return all
}

func without(a, b []string) []string {
	var all []string
	for _, s := range a {
		found := false
		for _, o := range b {
			found = found || o == s
		}
		if !found {
			all = append(all, s)
		}
	}
	return all
}

// parsers is where packages with the configuration systems' own parsers are
// unpacked; `make deps-config` does it.
func parsers(t *testing.T, program string) string {
	t.Helper()
	dir := os.Getenv("LINERATE_LAB_CONFIG")
	if dir == "" {
		dir, _ = filepath.Abs("../../.lab-config")
	}
	for _, place := range []string{filepath.Join(dir, "networkmanager"), dir} {
		if _, err := os.Stat(filepath.Join(place, program)); err == nil {
			return place
		}
	}
	t.Skipf("%s is not there: make deps-config fetches it", program)
	return ""
}
