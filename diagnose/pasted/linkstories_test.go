package pasted

import (
	"testing"

	"github.com/linerate/linerate/record"
)

// TestLinkStories: what sentences tell of several links and of storage over them, and what
// differs in what decides.
func TestLinkStories(t *testing.T) {
	judgeHardware(t, []hardwareCase{
		{"two receivers on one link", "The file server has an LACP bond of two ports.\nTwo clients pull a file each, and yet the second port sits idle.\n", record.HashImbalance, 0.5, 0.55, "gives each pair of addresses a link", ""},
		{"no bundle", "The file server has two ports.\nTwo clients pull a file each, and yet the second port sits idle.\n", record.Unknown, 0, 0, "", "gives each pair"},
		{"a client with one link", "The array has four ports for iSCSI with MPIO.\nThe initiator has only one gigabit port, and I want more.\n", record.LineRate, 0.45, 0.55, "the other has one", ""},
		{"a port without a speed", "Our LACP team is slow on some nodes.\nThe first port shows speed: -1 there.\n", record.LACPDown, 0.5, 0.6, "in no aggregator", ""},
		{"an export that is sync", "Copying to the NFS datastore crawls, only 4 MB/s written.\n# cat /etc/exports\n/tank/vm 192.0.2.0/24(rw,sync,no_subtree_check)\n", record.Application, 0.5, 0.6, "exports /tank/vm with sync", ""},
		{"an export that is async", "Copying to the NFS datastore crawls, only 4 MB/s written.\n# cat /etc/exports\n/tank/vm 192.0.2.0/24(rw,async,no_subtree_check)\n", record.Unknown, 0, 0, "", "with sync"},
	})
}
