package pasted

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/linerate/linerate/record"
)

// TestCases: public cases (C) and their neighbours (the others), written anew as such a
// person would paste them: the cause that an expert names first, or an honest unknown
// that asks for what would show it.
func TestCases(t *testing.T) {
	for name, c := range map[string]struct {
		cause record.Cause
		says  string // in the answer or in what it asks for
	}{
		"C02": {record.Reordering, "layer3+4"}, "C04": {record.SingleLink, "MAC"}, "C06": {record.ReceiverCPU, "cores"}, "C08": {record.CardSlot, "x4"},
		"C12": {record.SenderCPU, "3.16"}, "C15": {record.SingleLink, "layer3+4"}, "C17": {record.AsymmetricRoute, "ARP"}, "C22": {record.LACPDown, "switch"},
		"C26": {record.SenderCPU, "queue"}, "C27": {record.LACPDown, "slow"}, "C28": {record.LACPDown, "use_carrier"}, "C31": {record.SingleLink, "QP"},
		"C33": {record.Unknown, "ACSCtl"}, "C36": {record.SingleLink, "nconnect"}, "C38": {record.Unknown, "ss -Mtin"}, "C42": {record.CardSlot, "checksum"},
		"C45": {record.SingleLink, "balance-tcp"}, "C47": {record.LACPDown, "rate"}, "C48": {record.Congestion, "eth2 and eth3"}, "C53": {record.SingleLink, "uplink"},
		"C54": {record.SingleLink, "datastores"}, "C57": {record.SingleLink, "MPIO"}, "C58": {record.MTU, "9000"}, "C63": {record.CardSlot, "overruns"},
		"C65": {record.ReceiverCPU, "gro on"}, "C66": {record.SenderCPU, "vtnet"}, "C72": {record.SingleLink, "fib_multipath_hash_policy"}, "C75": {record.Application, ""},
		"C87":             {record.AsymmetricRoute, "route -p add"},
		"S01-one-restart": {record.Unknown, "journalctl"}, "T50-vxlan-healthy": {record.Unknown, ""}, "T55-pcie-ok": {record.Unknown, ""}, "W1-storage-net-healthy": {record.Unknown, "ip route get"},
		"W2": {record.LineRate, "line rate"}, "W4-vpn-hostroute": {record.Unknown, "ip route"}, "T52-old-iperf3-line": {record.LineRate, ""}, "S12-vxlan-mtu": {record.MTU, "50 bytes"},
		"S15-irq-cpu0": {record.ReceiverCPU, "core 0"}, "S16-mlx5-pcie": {record.CardSlot, "x4 at 8 GT/s"}, "S33-martian": {record.AsymmetricRoute, "rp_filter"},
		"T56-pcie-8of16": {record.CardSlot, "x8 at 8 GT/s"}, "T58-networkd-periodic": {record.Application, "60 minutes"},
	} {
		text, err := os.ReadFile(filepath.Join("testdata", "cases", name+".txt"))
		if err != nil {
			t.Fatal(err)
		}
		a := judge(string(text))
		f := a.Findings[0]
		if f.Cause != c.cause || !strings.Contains(f.Text, c.says) {
			t.Errorf("%s: %s (want %s, saying %q): %s", name, f.Cause, c.cause, c.says, f.Text)
		}
	}
}
