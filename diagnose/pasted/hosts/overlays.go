package hosts

import (
	"fmt"

	"github.com/linerate/linerate/diagnose/pasted/scene"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/record"
)

// overlayChecksums: a VXLAN device that leaves its packets' checksums to the card, where
// what goes through it is lost: it is the default, and most cards do it right.
func overlayChecksums(v *scene.View, h *piece.Host, name string) {
	kind := scene.Word(h, name, "kind")
	x, ok := h.Get("link "+name, "offload.tx-checksum-ip-generic")
	if !ok || x.Text != "on" || kind != "vxlan" && kind != "geneve" && !scene.Contains(name, "vxlan", "flannel", "geneve") {
		return
	}
	sure, evidence := overlayLoses(v)
	if sure == 0 {
		return
	}
	v.Add(record.CardSlot, sure, h, name+" (checksum offload)",
		fmt.Sprintf("%s hands checksums to the card (tx-checksum-ip-generic on): some kernels and drivers get those of VXLAN packets wrong, and the receiver drops them.", name),
		fmt.Sprintf("`ethtool -K %s tx-checksum-ip-generic off`; a newer kernel or driver repairs it.", name),
		append([]record.Evidence{scene.Saw("offload of "+name, "tx-checksum-ip-generic on", x.Source)}, evidence...)...)
}

// Wrong checksums are counted from here on; a path that repeats that part of its
// segments, or comes to that part of another, loses packets.
const (
	wrongChecksums = 100
	lossyShare     = 0.005
	farBelow       = 3
)

// overlayLoses is what shows that packets of an overlay are lost, and how sure that
// is; zero nothing does.
func overlayLoses(v *scene.View) (sure float64, evidence []record.Evidence) {
	for _, h := range v.Hosts {
		for _, key := range []string{"TcpInCsumErrors", "UdpInCsumErrors", "Udp6InCsumErrors"} {
			if n, at, ok := counterOf(h, key); ok && n >= wrongChecksums {
				sure, evidence = 0.85, append(evidence, scene.Saw(key+" of "+scene.NameOf(h), fmt.Sprintf("%.0f", n), at))
			}
		}
	}
	for _, r := range v.Case.Runs {
		if r.Rate == 0 || r.UDP || r.Target > 0 {
			continue
		}
		sent := float64(r.Rate) / 8 * r.Seconds
		lossy := r.Retransmits > 0 && sent > 0 && float64(r.Retransmits)*1448 > lossyShare*sent
		below := v.Best() > farBelow*r.Rate
		switch {
		case below:
			sure = max(sure, 0.75)
		case lossy:
			sure = max(sure, 0.5)
		default:
			continue
		}
		evidence = append(evidence, scene.Saw(r.Tool, fmt.Sprintf("%v of %v, %d segments sent again", r.Rate, v.Best(), max(r.Retransmits, 0)), r.Source))
	}
	return sure, evidence
}

// counterOf is one of the kernel's counters.
func counterOf(h *piece.Host, name string) (n float64, at piece.Source, ok bool) {
	x, ok := h.Counters[name]
	return piece.Float(x.Text), x.Source, ok
}
