package formats

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
	"github.com/linerate/linerate/render"
	"github.com/linerate/linerate/render/ifcfg"
	"github.com/linerate/linerate/render/networkd"
)

// readBack is what a format's files say, as the fabric that a user gets.
func readBack(t *testing.T, format render.Format, files map[string]string) (fabric.Host, []render.Unread) {
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
		for _, format := range []render.Format{render.FormatNetplan, render.FormatNetworkd, render.FormatIfcfg} {
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
			again := byPath(mustRender(t, format, render.Input{Host: back, State: state}).Files)
			if format == render.FormatNetplan {
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

// TestReadNetplanBack: what netplan's files and its drop-ins say together.
func TestReadNetplanBack(t *testing.T) {
	in := input(t, "testdata/settings/fabric.yaml", "a")
	back, unread := readBack(t, render.FormatNetplan, byPath(mustRender(t, render.FormatNetplan, in).Files))
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
}

// TestReadForeign reads files that others wrote, in the older forms too, and
// expects what they mean and every line that is left out named.
func TestReadForeign(t *testing.T) {
	for _, format := range []render.Format{render.FormatIfcfg, render.FormatNetworkd} {
		dir := "testdata/external/" + string(format)
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
		text, err := os.ReadFile("testdata/external/" + format + ".txt")
		if err != nil {
			f.Fatal(err)
		}
		for path, part := range parts(string(text)) {
			f.Add(path, part, "[Bond]\nMode=802.3ad\n")
		}
	}
	f.Add("/etc/netplan/a.yaml", "network: {ethernets: {eth0: {dhcp4: true}}}", "")
	f.Add("/etc/netplan/a.yaml", "network: {ethernets: {e: {}, f: {}}, bonds: {b: {interfaces: [e, f], openvswitch: {lacp: active}}}, bridges: {v: {interfaces: [b], openvswitch: {}}}}", "")
	f.Add("/etc/nmstate/a.yml", "interfaces: [{name: v, type: ovs-bridge, bridge: {port: [{name: b, link-aggregation: {mode: lacp, port: [{name: e}, {name: f}]}}]}}]", "")
	f.Fuzz(func(t *testing.T, path, text, more string) {
		if len(text)+len(more) > 4000 {
			return
		}
		files := map[string]string{
			path: text, networkd.Dir + "10-a.netdev": "[NetDev]\nName=bond0\nKind=bond\n" + more, networkd.Dir + "10-a.netdev.d/x.conf": text,
			networkd.Dir + "20-a.network": "[Match]\nName=bond0\n" + text, networkd.Dir + "30-a.link": "[Match]\nOriginalName=eth0\n" + text,
			ifcfg.Dir + "ifcfg-eth0": text, ifcfg.Dir + "route-eth0": more, ifcfg.Dir + "rule-eth0": text, ifcfg.Dir + "ifcfg-eth0:1": more,
			"/etc/netplan/10-b.yaml": more,
		}
		for _, format := range Readable() {
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
