package pasted

import (
	"fmt"
	"strings"
	"testing"

	"github.com/linerate/linerate/record"
)

// restart is what a bond's log says when it is taken down and brought up once.
func restart(at int) string {
	var b strings.Builder
	for i, text := range []string{"(slave eno1): Releasing backup interface", "(slave eno2): Releasing backup interface", "(slave eno1): Enslaving as a backup interface with a down link", "(slave eno2): Enslaving as a backup interface with a down link", "(slave eno1): link status definitely up, 10000 Mbps full duplex", "(slave eno2): link status definitely up, 10000 Mbps full duplex"} {
		fmt.Fprintf(&b, "[%d.%03d] bond0: %s\n", at+i/2*2, i, text)
	}
	return b.String()
}

func carrier(times ...string) string {
	var b strings.Builder
	for _, at := range times {
		fmt.Fprintf(&b, "Mar 11 %s:07 h1 systemd-networkd[612]: enp3s0: Lost carrier\nMar 11 %s:09 h1 systemd-networkd[612]: enp3s0: Gained carrier\n", at, at)
	}
	return b.String()
}

// TestLogged: what a log of a bond or link may be blamed for, and what not.
func TestLogged(t *testing.T) {
	const joins = "Mar 11 10:00:01 h1 kernel: bond0: (slave eno1): Enslaving as a backup interface with an up link\nMar 11 10:00:01 h1 kernel: bond0: (slave eno2): Enslaving as a backup interface with an up link\n" +
		"Mar 11 10:00:02 h1 kernel: bond0: Warning: No 802.3ad response from the link partner for any adapters in the bond\n"
	for _, c := range []struct {
		name, text string
		cause      record.Cause
		least      float64
		says       string
	}{
		{"one restart", restart(8100), record.Unknown, 0, ""},
		{"two restarts of somebody who tries", restart(8100) + restart(9000), record.Unknown, 0, ""},
		{"taken apart each hour", restart(8100) + restart(11700) + restart(15300) + restart(18900), record.LACPDown, 0.8, "every 60 minutes"},
		{"carrier lost by the clock", carrier("01:30", "02:00", "02:30", "03:00", "03:30"), record.Application, 0.7, "every 30 minutes"},
		{"carrier lost as a bad cable does", carrier("01:30", "01:41", "02:30", "02:34", "03:30"), record.CardSlot, 0.6, "again and again"},
		{"a capture each hour", "[3600.1] device eno1 entered promiscuous mode\n[3660.1] device eno1 left promiscuous mode\n[7200.1] device eno1 entered promiscuous mode\n[7260.1] device eno1 left promiscuous mode\n" +
			"[10800.1] device eno1 entered promiscuous mode\n[10860.1] device eno1 left promiscuous mode\n[14400.1] device eno1 entered promiscuous mode\n[14460.1] device eno1 left promiscuous mode\n", record.Unknown, 0, ""},
		{"a bond that leaves its bridge each hour", "[3600.1] device bond1 left promiscuous mode\n[3601.1] device bond1 entered promiscuous mode\n[7200.1] device bond1 left promiscuous mode\n[7201.1] device bond1 entered promiscuous mode\n" +
			"[10800.1] device bond1 left promiscuous mode\n[10801.1] device bond1 entered promiscuous mode\n[14400.1] device bond1 left promiscuous mode\n", record.LACPDown, 0.6, "every 60 minutes"},
		{"a guest that is backed up each night", "[86400.1] device tap101i0 left promiscuous mode\n[172800.1] device tap101i0 left promiscuous mode\n[259200.1] device tap101i0 left promiscuous mode\n[345600.1] device tap101i0 left promiscuous mode\n", record.Unknown, 0, ""},
		{"a bond that comes up", joins + "Mar 11 10:00:33 h1 kernel: bond0: active interface up!\n", record.LACPDown, 0.55, "spanning tree"},
		{"a start as all are", joins + "Mar 11 10:00:02 h1 kernel: bond0: (slave eno2): link status definitely up, 1000 Mbps full duplex\nMar 11 10:00:03 h1 kernel: bond0: active interface up!\n", record.Unknown, 0, ""},
		{"layer2 in a log of coming up", joins + "\n# head -14 /proc/net/bonding/bond0\nEthernet Channel Bonding Driver: v6.1.0\n\nBonding Mode: IEEE 802.3ad Dynamic link aggregation\nTransmit Hash Policy: layer2 (0)\nMII Status: up\n\n802.3ad info\nLACP rate: slow\n", record.LACPDown, 0.55, "spanning tree"},
		{"a partner that never comes", joins + "Mar 11 10:11:02 h1 kernel: bond0: Warning: No 802.3ad response from the link partner for any adapters in the bond\nMar 11 10:22:02 h1 kernel: bond0: Warning: No 802.3ad response from the link partner for any adapters in the bond\n", record.Unknown, 0, ""},
	} {
		f := judge(c.text).Findings[0]
		if f.Cause != c.cause || f.Confidence < c.least || !strings.Contains(f.Text, c.says) {
			t.Errorf("%s: %s %.2f, want %s at %.2f with %q: %s", c.name, f.Cause, f.Confidence, c.cause, c.least, c.says, f.Text)
		}
	}
}
