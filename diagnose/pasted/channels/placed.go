package channels

import (
	"fmt"
	"net/netip"
	"strings"

	"github.com/linerate/linerate/diagnose/pasted/scene"
	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/advise/workload"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/steer"
)

// placedFlows computes the link of each stream of a run, where policy, ports and
// addresses were read, for each kernel that the host may be.
func placedFlows(v *scene.View) {
	for _, b := range v.Bonds {
		if b.Mode != "802.3ad" && b.Mode != "balance-xor" || b.Policy != "layer3+4" {
			continue
		}
		if len(b.Ports) == 0 { // a file that does not name them: a bond has two or more
			b.Ports = []scene.Port{{Name: unnamed + "1"}, {Name: unnamed + "2"}}
		}
		if b.Count(func(p scene.Port) bool { return !p.Down }) < 2 {
			continue // of one port there is nothing to choose
		}
		for _, r := range v.Case.Runs {
			placed(v, b, r)
		}
		for _, r := range connections(b.Host) {
			placed(v, b, r)
		}
	}
}

// unnamed begins the names of ports that nobody named.
const unnamed = "port "

// connections are a host's sockets to one service each, as if they were a run's
// streams.
func connections(h *piece.Host) (out []piece.Run) {
	at := make(map[netip.AddrPort]int)
	for _, s := range h.Sockets {
		if !s.Local.IsValid() || !s.Remote.IsValid() || s.Remote.Port() == 0 || s.Remote.Port() > 9999 {
			continue
		}
		n, seen := at[s.Remote]
		if !seen {
			n = len(out)
			at[s.Remote] = n
			out = append(out, piece.Run{Tool: "ss", Client: h.Name, Source: s.Source})
		}
		out[n].Streams = append(out[n].Streams, piece.Stream{Local: s.Local, Remote: s.Remote, Retransmits: -1})
		out[n].To = s.To
	}
	return out
}

func placed(v *scene.View, b scene.Bond, r piece.Run) {
	sender, _ := scene.Sides(r)
	if sender != "" && sender != b.Host.Name || v.Inside(b, r) {
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
	one, sure := onOneLink(b, frames)
	isTeam := scene.Word(b.Host, b.Name, "kind") == "team"
	if isTeam {
		if one, sure = "", 0.8; teamOnOne(b, frames) {
			one = "one port"
		}
	}
	if one == "" {
		return
	}
	evidence := []record.Evidence{scene.Saw("streams", fmt.Sprintf("%d, source ports %s", len(frames), portList(r)), r.Source)}
	if x, ok := b.Host.Get("host", "release"); ok {
		said := x.Text
		if number, release, guessed := strings.Cut(said, "-0.el"); guessed {
			said = fmt.Sprintf("%s, that release %s ships", number, release)
		}
		evidence = append(evidence, scene.Saw("kernel", said, x.Source))
	}
	if x, ok := scene.Fact(b.Host, b.Name, "xmit_hash_policy"); ok {
		evidence = append(evidence, scene.Saw("transmit hash policy of "+b.Name, x.Text, x.Source))
	}
	if _, fastest := b.Speeds(); fastest > 0 && r.Rate > 0 {
		if r.Rate > fastest*102/100 {
			return // more than one link carries: there are flows that were not read
		}
		if r.Rate > fastest*80/100 {
			sure = max(sure+0.05, 0.85)
		}
	}
	if _, _, _, ok := b.OneSided("tx"); !ok {
		if _, _, seen := b.Carried("tx"); seen {
			return // counters show that it spreads
		}
	}
	if name, part, at, ok := b.OneSided("tx"); ok {
		evidence = append(evidence, scene.Saw("sent", fmt.Sprintf("%.0f %% by %s, next to nothing by the others (idle)", 100*part, name), at))
		one, sure = name, 0.95
	}
	if guessed := strings.HasPrefix(one, unnamed); guessed {
		one = "one of two"
		sure = min(sure, 0.65)
		evidence = append(evidence, record.Evidence{What: "ports of " + b.Name, Value: "not named here: computed for two", Source: "assumed"})
	}
	summary := fmt.Sprintf("The hash puts all %d flows on one link (%s): layer3+4 is set, but the source ports of these flows leave no other.", len(frames), one)
	if even {
		summary = fmt.Sprintf("All %d source ports are even, and the hash of this kernel keeps their lowest bit: layer3+4 is set, but every flow takes the same link (%s) and the others stay idle.", len(frames), one)
	}
	if isTeam {
		x, _ := scene.Fact(b.Host, b.Name, "tx_hash")
		evidence = append(evidence, scene.Saw("tx_hash of "+b.Name, x.Text, x.Source))
		summary = fmt.Sprintf("teamd's hash puts all %d flows on one port: tx_hash %s is the exclusive or of every byte, and with these source ports it leaves the same remainder.", len(frames), x.Text)
		if even && b.Count(func(p scene.Port) bool { return !p.Down })%2 == 0 {
			summary = fmt.Sprintf("All %d source ports are even, as Linux chooses them, and teamd's hash keeps their lowest bit: every flow takes the same port of %s, and the others stay idle.", len(frames), b.Name)
		}
	}
	v.Add(record.HashImbalance, sure, b.Host, fmt.Sprintf("%s of %s", b.Name, scene.NameOf(b.Host)), summary,
		otherPorts(r)+" The policy is right as it is.", evidence...)
}

// otherPorts is how a run's flows get on other links, where ports decide: of
// sockets of the kernel's own, whose server's port tells the program, in that
// program's words.
func otherPorts(r piece.Run) string {
	if r.Tool == "ss" && len(r.Streams) > 0 {
		if w, ok := workload.OfKernel(r.Streams[0].Remote.Port()); ok {
			return otherLinks(w)
		}
	}
	return "Choose other source ports: `iperf3 --cport PORT` (iperf2: `-B ADDRESS:PORT`), odd and even ones, or several processes; `linerate steer pick` names ports that use every link; more connections (streams) make it likely."
}

// otherLinks is how a program's connections get on other links.
func otherLinks(w workload.Program) string {
	how := "More connections make it likely: "
	if w.ChosenBy != "" {
		how = fmt.Sprintf("Choose other source ports (%s; `linerate steer pick --for %s`); more connections make it likely: ", w.ChosenBy, w.Name)
	}
	return how + w.More + "."
}

func portList(r piece.Run) string {
	var all []string
	for _, s := range r.Streams {
		all = append(all, fmt.Sprint(s.Local.Port()))
	}
	if len(all) > 8 {
		all = append(all[:8], "...")
	}
	return strings.Join(all, ", ")
}

// onOneLink is the link that all flows share, by the hash of the kernels that the
// host may run, and how sure that is; "" where none of them puts them on one.
func onOneLink(b scene.Bond, frames []flow.Frame) (link string, sure float64) {
	h := netstate.Host{Kernel: netstate.Kernel{OS: "linux"}}
	release, known := b.Host.Get("host", "release")
	h.Kernel.Release = release.Text
	l := netstate.Link{Name: b.Name, Kind: "bond", Up: true, Carrier: true, Bond: &netstate.Bond{HashPolicy: netstate.Layer34, Mode: netstate.LACP}}
	if b.Mode == "balance-xor" {
		l.Bond.Mode = netstate.BalanceXOR
	}
	for _, p := range b.Ports {
		if !p.Down {
			l.Bond.Ports = append(l.Bond.Ports, p.Name)
			h.Links = append(h.Links, netstate.Link{Name: p.Name, Up: true, Carrier: true, Master: b.Name, Port: &netstate.BondPort{Bond: b.Name, Active: true, MIIUp: true}})
		}
	}
	h.Links = append(h.Links, l)
	bundle, err := steer.BundleOf(h, b.Name)
	if err != nil {
		return "", 0
	}
	eras := append([]steer.Era{bundle.Era}, bundle.Doubt...)
	agree := 0
	for i, era := range eras {
		bundle.Era, bundle.Doubt = era, nil
		shared := ""
		for n, f := range steer.Show(bundle, frames).Flows {
			if f.Link == nil || !f.Known || *f.Link < 0 || *f.Link >= len(l.Bond.Ports) || n > 0 && l.Bond.Ports[*f.Link] != shared {
				shared = ""
				break
			}
			shared = l.Bond.Ports[*f.Link]
		}
		if shared == "" {
			continue
		}
		if agree++; link == "" {
			link, sure = shared, 0.45
			if i == 0 {
				sure = 0.7
			}
		}
	}
	if agree == len(eras) && known {
		sure = 0.9
	}
	return link, sure
}
