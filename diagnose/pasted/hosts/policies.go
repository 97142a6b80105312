package hosts

import (
	"fmt"
	"strings"

	"github.com/linerate/linerate/diagnose/pasted/scene"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// near is a run, or one stream of it, that came to a limit: no more than it, and most
// of it. A policer that drops leaves TCP less than a shaper that queues.
func near(v *scene.View, limit unit.BitRate, low float64) (record.Evidence, bool) {
	for _, r := range v.Case.Runs {
		if scene.Close(r.Rate, limit, low, 1.06) {
			return scene.Saw(r.Tool, fmt.Sprintf("%v, %d streams", r.Rate, max(len(r.Streams), 1)), r.Source), true
		}
	}
	return record.Evidence{}, false
}

// policed: a class of a router's or switch's port that drops what is above a rate.
func policed(v *scene.View) {
	for _, s := range v.Case.Hosts {
		for _, class := range s.Subjects("policy") {
			subject := "policy " + class
			f := strings.Fields(class)
			if len(f) != 3 {
				continue
			}
			name, _ := s.Get(subject, "policy")
			where := fmt.Sprintf("%s of %s, %sput (policy %s, class %s)", f[0], scene.NameOf(s), f[1], name.Text, f[2])
			dropped, at, drops := scene.Number(s, subject, "exceeded")
			if violated, from, ok := scene.Number(s, subject, "violated"); ok && violated > dropped {
				dropped, at, drops = violated, from, true
			}
			if rate, from, ok := scene.Number(s, subject, "police_bps"); ok && drops && dropped > 100 {
				limit := unit.BitRate(rate)
				sure := 0.72
				evidence := []record.Evidence{scene.Saw("police on "+f[0], limit.String(), from), scene.Saw("exceeded and dropped", fmt.Sprintf("%.0f packets", dropped), at)}
				if e, ok := near(v, limit, 0.5); ok {
					evidence, sure = append(evidence, e), 0.92
				}
				v.Add(record.Shaper, sure, s, where,
					fmt.Sprintf("%s polices to %v (police cir %.0f) and drops what is above it: TCP takes each drop for loss and saws below that rate.", scene.NameOf(s)+" "+f[0], limit, rate),
					"Change the rate of that policy to what is paid for, or remove it; where a limit must be, shape (`shape average`) instead of police, or give the policer a burst (bc) of a round trip at least.", evidence...)
			}
			if n, from, ok := scene.Number(s, subject, "queue_drops"); ok && n > 1000 && !hasFact(s, subject, "shape_bps") {
				v.Add(record.Congestion, 0.78, s, where,
					fmt.Sprintf("The queue of class %s on %s %s dropped %.0f packets: more arrives than the port, or the class's share of it, sends.", f[2], scene.NameOf(s), f[0], n),
					"Give the class more bandwidth or a longer queue (queue-limit), or let the senders pace; a port that is full needs a faster one.", scene.Saw("total drops of "+f[2], fmt.Sprintf("%.0f", n), from))
			}
			if rate, from, ok := scene.Number(s, subject, "shape_bps"); ok && rate > 0 {
				e, near := near(v, unit.BitRate(rate), 0.85)
				lost, _, _ := scene.Number(s, subject, "queue_drops")
				if !near && lost < 100 {
					continue
				}
				sure := 0.6
				evidence := []record.Evidence{scene.Saw("shape on "+f[0], unit.BitRate(rate).String(), from)}
				if near {
					evidence, sure = append(evidence, e), 0.9
				}
				v.Add(record.Shaper, sure, s, where, fmt.Sprintf("%s shapes %s to %v.", scene.NameOf(s), f[0], unit.BitRate(rate)),
					"Raise the rate of that policy (shape average) to what is paid for, or remove it.", evidence...)
			}
		}
		for _, class := range s.Subjects("policy-config") {
			for _, kind := range []string{"police", "shape"} {
				rate, at, ok := scene.Number(s, "policy-config "+class, kind+"_bps")
				if !ok || rate <= 0 {
					continue
				}
				e, near := near(v, unit.BitRate(rate), map[string]float64{"police": 0.6, "shape": 0.85}[kind])
				if !near {
					continue
				}
				v.Add(record.Shaper, 0.82, s, fmt.Sprintf("%s (%s) of %s", class, kind, scene.NameOf(s)),
					fmt.Sprintf("%s holds a class to %v (%s %.0f), about what was measured.", scene.NameOf(s), unit.BitRate(rate), kind, rate),
					"Change that rate or remove the policy; `show policy-map interface` (Junos: `show policer`) tells what it drops.", scene.Saw(kind, unit.BitRate(rate).String(), at), e)
			}
		}
	}
}

func hasFact(h *piece.Host, subject, key string) bool {
	_, ok := h.Get(subject, key)
	return ok
}

// filtered: a packet filter on a host that drops above a rate.
func filtered(v *scene.View) {
	for _, h := range v.Hosts {
		for _, n := range h.Subjects("filter") {
			subject := "filter " + n
			rate, at, ok := scene.Number(h, subject, "bps")
			_, above := h.Get(subject, "above")
			_, drops := h.Get(subject, "drops")
			if !ok || rate <= 0 || above && !drops {
				continue
			}
			rule, _ := h.Get(subject, "rule")
			limit := unit.BitRate(rate)
			sure := 0.5
			evidence := []record.Evidence{scene.Saw("firewall rule", rule.Text, at)}
			if x, ok := h.Get(subject, "packets"); ok && len(x.Text) > 2 && drops {
				sure = 0.75
			}
			if e, ok := near(v, limit, 0.7); ok {
				evidence, sure = append(evidence, e), 0.93
			}
			v.Add(record.Shaper, sure, h, "the firewall of "+scene.NameOf(h)+" (hashlimit, limit)",
				fmt.Sprintf("A firewall rule of %s (iptables or nft, limit) drops what is above %v: a policer on the host itself.", scene.NameOf(h), limit),
				"Remove or raise that rule (`iptables -vnL --line-numbers`, `iptables -D CHAIN NUMBER`; `nft -a list ruleset`), in what loads it at boot too.", evidence...)
		}
	}
}

// functions: a virtual function that its host holds to a rate.
func functions(v *scene.View) {
	for _, h := range v.Hosts {
		for _, name := range h.Subjects("vf") {
			mbps, at, ok := scene.Number(h, "vf "+name, "max_tx_mbps")
			if !ok || mbps <= 0 {
				continue
			}
			link, index, _ := strings.Cut(name, "/")
			limit := unit.BitRate(mbps) * unit.Mbps
			sure := 0.55
			evidence := []record.Evidence{scene.Saw("vf "+index+" of "+link, fmt.Sprintf("max_tx_rate %.0f Mbit/s", mbps), at)}
			mac, _ := h.Get("vf "+name, "mac")
			for _, guest := range v.Hosts {
				for _, l := range guest.Subjects("link") {
					if x, ok := guest.Get("link "+l, "mac"); ok && x.Text == mac.Text && guest != h {
						sure = 0.8
						evidence = append(evidence, scene.Saw(l+" of "+scene.NameOf(guest), x.Text+" is that function", x.Source))
					}
				}
			}
			if e, ok := near(v, limit, 0.85); ok {
				evidence, sure = append(evidence, e), 0.94
			}
			v.Add(record.Shaper, sure, h, fmt.Sprintf("vf %s of %s on %s", index, link, scene.NameOf(h)),
				fmt.Sprintf("The host holds vf %s of %s to %v (max_tx_rate): what the guest sends goes no faster; what it receives is not limited.", index, link, limit),
				fmt.Sprintf("`ip link set %s vf %s max_tx_rate 0`, or remove the QoS policy that sets it (OpenStack: the port's bandwidth limit rule).", link, index), evidence...)
		}
	}
}

// asked: tests that were told a rate, by their command, by a script, or by iperf's
// own default for UDP.
func asked(v *scene.View) {
	for _, r := range v.Case.Runs {
		if r.UDP && r.Target == 0 && (strings.HasPrefix(r.Tool, "iperf") && r.Detail["target"] != "" || r.Tool == "nuttcp") && r.Rate > 0.9e6 && r.Rate < 1.2e6 && r.Lost*100 <= r.Datagrams {
			v.Add(record.Application, 0.93, nil, r.Tool+" -u without -b",
				fmt.Sprintf("%s -u sends 1 Mbit/s where no rate is asked for: %v is its default target rate, not a limit of the network.", r.Tool, r.Rate),
				"Give a rate: `iperf3 -u -b 10G`, nuttcp `-R 9g` (-b 0: as fast as it can; several streams with -P, larger datagrams with -l 8k).", scene.Saw(r.Tool, r.Rate.String()+", UDP, no -b", r.Source))
		}
		if each := r.Rate / unit.BitRate(max(len(r.Streams), r.Parallel, 1)); r.Target > 0 && !r.UDP && scene.Close(each, r.Target, 0.96, 1.02) {
			v.Add(record.Pacing, 0.9, nil, r.Tool+" (a rate was asked for)",
				fmt.Sprintf("%s was told to send %v a stream (-b or --fq-rate), and that is what it did.", r.Tool, r.Target),
				"Run it without that option, or with a higher rate.", scene.Saw(r.Tool, fmt.Sprintf("%v a stream, asked %v", each, r.Target), r.Source))
		}
	}
	for _, h := range v.Hosts {
		for _, option := range []string{"--fq-rate", "--bandwidth"} {
			x, ok := h.Get("script", option)
			rate, err := unit.ParseBitRate(x.Text)
			if !ok || err != nil || rate <= 0 {
				continue
			}
			evidence := []record.Evidence{scene.Saw("script", option+" "+x.Text, x.Source)}
			sure := 0.5
			for _, r := range v.Case.Runs {
				if each := r.Rate / unit.BitRate(max(len(r.Streams), r.Parallel, 1)); scene.Close(each, rate, 0.9, 1.05) {
					evidence, sure = append(evidence, scene.Saw(r.Tool, fmt.Sprintf("%v a stream", each), r.Source)), 0.94
				}
			}
			v.Add(record.Pacing, sure, h, "the test script ("+option+")",
				fmt.Sprintf("The script paces each stream at %v (%s %s): the test goes no faster, whatever the path carries.", rate, option, x.Text),
				"Remove the option from the script or raise it, or run more streams.", evidence...)
		}
	}
}

// podLimits: a pod whose annotation limits its rate.
func podLimits(v *scene.View) {
	for _, h := range v.Case.Hosts {
		for _, way := range []string{"egress", "ingress"} {
			rate, at, ok := scene.Number(h, "pod", way+"_bps")
			e, near := near(v, unit.BitRate(rate), 0.85)
			if !ok || rate <= 0 || !near {
				continue
			}
			if x, ok := h.Get("pod", "plugin"); ok {
				v.Add(record.Shaper, 0.91, h, "the CNI plugin bandwidth ("+way+"Rate)",
					fmt.Sprintf("The CNI configuration limits each pod to %v (%sRate of the plugin %s, a tbf qdisc), and that is what arrived: UDP beyond it is dropped, TCP slows down.", unit.BitRate(rate), way, x.Text),
					"Raise or remove it in the CNI configuration (/etc/cni/net.d), and start the pod again.", scene.Saw(way+"Rate", unit.BitRate(rate).String(), at), e)
				continue
			}
			v.Add(record.Shaper, 0.91, h, "the pod's annotation kubernetes.io/"+way+"-bandwidth",
				fmt.Sprintf("The pod's annotation limits it to %v (%s-bandwidth: the bandwidth plugin's tbf, or Cilium's bandwidth manager), and that is what was measured.", unit.BitRate(rate), way),
				"Remove or raise the annotation, in what makes the pods too, and start the pod again.", scene.Saw("annotation", unit.BitRate(rate).String(), at), e)
		}
	}
}

// fullConntrack: a connection table that is full drops what would make a new entry.
func fullConntrack(v *scene.View) {
	for _, h := range v.Hosts {
		sure := 0.0
		var evidence []record.Evidence
		if n, at := scene.Events(h, "conntrack-full"); n > 0 {
			sure = 0.85
			evidence = append(evidence, scene.Saw("log", "nf_conntrack: table full, dropping packet", at))
		}
		now, at, ok := scene.Number(h, "sysctl", "net.netfilter.nf_conntrack_count")
		most, _, ok2 := scene.Number(h, "sysctl", "net.netfilter.nf_conntrack_max")
		if ok && ok2 && most > 0 && now >= most*0.98 {
			sure = max(sure+0.06, 0.85)
			evidence = append(evidence, scene.Saw("nf_conntrack_count", fmt.Sprintf("%.0f of %.0f (max)", now, most), at))
		}
		if sure == 0 {
			continue
		}
		if n, from, ok := scene.Number(h, "conntrack", "drop"); ok && n > 0 {
			evidence = append(evidence, scene.Saw("conntrack -S, drop", fmt.Sprintf("%.0f", n), from))
		}
		v.Add(record.Congestion, sure, h, "the conntrack table of "+scene.NameOf(h),
			fmt.Sprintf("The connection table (nf_conntrack) of %s is full: packets of new connections are dropped, old ones go on; links and cores are not the limit.", scene.NameOf(h)),
			"Raise net.netfilter.nf_conntrack_max (and /sys/module/nf_conntrack/parameters/hashsize to a quarter of it), shorten nf_conntrack_tcp_timeout_established, and let what needs no state pass untracked (NOTRACK).", evidence...)
	}
}

// marked: a switch that marks (ECN) from a queue of a few frames on.
func marked(v *scene.View) {
	var evidence []record.Evidence
	share := 0.0
	for _, h := range v.Hosts {
		for _, s := range h.Sockets {
			marks, all := piece.Float(s.Info["delivered_ce"]), piece.Float(s.Info["delivered"])
			if all > 1000 && marks/all > 0.05 {
				share = max(share, marks/all)
				evidence = append(evidence, scene.Saw("ss on "+scene.NameOf(h), fmt.Sprintf("%.0f %% of the segments came back marked (delivered_ce, ECN)", 100*marks/all), s.Source))
			}
		}
		ce, ok := h.Counters["IpExtInCEPkts"]
		ect, ok2 := h.Counters["IpExtInECT0Pkts"]
		if n, all := piece.Float(ce.Text), piece.Float(ect.Text)+piece.Float(ce.Text); ok && ok2 && all > 1000 && n/all > 0.05 {
			share = max(share, n/all)
			evidence = append(evidence, scene.Saw("IpExtInCEPkts of "+scene.NameOf(h), fmt.Sprintf("%.0f %% of the packets arrived marked (CE)", 100*n/all), ce.Source))
		}
	}
	if share == 0 {
		return
	}
	sure := 0.78
	where := "a switch that marks (ECN)"
	for _, s := range v.Switches {
		for _, class := range s.Subjects("policy-config") {
			from, at, ok := scene.Number(s, "policy-config "+class, "mark_from_bytes")
			to, _, _ := scene.Number(s, "policy-config "+class, "mark_to_bytes")
			if ok && from < 100e3 {
				where, sure = scene.NameOf(s)+", "+class+" (ECN threshold)", 0.93
				evidence = append(evidence, scene.Saw("random-detect of "+scene.NameOf(s), fmt.Sprintf("thresholds of %.0f to %.0f kbytes", from/1000, to/1000), at))
				break
			}
		}
	}
	v.Add(record.Congestion, sure, nil, where,
		fmt.Sprintf("%.0f %% of the packets are marked (ECN, CE) with next to no loss: a queue's threshold (WRED, random-detect) is so low that each burst is marked, and the sender takes every mark for congestion.", 100*share),
		"Raise the threshold (some hundreds of kilobytes: 150 to 3000 kbytes at 25G), or use DCTCP on all hosts of that queue, or tcp_ecn=2 for cubic.", evidence...)
}
