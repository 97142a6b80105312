package render

import (
	"net/netip"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/fabric/yamldoc"
)

// readBack is what a format's files say, as the fabric that a user gets.
func readBack(t *testing.T, format Format, files map[string]string) (fabric.Host, []Unread) {
	t.Helper()
	found, err := Read(format, files)
	if err != nil {
		t.Fatal(err)
	}
	text := found.FabricFile("a")
	f, err := fabric.Parse("found.yaml", text)
	if err != nil {
		t.Fatalf("%s read back is no fabric: %v\n%s", format, err, text)
	}
	h, _ := f.Host("a")
	return h, found.Unread
}

// TestReadBack renders a fabric, reads it back, and renders what was read: the
// files are the same, and nothing was left out in silence.
func TestReadBack(t *testing.T) {
	for _, dir := range []string{"full", "settings"} {
		for _, format := range []Format{FormatNetplan, FormatNetworkd, FormatIfcfg} {
			in := input(t, "testdata/"+dir+"/fabric.yaml", "a")
			files := byPath(mustRender(t, format, in).Files)
			back, unread := readBack(t, format, files)
			if len(unread) > 0 {
				t.Errorf("%s of %s: not read back: %v", format, dir, unread)
			}
			f := fabric.Fabric{Hosts: []fabric.Host{back}}
			state, err := f.State("a")
			if err != nil {
				t.Fatal(err)
			}
			again := byPath(mustRender(t, format, Input{Host: back, State: state}).Files)
			if format == FormatNetplan {
				continue // its text is the user's own; what it means is compared below
			}
			if diff := cmp.Diff(sortedLines(files), sortedLines(again)); diff != "" {
				t.Errorf("%s of %s read back and rendered (-first +second):\n%s", format, dir, diff)
			}
		}
	}
}

// sortedLines forgets the order of sections and keys, which files of several
// devices do not all have.
func sortedLines(files map[string]string) map[string][]string {
	all := map[string][]string{}
	for path, text := range files {
		all[path] = strings.Split(text, "\n")
		for i, line := range all[path] {
			words := strings.FieldsFunc(line, func(r rune) bool { return r == ' ' || r == '"' })
			slices.Sort(words)
			all[path][i] = strings.Join(words, " ")
		}
		slices.Sort(all[path])
	}
	return all
}

// TestReadNetplanBack: several files mean what they mean together.
func TestReadNetplanBack(t *testing.T) {
	in := input(t, "testdata/settings/fabric.yaml", "a")
	back, unread := readBack(t, FormatNetplan, byPath(mustRender(t, FormatNetplan, in).Files))
	if unread != nil {
		t.Errorf("not read: %v", unread)
	}
	for name, value := range map[string]string{"ad_actor_sys_prio": "1000", "ad_user_port_key": "5"} {
		if got := back.Bonding["bond0"][name]; got != value {
			t.Errorf("%s = %q, want %s", name, got, value)
		}
	}
	if diff := cmp.Diff(in.Host.Multipath, back.Multipath, cmpopts.EquateComparable(netip.Prefix{}, netip.Addr{})); diff != "" {
		t.Errorf("multipath (-want +got):\n%s", diff)
	}
	if l := back.Links["eno1"]; l.RingRx != 4096 || l.Coalescing["rx-usecs"] != 16 || l.Offloads["rxvlan"] {
		t.Errorf("eno1 = %+v", l)
	}
	n, err := ReadNetplan(map[string]string{
		"/etc/netplan/10-a.yaml": "network:\n  version: 2\n  ethernets:\n    eth0: {mtu: 1500, addresses: [10.0.0.1/24]}\n",
		"/run/netplan/20-b.yaml": "network:\n  ethernets:\n    eth0: {mtu: 9000, addresses: [10.0.0.2/24, 10.0.0.1/24]}\n",
		"/etc/netplan/20-b.yaml": "network: {ethernets: {eth0: {mtu: 1}}}\n",
	})
	if err != nil {
		t.Fatal(err)
	}
	e, _ := n.Ethernet("eth0")
	if e.MTU != 9000 || len(e.Addresses) != 2 {
		t.Errorf("eth0 = %+v", e)
	}
	for _, bad := range []string{"network: {ethernets: {eth0: {mtu: x}}}", "eth0: {}", "network:\n  ethernets: {eth0: [\n"} {
		if _, err := Read(FormatNetplan, map[string]string{"/etc/netplan/a.yaml": bad}); err == nil {
			t.Errorf("%q was read", bad)
		}
	}
}

// TestReadForeign reads files that others wrote, in the older forms too, and
// expects what they mean and every line that is left out named.
func TestReadForeign(t *testing.T) {
	for _, format := range []Format{FormatIfcfg, FormatNetworkd} {
		dir := "testdata/foreign/" + string(format)
		found, err := Read(format, parts(string(read(t, dir+".txt"))))
		if err != nil {
			t.Fatal(err)
		}
		text := string(found.FabricFile("a"))
		if _, err := fabric.Parse("found.yaml", []byte(text)); err != nil {
			t.Errorf("%s: %v", format, err)
		}
		for _, u := range found.Unread {
			text += "# " + u.String() + "\n"
		}
		if *update {
			if err := os.WriteFile(dir+".yaml", []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(string(read(t, dir+".yaml")), text); diff != "" {
			t.Errorf("%s (-want +got):\n%s", dir, diff)
		}
	}
}

// FuzzReadFiles: no text makes a reader fall over, and what it finds can be
// written as a fabric file.
func FuzzReadFiles(f *testing.F) {
	for _, format := range []string{"ifcfg", "networkd"} {
		text, err := os.ReadFile("testdata/foreign/" + format + ".txt")
		if err != nil {
			f.Fatal(err)
		}
		for path, part := range parts(string(text)) {
			f.Add(path, part, "[Bond]\nMode=802.3ad\n")
		}
	}
	f.Add("/etc/netplan/a.yaml", "network: {ethernets: {eth0: {dhcp4: true}}}", "")
	f.Fuzz(func(t *testing.T, path, text, more string) {
		if len(text)+len(more) > 4000 {
			return
		}
		files := map[string]string{
			path: text, networkdDir + "10-a.netdev": "[NetDev]\nName=bond0\nKind=bond\n" + more, networkdDir + "10-a.netdev.d/x.conf": text,
			networkdDir + "20-a.network": "[Match]\nName=bond0\n" + text, networkdDir + "30-a.link": "[Match]\nOriginalName=eth0\n" + text,
			ifcfgDir + "ifcfg-eth0": text, ifcfgDir + "route-eth0": more, ifcfgDir + "rule-eth0": text, ifcfgDir + "ifcfg-eth0:1": more,
			"/etc/netplan/10-b.yaml": more,
		}
		for _, format := range []Format{FormatIfcfg, FormatNetworkd, FormatNetplan} {
			found, err := Read(format, files)
			if err != nil {
				continue
			}
			if back, err := yamldoc.Parse("found", found.FabricFile("a")); err != nil {
				t.Fatalf("%s found what is no YAML: %v", format, err)
			} else if have := back.Get("hosts").Get("a"); have == nil {
				t.Fatalf("%s found nothing: %s", format, found.FabricFile("a"))
			}
		}
	})
}

// FuzzUpdate: files of any text are changed in place so that a second time
// changes nothing, and every comment stays.
func FuzzUpdate(f *testing.F) {
	f.Add("# a\n[Match]\nName=eth0\n\n[Network]\nAddress=10.0.0.1/24\n", "A=b # c\nIPADDR='1'\n")
	f.Add("[Route]\nGateway=1\n[Route]\n", "A=\"\n")
	f.Fuzz(func(t *testing.T, unit, shell string) {
		if len(unit)+len(shell) > 4000 {
			return
		}
		wanted := []unitSection{
			{name: "Network", keys: []assignment{{key: "Address", value: "10.0.0.2/24"}, {key: "Address", value: "10.0.0.3/24"}, {key: "VLAN", value: "v1"}}},
			{name: "Route", keys: []assignment{{key: "Destination", value: "10.9.0.0/16"}, {key: "Gateway", value: "10.0.0.1"}}},
		}
		once := updateUnit(unit, wanted, networkdMerging(wanted))
		if again := updateUnit(once, wanted, networkdMerging(wanted)); again != once {
			t.Fatalf("%q\nthen %q", once, again)
		}
		pairs := []shellPair{{"DEVICE", "eth0"}, {"IPADDR", "10.0.0.2"}, {"ETHTOOL_OPTS", "-K ${DEVICE} gro on"}}
		gone := func(key string) bool { return key == "NETMASK" }
		first := updateShell(shell, pairs, gone)
		if again := updateShell(first, pairs, gone); again != first {
			t.Fatalf("%q\nthen %q", first, again)
		}
	})
}
