package channels

import (
	"fmt"

	"github.com/linerate/linerate/diagnose/pasted/scene"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict/framing"
	"github.com/linerate/linerate/record"
)

// oneStream: a bond that is whole, and a test of one stream that fills one of its
// links: a flow takes one link, and cannot have more.
func oneStream(v *scene.View) {
	for _, b := range v.Bonds {
		up := b.Count(func(p scene.Port) bool { return !p.Down })
		if b.Mode != "802.3ad" && b.Mode != "balance-xor" || up < 2 || up < len(b.Ports) {
			continue
		}
		_, one := b.Speeds()
		for _, r := range v.Case.Runs {
			if one == 0 || r.Both || max(len(r.Streams), r.Parallel) != 1 || r.Rate > one || r.Client != "" && b.Host.Name != "" && r.Client != b.Host.Name && r.Server != b.Host.Name {
				continue
			}
			mtu := 1500
			if n, _, ok := scene.Number(b.Host, "link "+b.Name, "mtu"); ok {
				mtu = int(n)
			}
			if payload := framing.LinkPayload(netstate.Link{Speed: one}, mtu, 0, false); r.Rate < payload*95/100 {
				continue
			}
			x, _ := scene.Fact(b.Host, b.Name, "mode")
			f := v.Add(record.SingleLink, 0.8, b.Host, fmt.Sprintf("one stream over %s of %s", b.Name, scene.NameOf(b.Host)),
				fmt.Sprintf("One stream takes one link of %s, and fills it (%v of %v): that is all that a single connection gets from a bond, whose %d links share flows, not packets. Nothing here is broken.", b.Name, r.Rate, one, up),
				"Test with several streams: `iperf3 -c PEER -P 8` (they use several links with xmit_hash_policy layer3+4 here and a hash of addresses and ports on the switch). One connection gets more from a faster link only.",
				scene.Saw(r.Tool, fmt.Sprintf("1 stream, %v", r.Rate), r.Source), scene.Saw("mode of "+b.Name, x.Text, x.Source))
			f.Ceiling = one
		}
	}
}
