package pasted

import (
	"fmt"
	"strings"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/evidence/paste"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/steer"
)

// placedFlows computes the link of each stream of a run, where policy, ports and
// addresses were read, for each kernel that the host may be.
func placedFlows(v *view) {
	for _, b := range v.bonds {
		if b.mode != "802.3ad" && b.mode != "balance-xor" || b.policy != "layer3+4" || len(b.ports) < 2 {
			continue
		}
		for _, r := range v.c.Runs {
			v.placed(b, r)
		}
	}
}

func (v *view) placed(b bond, r paste.Run) {
	sender, _ := sides(r)
	if sender != "" && sender != b.host.Name {
		return
	}
	var frames []flow.Frame
	even := true
	for _, s := range r.Streams {
		from, to := s.Local, s.Remote
		if r.Reverse || s.Reverse {
			from, to = to, from
		}
		if !from.IsValid() || !to.IsValid() {
			return
		}
		even = even && s.Local.Port()%2 == 0
		proto := flow.TCP
		if r.UDP {
			proto = flow.UDP
		}
		frames = append(frames, flow.Frame{Tuple: flow.Tuple{Proto: proto, Src: from.Addr(), Dst: to.Addr(), Sport: from.Port(), Dport: to.Port()}})
	}
	if len(frames) < 2 {
		return
	}
	links, sure := b.placements(frames)
	if links == nil {
		return
	}
	counts := make(map[string]int)
	for _, l := range links {
		counts[l]++
	}
	if len(counts) > 1 {
		return
	}
	one := links[0]
	evidence := []record.Evidence{saw("streams", fmt.Sprintf("%d, source ports %s", len(frames), portList(r)), r.Source)}
	if x, ok := b.host.Get("host", "release"); ok {
		evidence = append(evidence, saw("kernel", x.Text, x.Source))
	}
	if x, ok := fact(b.host, b.name, "xmit_hash_policy"); ok {
		evidence = append(evidence, saw("transmit hash policy of "+b.name, x.Text, x.Source))
	}
	if _, fastest := b.speeds(); fastest > 0 && r.Rate > 0 {
		if r.Rate > fastest*102/100 {
			return // more than one link carries: there are flows that were not read
		}
		sure += 0.05
	}
	if _, _, _, ok := b.oneSided("tx"); !ok {
		if _, _, seen := b.carried("tx"); seen {
			return // counters show that it spreads
		}
	}
	summary := fmt.Sprintf("The hash puts all %d flows on one link (%s): layer3+4 is set, but the source ports of these flows leave no other.", len(frames), one)
	if even {
		summary = fmt.Sprintf("All %d source ports are even, and the hash of this kernel keeps their lowest bit: layer3+4 is set, but every flow takes the same link (%s) and the others stay idle.", len(frames), one)
	}
	if name, part, at, ok := b.oneSided("tx"); ok {
		evidence = append(evidence, saw("sent", fmt.Sprintf("%.0f %% by %s", 100*part, name), at))
		sure = max(sure, 0.95)
	}
	v.add(record.HashImbalance, sure, b.host, fmt.Sprintf("%s of %s", b.name, nameOf(b.host)), summary,
		"Choose other source ports: `iperf3 --cport PORT` (iperf2: `-B ADDRESS:PORT`), odd and even ones, or several processes; `linerate steer pick` names ports that use every link. The policy is right as it is.", evidence...)
}

func portList(r paste.Run) string {
	var all []string
	for _, s := range r.Streams {
		all = append(all, fmt.Sprint(s.Local.Port()))
	}
	if len(all) > 8 {
		all = append(all[:8], "...")
	}
	return strings.Join(all, ", ")
}

// placements are the links of flows, and how sure that is; nil where the kernels
// that the host may run do not agree.
func (b bond) placements(frames []flow.Frame) ([]string, float64) {
	h := netstate.Host{Kernel: netstate.Kernel{OS: "linux"}}
	x, known := b.host.Get("host", "release")
	h.Kernel.Release = x.Text
	l := netstate.Link{Name: b.name, Kind: "bond", Up: true, Carrier: true, Bond: &netstate.Bond{HashPolicy: netstate.Layer34, Mode: netstate.LACP}}
	if b.mode == "balance-xor" {
		l.Bond.Mode = netstate.BalanceXOR
	}
	for _, p := range b.ports {
		if p.down {
			continue
		}
		l.Bond.Ports = append(l.Bond.Ports, p.name)
		h.Links = append(h.Links, netstate.Link{Name: p.name, Up: true, Carrier: true, Master: b.name, Port: &netstate.BondPort{Bond: b.name, Active: true, MIIUp: true}})
	}
	h.Links = append(h.Links, l)
	bundle, err := steer.BundleOf(h, b.name)
	if err != nil {
		return nil, 0
	}
	shown := steer.Show(bundle, frames)
	var links []string
	for _, f := range shown.Flows {
		if f.Link == nil || !f.Known || *f.Link < 0 || *f.Link >= len(l.Bond.Ports) {
			return nil, 0
		}
		links = append(links, l.Bond.Ports[*f.Link])
	}
	if known {
		return links, 0.9
	}
	return links, 0.65
}
