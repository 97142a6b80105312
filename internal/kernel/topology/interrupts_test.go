package topology

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const interruptText = `            CPU0       CPU1       CPU4
   1:          0          0          9  IR-IO-APIC    1-edge      i8042
  24:          3          0          0  PCI-MSIX-0000:00:03.0    0-edge      virtio0-config
  25:          0     123456          7  IR-PCI-MSI 524288-edge      eth0-TxRx-0
  26:          0          0          0  PCI-MSI 524289-edge      mlx5_comp2@pci:0000:81:00.0
  31:          5          0          0  GICv3  30 Level     eth1, usb1
  99:          5          0
 NMI:          0          0          0   Non-maskable interrupts
 LOC:          1          2          3   Local timer interrupts
 ERR:          0
`

func TestInterruptTable(t *testing.T) {
	want := []Interrupt{
		{1, "i8042", []uint64{0, 0, 0, 0, 9}},
		{24, "virtio0-config", []uint64{3}},
		{25, "eth0-TxRx-0", []uint64{0, 123456, 0, 0, 7}},
		{26, "mlx5_comp2@pci:0000:81:00.0", nil},
		{31, "eth1, usb1", []uint64{5}},
	}
	got := InterruptTable([]byte(interruptText))
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("(-want +got)\n%s", diff)
	}
	for _, tc := range []struct {
		row     int
		link    string
		device  string
		serving bool
	}{{2, "eth0", "", true}, {4, "eth1", "", true}, {3, "ens1", "0000:81:00.0", true}, {3, "ens1", "0000:81:00.1", false}, {2, "eth", "", false}, {1, "eth9", "virtio0", true}} {
		if got[tc.row].Serves(tc.link, tc.device) != tc.serving {
			t.Errorf("%q serves %s %s: want %v", got[tc.row].Actions, tc.link, tc.device, tc.serving)
		}
	}
}

func TestParseMask(t *testing.T) {
	for text, want := range map[string][]int{"0": nil, "00000000,00000005\n": {0, 2}, "80000000": {31}, "1,00000000": {32}, "ff": {0, 1, 2, 3, 4, 5, 6, 7}} {
		if got, err := ParseMask(text); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %v, %v, want %v", text, got, err, want)
		}
	}
	for _, bad := range []string{"", "x", "1,", "100000000"} {
		if got, err := ParseMask(bad); err == nil {
			t.Errorf("%q: %v", bad, got)
		}
	}
}

func FuzzInterrupts(f *testing.F) {
	f.Add([]byte(interruptText))
	f.Add([]byte("CPU0 CPU8191\n1: 2 3 a-edge x"))
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, i := range InterruptTable(text) {
			if i.Number < 0 || len(i.Counts) > mostCores || len(i.Counts) > 0 && i.Counts[len(i.Counts)-1] == 0 {
				t.Errorf("%+v", i)
			}
			i.Serves("eth0", "virtio0")
		}
		if cores, err := ParseMask(string(text)); err == nil && !slices.IsSorted(cores) {
			t.Errorf("%v", cores)
		}
	})
}
