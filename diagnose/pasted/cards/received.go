package cards

import (
	"fmt"
	"strings"

	"github.com/linerate/linerate/diagnose/pasted/scene"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/record"
)

// From which part of the datagrams, and how many of them, lost ones are worth a word.
const (
	leastDatagrams = 1000
	lostDatagrams  = 1e-3
)

// fullSockets: datagrams that arrived at the host, and that no socket had room for.
func fullSockets(v *scene.View) {
	for _, h := range v.Case.Hosts {
		count := func(name string) (float64, piece.Source) {
			x, ok := h.Counters[name]
			if !ok {
				return 0, piece.Source{}
			}
			return piece.Float(x.Text), x.Source
		}
		in, at := count("UdpInDatagrams")
		errors, from := count("UdpInErrors")
		full, fullAt := count("UdpRcvbufErrors")
		memory, memoryAt := count("UdpMemErrors")
		damaged, _ := count("UdpInCsumErrors")
		lost := max(errors-damaged, full, memory)
		if lost < leastDatagrams || lost < lostDatagrams*(in+lost) {
			continue
		}
		evidence := []record.Evidence{scene.Saw("datagrams that were not delivered (UdpInErrors)", fmt.Sprintf("%.0f beside %.0f that were", lost, in), from)}
		if from == (piece.Source{}) {
			evidence[0].Source = at.String()
		}
		where, what, remedy := "a UDP socket of "+scene.NameOf(h), "a program did not take them as fast as they came, and its socket's receive buffer was full",
			"`ss -uampn` shows which socket drops (d in skmem). Raise that program's buffer (its own setting, SO_RCVBUF) and `sysctl -w net.core.rmem_max=33554432`, which bridges bursts; for more than bursts several receivers (SO_REUSEPORT, more workers), larger datagrams, or fewer of them."
		switch {
		case memory > full && memory > lost/2:
			what = "all UDP sockets together had reached net.ipv4.udp_mem, whatever each one's own buffer is"
			remedy = "Raise it (`sysctl net.ipv4.udp_mem`; pages of 4 KiB: `sysctl -w net.ipv4.udp_mem='1048576 2097152 4194304'`), or make buffers of single sockets smaller; and see why programs leave so much unread (`ss -uampn`)."
			evidence = append(evidence, scene.Saw("UdpMemErrors", fmt.Sprintf("%.0f", memory), memoryAt))
		case full > 0:
			evidence = append(evidence, scene.Saw("UdpRcvbufErrors", fmt.Sprintf("%.0f", full), fullAt))
		}
		v.Add(record.ReceiverCPU, 0.64, h, where,
			fmt.Sprintf("%.2g %% of the datagrams reached %s and were dropped there: %s. The network did not lose them.", 100*lost/(in+lost), scene.NameOf(h), what), remedy, evidence...)
		return
	}
}

// leastWrong is how many packets with wrong checksums are worth a word.
const leastWrong = 1000

// wrongSums: packets that a card received with checksums that are wrong.
func wrongSums(v *scene.View) {
	if !v.Complains() {
		return
	}
	for _, h := range v.Case.Hosts {
		for _, name := range h.Subjects("link") {
			for _, key := range h.Keys("link " + name) {
				if !scene.Contains(key, "csum", "checksum") || !scene.Contains(key, "err", "bad") || strings.Contains(key, "tx") {
					continue
				}
				n, at, ok := scene.Number(h, "link "+name, key)
				if all, _, read := scene.Number(h, "link "+name, "rx_packets"); !ok || n < leastWrong || read && n < lostDatagrams*all {
					continue
				}
				v.Add(record.CardSlot, 0.56, h, name+" of "+scene.NameOf(h)+" (checksums)",
					fmt.Sprintf("%s received %.0f packets whose checksum its card found wrong: the sender's card or its driver computes them wrong (checksum or segmentation offload), a tunnel's inner ones most of all, or something on the way damages packets without breaking frames. TCP drops each of them, and is slow in that direction alone.", name, n),
					"On the sender: `ethtool -K LINK tx off tso off`, then measure that direction again; if it is fast, leave the one offload off and try a newer driver or firmware. No better: the switch or card between that rewrites packets.",
					scene.Saw(key+" of "+name, fmt.Sprintf("%.0f", n), at)).Ask = []scene.Missing{
					{Command: "ethtool -k LINK; ethtool -i LINK", Host: "the sender", Why: "which offloads are on, and whose driver it is"},
					{Command: "nstat -az | grep -i csum", Host: scene.NameOf(h), Why: "before and after a run that is slow: whether they grow"},
				}
				return
			}
		}
	}
}
