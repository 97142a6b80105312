package runs

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/linerate/linerate/diagnose/pasted/scene"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/internal/evidence/paste/saidtext"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// saidRates: what people tell of their rates. Of one end or the other it shows that the
// limit is not there; it is no output, so none of it is sure.
func saidRates(v *scene.View) {
	for _, h := range v.Case.Hosts {
		if h.Facts["said"] == nil {
			continue
		}
		a := account{View: v, h: h}
		if !a.eachLimited() {
			a.storage()
		}
		a.falls()
		a.tenth()
		a.striped()
	}
}

// account is what one host's people tell.
type account struct {
	*scene.View
	h *piece.Host
}

func (a account) rate(key string) (unit.BitRate, piece.Source) {
	n, at, _ := scene.Number(a.h, "said", key)
	return unit.BitRate(n), at
}

func (a account) word(key string) piece.Value {
	x, _ := a.h.Get("said", key)
	return x
}

// measured is the fastest test of the network that was read, and whether it lost much.
func (a account) measured() (best piece.Run, ok bool) {
	for _, r := range a.Case.Runs {
		switch r.Tool {
		case "iperf3", "iperf2", "iperf", "nuttcp", "netperf", "qperf", "ntttcp":
			if r.Rate > best.Rate && !r.UDP {
				best, ok = r, true
			}
		}
	}
	return best, ok
}

// storage: a copy that is slower than a test of the same network, so the network is not
// what limits it.
func (a account) storage() {
	slow, at := a.rate("copy_bps")
	net, from := a.rate("net_bps")
	if a.word("each_same").Text != "" || a.testsDiffer() {
		return
	}
	sure, test := 0.48, "a test of the network"
	if slow == 0 && net > 0 && !a.Said("tunnel", "cloud", "far") && len(a.Case.Runs) == 0 {
		slow, at = a.rate("bytes_bps") // tests are told in bits, files in bytes
		sure = 0.42
	}
	if slow == 0 {
		return
	}
	if r, ok := a.measured(); ok && r.Rate >= net*95/100 {
		net, from, sure, test = r.Rate, r.Source, 0.54, r.Tool
	}
	by := a.word("copy_by").Text
	if by == "" && a.Said("speed_test") {
		return // a test by a browser, over another way
	}
	if other, seen := a.rate("copy_most_bps"); net == 0 && by != "" && (by == "drbd" || by != a.word("copy_most_by").Text && !a.bundled()) && float64(slow) < saidtext.Gap/2*float64(other) && other < 20*unit.Gbps { // two copies by a bundle may have had two links
		net, from, sure, test = other, seen, 0.42, "another transfer"
		if by == "drbd" {
			sure = 0.52 // a controller of its own, and conservative as it comes
		}
	}
	if disk, seen := a.rate("disk_bps"); net == 0 && a.word("any_link").Text != "" && float64(slow) < saidtext.Gap/2*float64(disk) {
		net, from, sure, test = disk, seen, 0.48, "the disks, over any link"
	}
	if least, _ := a.rate("net_least_bps"); net == 0 || float64(slow) >= saidtext.Gap*float64(net) || least > 0 && float64(slow) >= saidtext.Gap*float64(least) {
		return // or one of several tests is as slow: what differs between them is not here
	}
	if most, _ := a.rate("copy_most_bps"); by == "" && test != "another transfer" && most >= net*9/10 {
		return // it was as fast as the test once: what changed since is not here
	}
	if _, line := a.Case.Topics["radio"]; line && by == "" && test == "another transfer" {
		return // a line has another rate each way
	}
	source := test
	if _, ran := a.measured(); !ran {
		source = "said of " + test
	}
	evidence := []record.Evidence{scene.Saw("said of the copy", slow.String(), at), scene.Saw(source, net.String(), from)}
	if disk, seen := a.rate("disk_bps"); disk > 0 {
		evidence = append(evidence, scene.Saw("said of the disks", disk.String(), seen))
		if disk < net && scene.Close(slow, disk, 0.6, 1.2) {
			sure += 0.06
		}
	}
	if a.word("far").Text != "" || a.far() {
		f := a.Add(record.ReceiveWindow, 0.42, a.h, "each connection of "+copier(by),
			fmt.Sprintf("%s gets %v where %s gets %v over the same way, which is long: a connection carries no more than its window in each round trip, and a program's own window (ssh's, SMB's, the socket buffer that it sets) is smaller than the kernel's.", copier(by), slow, test, net),
			"Run several transfers at once, or a program without a window of its own (rsync's daemon, HPN-SSH, iperf3 with one stream to compare); raise the third values of tcp_rmem and tcp_wmem at both ends.", evidence...)
		f.Ask = []scene.Missing{{Command: "ping -c 20 PEER", Host: "the host", Why: "the round trip: window over round trip is the rate"}, {Command: "ss -tin dst PEER", Host: "both hosts", Why: "while it runs: rwnd_limited, sndbuf_limited, cwnd"}}
		return
	}
	f := a.Add(record.Application, sure, a.h, "what copies and stores ("+copier(by)+")",
		fmt.Sprintf("The network carries %v by %s, and the copy (%s) gets %v: the links, their hash and TCP's settings are not what limits it, the program or the storage at one end is. %s", net, test, copier(by), slow, howOf(by)),
		remedyOf(by), evidence...)
	f.Ask = []scene.Missing{
		{Command: "iostat -x 2 (zpool iostat -v 2)", Host: "both hosts", Why: "while it copies: whether a disk is busy all the time, on the side that reads and on the one that writes"},
		{Command: "top -H", Host: "both hosts", Why: "while it copies: whether one thread (ssh, smbd, nfsd, a guest's vCPU) fills a core"},
		{Command: askOf(by), Host: "the host", Why: "the protocol's own options: block size, sync, signing, connections, limits"},
	}
}

// differing is how many times as fast one test is as another where a way between them costs
// the tests themselves what a copy lacks.
const differing = 20

// testsDiffer reports tests of the network, one of which carried a small part of another: a
// tunnel, a card or a way that slows all that goes by it.
func (a account) testsDiffer() bool {
	best, ok := a.measured()
	return ok && slices.ContainsFunc(a.Case.Runs, func(r piece.Run) bool {
		return !r.UDP && r.Target == 0 && r.Rate > 0 && r.Rate*differing < best.Rate
	})
}

// far reports pings that took many milliseconds.
func (a account) far() bool {
	for _, h := range a.Case.Hosts {
		for _, p := range h.Pings {
			if p.MinMS > 3 {
				return true
			}
		}
	}
	return false
}

// copier names what copies.
func copier(by string) string { return cmp.Or(by, "the copy") }

// protocol is what is known of a way to copy.
type protocol struct{ names, how, remedy, ask string }

var protocols = []protocol{
	{"drbd", "DRBD's resync goes as fast as its own controller lets it (c-max-rate, 100 MiB/s unless set; c-fill-target, c-plan-ahead, max-buffers), and less while the disk is used (c-min-rate).",
		"Let the controller go faster: `drbdadm disk-options --c-plan-ahead=20 --c-max-rate=1G --c-min-rate=100M --c-fill-target=1M RES` and `drbdadm net-options --max-buffers=40k --sndbuf-size=10M RES`; or c-plan-ahead 0 with a fixed resync-rate. Replication of writes (protocol C) waits for the peer's disk and one round trip a write.", "drbdsetup show; cat /proc/drbd"},
	{"nfs", "NFS over one mount is one connection, and a server that exports sync writes each COMMIT to its disks before it answers: writes wait for the disks, reads for the read-ahead.",
		"Writes: a log device or battery-backed cache for the server's disks, or `async` where a crash may lose data; more nfsd threads, rsize and wsize of 1 MiB. One connection: `nconnect=8`. Reads: a larger read_ahead_kb of the mount.", "nfsstat -m; cat /proc/fs/nfsd/threads; exportfs -v"},
	{"smb samba cifs", "SMB copies one file over one connection that one thread of each side serves; signing, encryption and small files cost more, and the disks behind it set the pace once the cache is full.",
		"Look at the disks and at smbd's core first. Then: SMB3 with multichannel, no `socket options`, signing and encryption off where that may be, large files to compare.", "testparm -s; smbstatus (Get-SmbConnection)"},
	{"rsync scp sftp", "ssh encrypts with one core a connection, rsync reads and checks file by file, and small files cost a seek each.",
		"Compare with one large file and without ssh (`rsync --daemon`, netcat, mbuffer); a cipher that the CPU has in hardware (`-c aes128-gcm@openssh.com`), --whole-file (-W) in a LAN, several at once.", "openssl speed -evp aes-128-gcm; time dd if=FILE of=/dev/null bs=1M"},
	{"iscsi aoe", "A block device read by one program has few requests under way: each waits for a round trip and the target's disks, however many links there are.",
		"More requests at once: a larger read-ahead (`blockdev --setra 4096 DEV`), fio with iodepth=32 instead of dd, queue_depth and cmds_max of the initiator; then look at the target's disks.", "fio --rw=read --bs=1M --iodepth=32 --direct=1 --filename=DEV; iscsiadm -m session -P 3"},
	{"rados rbd", "Ceph answers a write when all copies are on their disks.",
		"Look for one slow disk or node (`ceph osd perf`), then at the clients' parallelism.", "ceph osd perf; rados bench -p POOL 10 write"},
}

func of(by string) protocol {
	for _, p := range protocols {
		for _, name := range strings.Fields(p.names) {
			if strings.HasPrefix(by, name) {
				return p
			}
		}
	}
	return protocol{how: "One program with one file at a time waits for disks, for checks and for each round trip.",
		remedy: "Measure the two ends alone: read the source to nowhere (`dd if=FILE of=/dev/null bs=1M`), write the target from nowhere (`fio`, larger than its memory), and look which core or disk is busy meanwhile. No setting of the network helps.", ask: "fio --rw=write --bs=1M --size=20G --direct=1"}
}

func howOf(by string) string    { return of(by).how }
func remedyOf(by string) string { return of(by).remedy }
func askOf(by string) string    { return of(by).ask }

// bundled reports that people speak of a bundle of links: one connection gets one link.
func (a account) bundled() bool {
	_, told := a.Case.Topics["bundle"]
	return told || len(a.Bonds) > 0
}

// eachLimited reports one connection that gets little where several together get much:
// what limits it is each connection's own.
func (a account) eachLimited() bool {
	one, _ := a.rate("rate_one")
	many, _ := a.rate("rate_many")
	return one > 0 && float64(many) >= saidtext.FewFlows*float64(one) && !(scene.NearLineRate(one) && a.bundled())
}

// falls: a copy that starts fast is taken by a cache, then the disks set the pace.
func (a account) falls() {
	high, at := a.rate("falls_from_bps")
	low, _ := a.rate("falls_to_bps")
	if high == 0 {
		return
	}
	f := a.Add(record.Application, 0.48, a.h, "the disks behind the cache",
		fmt.Sprintf("The copy starts at %v, which the network carries, and falls to %v: memory or an SSD's cache takes the beginning, then the disks set the pace.", high, low),
		"Look at the disks while it is slow (`iostat -x 2`, `zpool iostat -v 2`). More or faster disks, fewer sync writes, no SMR disks, a larger SLC cache; no setting of the network helps. Where iperf3 falls the same way it is heat or power of the card instead.", scene.Saw("said", high.String()+", then "+low.String(), at))
	f.Ask = []scene.Missing{{Command: "iostat -x 2 (zpool iostat -v 2)", Host: "both hosts", Why: "while it is slow: whether a disk is busy all the time"}, {Command: "iperf3 -c PEER -t 120", Host: "the host", Why: "whether the network alone keeps its rate as long"}}
}

// tenth: what never gets beyond 100 Mbit/s where links of a gigabit are.
func (a account) tenth() {
	x, sure := a.word("tenth"), 0.48
	if up := a.word("came_up"); up.Text != "" {
		x, sure = up, 0.6
	}
	if x.Text == "" || a.Best() > 120*unit.Mbps && sure < 0.5 {
		return
	}
	for _, key := range []string{"net_bps", "rate_most"} {
		if rate, _ := a.rate(key); rate > 200*unit.Mbps && sure < 0.5 {
			return // it went faster at times
		}
	}
	for _, h := range a.Hosts {
		for _, name := range h.Subjects("link") {
			if scene.SpeedOf(h, name) > 0 {
				return // its speed is known
			}
		}
	}
	cameUpSlow(a.View, a.h, sure, scene.Saw("said", x.Text, x.Source))
}

// cameUpSlow names a link of 100 Mbit/s where there should be more.
func cameUpSlow(v *scene.View, h *piece.Host, sure float64, evidence record.Evidence) {
	f := v.Add(record.LineRate, sure, h, "a link that came up at 100 Mbit/s",
		"What never gets beyond 100 Mbit/s with cards of a gigabit or more is mostly a link that came up at 100 Mbit/s: gigabit needs all four pairs of the cable, and a bad pair, plug or wall socket lets the ports fall back.",
		"See what was negotiated (`ethtool LINK`: Speed, and what both ends advertise), on each link of the way and at the switch. Replace the patch cable first, then try another port; let both ends negotiate (no fixed speed).", evidence)
	f.Ask = []scene.Missing{{Command: "ethtool LINK", Host: "both hosts", Why: "Speed, Duplex, and what the link partner advertises"}, {Command: "show interfaces status", Host: "the switch", Why: "the speed of each port on the way"}}
}

// fastEthernet: a test that fills 100 Mbit/s, no more, of a network that was faster or should be.
func fastEthernet(v *scene.View) {
	r, ok := account{View: v}.measured()
	_, line := v.Case.Topics["radio"]
	if _, misses := v.Case.Topics[piece.Complaint]; !ok || line || !misses || len(v.Case.Hosts) == 0 || r.Rate != v.Best() || !scene.Close(r.Rate, 94*unit.Mbps, 0.97, 1.02) || r.Retransmits > 10 || r.Target > 0 || r.Stalled > 0 || slices.ContainsFunc(r.Series, func(one unit.BitRate) bool { return one > 120*unit.Mbps }) || v.Said("tunnel", "cloud", "instance", "far", "outside") {
		return
	}
	for _, h := range v.Hosts {
		for _, name := range h.Subjects("link") {
			if scene.SpeedOf(h, name) > 0 {
				return // its speed is known
			}
		}
	}
	cameUpSlow(v, v.Case.Hosts[0], 0.46, scene.Saw(r.Tool, r.Rate.String(), r.Source))
}

// striped: a bond that sends round robin, and is slow.
func (a account) striped() {
	x := a.word("striped")
	slow, at := a.rate("copy_bps")
	if slow == 0 {
		slow, at = a.rate("net_bps")
	}
	if one := a.word("one_link"); slow == 0 && one.Text != "" {
		at = one.Source
	} else if slow == 0 {
		return
	}
	if _, others := a.Case.Topics[saidtext.OtherMode]; others || x.Text == "" || len(a.Bonds) > 0 || a.allFull() {
		return
	}
	evidence := []record.Evidence{scene.Saw("said of the bond", x.Text, x.Source)}
	if slow > 0 {
		evidence = append(evidence, scene.Saw("said of the rate", slow.String(), at))
	}
	f := a.Add(record.Reordering, 0.45, a.h, "the bond (round robin)",
		"A bond that sends round robin stripes the packets of one connection over all links; they arrive out of order, TCP takes that for loss and slows down: a connection often gets less than one link carries, and more links add little.",
		"Use 802.3ad or balance-xor with xmit_hash_policy layer3+4 and several connections; one connection gets more only from a faster link. To stay with round robin: no switch between, the same cards and cables, net.ipv4.tcp_reordering=127, interrupt delays low.", evidence...)
	f.Ask = []scene.Missing{{Command: "nstat -az | grep -E 'Reorder|OFO|Retrans|DSACK'", Host: "both hosts", Why: "before and after a run: whether packets arrive out of order"}, {Command: "iperf3 -c PEER, then with -P 8", Host: "the host", Why: "retransmits (Retr), and whether several connections add up"}}
}

// allFull reports a test of the network that filled several links of one speed together.
func (a account) allFull() bool {
	net, _ := a.rate("net_bps")
	for _, link := range []unit.BitRate{unit.Gbps, 10 * unit.Gbps, 25 * unit.Gbps} {
		for n := unit.BitRate(2); n <= 4; n++ {
			if n < 4 || link == unit.Gbps { // four of the faster ones are as fast as a single 40 or 100
				if scene.Close(net, n*link, 0.92, 1.005) {
					return true
				}
			}
		}
	}
	return false
}
