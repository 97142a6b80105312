package overlays

import (
	"cmp"
	"fmt"

	"github.com/linerate/linerate/diagnose/pasted/scene"
	"github.com/linerate/linerate/record"
)

// fullCore is the most that a full core idles, in per cent.
const fullCore = 5.0

// tunnelQueue: a card that chooses receive queues for UDP by addresses alone, below a
// tunnel, whose packets between two hosts all have the same ones.
func tunnelQueue(v *scene.View) {
	for _, h := range v.Hosts {
		tunnel := ""
		for _, link := range h.Subjects("link") {
			if kind := scene.Word(h, link, "kind"); kind == "geneve" || kind == "vxlan" || scene.Contains(link, "genev_sys", "vxlan", "flannel.") {
				tunnel = link
			}
		}
		for _, link := range h.Subjects("link") {
			x, ok := h.Get("link "+link, "rxhash.udp4")
			if !ok || scene.Contains(x.Text, "l4") {
				continue
			}
			sure, evidence := 0.5, []record.Evidence{scene.Saw("receive hash of "+link+" for udp4", x.Text, x.Source)}
			where := link + " of " + scene.NameOf(h)
			for _, c := range h.Cores {
				if c.ID != "all" && c.Idle <= fullCore && c.Soft > 60 {
					sure = 0.9
					where = fmt.Sprintf("core %s of %s (one receive queue of %s)", c.ID, scene.NameOf(h), link)
					evidence = append(evidence, scene.Saw("core "+c.ID, fmt.Sprintf("%.0f %% soft interrupts", c.Soft), c.Source))
				}
			}
			if tunnel == "" && len(evidence) == 1 {
				continue
			}
			if tunnel != "" {
				sure = min(sure+0.04, 0.94)
			}
			v.Add(record.ReceiverCPU, sure, h, where,
				fmt.Sprintf("%s chooses the receive queue of UDP by addresses alone (rx-flow-hash), and a tunnel's packets (%s) between two hosts all have the same two: one queue and one core take them all.", link, cmp.Or(tunnel, "VXLAN, Geneve")),
				fmt.Sprintf("`ethtool -N %s rx-flow-hash udp4 sdfn` (and udp6) on every host: the outer source port differs by inner flow, so that ports spread them.", link), evidence...)
		}
	}
}
