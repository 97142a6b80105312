package paste

import (
	"testing"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// TestProse has what people write between outputs, and rows of outputs that look like
// another's: none of it may be read as a measurement, or as more than what somebody said.
func TestProse(t *testing.T) {
	for _, line := range []string{
		"2x10G LACP, iperf3 says 9.4 Gbits/sec in 10.0 sec, with -P 8 as well.",
		"One core is at 99 %CPU, the others idle.",
		"The link is up, then Link is Down for a moment, no idea why.",
		"Problem: link is up but slow, MTU is 9000 everywhere.",
		"net.ipv4.tcp_rmem is at its default, I think.",
		"rsync is at 110 MB/s, so 100% of one cable.",
		"ping works fine, 64 bytes or 1472, both ways.",
		"I set tcp_rmem = big and it did not help",
		"Our NAS has nfs mounted on /mnt with nconnect",
		"We have 4 x 200G and the test needs 20 sec per host",
		"1000 packets dropped of 2000000 sent out of the box",
		"sent 3 mails to the vendor, received no answer",
		"top of rack: 2 switches, MLAG, 100G uplinks",
		"Speed 5GT/s or 8GT/s? Width x8 in the manual.",
		"policy = layer3+4, that I know",
		"Tasks: find out which port is used",
		"1. checked the cables, 2. changed the port, 3. cried",
	} {
		c := Parse([]piece.Text{{Bytes: []byte(line + "\n")}})
		for _, h := range c.Hosts {
			for subject := range h.Facts {
				if subject != "said" {
					t.Errorf("read as %v, a fact of %q: %s", c.Read, subject, line)
				}
			}
		}
		if len(c.Runs) > 0 {
			t.Errorf("read as %v, runs %d: %s", c.Read, len(c.Runs), line)
		}
	}
}
