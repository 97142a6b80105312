package hosts

import (
	"cmp"
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strings"

	"github.com/linerate/linerate/diagnose/pasted/scene"
	"github.com/linerate/linerate/internal/advise/cloud"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// instanceOf is the provider and type of a host's instance: as its tools say, or as
// the one that a sentence names; empty where nobody says.
func instanceOf(v *scene.View, h *piece.Host) (provider, name piece.Value) {
	provider, _ = cloudOf(h)
	if h != nil && provider.Text == "" && amazonName.MatchString(h.Name) {
		provider = piece.Value{Text: "aws", Source: piece.Source{File: "name of " + h.Name}}
	}
	name, told := h.Get("host", "instance")
	for _, o := range v.Case.Hosts {
		said, ok := o.Get("said", "cloud")
		if !ok || provider.Text != "" && provider.Text != said.Text {
			continue
		}
		provider = said
		if x, ok := o.Get("said", "instance"); ok && !told {
			if name.Text != "" && name.Text != x.Text {
				return provider, piece.Value{} // two are named: nobody says which this is
			}
			name = x
		}
	}
	return provider, name
}

// amazonName is the name that AWS gives an instance by its address: ip-10-0-1-2.
var amazonName = regexp.MustCompile(`^ip-\d{1,3}(?:-\d{1,3}){3}(?:\.|$)`)

// ends are the hosts of a case; where no output of any was read, those that ran its
// tests.
func ends(v *scene.View) []*piece.Host {
	if len(v.Hosts) > 0 {
		return v.Hosts
	}
	for _, h := range v.Case.Hosts {
		if !h.Switch && len(v.Case.Runs) > 0 && h.Name == v.Case.Runs[0].Client {
			return []*piece.Host{h}
		}
	}
	return nil
}

// allowances: what AWS counts of packets beyond an instance's own limits.
func allowances(v *scene.View) {
	for _, h := range v.Hosts {
		for _, link := range h.Subjects("link") {
			for _, key := range []string{"bw_out_allowance_exceeded", "bw_in_allowance_exceeded", "pps_allowance_exceeded", "conntrack_allowance_exceeded"} {
				n, at, ok := scene.Number(h, "link "+link, "stat."+key)
				if !ok || n < 1000 {
					continue
				}
				sure := 0.75
				evidence := []record.Evidence{scene.Saw(key+" of "+link, fmt.Sprintf("%.0f packets", n), at)}
				if e, fell := fell(v); fell {
					sure = 0.95
					evidence = append(evidence, e)
				}
				if n > 100000 {
					sure = max(sure, 0.9)
				}
				_, name := instanceOf(v, h)
				if strings.HasPrefix(key, "conntrack") {
					v.Add(record.Shaper, sure, h, "the instance's allowance of connections (AWS)",
						fmt.Sprintf("AWS dropped packets of %s because more connections were tracked than its instance type may have (%s): new connections fail or stall, old ones go on.", scene.NameOf(h), key),
						"Fewer connections (reuse them, shorter idle timeouts), security groups that allow all so that nothing is tracked, or a larger instance type.", evidence...)
					return
				}
				v.Add(record.Shaper, sure, h, "the instance's bandwidth allowance (AWS"+strings.TrimSuffix(", "+name.Text, ", ")+")",
					fmt.Sprintf("AWS queued or dropped packets of %s because its instance used up an allowance (%s): an \"up to\" instance goes fast while its network credits last, then at its baseline, whatever its card says.", scene.NameOf(h), key),
					"Take a larger instance type, or one with a sustained rate (an n variant such as c5n or c6in), or pace the transfer to the baseline; the driver and sysctls do not matter.", evidence...)
				return
			}
		}
	}
}

// fell is a run that began at a rate, and went on at less than half of it.
func fell(v *scene.View) (record.Evidence, bool) {
	for _, r := range v.Case.Runs {
		n := len(r.Series)
		if n < 6 {
			continue
		}
		first, last := slices.Max(r.Series[:n/3]), slices.Max(r.Series[n-n/4-1:])
		if first > last*2 && first > 100*unit.Mbps {
			return scene.Saw(r.Tool, fmt.Sprintf("%v at first, %v at the end", first, last), r.Source), true
		}
	}
	return record.Evidence{}, false
}

// bursting: an instance that may go faster for a while, and fell to its baseline.
func bursting(v *scene.View) {
	for _, h := range ends(v) {
		provider, name := instanceOf(v, h)
		caps, err := cloud.Table{}.Caps(cloud.Query{Cloud: netstate.Cloud{Provider: provider.Text, Instance: name.Text}})
		base := caps.Egress.Rate
		if gbps, _, ok := scene.Number(h, "host", "baseline_gbps"); ok {
			base, err = unit.BitRate(gbps)*unit.Gbps, nil
		}
		e, fell := fell(v)
		if err != nil || base == 0 || !fell {
			continue
		}
		for _, r := range v.Case.Runs {
			if len(r.Series) == 0 || !scene.Close(r.Series[len(r.Series)-1], base, 0.8, 1.1) {
				continue
			}
			v.Add(record.Shaper, 0.9, h, "the instance's baseline ("+cmp.Or(name.Text, provider.Text)+")",
				fmt.Sprintf("The rate fell to %v, the baseline of this instance: above it goes only what network credits pay for (burst), and they were used up.", r.Series[len(r.Series)-1]),
				"Take a larger instance type or one with a sustained rate; no setting in the guest helps.", e, scene.Saw("instance", name.Text, name.Source))
			return
		}
	}
}

// peerOf is the far end of a run; invalid unknown.
func peerOf(r piece.Run) netip.Addr {
	for _, s := range r.Streams {
		if s.Remote.IsValid() {
			return s.Remote.Addr()
		}
	}
	a, _ := netip.ParseAddr(r.Detail["target"])
	return a
}

// outsideCaps: runs to public addresses at the rates that a provider gives what
// leaves its network: of a flow, and of an instance.
func outsideCaps(v *scene.View) {
	for _, h := range ends(v) {
		provider, name := instanceOf(v, h)
		if provider.Text != "gcp" {
			continue
		}
		caps, err := cloud.Table{}.Caps(cloud.Query{Cloud: netstate.Cloud{Provider: provider.Text, Instance: cmp.Or(name.Text, "n2-standard-32")}})
		if err != nil || caps.Flow.Rate == 0 {
			continue
		}
		var evidence []record.Evidence
		signs, inside := 0, unit.BitRate(0)
		seen := map[unit.BitRate]bool{}
		for _, r := range v.Case.Runs {
			a := peerOf(r)
			switch {
			case !a.IsValid() || r.Reverse:
				continue
			case a.IsPrivate():
				inside = max(inside, r.Rate)
				continue
			}
			cap := caps.OutsideEgress.Rate
			if len(r.Streams) <= 1 && r.Parallel <= 1 && r.Rate < caps.Flow.Rate*11/10 {
				cap = caps.Flow.Rate
			}
			if scene.Close(r.Rate, cap, 0.9, 1.02) && !seen[cap] {
				seen[cap] = true
				signs++
				evidence = append(evidence, scene.Saw(r.Tool+" to "+a.String(), r.Rate.String(), r.Source))
			}
		}
		sure := 0.6 + 0.15*float64(signs)
		if inside > caps.OutsideEgress.Rate*12/10 {
			sure += 0.16
			evidence = append(evidence, scene.Saw("to an internal address", inside.String(), provider.Source))
		}
		if signs == 0 {
			continue
		}
		v.Add(record.Shaper, min(sure, 0.94), h, "Google Cloud: egress to external addresses",
			fmt.Sprintf("Google Cloud holds what a VM sends to external (public) IP addresses to %v a flow and %v in all, whatever its bandwidth inside is; that is what was measured.", caps.Flow.Rate, caps.OutsideEgress.Rate),
			"Use Dedicated or Partner Interconnect (internal addresses), Tier_1 networking for more in all, several flows up to that cap, or several VMs; windows and sysctls do not matter.", evidence...)
	}
}

// allotted: an instance at the part of its bandwidth that its provider gives the
// network, where volumes have the rest.
func allotted(v *scene.View) {
	for _, h := range v.Hosts {
		mbps, at, ok := scene.Number(h, "host", "network_mbps")
		if !ok || mbps <= 0 {
			continue
		}
		most := unit.BitRate(mbps) * unit.Mbps
		_, name := instanceOf(v, h)
		evidence := []record.Evidence{scene.Saw("network bandwidth of the instance", most.String(), at)}
		if n, from, ok := scene.Number(h, "host", "volume_mbps"); ok {
			evidence = append(evidence, scene.Saw("volume bandwidth", (unit.BitRate(n)*unit.Mbps).String(), from))
		}
		for i, r := range v.Case.Runs {
			rate := r.Rate
			if i+1 < len(v.Case.Runs) && !scene.Close(rate, most, 0.93, 1.02) && v.Case.Runs[i+1].From <= r.To+2 {
				rate += v.Case.Runs[i+1].Rate // one command began both
			}
			if !scene.Close(rate, most, 0.93, 1.02) {
				continue
			}
			v.Add(record.Shaper, 0.9, h, "the instance's network bandwidth ("+cmp.Or(name.Text, "its profile")+")",
				fmt.Sprintf("%v is what the cloud gives this instance for its network (%v): its profile's bandwidth is shared between network and volumes, and all interfaces together get the network's part.", rate, most),
				"Lower the allocation of the volumes (`ibmcloud is instance-update INSTANCE --total-volume-bandwidth MBPS`), or take a larger profile; bonding interfaces adds nothing.", append(evidence, scene.Saw(r.Tool, rate.String(), r.Source))...)
			return
		}
	}
}

// roundRates are those that plans are sold with.
var roundRates = []unit.BitRate{100e6, 200e6, 250e6, 300e6, 400e6, 500e6, 600e6, 750e6, 800e6, 1e9, 1.5e9, 2e9, 3e9, 4e9, 5e9, 10e9}

// planned: two tests that differ come to the same round rate on a virtual card, with
// nothing full and nothing lost here: the plan of the provider.
func planned(v *scene.View) {
	if v.Faulty() {
		return
	}
	for _, h := range ends(v) {
		provider, _ := instanceOf(v, h)
		card := piece.Value{}
		for _, name := range h.Subjects("link") {
			x, ok := h.Get("link "+name, "mac")
			d, virtual := h.Get("link "+name, "driver")
			switch {
			case ok && (strings.HasPrefix(x.Text, "fa:16:3e") || strings.HasPrefix(x.Text, "52:54:00")):
				card = piece.Value{Text: name + " (" + x.Text + ", a virtual card)", Source: x.Source}
			case virtual && scene.Contains(d.Text, "virtio", "vmxnet3", "hv_netvsc"):
				card = piece.Value{Text: name + " (" + d.Text + ")", Source: d.Source}
			}
		}
		if provider.Text == "" || card.Text == "" && !slices.ContainsFunc(h.Subjects("link"), func(l string) bool { return !scene.Pseudo(l) }) {
			continue
		}
		for i, r := range v.Case.Runs {
			for _, other := range v.Case.Runs[i+1:] {
				differ := len(r.Streams) != len(other.Streams) || r.Reverse != other.Reverse || r.Parallel != other.Parallel
				at := slices.IndexFunc(roundRates, func(round unit.BitRate) bool { return scene.Close(r.Rate, round, 0.93, 1.005) })
				if !differ || r.UDP || at < 0 || !scene.Close(other.Rate, r.Rate, 0.98, 1.02) {
					continue
				}
				sure := 0.7
				if card.Text != "" {
					sure = 0.8
				}
				v.Add(record.Shaper, sure, h, "the provider's plan ("+provider.Text+")",
					fmt.Sprintf("Every test comes to about %v, with one stream and with several, whatever the direction: the provider (%s) limits this model or plan to %v.", r.Rate, provider.Text, roundRates[at]),
					"Take a larger model (flavour, plan); nothing in the guest is to be tuned. A virtual card that tells no speed is normal.",
					scene.Saw(r.Tool, fmt.Sprintf("%v, %d streams", r.Rate, max(len(r.Streams), 1)), r.Source), scene.Saw(other.Tool, fmt.Sprintf("%v, %d streams", other.Rate, max(len(other.Streams), 1)), other.Source))
				return
			}
		}
	}
}

// plainCard: a guest in Azure whose packets all take the synthetic card.
func plainCard(v *scene.View) {
	for _, h := range v.Case.Hosts {
		x, ok := h.Get("host", "accelerated")
		if !ok || !strings.EqualFold(x.Text, "false") || len(v.Case.Runs) == 0 {
			continue
		}
		v.Add(record.ReceiverCPU, 0.62, h, "the synthetic card (no accelerated networking)",
			"Accelerated networking is off: every packet takes the hypervisor's virtual switch and the guest's synthetic card (hv_netvsc), whose queues and cores limit.",
			"`az network nic update --accelerated-networking true` with the VM deallocated, for sizes that have it; more channels meanwhile (`ethtool -L eth0 combined N`).", scene.Saw("enableAcceleratedNetworking", x.Text, x.Source))
	}
}
