package observe

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/unit"
)

// fixture is a captured tree of testdata.
func fixture(t testing.TB, name string) fstest.MapFS {
	t.Helper()
	a, err := txtar.ParseFile(filepath.Join("testdata", name+".txtar"))
	if err != nil {
		t.Fatal(err)
	}
	tree := fstest.MapFS{}
	for _, f := range a.Files {
		tree[f.Name] = &fstest.MapFile{Data: f.Data}
	}
	return tree
}

func TestTwoSocketServer(t *testing.T) {
	h, err := Captured(fixture(t, "two-socket"))
	if err != nil {
		t.Fatal(err)
	}
	one := 1
	links := map[string]netstate.Link{}
	for _, l := range h.Links {
		links[l.Name] = l
	}
	want := &netstate.Device{
		Node: &one,
		IRQs: []netstate.IRQ{
			{Number: 120, Name: "mlx5_async0@pci:0000:81:00.0", Cores: []int{0, 1, 2, 3}, Counts: []uint64{0, 0, 1}},
			{Number: 121, Name: "mlx5_comp0@pci:0000:81:00.0", Cores: []int{2}, Counts: []uint64{0, 0, 900123}},
			{Number: 122, Name: "mlx5_comp1@pci:0000:81:00.0", Cores: []int{2, 3}, Counts: []uint64{0, 0, 0, 812345}},
		},
		RPS: []netstate.QueueCores{{Queue: 0, Cores: []int{2, 3}}},
		XPS: []netstate.QueueCores{{Queue: 9, Cores: []int{2}}, {Queue: 10, Cores: []int{3}}},
	}
	if diff := cmp.Diff(want, links["ens2f0"].Device); diff != "" {
		t.Errorf("ens2f0 (-want +got)\n%s", diff)
	}
	// Found by the name of its PCI function, as it lists no interrupts.
	other := &netstate.Device{IRQs: []netstate.IRQ{{Number: 140, Name: "mlx5_comp0@pci:0000:81:00.1", Counts: []uint64{7}}}}
	if diff := cmp.Diff(other, links["ens2f1"].Device); diff != "" {
		t.Errorf("ens2f1 (-want +got)\n%s", diff)
	}
	if diff := cmp.Diff(&netstate.Bridge{Ports: []string{}, Options: map[string]string{"stp_state": "0", "vlan_filtering": "1"}}, links["br0"].Bridge); diff != "" {
		t.Errorf("br0 (-want +got)\n%s", diff)
	}
	for name, owner := range map[string]string{"ens2f0": "systemd-networkd", "ens2f1": "", "br0": "", "lo": ""} {
		if links[name].Owner != owner {
			t.Errorf("%s belongs to %q, want %q", name, links[name].Owner, owner)
		}
	}
	machine := &netstate.Machine{Vendor: "Dell Inc.", Product: "PowerEdge R750", Board: "OVH", Provider: "ovh"}
	if diff := cmp.Diff(machine, h.Machine); diff != "" || h.Cloud != nil {
		t.Errorf("cloud %+v, machine (-want +got)\n%s", h.Cloud, diff)
	}
	if h.Memory != 263846936*unit.KiB || h.CPU.Governor != "powersave" || h.CPU.Cores != 4 || !slices.Equal(h.Owners, []string{"systemd-networkd", "netplan"}) {
		t.Errorf("memory %v, processor %+v, owners %v", h.Memory, h.CPU, h.Owners)
	}
	if c := h.Cards; len(c) != 1 || c[0].Lanes != 8 || c[0].MaxLanes != 16 {
		t.Errorf("cards %+v", c)
	}
}

func TestOneNodeHasNone(t *testing.T) {
	tree := fixture(t, "two-socket")
	tree["sys/devices/system/node/online"] = file("0\n")
	h, err := Captured(tree)
	if err != nil {
		t.Fatal(err)
	}
	if l, _ := h.Link("ens2f0"); l.Device == nil || l.Device.Node != nil {
		t.Errorf("on a machine with one node: %+v", l.Device)
	}
}

// TestProviders holds the table against what machines show (cloud-init's
// tests, providers' documentation, systemd's detect-virt).
func TestProviders(t *testing.T) {
	for _, tc := range []struct {
		name     string
		dmi      map[string]string
		provider string
		cloud    *netstate.Cloud
	}{
		{"AWS nitro", map[string]string{"sys_vendor": "Amazon EC2", "product_name": "m5.large", "bios_vendor": "Amazon EC2", "board_vendor": "Amazon EC2", "chassis_asset_tag": "Amazon EC2"},
			"aws", &netstate.Cloud{Provider: "aws", Instance: "m5.large", VCPUs: 4}},
		{"AWS bare metal", map[string]string{"sys_vendor": "Amazon EC2", "product_name": "m6i.metal"}, "aws", &netstate.Cloud{Provider: "aws", Instance: "m6i.metal", VCPUs: 4}},
		{"GCE", map[string]string{"sys_vendor": "Google", "product_name": "Google Compute Engine"}, "gcp", &netstate.Cloud{Provider: "gcp", VCPUs: 4}},
		{"Azure", map[string]string{"sys_vendor": "Microsoft Corporation", "product_name": "Virtual Machine", "chassis_asset_tag": "7783-7084-3265-9085-8269-3286-77"}, "azure", &netstate.Cloud{Provider: "azure", VCPUs: 4}},
		{"Hyper-V elsewhere", map[string]string{"sys_vendor": "Microsoft Corporation", "product_name": "Virtual Machine", "chassis_asset_tag": "8394-1234"}, "", nil},
		{"IBM VPC", map[string]string{"sys_vendor": "QEMU", "chassis_asset_tag": "ibmcloud", "chassis_vendor": "IBM:Cloud Compute Server 1.0:bx2-16x64"}, "ibm-vpc", &netstate.Cloud{Provider: "ibm-vpc", Instance: "bx2-16x64", VCPUs: 4}},
		{"IBM VPC that does not say its profile", map[string]string{"chassis_asset_tag": "ibmcloud"}, "ibm-vpc", &netstate.Cloud{Provider: "ibm-vpc", VCPUs: 4}},
		{"Oracle", map[string]string{"sys_vendor": "QEMU", "chassis_asset_tag": "OracleCloud.com"}, "oracle", nil},
		{"Alibaba", map[string]string{"sys_vendor": "Alibaba Cloud", "product_name": "Alibaba Cloud ECS"}, "alibaba", nil},
		{"OVH public cloud", map[string]string{"sys_vendor": "OpenStack Foundation", "product_name": "OpenStack Nova"}, "openstack", nil},
		{"plain QEMU", map[string]string{"sys_vendor": "QEMU", "product_name": "Standard PC (Q35 + ICH9, 2009)"}, "", nil},
		{"Amazon's name elsewhere in it", map[string]string{"sys_vendor": "Not Amazon EC2"}, "", nil},
	} {
		tree := fstest.MapFS{}
		for name, text := range tc.dmi {
			tree[dmi+name] = file(text + "\n")
		}
		machine, cloud := readMachine(tree, 4)
		if machine == nil && tc.provider != "" || machine != nil && machine.Provider != tc.provider {
			t.Errorf("%s: machine %+v, want provider %q", tc.name, machine, tc.provider)
		}
		if diff := cmp.Diff(tc.cloud, cloud, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s: cloud (-want +got)\n%s", tc.name, diff)
		}
	}
	if machine, cloud := readMachine(fstest.MapFS{}, 4); machine != nil || cloud != nil {
		t.Errorf("without firmware: %+v %+v", machine, cloud)
	}
}

func TestMemory(t *testing.T) {
	for text, want := range map[string]unit.Bytes{
		"MemTotal:        2048 kB\n": 2048 * 1024, "MemFree: 1 kB\nMemTotal: 5 kB": 5 * 1024,
		"": 0, "MemTotal: x kB": 0, "MemTotal: 5 MB": 0, "MemTotal: 99999999999999999999 kB": 0, "MemTotal:": 0,
	} {
		if got := memory(text); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}

func TestLinkOwners(t *testing.T) {
	link := func(name, kind string, index int) netstate.Link {
		return netstate.Link{Name: name, Kind: kind, Index: index}
	}
	tree := fstest.MapFS{
		// NetworkManager knows every link and says which are its own.
		"run/NetworkManager/devices/2": file("[device]\nmanaged=true\nconnection-uuid=5e6a\nnm-owned=false\n"),
		"run/NetworkManager/devices/3": file("[device]\nmanaged=false\n"),
		"run/NetworkManager/devices/4": file("[device]\nmanaged=unknown\n"),
		"run/systemd/netif/links/5":    file("ADMIN_STATE=configuring\nNETWORK_FILE=/etc/systemd/network/10-x.network\n"),
		"run/systemd/netif/links/6":    file("ADMIN_STATE=linger\nNETWORK_FILE=/etc/systemd/network/10-x.network\n"),
		"run/network/ifstate":          file("lo=lo\neth7=eth7\n"),
		"run/teamd/team8.pid":          file("912\n"),
		"run/dhclient.eth9.pid":        file("913\n"),
	}
	links := []netstate.Link{
		link("lo", "loopback", 1), link("eth2", "", 2), link("eth3", "", 3), link("eth4", "", 4), link("eth5", "", 5), link("eth6", "", 6), link("eth7", "", 7),
		link("team8", "team", 8), link("eth9", "", 9), link("cilium_host", "veth", 10), link("cali12ab", "veth", 11), link("flannel.1", "vxlan", 12),
		link("docker0", "bridge", 13), link("br-0123456789ab", "bridge", 14), link("br-storage-lan", "bridge", 15), link("cali0", "", 16), link("veth99", "veth", 17), link("lxc1", "bridge", 18),
	}
	links[16].Master = "docker0"
	want := map[string]string{
		"eth2": "NetworkManager", "eth5": "systemd-networkd", "eth7": "ifupdown", "team8": "teamd", "eth9": "dhclient", "cilium_host": "Cilium", "cali12ab": "Calico",
		"flannel.1": "flannel", "docker0": "Docker", "br-0123456789ab": "Docker", "veth99": "Docker",
	}
	check := func(name string, lives alive, want map[string]string) {
		t.Helper()
		own := slices.Clone(links)
		ownLinks(tree, own, lives)
		got := map[string]string{}
		for _, l := range own {
			if l.Owner != "" {
				got[l.Name] = l.Owner
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
	check("nobody can tell who runs", everAlive, want)
	all := func(string) (bool, bool) { return true, true }
	check("all run", all, want)
	// What a manager wrote outlives it.
	delete(want, "eth2")
	check("NetworkManager was stopped", func(p string) (bool, bool) { return p != "NetworkManager", true }, want)
	if got := findOwners(tree, func(p string) (bool, bool) { return p == "teamd", true }); !slices.Equal(got, []string{"ifupdown", "teamd"}) {
		t.Errorf("owners %v", got)
	}
}

func FuzzMachineFiles(f *testing.F) {
	tree := fixture(f, "two-socket")
	for _, name := range []string{"proc/interrupts", "proc/meminfo", "run/systemd/netif/links/2", "sys/class/net/ens2f0/queues/rx-0/rps_cpus", "proc/irq/122/smp_affinity_list", "sys/class/dmi/id/sys_vendor"} {
		f.Add(tree[name].Data)
	}
	f.Add([]byte("[device]\nmanaged=true\n"))
	f.Add([]byte("IBM:Cloud Compute Server 1.0:bx2-2x8"))
	f.Fuzz(func(t *testing.T, text []byte) {
		tree := fstest.MapFS{"sys/class/net/e/ifindex": file("2"), "sys/class/net/e/flags": file("0x1003"), "sys/class/net/e/device/uevent": file("PCI_SLOT_NAME=0000:01:00.0"), "sys/devices/system/node/online": file("0-1")}
		for _, name := range []string{
			"proc/interrupts", "proc/meminfo", "proc/cpuinfo", "proc/irq/1/effective_affinity_list", "sys/class/net/e/device/numa_node", "sys/class/net/e/queues/rx-0/rps_cpus", "sys/class/net/e/queues/tx-0/xps_cpus",
			"run/NetworkManager/devices/2", "run/systemd/netif/links/2", "run/network/ifstate", dmi + "sys_vendor", dmi + "product_name", dmi + "chassis_vendor", dmi + "chassis_asset_tag", "sys/class/net/e/bridge/stp_state",
		} {
			tree[name] = &fstest.MapFile{Data: text}
		}
		h, err := Captured(tree)
		if err != nil {
			t.Fatal(err)
		}
		l := h.Links[0]
		if l.Owner != "" && !strings.Contains("NetworkManager systemd-networkd ifupdown", l.Owner) {
			t.Errorf("owner %q", l.Owner)
		}
		if l.Device != nil && l.Device.Node != nil && *l.Device.Node < 0 || h.Memory < 0 {
			t.Errorf("device %+v, memory %d", l.Device, h.Memory)
		}
	})
}
