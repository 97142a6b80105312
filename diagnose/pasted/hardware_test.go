package pasted

import (
	"strings"
	"testing"

	"github.com/linerate/linerate/record"
)

// hardwareCase is a text with the cause that comes first, how sure that is at least and
// at most (0 no bound), and words that the answer has, and has not.
type hardwareCase struct {
	name, text  string
	cause       record.Cause
	least, most float64
	says, never string
}

func judgeHardware(t *testing.T, cases []hardwareCase) {
	t.Helper()
	for _, c := range cases {
		a := judge(c.text)
		f := a.Findings[0]
		said := f.Text
		for _, m := range a.Missing {
			said += "\n" + m.String()
		}
		switch {
		case f.Cause != c.cause, f.Confidence < c.least, c.most > 0 && f.Confidence > c.most:
			t.Errorf("%s: %s %.2f, want %s from %.2f to %.2f: %s", c.name, f.Cause, f.Confidence, c.cause, c.least, c.most, said)
		case !strings.Contains(said, c.says):
			t.Errorf("%s: not said %q: %s", c.name, c.says, said)
		case c.never != "" && strings.Contains(said, c.never):
			t.Errorf("%s: said %q: %s", c.name, c.never, said)
		}
	}
}

// TestSlots: the kernel's and the drivers' lines about PCIe, of narrow slots and of
// those that are as they should be.
func TestSlots(t *testing.T) {
	judgeHardware(t, []hardwareCase{
		{"a narrow slot, by the kernel's line", "[    2.9] mlx5_core 0000:41:00.0: 15.752 Gb/s available PCIe bandwidth, limited by 8.0 GT/s PCIe x2 link at 0000:40:03.1 (capable of 126.016 Gb/s with 8.0 GT/s PCIe x16 link)\n", record.CardSlot, 0.6, 0.7, "at 0000:40:03.1, is x2 at 8 GT/s", "32 GT/s"},
		{"a narrow slot that carries what it can", "[    2.9] ice 0000:41:00.0: 31.504 Gb/s available PCIe bandwidth, limited by 8.0 GT/s PCIe x4 link at 0000:40:03.1 (capable of 252.048 Gb/s with 16.0 GT/s PCIe x16 link)\n# iperf3 -c 192.0.2.2 -P 8 | grep SUM.*rec\n[SUM]   0.00-10.04  sec  30.1 GBytes  25.8 Gbits/sec                  receiver\n", record.CardSlot, 0.9, 0, "x4 at 8 GT/s", ""},
		{"a slower generation, ports not known", "[    2.9] ice 0000:41:00.0: 63.008 Gb/s available PCIe bandwidth, limited by 8.0 GT/s PCIe x8 link at 0000:40:03.1 (capable of 126.024 Gb/s with 16.0 GT/s PCIe x8 link)\n", record.CardSlot, 0.36, 0.5, "where its ports together need more", ""},
		{"a slower generation that the port does not need", "[    2.9] bnxt_en 0000:41:00.0 ens3: NIC Link is Up, 25000 Mbps full duplex, Flow control: none\n[    3.1] bnxt_en 0000:41:00.0: 63.008 Gb/s available PCIe bandwidth, limited by 8.0 GT/s PCIe x8 link at 0000:40:03.1 (capable of 126.024 Gb/s with 16.0 GT/s PCIe x8 link)\n", record.Unknown, 0, 0, "", "PCIe slot limits"},
		{"a slot that fits", "[    2.1] mlx5_core 0000:81:00.1: 252.048 Gb/s available PCIe bandwidth (16.0 GT/s PCIe x16 link)\n", record.Unknown, 0, 0, "", "PCIe slot limits"},
		{"ixgbe that is content", "[    1.9] ixgbe 0000:05:00.0: PCI Express bandwidth of 32GT/s available\n[    1.9] ixgbe 0000:05:00.0: (Speed:5.0GT/s, Width: x8, Encoding Loss:20%)\n", record.Unknown, 0, 0, "", "PCIe slot limits"},
		{"ixgbe that complains", "[    1.9] ixgbe 0000:05:00.0: PCI Express bandwidth of 8GT/s available\n[    1.9] ixgbe 0000:05:00.0: (Speed:5.0GT/s, Width: x2, Encoding Loss:20%)\n[    1.9] ixgbe 0000:05:00.0: This is not sufficient for optimal performance of this card.\n", record.CardSlot, 0.6, 0, "x2 at 5 GT/s", ""},
		{"firmware that knows a wider slot", "# lspci -vv -s 03:00.0\n03:00.0 Ethernet controller: Intel Corporation Ethernet Controller X710 for 10GbE SFP+ (rev 02)\n\tLnkCap:\tPort #0, Speed 8GT/s, Width x8, ASPM L1\n\tLnkSta:\tSpeed 8GT/s, Width x1 (downgraded)\n# dmidecode -t slot\nSystem Slot Information\n\tDesignation: PCIE2\n\tType: x8 PCI Express 3\n\tCurrent Usage: In Use\n\tBus Address: 0000:03:00.0\n", record.CardSlot, 0.6, 0, "seat the card anew", ""},
	})
}
