package pasted

import (
	"strings"
	"testing"

	"github.com/linerate/linerate/record"
)

// TestTurned: what people turned on or off, and that it was faster then; the same where it
// was not, and where it is advice or a question.
func TestTurned(t *testing.T) {
	for _, c := range []struct {
		name, before, turned string
		cause                record.Cause
		says                 string
	}{
		{"a filter", "The router gives 300 Mbit/s of a gigabit line.", "With Suricata enabled I get 300 Mbit/s, and with it disabled 940 Mbit/s.", record.ReceiverCPU, "reads each packet"},
		{"a scanner", "Downloads at this PC are slow, 200 Mbit/s of 1 Gbit/s.", "With the antivirus disabled it is 930 Mbit/s.", record.ReceiverCPU, "reads each packet"},
		{"a governor", "iperf3 between the two is slow, 4 Gbit/s.", "Setting the governor to performance gives 18 Gbit/s.", record.ReceiverCPU, "kept awake"},
		{"sleep states", "iperf3 between the two is slow, 4 Gbit/s.", "Disabling C-states in the firmware fixed it.", record.ReceiverCPU, "kept awake"},
		{"interrupts", "The bond carries 9 Gbit/s, which is slow.", "With irqbalance stopped and the queues pinned it is 18 Gbit/s.", record.ReceiverCPU, "placed on other cores"},
		{"signing", "SMB copies are slow, 30 MB/s.", "Disabling SMB signing brings it to 110 MB/s.", record.SenderCPU, "signing"},
		{"a guest's card", "Our guest carries 1 Gbit/s, which is slow.", "After changing the card from e1000 to virtio it gives 20 Gbit/s.", record.ReceiverCPU, "emulated"},
		{"an export", "NFS is slow at 40 MB/s.", "With async set on the export it is 110 MB/s.", record.Application, "sync"},
		{"an algorithm", "TCP over the satellite is slow, 2 Mbit/s.", "Enabling BBR raised it to 30 Mbit/s.", record.Congestion, ""},
		{"buffers", "TCP to the other coast is slow, 50 Mbit/s.", "After raising net.ipv4.tcp_rmem to 16 MB it is 600 Mbit/s.", record.ReceiveWindow, "window"},
		{"large frames", "The 10G link is slow, 3 Gbit/s.", "MTU 9000 on both ends gives 9.9 Gbit/s.", record.ReceiverCPU, ""},
		{"a slot", "The card is slow, 12 Gbit/s.", "Moving it to the x16 slot gives 38 Gbit/s.", record.CardSlot, "lanes"},
		{"firmware's LLDP", "Our X710 is slow now and then.", "Disabling the LLDP agent fixed it.", record.CardSlot, ""},
		{"energy saving, in four words", "Transfers stall every few seconds here.", "Disabling EEE fixed it.", record.CardSlot, "eee off"},
	} {
		judgeHardware(t, []hardwareCase{{c.name, c.before + "\n" + c.turned + "\n", c.cause, 0.54, 0.68, c.says, ""}})
		vain := strings.TrimSuffix(c.turned[:strings.LastIndex(c.turned, " ")], " fixed") + " as before, it made no difference."
		for _, second := range []string{vain, "Should I try this: " + strings.TrimSuffix(c.turned, ".") + "?"} {
			if f := judge(c.before + "\n" + second + "\n").Findings[0]; f.Confidence >= 0.54 {
				t.Errorf("%s: %q is %s, %.2f", c.name, second, f.Cause, f.Confidence)
			}
		}
	}
}
