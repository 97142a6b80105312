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

// TestNotTurned: the same words of what was slower, of two ways, of one connection and
// several, and of what is only there.
func TestNotTurned(t *testing.T) {
	for _, text := range []string{
		"The 10G link is slow.\nWith irqbalance removed it gives 2 Gbit/s, before it was 9 Gbit/s.\n",
		"The 10G link is slow.\nAfter I enabled receive queues the throughput dropped from 9.4 Gbit/s to 3 Gbit/s.\n",
		"The line is slow.\nI disabled Suricata to be sure, and still get 400 Mbit/s instead of 940 Mbit/s.\n",
		"Transfers are slow.\nWith encryption the transfer gives 1.1 GB/s, with plain FTP 300 MB/s.\n",
		"The NAS is slow.\nI use a firewall between the VLANs and get 940 Mbit/s to the internet but 300 Mbit/s from the NAS.\n",
		"The server is slow.\nMoving it from the firewall's DMZ to the LAN gives 9.4 Gbit/s instead of 940 Mbit/s.\n",
		"The guest is slow.\nIt has virtio, iperf3 to the NAS gives 2.5 Gbit/s, from the desktop it gives 9.4 Gbit/s.\n",
		"The NAS is slow at 30 MB/s.\nI moved it to another subnet, rps and xps are untouched: 113 MB/s from the laptop.\n",
		"One stream is slow.\nUsing RSS with 8 queues I get 40 Gbit/s with 8 streams and 14 Gbit/s with one stream.\n",
		"The LAG is slow.\nWith layer3+4 set it gives 940 Mbit/s with one stream and 1.88 Gbit/s with four streams.\n",
		"The link is slow.\nWith MTU 9000 it is 3 Gbit/s, with 1500 it is 9 Gbit/s.\n",
		"The link is slow.\nThe message that the conntrack table is full never appears.\n",
		"The link is slow.\nThat packets are dropped by rp_filter is what a colleague supposed, but turning it off did nothing.\n",
		"The link is slow.\nThroughput is limited to 300 Mbit/s by the provider, not by CPU usage.\n",
		"The copies over 10GbE are slow, about 120 MB/s.\nMy phone gets 600 Mbit/s over wifi, so that one is fine.\n",
		"The office is slow, 50 Mbit/s by VPN.\nDocker Desktop is installed on this laptop.\n",
		"The line is slow. The router has dual WAN.\nThe rate never doubled after the provider's upgrade to 200 Mbit/s.\n",
		"Two ISPs here, and the cable line is slow.\nThe DSL is not combined with it, it is there for failover.\n",
	} {
		f := judge(text).Findings[0]
		if f.Confidence >= 0.5 && f.Cause != record.Unknown {
			t.Errorf("%q is %s, %.2f: %s", text, f.Cause, f.Confidence, f.Summary)
		}
	}
}
