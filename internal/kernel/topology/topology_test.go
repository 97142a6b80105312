package topology

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/linerate/linerate/internal/traffic/placement"
)

func TestParseList(t *testing.T) {
	for text, want := range map[string][]int{"": nil, "\n": nil, "0\n": {0}, "0-3,8,10-11\n": {0, 1, 2, 3, 8, 10, 11}, "3,1-2,2": {1, 2, 3}} {
		got, err := ParseList(text)
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"a", "3-1", "-1", "1-", "0-99999999", "1;2"} {
		if got, err := ParseList(text); err == nil {
			t.Errorf("%q was read as %v", text, got)
		}
	}
}

const interrupts = `           CPU0       CPU1
  24:          1          0  IR-PCI-MSI 1048576-edge      eth0
  25:          1          0  IR-PCI-MSI 1048577-edge      eth0-TxRx-0
  26:          1          0  IR-PCI-MSI 1048577-edge      eth01-TxRx-0
  27:          0          9  IR-PCI-MSI 1048578-edge      mlx5_comp2@pci:0000:81:00.0
  28:          0          9  PCI-MSIX-0000:00:03.0   1-edge      virtio2-input.0
  29:          0          9  PCI-MSIX-0000:00:13.0   1-edge      virtio22-input.0
  30:          0          9  IR-PCI-MSI 1048578-edge      i40e-eth1-TxRx-7, ahci
 NMI:          0          0   Non-maskable interrupts eth0
 ERR:          0
`

func TestParseInterrupts(t *testing.T) {
	for _, c := range []struct {
		link, device string
		want         []int
	}{
		{"eth0", "", []int{24, 25}},
		{"eth01", "", []int{26}},
		{"eth1", "", []int{30}},
		{"ens2f0", "0000:81:00.0", []int{27}},
		{"ens3", "virtio2", []int{28}},
		{"eth9", "0000:82:00.0", nil},
		{"", "", nil},
	} {
		if got := ParseInterrupts([]byte(interrupts), c.link, c.device); !slices.Equal(got, c.want) {
			t.Errorf("%s at %q: %v, want %v", c.link, c.device, got, c.want)
		}
	}
}

func FuzzParseInterrupts(f *testing.F) {
	f.Add([]byte(interrupts), "eth0", "virtio2")
	f.Add([]byte("1:\n:\n99999999999999999999: x"), "x", "")
	f.Fuzz(func(t *testing.T, text []byte, link, device string) {
		for _, n := range ParseInterrupts(text, link, device) {
			if n < 0 {
				t.Errorf("interrupt %d", n)
			}
		}
	})
}

func FuzzParseList(f *testing.F) {
	f.Add("0-3,8")
	f.Add("0-9999999999")
	f.Fuzz(func(t *testing.T, text string) {
		l, err := ParseList(text)
		if err == nil && (!slices.IsSorted(l) || len(l) > mostCores || len(l) > 0 && l[0] < 0) {
			t.Errorf("%q: %d cores", text, len(l))
		}
	})
}

// write puts files into a tree.
func write(t *testing.T, root string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		at := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(at, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func TestRead(t *testing.T) {
	root := t.TempDir()
	files := map[string]string{
		"sys/devices/system/cpu/online":            "0-3\n",
		"sys/devices/system/node/node0/cpulist":    "0-1\n",
		"sys/devices/system/node/node1/cpulist":    "2-3\n",
		"sys/devices/pci0/0000:81:00.0/numa_node":  "1\n",
		"sys/devices/pci0/0000:81:00.0/msi_irqs/7": "msix\n",
		"sys/devices/pci0/0000:81:00.0/msi_irqs/8": "msix\n",
		"proc/interrupts":                          " 9: 0 0 IO-APIC 1-edge ens2f0-async\n",
		"proc/irq/7/effective_affinity_list":       "2\n", "proc/irq/7/smp_affinity_list": "0-3\n",
		"proc/irq/8/smp_affinity_list":       "3\n",
		"proc/irq/9/effective_affinity_list": "\n", "proc/irq/9/smp_affinity_list": "0\n",
	}
	for _, id := range []string{"0", "1", "2", "3"} {
		files["sys/devices/system/cpu/cpu"+id+"/cache/index0/level"] = "1\n"
		files["sys/devices/system/cpu/cpu"+id+"/cache/index0/shared_cpu_list"] = id + "\n"
		files["sys/devices/system/cpu/cpu"+id+"/cache/index1/level"] = "3\n"
	}
	for id, l3 := range map[string]string{"0": "0-1", "1": "0-1", "2": "2-3", "3": "2-3"} {
		files["sys/devices/system/cpu/cpu"+id+"/cache/index1/shared_cpu_list"] = l3 + "\n"
	}
	files["sys/devices/system/cpu/cpu2/topology/thread_siblings_list"] = "2-3\n"
	files["sys/devices/system/cpu/cpu3/topology/thread_siblings_list"] = "2-3\n"
	write(t, root, files)
	for link, target := range map[string]string{"ens2f0": "../../../devices/pci0/0000:81:00.0", "ens3": "../../../devices/pci0/0000:81:00.0/virtio2"} {
		at := filepath.Join(root, "sys/class/net", link)
		if err := os.MkdirAll(at, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(target, filepath.Join(at, "device")); err != nil {
			t.Fatal(err)
		}
	}
	write(t, root, map[string]string{"sys/devices/pci0/0000:81:00.0/virtio2/vendor": "0x1af4\n", "sys/class/net/veth0/mtu": "1500\n"})
	cores, err := Cores(root)
	if err != nil {
		t.Fatal(err)
	}
	want := []placement.Core{{ID: 0}, {ID: 1, Physical: 1}, {ID: 2, Node: 1, Cache: 2, Physical: 2}, {ID: 3, Node: 1, Cache: 2, Physical: 2}}
	if diff := cmp.Diff(want, cores); diff != "" {
		t.Errorf("cores (-want +got)\n%s", diff)
	}
	for _, c := range []placement.Link{
		{Name: "ens2f0", Node: 1, Interrupts: []int{0, 2, 3}},
		{Name: "ens3", Node: 1, Interrupts: []int{2, 3}},
		{Name: "veth0", Node: -1},
		{Name: "nothing", Node: -1},
		{Name: "../net/ens2f0", Node: -1},
	} {
		if diff := cmp.Diff(c, Link(root, c.Name)); diff != "" {
			t.Errorf("%s (-want +got)\n%s", c.Name, diff)
		}
	}
}

// TestNodes: each core's node is what Cores says of it, on two nodes of which one
// core is offline.
func TestNodes(t *testing.T) {
	root := t.TempDir()
	for file, text := range map[string]string{
		"sys/devices/system/cpu/online": "0-2,4-5\n", "sys/devices/system/node/node0/cpulist": "0-2\n", "sys/devices/system/node/node1/cpulist": "3-5\n",
	} {
		if err := os.MkdirAll(filepath.Join(root, filepath.Dir(file)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, file), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	nodes, err := Nodes(root)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[int]int{0: 0, 1: 0, 2: 0, 4: 1, 5: 1}, nodes); diff != "" {
		t.Error(diff)
	}
	cores, err := Cores(root)
	if err != nil || len(cores) != len(nodes) {
		t.Fatalf("%d cores, %v", len(cores), err)
	}
	for _, c := range cores {
		if nodes[c.ID] != c.Node {
			t.Errorf("core %d: node %d, Cores says %d", c.ID, nodes[c.ID], c.Node)
		}
	}
	if _, err := Nodes(t.TempDir()); err == nil {
		t.Error("nothing there, and no error")
	}
}
