package observe

import (
	"encoding/binary"
	"errors"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/unit"
)

func file(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }

func TestOwners(t *testing.T) {
	for _, tc := range []struct {
		name string
		tree fstest.MapFS
		want []string
	}{
		{"nobody", fstest.MapFS{}, nil},
		{"ubuntu server", fstest.MapFS{"run/systemd/netif/state": file(""), "etc/netplan/50-cloud-init.yaml": file(""), "run/cloud-init/result.json": file("")},
			[]string{"systemd-networkd", "cloud-init", "netplan"}},
		{"cloud-init told to leave the network alone", fstest.MapFS{"run/cloud-init/result.json": file(""), "etc/cloud/cloud.cfg.d/99-disable-network-config.cfg": file("")}, nil},
		{"rhel", fstest.MapFS{"run/NetworkManager/NetworkManager.pid": file("1")}, []string{"NetworkManager"}},
		{"debian", fstest.MapFS{"run/network/ifstate": file("lo=lo")}, []string{"ifupdown"}},
	} {
		if got := findOwners(tc.tree, everAlive); !slices.Equal(got, tc.want) {
			t.Errorf("%s: %v, want %v", tc.name, got, tc.want)
		}
	}
}

// pciConfig is a configuration space with the PCI Express capability at 0x60,
// behind another one, and the given MaxPayloadSize code.
func pciConfig(code uint16) []byte {
	b := make([]byte, 256)
	binary.LittleEndian.PutUint16(b[pciStatus:], pciStatusCapabilities)
	b[pciCapabilityPointer] = 0x40
	b[0x40], b[0x41] = 0x01, 0x60
	b[0x60] = pciExpressCapability
	binary.LittleEndian.PutUint16(b[0x60+pciDeviceControl:], code<<5)
	return b
}

func TestCards(t *testing.T) {
	tree := fstest.MapFS{}
	device := func(address, speed, width, maxSpeed, maxWidth string, config []byte) {
		dir := pciDevices + address + "/"
		tree[dir+"current_link_speed"], tree[dir+"current_link_width"] = file(speed), file(width)
		tree[dir+"max_link_speed"], tree[dir+"max_link_width"] = file(maxSpeed), file(maxWidth)
		tree[dir+"config"] = &fstest.MapFile{Data: config}
	}
	device("0000:01:00.0", "8.0 GT/s PCIe\n", "8\n", "16.0 GT/s PCIe\n", "16\n", pciConfig(1))
	device("0000:01:00.1", "8.0 GT/s PCIe\n", "8\n", "16.0 GT/s PCIe\n", "16\n", pciConfig(1))
	device("0000:01:02.3", "Unknown\n", "0\n", "Unknown\n", "255\n", nil)
	tree[pciDevices+"0000:01:02.3/physfn"] = &fstest.MapFile{Mode: fs.ModeSymlink, Data: []byte("../0000:01:00.1")}
	device("0000:00:03.0", "Unknown\n", "0\n", "Unknown\n", "0\n", nil)
	links := []netstate.Link{{Name: "p0", PCI: "0000:01:00.0"}, {Name: "p1", PCI: "0000:01:00.1"}, {Name: "vf", PCI: "0000:01:02.3"}, {Name: "eth0", PCI: "0000:00:03.0"}, {Name: "veth"}, {Name: "odd", PCI: "../../x"}}
	cards := addCards(tree, links)
	want := []netstate.Card{{Name: "0000:01:00", Generation: 3, Lanes: 8, MaxGeneration: 4, MaxLanes: 16, MaxPayload: 256}}
	if diff := cmp.Diff(want, cards); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	var on []string
	for _, l := range links {
		on = append(on, l.Card)
	}
	if want := []string{"0000:01:00", "0000:01:00", "0000:01:00", "", "", ""}; !slices.Equal(on, want) {
		t.Errorf("links on cards %q, want %q", on, want)
	}
}

func TestMaxPayload(t *testing.T) {
	loop := pciConfig(1)
	loop[0x60] = 0x05
	loop[0x61] = 0x40
	for _, tc := range []struct {
		name   string
		config []byte
		want   int
	}{
		{"128", pciConfig(0), 128}, {"4096", pciConfig(5), 4096}, {"reserved", pciConfig(7), 0},
		{"what other users see", pciConfig(1)[:64], 0}, {"empty", nil, 0}, {"a loop", loop, 0}, {"no capabilities", make([]byte, 256), 0},
	} {
		if got := maxPayload(tc.config); got != tc.want {
			t.Errorf("%s: %d, want %d", tc.name, got, tc.want)
		}
	}
}

func TestPCIOf(t *testing.T) {
	for path, want := range map[string]string{
		"/sys/devices/pci0000:00/0000:00:03.0/virtio1":            "0000:00:03.0",
		"/sys/devices/pci0000:00/0000:00:01.0/0000:01:00.1":       "0000:01:00.1",
		"/sys/devices/platform/soc/ethernet":                      "",
		"/sys/devices/pci10000:00/10000:00:02.0/10000:01:00.0/x1": "10000:01:00.0",
	} {
		if got := pciOf(path); got != want {
			t.Errorf("pciOf(%q) = %q, want %q", path, got, want)
		}
	}
}

// capturedTree is a host with an LACP bond, a VLAN and a card.
func capturedTree(t testing.TB) fstest.MapFS {
	bonding, err := os.ReadFile(filepath.Join("../..", "kernel", "procfs", "testdata", "bonding", "802.3ad.root"))
	if err != nil {
		t.Fatal(err)
	}
	tree := fstest.MapFS{
		"etc/hostname":                                        file("rbx\n"),
		"proc/cpuinfo":                                        file("processor\t: 0\nmodel name\t: Xeon\n\nprocessor\t: 1\nmodel name\t: Xeon\n"),
		"proc/sys/kernel/osrelease":                           file("6.1.0-32-amd64\n"),
		"proc/sys/kernel/arch":                                file("x86_64\n"),
		"proc/sys/net/ipv4/tcp_rmem":                          file("4096\t131072\t6291456\n"),
		"proc/sys/net/ipv4/conf/lan/rp_filter":                file("2\n"),
		"proc/net/bonding/bond0":                              {Data: bonding},
		"proc/net/vlan/config":                                file("VLAN Dev name    | VLAN ID\nName-Type: VLAN_NAME_TYPE_RAW_PLUS_VID_NO_PAD\nlan            | 1904  | bond0\n"),
		"proc/net/route":                                      file("Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\nlan\t00000000\tFE00000A\t0003\t0\t0\t100\t00000000\t0\t0\t0\nlan\t0000000A\t00000000\t0001\t0\t0\t0\t0000FFFF\t0\t0\t0\n*\t0000010A\t00000000\t0201\t0\t0\t0\t0000FFFF\t0\t0\t0\n"),
		"proc/net/fib_trie":                                   file("Main:\n  +-- 0.0.0.0/0 3 0 5\n     |-- 10.0.0.0\n        /16 link UNICAST\nLocal:\n     |-- 10.0.0.1\n        /32 host LOCAL\n     |-- 10.0.255.255\n        /32 link BROADCAST\n     |-- 127.0.0.1\n        /32 host LOCAL\n"),
		"proc/net/if_inet6":                                   file("fd000000000000000000000000000001 08 40 00 80      lan\n"),
		"proc/net/ipv6_route":                                 file("fd000000000000000000000000000000 40 00000000000000000000000000000000 00 00000000000000000000000000000000 00000100 00000001 00000000 00000001      lan\n"),
		"sys/bus/pci/devices/0000:01:00.0/config":             {Data: pciConfig(1)},
		"sys/bus/pci/devices/0000:01:00.0/current_link_speed": file("8.0 GT/s PCIe\n"),
		"sys/bus/pci/devices/0000:01:00.0/current_link_width": file("8\n"),
		"sys/class/net/bonding_masters":                       file("bond0\n"),
		"sys/class/net/bond0/bonding/tlb_dynamic_lb":          file("1\n"),
		"sys/class/net/bond0/bonding/fail_over_mac":           file("none 0\n"),
		"sys/class/net/a0/device/uevent":                      file("DRIVER=mlx5_core\nPCI_CLASS=20000\nPCI_SLOT_NAME=0000:01:00.0\n"),
		"sys/class/net/a0/speed":                              file("25000\n"),
		"sys/class/net/a0/duplex":                             file("full\n"),
		"sys/class/net/a0/statistics/rx_bytes":                file("18446744073709551615\n"),
		"sys/class/net/a1/uevent":                             file("INTERFACE=a1\n"),
		"sys/class/net/lan/uevent":                            file("DEVTYPE=vlan\nINTERFACE=lan\n"),
	}
	for i, name := range []string{"lo", "a0", "a1", "bond0", "lan"} {
		dir := "sys/class/net/" + name + "/"
		tree[dir+"ifindex"], tree[dir+"mtu"] = file(string(rune('1'+i))+"\n"), file("9000\n")
		tree[dir+"flags"], tree[dir+"carrier"] = file("0x1003\n"), file("1\n")
		tree[dir+"address"] = file("02:00:00:00:00:01\n")
	}
	tree["sys/class/net/lo/flags"] = file("0x9\n")
	return tree
}

// TestCapturedCounters: each file of statistics has its own counter, and a file that is
// not there none.
func TestCapturedCounters(t *testing.T) {
	tree := capturedTree(t)
	for name, n := range map[string]string{"rx_packets": "2000000000", "rx_missed_errors": "71000000", "rx_crc_errors": "12", "rx_frame_errors": "3", "collisions": "8"} {
		tree["sys/class/net/a0/statistics/"+name] = file(n + "\n")
	}
	h, err := Captured(tree)
	if err != nil {
		t.Fatal(err)
	}
	a0, _ := h.Link("a0")
	if want := (netstate.Counters{RxBytes: 1<<64 - 1, RxPackets: 2e9, RxMissed: 71e6, RxCRC: 12, RxFrame: 3, Collisions: 8}); a0.Counters != want {
		t.Errorf("a0: %+v, want %+v", a0.Counters, want)
	}
	if a1, _ := h.Link("a1"); a1.Counters != (netstate.Counters{}) {
		t.Errorf("a1: %+v, want no counters", a1.Counters)
	}
}

func TestCaptured(t *testing.T) {
	h, err := Captured(capturedTree(t))
	if err != nil {
		t.Fatal(err)
	}
	mac := flow.MAC{2, 0, 0, 0, 0, 1}
	var names []string
	for _, l := range h.Links {
		names = append(names, l.Name+"/"+l.Kind)
	}
	if want := []string{"lo/loopback", "a0/", "a1/unknown", "bond0/bond", "lan/vlan"}; !slices.Equal(names, want) {
		t.Fatalf("links %v, want %v", names, want)
	}
	a0, _ := h.Link("a0")
	wantPort := &netstate.BondPort{Bond: "bond0", Active: true, MIIUp: true, AggregatorID: 1, ActorState: 63, PartnerState: 63,
		PartnerMAC: flow.MAC{0xa2, 0x6a, 0x63, 0x11, 0x63, 0xed}, PartnerKey: 15, ActorChurn: "monitoring", PartnerChurn: "monitoring"}
	want := netstate.Link{Name: "a0", Index: 2, MAC: mac, PermanentMAC: flow.MAC{0xfe, 0x9c, 0x77, 0x8c, 0xb8, 0xd4}, PCI: "0000:01:00.0", Driver: "mlx5_core", Card: "0000:01:00",
		MTU: 9000, Up: true, Carrier: true, Speed: 25 * unit.Gbps, Duplex: "full", Master: "bond0", Port: wantPort, Counters: netstate.Counters{RxBytes: 1<<64 - 1}}
	if diff := cmp.Diff(want, a0, cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("a0 (-want +got)\n%s", diff)
	}
	bond, _ := h.Link("bond0")
	if !slices.Equal(bond.Bond.Ports, []string{"a1", "a0"}) || bond.Bond.Mode != netstate.LACP || bond.Bond.AD == nil || !bond.Bond.TLBDynamic ||
		bond.Bond.Options["fail_over_mac"] != "none" || bond.Bond.Options["ad_select"] != "bandwidth" {
		t.Errorf("bond0: %+v", bond.Bond)
	}
	if usable := h.UsablePorts("bond0"); !slices.Equal(usable, []string{"a1", "a0"}) {
		t.Errorf("usable ports %v", usable)
	}
	lan, _ := h.Link("lan")
	if diff := cmp.Diff(&netstate.VLAN{ID: 1904, Parent: "bond0"}, lan.VLAN); diff != "" {
		t.Errorf("VLAN (-want +got)\n%s", diff)
	}
	if want := []netip.Prefix{netip.MustParsePrefix("10.0.0.1/16"), netip.MustParsePrefix("fd00::1/64")}; !slices.Equal(lan.Addresses, want) {
		t.Errorf("addresses %v, want %v", lan.Addresses, want)
	}
	wantRoutes := []netstate.Route{
		{Dst: netip.MustParsePrefix("0.0.0.0/0"), Gateway: netip.MustParseAddr("10.0.0.254"), Link: "lan", Table: 254, Metric: 100},
		{Dst: netip.MustParsePrefix("10.0.0.0/16"), Link: "lan", Table: 254},
		{Dst: netip.MustParsePrefix("10.1.0.0/16"), Table: 254, Type: "unreachable"},
		{Dst: netip.MustParsePrefix("fd00::/64"), Link: "lan", Table: 254, Metric: 256},
	}
	if diff := cmp.Diff(wantRoutes, h.Routes, cmpopts.EquateComparable(netip.Addr{}, netip.Prefix{})); diff != "" {
		t.Errorf("routes (-want +got)\n%s", diff)
	}
	if h.Name != "rbx" || h.Kernel != (netstate.Kernel{OS: "linux", Release: "6.1.0-32-amd64", Arch: "x86_64"}) || h.CPU.Cores != 2 || h.CPU.Model != "Xeon" {
		t.Errorf("machine: %q %+v %+v", h.Name, h.Kernel, h.CPU)
	}
	if h.Sysctls["net.ipv4.tcp_rmem"].Value != "4096 131072 6291456" || h.Sysctls["net.ipv4.conf.lan.rp_filter"].Value != "2" {
		t.Errorf("sysctls: %v", h.Sysctls)
	}
}

func TestCapturedBondFromSysfsAlone(t *testing.T) {
	tree := capturedTree(t)
	delete(tree, "proc/net/bonding/bond0")
	dir := "sys/class/net/bond0/bonding/"
	for name, value := range map[string]string{"mode": "802.3ad 4", "xmit_hash_policy": "layer2+3 2", "lacp_rate": "fast 1", "miimon": "100",
		"slaves": "a1 a0", "ad_aggregator": "1", "ad_num_ports": "1", "ad_partner_mac": "02:00:00:00:00:09", "mii_status": "up"} {
		tree[dir+name] = file(value + "\n")
	}
	for name, aggregator := range map[string]string{"a0": "1", "a1": "2"} {
		tree["sys/class/net/"+name+"/bonding_slave/state"] = file("active\n")
		tree["sys/class/net/"+name+"/bonding_slave/mii_status"] = file("up\n")
		tree["sys/class/net/"+name+"/bonding_slave/ad_aggregator_id"] = file(aggregator + "\n")
	}
	h, err := Captured(tree)
	if err != nil {
		t.Fatal(err)
	}
	bond, _ := h.Link("bond0")
	if bond.Bond.Mode != netstate.LACP || bond.Bond.HashPolicy != netstate.Layer23 || bond.Bond.LACPRate != netstate.LACPFast || bond.Bond.AD == nil || bond.Bond.AD.PartnerMAC.IsZero() {
		t.Errorf("bond0: %+v", bond.Bond)
	}
	if usable := h.UsablePorts("bond0"); !slices.Equal(usable, []string{"a0"}) {
		t.Errorf("usable ports %v, want the active aggregator's", usable)
	}
}

func TestObserveRoot(t *testing.T) {
	dir := t.TempDir()
	if _, err := Observe(t.Context(), Config{Root: dir}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an empty tree: %v, want fs.ErrNotExist", err)
	}
	if err := os.CopyFS(dir, capturedTree(t)); err != nil {
		t.Fatal(err)
	}
	// A link out of the tree is not followed.
	secret := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(secret, []byte("stolen"), 0o600); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, "proc/sys/kernel/hostname")
	if err := os.Symlink(secret, name); err != nil {
		t.Fatal(err)
	}
	h, err := Observe(t.Context(), Config{Root: dir})
	if err != nil || h.Name != "rbx" || len(h.Links) != 5 {
		t.Errorf("name %q, %d links, %v", h.Name, len(h.Links), err)
	}
}

// placeholder turns a pattern for one device into one for all.
var placeholder = strings.NewReplacer("%s", "*", "%d", "*")

func TestCapturePatternsCoverTheTree(t *testing.T) {
	tree := capturedTree(t)
	kept := fstest.MapFS{}
	all := placeholder.Replace(strings.Join(slices.Concat(capturePatterns, cardPatterns, irqPatterns, linkSysctlPatterns(), linkTraces, ownerTraces()), "\n"))
	for _, pattern := range strings.Split(all, "\n") {
		found, err := fs.Glob(tree, pattern)
		if err != nil {
			t.Fatalf("%s: %v", pattern, err)
		}
		for _, f := range found {
			kept[f] = tree[f]
		}
	}
	want, err := Captured(tree)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Captured(kept)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, cmpopts.EquateComparable(netip.Addr{}, netip.Prefix{})); diff != "" {
		t.Errorf("a capture by the patterns loses (-tree +capture)\n%s", diff)
	}
}

func FuzzCapturedFiles(f *testing.F) {
	tree := capturedTree(f)
	for _, name := range []string{"proc/net/route", "proc/net/fib_trie", "proc/net/if_inet6", "proc/net/ipv6_route", "proc/net/vlan/config"} {
		f.Add(tree[name].Data)
	}
	f.Add(pciConfig(3))
	f.Fuzz(func(t *testing.T, text []byte) {
		tree := fstest.MapFS{"sys/class/net/lan/ifindex": file("1"), "sys/class/net/lan/flags": {Data: text}, "sys/class/net/lan/device/uevent": {Data: text}}
		for _, name := range []string{"proc/net/route", "proc/net/fib_trie", "proc/net/if_inet6", "proc/net/ipv6_route", "proc/net/vlan/config", "sys/class/net/lan/bonding/mode", "sys/class/net/lan/bonding/slaves"} {
			tree[name] = &fstest.MapFile{Data: text}
		}
		h, err := Captured(tree)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range h.Routes {
			if !r.Dst.IsValid() {
				t.Errorf("a route to nowhere: %+v", r)
			}
		}
		for _, p := range h.Links[0].Addresses {
			if !p.IsValid() {
				t.Errorf("address %v", p)
			}
		}
		if n := maxPayload(text); n != 0 && (n < 128 || n > 4096) {
			t.Errorf("payload %d", n)
		}
	})
}

// TestCapturedSharedSubnet: of two links in one subnet each has one of its addresses,
// which is all that a capture tells.
func TestCapturedSharedSubnet(t *testing.T) {
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	tree := fstest.MapFS{
		"proc/sys/kernel/osrelease": file("6.1.0\n"), "proc/sys/kernel/arch": file("x86_64\n"),
		"proc/net/route":    file("Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\t\tMTU\tWindow\tIRTT\nens5\t006433C6\t00000000\t0001\t0\t0\t512\t00FFFFFF\t0\t0\t0\nens6\t006433C6\t00000000\t0001\t0\t0\t522\t00FFFFFF\t0\t0\t0\n"),
		"proc/net/fib_trie": file("Local:\n     |-- 198.51.100.10\n        /32 host LOCAL\n     |-- 198.51.100.11\n        /32 host LOCAL\n     |-- 198.51.100.12\n        /32 host LOCAL\n"),
	}
	for i, name := range []string{"lo", "ens5", "ens6"} {
		dir := "sys/class/net/" + name + "/"
		tree[dir+"ifindex"], tree[dir+"mtu"], tree[dir+"flags"], tree[dir+"carrier"] = file(string(rune('1'+i))+"\n"), file("1500\n"), file("0x1003\n"), file("1\n")
	}
	h, err := Captured(tree)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]int{"ens5": 2, "ens6": 1} {
		if l, _ := h.Link(name); len(l.Addresses) != want {
			t.Errorf("%s has %v, want %d", name, l.Addresses, want)
		}
	}
}
