package paste

import (
	"testing"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/unit"
)

// TestRunTogether: rows of iperf in one line, and rows without their blanks.
func TestRunTogether(t *testing.T) {
	for _, c := range []struct {
		name, text string
		rate       unit.BitRate
		again      int
	}{
		{"one line", "my result [ 5] local 192.0.2.1 port 4000 connected to 192.0.2.2 port 5201 [ ID] Interval Transfer Bitrate Retr Cwnd [ 5] 0.00-1.00 sec 55.0 MBytes 461 Mbits/sec 2 399 KBytes [ 5] 0.00-1.00 sec 55.0 MBytes 461 Mbits/sec 2 sender [ 5] 0.00-1.00 sec 54.6 MBytes 458 Mbits/sec receiver and so on", 458 * unit.Mbps, 2},
		{"no blanks", "[ID]IntervalTransferBitrateRetr\n[5]0.00-10.00sec2.10GBytes1.80Gbits/sec17sender\n[5]0.00-10.00sec2.09GBytes1.79Gbits/secreceiver\n", 1790 * unit.Mbps, 17},
		{"windows run into counts", "[5]0.00-1.00sec114MBytes956Mbits/sec0399KBytes\n[5]1.00-2.00sec114MBytes956Mbits/sec0399KBytes\n[5]0.00-2.00sec228MBytes956Mbits/sec0sender\n", 956 * unit.Mbps, 0},
		{"iperf2", "so slow ------------------------------------------------------------ Client connecting to 192.0.2.2, TCP port 5001 TCP window size: 85.0 KByte (default) ------------------------------------------------------------ [ 3] local 192.0.2.1 port 4000 connected with 192.0.2.2 port 5001 [ ID] Interval Transfer Bandwidth [ 3] 0.0-10.0 sec 570 MBytes 478 Mbits/sec", 478 * unit.Mbps, -1},
	} {
		got := Parse([]piece.Text{{Name: "p", Bytes: []byte(c.text)}})
		if len(got.Runs) != 1 || got.Runs[0].Rate != c.rate || got.Runs[0].Retransmits != c.again {
			t.Errorf("%s: %+v", c.name, got.Runs)
		}
		for _, r := range got.Runs {
			if r.Source.To > 3 {
				t.Errorf("%s: line %d of a text that has fewer", c.name, r.Source.To)
			}
		}
	}
	for _, said := range []string{"I read [1] and [2] of the manual, and 940 Mbits/sec is what they print.", "see [ 5] for 941 Mbits/sec"} {
		if got := Parse([]piece.Text{{Bytes: []byte(said)}}); len(got.Runs) > 0 {
			t.Errorf("runs of %q: %+v", said, got.Runs)
		}
	}
}

// TestUnindented: what is left of a netplan file whose indentation was lost.
func TestUnindented(t *testing.T) {
	flat := "network:\nversion: 2\nethernets:\nens1: {}\nens2:\ndhcp4: false\nbonds:\nbond7:\ninterfaces:\n- ens1\n- ens2\nmtu: 9000\naddresses: [192.0.2.5/24]\nparameters:\nmode: 802.3ad\ntransmit-hash-policy: layer2+3\n\nonly half of it is used\n"
	c := Parse([]piece.Text{{Name: "n", Bytes: []byte(flat)}})
	h := c.Host("")
	for key, want := range map[string]string{"kind": "bond", "mode": "802.3ad", "xmit_hash_policy": "layer2+3", "ports": "ens1 ens2", "mtu": "9000"} {
		if x, _ := h.Get("config bond7", key); x.Text != want {
			t.Errorf("%s is %q, want %q", key, x.Text, want)
		}
	}
	whole := "network:\n  version: 2\n  bonds:\n    bond7:\n      interfaces: [ens1, ens2]\n      parameters:\n        mode: active-backup\n"
	for _, text := range []string{whole, "bonds:\n  bond7:\n    interfaces: [ens1, ens2]\n    parameters:\n      mode: active-backup\n"} {
		c = Parse([]piece.Text{{Name: "n", Bytes: []byte(text)}})
		if x, _ := c.Host("").Get("config bond7", "mode"); x.Text != "active-backup" || c.Read[0].Kind == piece.LostIndentation {
			t.Errorf("mode %q, read as %v", x.Text, c.Read)
		}
	}
}
