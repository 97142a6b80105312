package formats

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/linerate/linerate/render"
)

// fieldFiles are the files below testdata/field, by paths that are no host's.
func fieldFiles(t *testing.T, name string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(filepath.Join("testdata", "field", name), func(file string, entry os.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			files[file] = string(read(t, file))
		}
		return err
	})
	if err != nil || len(files) == 0 {
		t.Fatalf("read %s: %v, %d files", name, err, len(files))
	}
	return files
}

// TestFieldFiles reads files that were found in the field and that were read
// wrongly or not at all, wherever they lie.
func TestFieldFiles(t *testing.T) {
	for _, c := range []struct {
		name   string
		format render.Format
		want   []string // of the fabric file
		never  []string
		unread []string // of the lines that are left out
	}{
		{"netplan-elsewhere", render.FormatNetplan, []string{"network:"}, nil, nil},
		{"ifcfg-static-metric", render.FormatIfcfg, []string{"metric: "}, nil, nil},
		{"nm-static-metric", render.FormatKeyfile, []string{"metric: 100", "metric: 200"}, []string{"route-metric"}, nil},
		{"nm-no-interface-name", render.FormatKeyfile, []string{"match: {}"}, nil, []string{"dhcp-timeout"}},
		{"nm-numeric", render.FormatKeyfile, []string{"lacp-rate: fast", "transmit-hash-policy: layer3+4"}, nil, nil},
		{"nm-bond-primary-by-mac", render.FormatKeyfile, []string{"primary: bond0s0"}, nil, nil},
		{"ifcfg-fail-over-mac-1", render.FormatIfcfg, []string{"fail-over-mac-policy: active"}, nil, nil},
		{"ifcfg-modprobe-bond", render.FormatIfcfg, []string{"bonds:", "192.0.2.1/24"}, nil, nil},
		{"ifcfg-team", render.FormatIfcfg, []string{"eth1", "team0", "mode: 802.3ad", "layer2+3"}, nil, []string{"tx_hash"}},
		{"teamd", render.FormatTeamd, []string{"team0", "mode: 802.3ad", "layer3+4", "- eth1"}, nil, []string{"team0.conf:3:40: runner.tx_hash"}},
		{
			"talos-documents.yaml", render.FormatTalos,
			[]string{"macaddress: 52:54:00:00:00:01", "- net0", "mode: 802.3ad", "layer3+4", "lacp-rate: fast", "up-delay: 200", "mtu: 9000", "{to: default, via: 192.0.2.1}", "bond0.100:", "id: 100"}, []string{"blue"},
			[]string{"talos-documents.yaml:23:20: bond0.addresses.routePriority", "VRFConfig blue"},
		},
		{
			"talos-machine.yaml", render.FormatTalos,
			[]string{"lacp-rate: fast", `peer_notif_delay: "100"`, "ad_actor_system", "- selected1", "macaddress: 52:54:00:00:00:02", "link: bond0", "dhcp6: true", "route-metric: 1024", "net.core.rmem_max", "192.0.2.53"}, []string{"vm.max_map_count", "wg0", "selected3"},
			[]string{"bond0.deviceSelectors[2].busPath", "bond0.100.vip", "wg0.wireguard"},
		},
		{"netplan-activation-off", render.FormatNetplan, []string{"activation-mode: "}, nil, nil},
		{"netplan-bad-values", render.FormatNetplan, []string{"eth0"}, []string{"wut", "sometimes", "300.400"},
			[]string{"accept-ra", "wakeonlan", "transmit-checksum-offload", "activation-mode", "nameservers"}},
		{"netplan-dhcp-only", render.FormatNetplan, []string{"dhcp4: true"}, []string{"sysctl", "kernel"}, nil},
		{"netplan-driver-match", render.FormatNetplan, []string{"enp1s0f*"}, nil, nil},
		{"netplan-no-version", render.FormatNetplan, []string{"dhcp4: true"}, nil, nil},
		{"netplan-one-port-bond", render.FormatNetplan, []string{"bonds:"}, nil, nil},
		{"netplan-ovs-bond", render.FormatNetplan, []string{"eth1", "openvswitch: {}", "bonds:", "bridges:"}, nil, nil},
		{"networkd-named-table", render.FormatNetworkd, []string{"198.51.100.10/24"}, nil, []string{"Table"}},
		{"networkd-plain-dhcp", render.FormatNetworkd, []string{"dhcp4: true"}, nil, nil},
		{"networkd-type-ether", render.FormatNetworkd, []string{"match: {}", "dhcp4: true"}, nil, nil},
		{"proxmox-interfaces", render.FormatIfupdown, []string{"transmit-hash-policy: layer3+4", "mode: 802.3ad", "vmbr0", "192.168.1.50/24"}, nil, nil},
		{"netplan-error-place.yaml", render.FormatNetplan, []string{"bond0"}, nil, []string{"netplan-error-place.yaml:22:"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			files := fieldFiles(t, c.name)
			if got := Guess(files); got != c.format {
				t.Errorf("taken for %q", got)
			}
			found, err := Read(c.format, files)
			if err != nil {
				t.Fatal(err)
			}
			text := string(found.FabricFile("h"))
			if _, err := oneHost(text); err != nil {
				t.Errorf("%v\n%s", err, text)
			}
			var unread []string
			for _, u := range found.Unread {
				unread = append(unread, u.String())
				if _, own := files[u.Path]; !own {
					t.Errorf("%s is no file of the user's", u.Path)
				}
			}
			says(t, text, c.want, c.never)
			for _, want := range c.unread {
				if !slices.ContainsFunc(unread, func(u string) bool { return strings.Contains(u, want) }) {
					t.Errorf("nothing unread says %q: %q", want, unread)
				}
			}
			if len(c.unread) == 0 && len(unread) > 0 {
				t.Errorf("unread: %q", unread)
			}
		})
	}
}

// TestReadAnywhere: a host's files say the same wherever they lie.
func TestReadAnywhere(t *testing.T) {
	in := input(t, "testdata/settings/fabric.yaml", "a")
	for _, format := range Readable() {
		if !slices.Contains(All(), format) {
			continue // one that is read only
		}
		files := byPath(mustRender(t, format, in).Files)
		here, err := Read(format, files)
		if err != nil {
			t.Fatal(err)
		}
		for _, below := range []string{"/mnt/image", "backup/of/host", "."} {
			moved := map[string]string{}
			for file, text := range files {
				moved[below+file] = text
			}
			if below == "." { // the directory of the files itself
				moved = map[string]string{}
				for file, text := range files {
					if dir := filepath.Base(filepath.Dir(file)); strings.HasSuffix(dir, ".d") {
						file = dir + "/" + filepath.Base(file)
					} else {
						file = filepath.Base(file)
					}
					moved[file] = text
				}
			}
			there, err := Read(format, moved)
			if err != nil {
				t.Fatalf("%s below %s: %v", format, below, err)
			}
			if a, b := string(here.FabricFile("h")), string(there.FabricFile("h")); a != b {
				t.Errorf("%s below %s says\n%s\nand in its place\n%s", format, below, b, a)
			}
		}
	}
}

// TestReadPlaces: what is wrong in a file is told at its line and column there, in
// every format, and the rest of the host is read.
func TestReadPlaces(t *testing.T) {
	for _, c := range []struct {
		format render.Format
		file   string
		text   string
		want   string // of the unread line's place
	}{
		{render.FormatNetplan, "x/a.yaml", "# first\n\nnetwork:\n  version: 2\n  ethernets:\n    eth0:\n      # of the port\n      mtu: 99999999\n    eth1: {dhcp4: true}\n", "x/a.yaml:8:12"},
		{render.FormatNetplan, "x/a.yaml", "network:\n  ethernets:\n    eth1: {}\n    eth0:\n      routes:\n      - to: 10.0.0.0/8\n        via: nowhere\n", "x/a.yaml:7:14"},
		{render.FormatNetworkd, "x/a.network", "[Match]\nName=eth1\n\n[Network]\nDHCP=yes\n\n[Link]\nMTUBytes=5\n\n[RoutingPolicyRule]\nTable=zwei\nFrom=10.0.0.1\n", "x/a.network:11"},
		{render.FormatIfcfg, "x/ifcfg-eth1", "DEVICE=eth1\nIPADDR=10.0.0.2\nPREFIX=24\n\nMTU=999999999\n", "x/ifcfg-eth1:5:5"},
		{render.FormatKeyfile, "x/eth1.nmconnection", "[connection]\nid=eth1\ntype=ethernet\ninterface-name=eth1\n\n[ipv4]\nmethod=manual\naddress1=10.0.0.2/24\n\n[bond-port]\nprio=abc\n", "x/eth1.nmconnection:11"},
		{render.FormatIfupdown, "x/interfaces", "auto eth1\niface eth1 inet static\n    address 10.0.0.2/24\n    mtu 999999999\n", "x/interfaces:4:9"},
		{render.FormatIfupdown, "x/interfaces", "iface eth1 inet static\n    address 10.0.0.999/24\n    mtu 1400\n", "x/interfaces:2"},
	} {
		found, err := Read(c.format, map[string]string{c.file: c.text})
		if err != nil {
			t.Errorf("%s: %v", c.want, err)
			continue
		}
		if !strings.Contains(string(found.FabricFile("h")), "eth1") {
			t.Errorf("%s: the rest is gone:\n%s", c.want, found.FabricFile("h"))
		}
		if len(found.Unread) == 0 || !strings.HasPrefix(found.Unread[0].String(), c.want+":") {
			t.Errorf("%s: told at %v", c.want, found.Unread)
		}
	}
}

// says fails the test where a text lacks a part, or has one that it must not have.
func says(t *testing.T, text string, parts, never []string) {
	t.Helper()
	for _, want := range parts {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	for _, part := range never {
		if strings.Contains(text, part) {
			t.Errorf("%q in\n%s", part, text)
		}
	}
}
