package pasted

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/linerate/linerate/internal/evidence/paste"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// manyLinks is what a host of n links answers: bonds of two ports each, of which the
// driver says nothing more, and a bridge of all bonds.
func manyLinks(n int) []byte {
	text := &strings.Builder{}
	say := func(words string, args ...any) { fmt.Fprintf(text, words+"\n", args...) }
	say("root@a:~# ip -d link")
	for i := range n {
		say("%d: p%d: <BROADCAST,MULTICAST,SLAVE,UP,LOWER_UP> mtu 1500 qdisc mq master bond%d state UP mode DEFAULT group default qlen 1000", 2*i+2, i, i/2)
		say("    link/ether 02:00:00:00:%02x:%02x brd ff:ff:ff:ff:ff:ff promiscuity 0", i/256, i%256)
		say("    bond_slave state ACTIVE mii_status UP link_failure_count 0 perm_hwaddr 02:00:00:00:%02x:%02x queue_id 0", i/256, i%256)
		if i%4 == 0 {
			say("%d: bond%d: <BROADCAST,MULTICAST,MASTER,UP,LOWER_UP> mtu 1500 qdisc noqueue master br0 state UP mode DEFAULT group default qlen 1000", 2*i+3, i/2)
			say("    link/ether 02:00:00:00:%02x:%02x brd ff:ff:ff:ff:ff:ff promiscuity 0", i/256, i%256)
			say("    bond mode 802.3ad miimon 100 updelay 0 downdelay 0 xmit_hash_policy layer2")
		}
	}
	return []byte(text.String())
}

// used is the processor time that this program has had: others that run beside it do
// not count.
func used(t *testing.T) time.Duration {
	t.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		t.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// TestGrowth: four times the links in a paste take about four times as long to read and
// to judge, and never the sixteen times of a loop within a loop.
func TestGrowth(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: seconds of reading")
	}
	took := func(n int) time.Duration {
		best, text := time.Hour, manyLinks(n)
		for range 2 {
			start := used(t)
			c := paste.Parse([]piece.Text{{Bytes: text}})
			Judge(c)
			if best = min(best, used(t)-start); len(c.Hosts) == 0 || len(c.Hosts[0].Facts) < n {
				t.Fatalf("little was read of %d links", n)
			}
		}
		return best
	}
	few, many := took(500), took(2000)
	t.Logf("500 links %v, 2,000 %v: %.1f times", few, many, float64(many)/float64(few))
	// Up to 8 is seen where the collector of garbage has more to do.
	if many > 12*few {
		t.Errorf("2,000 links take %.1f times as long as 500: %v and %v", float64(many)/float64(few), many, few)
	}
}

// TestLarge: 10 MB are answered in seconds of a processor, 5 to 8 on a loaded machine:
// the time grows with a text's length, not by its hosts times its runs.
func TestLarge(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it takes seconds")
	}
	text := largeText(t)
	start := used(t)
	Judge(paste.Parse([]piece.Text{{Bytes: text}}))
	if took := used(t) - start; took > 20*time.Second {
		t.Errorf("%d kB took %v", len(text)>>10, took)
	} else {
		t.Logf("%d kB took %v", len(text)>>10, took)
	}
}
