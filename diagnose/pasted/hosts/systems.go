package hosts

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"github.com/linerate/linerate/diagnose/pasted/scene"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// guestWay is which end of a test the guests of a host are: their packets all pass
// its vhost threads.
func guestWay(v *scene.View, host *piece.Host) (record.Cause, float64) {
	for _, guest := range v.Hosts {
		if guest != host && v.Receives(guest) && !sends(v, guest) {
			return record.ReceiverCPU, 0.88
		}
	}
	if sends(v, host) || !v.Receives(host) {
		for _, guest := range v.Hosts {
			if guest != host && sends(v, guest) {
				return record.SenderCPU, 0.88
			}
		}
		return record.SenderCPU, 0.74 // which way was not read
	}
	return record.ReceiverCPU, 0.8
}

// slowReader reports that a host other than the sender has a full core.
func slowReader(v *scene.View, sender *piece.Host) bool {
	for _, h := range v.Hosts {
		for _, c := range h.Cores {
			if h != sender && c.ID != "all" && c.Idle <= fullCore {
				return true
			}
		}
	}
	return false
}

// within reports a core in a list such as "0-31,64-95".
func within(core int, list string) bool {
	for _, part := range strings.Split(list, ",") {
		from, to, ranged := strings.Cut(strings.TrimSpace(part), "-")
		low := piece.Atoi(from)
		high := low
		if ranged {
			high = piece.Atoi(to)
		}
		if low >= 0 && core >= low && core <= high {
			return true
		}
	}
	return false
}

// farNode: a full core on another NUMA node than the card.
func farNode(v *scene.View) {
	for _, h := range v.Hosts {
		for _, link := range h.Subjects("link") {
			node, at, ok := scene.Number(h, "link "+link, "numa")
			cores, told := h.Get("host", fmt.Sprintf("cores_of_node %.0f", node))
			if !ok || !told || node < 0 {
				continue
			}
			for _, c := range h.Cores {
				id, err := strconv.Atoi(c.ID)
				if err != nil || c.Idle > fullCore || c.Soft > 60 || within(id, cores.Text) {
					continue
				}
				cause := record.SenderCPU
				for _, other := range v.Hosts {
					for _, s := range other.Sockets {
						if other != h && percent(s, "rwnd_limited") >= waitedLong {
							cause = record.ReceiverCPU
						}
					}
				}
				if v.Receives(h) {
					cause = record.ReceiverCPU
				}
				v.Add(cause, 0.9, h, fmt.Sprintf("core %s of %s, far from %s (NUMA)", c.ID, scene.NameOf(h), link),
					fmt.Sprintf("The program runs on core %s, which is full, and %s is on NUMA node %.0f (cores %s): every byte is copied from the other socket.", c.ID, link, node, cores.Text),
					fmt.Sprintf("Bind it to the card's node: `numactl --cpunodebind=%.0f --membind=%.0f PROGRAM` (or taskset), and the card's interrupts too; several streams spread the work.", node, node),
					scene.Saw("NUMA node of "+link, fmt.Sprintf("%.0f", node), at), scene.Saw("core "+c.ID, fmt.Sprintf("%.0f %% idle, %.0f %% in the kernel", c.Idle, c.System), c.Source), scene.Saw("cores of that node", cores.Text, cores.Source))
			}
		}
	}
}

// boundNodes: runs that were bound to NUMA nodes, slower on the one where the card is
// not.
func boundNodes(v *scene.View) {
	for _, h := range v.Hosts {
		for _, link := range h.Subjects("link") {
			node, at, ok := scene.Number(h, "link "+link, "numa")
			if !ok || node < 0 {
				continue
			}
			own := fmt.Sprintf("%.0f", node)
			for _, far := range v.Case.Runs {
				for _, near := range v.Case.Runs {
					if far.Detail["node"] == "" || far.Detail["node"] == own || near.Detail["node"] != own || far.Rate*10 > near.Rate*8 || far.Client != h.Name {
						continue
					}
					cause := record.SenderCPU
					if far.Reverse {
						cause = record.ReceiverCPU
					}
					v.Add(cause, 0.92, h, fmt.Sprintf("the program's NUMA node on %s (%s is on node %s)", scene.NameOf(h), link, own),
						fmt.Sprintf("%s is on NUMA node %s: bound to that node (local) the test comes to %v, bound to node %s to %v, for every byte is copied from the other socket.", link, own, near.Rate, far.Detail["node"], far.Rate),
						fmt.Sprintf("Bind the program to the card's node: `numactl -N %s -m %s PROGRAM` (or taskset), and the card's interrupts too.", own, own),
						scene.Saw("NUMA node of "+link, own, at), scene.Saw(far.Tool+" on node "+far.Detail["node"], far.Rate.String(), far.Source), scene.Saw(near.Tool+" on node "+own, near.Rate.String(), near.Source))
					return
				}
			}
		}
	}
}

// unscaledAIX: AIX without window scaling, over a path that needs it.
func unscaledAIX(v *scene.View) {
	trip := roundTrip(v)
	for _, h := range v.Hosts {
		scale, at, ok := scene.Number(h, "no", "rfc1323")
		bytes, _, told := scene.Number(h, "no", "tcp_recvspace")
		if !ok || scale != 0 || trip < 2 {
			continue
		}
		allowed := unit.FromBytes(65535, trip/1000)
		sure := 0.72
		evidence := []record.Evidence{scene.Saw("no -o rfc1323", "0 (no window scaling)", at)}
		if told {
			evidence = append(evidence, scene.Saw("tcp_recvspace", fmt.Sprintf("%.0f", bytes), at))
		}
		if e, near := near(v, allowed, 0.6); near {
			evidence, sure = append(evidence, e), 0.92
		}
		v.Add(record.ReceiveWindow, sure, h, "rfc1323 of "+scene.NameOf(h),
			fmt.Sprintf("AIX runs without window scaling (rfc1323 0): no window is larger than 64 KiB, and over a round trip of %.0f ms that allows %v a stream, whatever the line carries.", trip, allowed),
			"`no -p -o rfc1323=1 -o sb_max=4194304 -o tcp_recvspace=1048576 -o tcp_sendspace=1048576`; where use_isno is 1 on the interface too (`chdev -l en0 -a rfc1323=1 -a tcp_recvspace=1048576`).", evidence...)
	}
}

// polling: a poll mode thread of OVS-DPDK that is full while others poll nothing.
func polling(v *scene.View) {
	for _, h := range v.Hosts {
		full, fullAt, idle, all := "", piece.Source{}, 0, 0
		ports := map[string]int{}
		load := 0.0
		for _, core := range h.Subjects("pmd") {
			subject := "pmd " + core
			usage, at, ok := scene.Number(h, subject, "usage")
			if busy, from, told := scene.Number(h, subject, "processing"); told {
				usage, at, ok = max(busy, usage), from, true
			}
			if !ok {
				continue
			}
			all++
			if usage < 20 {
				idle++
			}
			if usage >= 85 && usage > load {
				full, fullAt, load = core, at, usage
			}
			for _, key := range h.Keys(subject) {
				if rest, ok := strings.CutPrefix(key, "queue "); ok {
					port, _, _ := strings.Cut(rest, " ")
					ports[port]++
				}
			}
		}
		if full == "" {
			continue
		}
		evidence := []record.Evidence{scene.Saw("PMD thread of core "+full, fmt.Sprintf("%.0f %% busy, %d of %d others next to idle", load, idle, all-1), fullAt)}
		single := ""
		for _, key := range h.Keys("pmd " + full) {
			if rest, ok := strings.CutPrefix(key, "queue "); ok {
				port, _, _ := strings.Cut(rest, " ")
				if ports[port] == 1 && (single == "" || strings.HasPrefix(port, "dpdk")) {
					single = port
				}
			}
		}
		remedy := "Add cores to pmd-cpu-mask, and queues (`ovs-vsctl set interface PORT options:n_rxq=4`)."
		summary := fmt.Sprintf("The poll mode thread (PMD) of core %s is full: it polls too many queues.", full)
		if single != "" {
			summary = fmt.Sprintf("The poll mode thread (PMD) of core %s is full: %s has one receive queue (n_rxq 1), so that one core polls all of its packets while other PMD cores are idle.", full, single)
			remedy = fmt.Sprintf("More receive queues: `ovs-vsctl set interface %s options:n_rxq=4` (the guest's port: multiqueue), spread over the cores (pmd-rxq-assign, pmd-rxq-affinity).", single)
		}
		for _, link := range h.Subjects("link") {
			if n, at, ok := scene.Number(h, "link "+link, "dpdk.rx_missed_errors"); ok && n > 0 {
				evidence = append(evidence, scene.Saw("rx_missed_errors of "+link, fmt.Sprintf("%.0f", n), at))
			}
		}
		sure := 0.8
		if idle > 0 {
			sure = 0.92
		}
		v.Add(record.ReceiverCPU, sure, h, fmt.Sprintf("PMD core %s of %s", full, scene.NameOf(h)), summary, remedy, evidence...)
	}
}

// unheard: a bond of Open vSwitch that asks for LACP and hears nobody.
func unheard(v *scene.View) {
	for _, h := range v.Hosts {
		for _, name := range h.Subjects("link") {
			if scene.Word(h, name, "kind") != "ovs-bond" {
				continue
			}
			silent, members := 0, 0
			var at piece.Source
			var names, unheard []string
			for _, link := range h.Subjects("link") {
				if scene.Word(h, link, "master") != strings.ToLower(name) {
					continue
				}
				members++
				names = append(names, link)
				if x, ok := h.Get("link "+link, "lacp_state"); ok && strings.Contains(x.Text, "defaulted") {
					silent, at, unheard = silent+1, x.Source, append(unheard, link)
				}
			}
			if silent > 0 && silent < members {
				v.Add(record.LACPDown, 0.84, h, fmt.Sprintf("%s, a member of %s of %s", strings.Join(unheard, ", "), name, scene.NameOf(h)),
					fmt.Sprintf("%d of %d members of %s hears no LACP partner (defaulted): %s carries nothing, the others do.", silent, members, name, strings.Join(unheard, " and ")),
					"Put the switch's port of that member into the same LACP channel, and check its cable.", scene.Saw(strings.Join(unheard, ", "), "LACP defaulted", at))
			}
			if silent == 0 || silent < members {
				continue
			}
			evidence := []record.Evidence{scene.Saw("members of "+name, strings.Join(names, ", ")+": LACP defaulted, no partner", at)}
			where := "the switch's ports of " + scene.NameOf(h)
			sure := 0.88
			for _, s := range v.Switches {
				for _, p := range s.Subjects("port") {
					if x, ok := s.Get("port "+p, "description"); ok && h.Name != "" && strings.Contains(x.Text, h.Name) {
						if _, grouped := s.Get("port "+p, "channel"); !grouped {
							where, sure = p+" of "+scene.NameOf(s), 0.94
							evidence = append(evidence, scene.Saw(p+" of "+scene.NameOf(s), "no channel-group", x.Source))
						}
					}
				}
			}
			does := "and the bond falls back to active-backup (lacp-fallback-ab), one link at a time"
			if scene.Word(h, name, "lacp_fallback_ab") == "false" {
				does = "and the bond sends nothing (lacp_fallback_ab: false)"
			}
			v.Add(record.LACPDown, sure, h, where,
				fmt.Sprintf("%s asks for LACP and hears no partner on any member (defaulted): the switch has no LACP group there, %s.", name, does),
				"On the switch put both ports into one LACP channel: `channel-group N mode active` (NX-OS: `feature lacp` first); `ovs-appctl lacp/show` then says current.", evidence...)
		}
	}
}

// solarisBuffers: a send or receive buffer of Solaris that a path outgrows.
func solarisBuffers(v *scene.View) {
	trip := roundTrip(v)
	for _, h := range v.Hosts {
		for _, key := range []string{"send_buf", "recv_buf"} {
			bytes, at, ok := scene.Number(h, "property tcp", key)
			if !ok || trip < 1 {
				continue
			}
			allowed := unit.FromBytes(bytes, trip/1000)
			for _, r := range v.Case.Runs {
				from, _ := scene.Sides(r)
				if r.UDP || from != "" && h.Name != "" && (from == h.Name) != (key == "send_buf") || !scene.Close(r.Rate/unit.BitRate(max(len(r.Streams), 1)), allowed, 0.6, 1.15) {
					continue
				}
				cause := map[string]record.Cause{"send_buf": record.SendBuffer, "recv_buf": record.ReceiveWindow}[key]
				v.Add(cause, 0.93, h, key+" of "+scene.NameOf(h),
					fmt.Sprintf("%s (%s) over a round trip of %.1f ms allows %v a stream (bandwidth times delay), and that is what was measured.", key, unit.Bytes(bytes), trip, allowed),
					fmt.Sprintf("`ipadm set-prop -p max_buf=16777216 tcp`, then `ipadm set-prop -p %s=4194304 tcp` (the other buffer and cwnd_max too), or a larger one in the program (-w).", key),
					scene.Saw(key, fmt.Sprintf("%.0f", bytes), at), scene.Saw(r.Tool, r.Rate.String(), r.Source))
			}
		}
	}
}

// hostModel: Solaris with several addresses in a subnet and the weak model: answers
// leave by the first route.
func hostModel(v *scene.View) {
	for _, h := range v.Hosts {
		model, ok := h.Get("property ipv4", "hostmodel")
		if system, _ := h.Get("host", "os"); system.Text != "solaris" || ok && model.Text != "weak" {
			continue
		}
		for _, p := range scene.SharedSubnets(h) {
			a, b := p[0], p[1]
			sure := 0.7
			evidence := []record.Evidence{scene.Saw("address of "+a.Link, a.Prefix.String(), a.At), scene.Saw("address of "+b.Link, b.Prefix.String(), b.At)}
			if ok {
				sure = 0.85
				evidence = append(evidence, scene.Saw("hostmodel", model.Text, model.Source))
			}
			pair := scene.Bond{Host: h, Ports: []scene.Port{{Name: a.Link}, {Name: b.Link}}}
			name, part, at, sided := pair.Mostly("tx", 0.95)
			if sided {
				sure = 0.92
				evidence = append(evidence, scene.Saw("sent", fmt.Sprintf("%.0f %% by %s", 100*part, name), at))
			}
			v.Add(record.AsymmetricRoute, sure, h, fmt.Sprintf("%s and %s in one subnet (hostmodel %s)", a.Link, b.Link, cmp.Or(model.Text, "weak")),
				fmt.Sprintf("%s and %s are in the same subnet %s, and with hostmodel weak the outgoing interface is chosen by the destination, not by the source address: one route sends all answers.", a.Link, b.Link, a.Prefix.Masked()),
				"`ipadm set-prop -p hostmodel=src-priority ipv4` (or strong), or two subnets, or one aggregation (`dladm create-aggr -L active`).", evidence...)
		}
	}
}

// aggregates: a Solaris aggregation that hashes MACs, or a port of it without LACP.
func aggregates(v *scene.View) {
	for _, h := range v.Hosts {
		for _, name := range h.Subjects("link") {
			if x, ok := h.Get("link "+name, "aggr_defaulted"); ok && strings.EqualFold(x.Text, "yes") {
				v.Add(record.LACPDown, 0.86, h, name+" of "+scene.NameOf(h), fmt.Sprintf("%s hears no LACP partner (DEFAULTED yes): it is not in the aggregation.", name),
					"Put the switch's port into the same LACP group, active.", scene.Saw("dladm show-aggr -L", name+" defaulted", x.Source))
			}
			if x, ok := h.Get("link "+name, "aggr_policy"); ok && !scene.Contains(x.Text, "l4", "l3") && len(h.Ports[name]) != 1 {
				v.Add(record.SingleLink, 0.6, h, name+" of "+scene.NameOf(h), fmt.Sprintf("%s spreads by MAC addresses (policy %s): all to one peer or router takes one link.", name, x.Text),
					fmt.Sprintf("`dladm modify-aggr -P L4 %s` hashes ports; the switch decides what comes in.", name), scene.Saw("policy of "+name, x.Text, x.Source))
			}
		}
	}
}

// interfaceOptions: AIX socket buffers of an interface, which override those of no.
func interfaceOptions(v *scene.View) {
	for _, h := range v.Hosts {
		for _, link := range h.Subjects("link") {
			bytes, at, ok := scene.Number(h, "link "+link, "tcp_recvspace")
			scale, from, told := scene.Number(h, "link "+link, "rfc1323")
			trip := roundTrip(v)
			if !ok || bytes <= 0 || bytes > 262144 || trip < 1 {
				continue
			}
			allowed := unit.FromBytes(min(bytes, 65536), trip/1000)
			if told && scale == 1 {
				allowed = unit.FromBytes(bytes, trip/1000)
			}
			for _, r := range v.Case.Runs {
				if r.UDP || !scene.Close(r.Rate/unit.BitRate(max(len(r.Streams), 1)), allowed, 0.6, 1.15) {
					continue
				}
				evidence := []record.Evidence{scene.Saw("tcp_recvspace of "+link, fmt.Sprintf("%.0f", bytes), at), scene.Saw(r.Tool, r.Rate.String(), r.Source)}
				if told {
					evidence = append(evidence, scene.Saw("rfc1323 of "+link, fmt.Sprintf("%.0f (window scaling)", scale), from))
				}
				v.Add(record.ReceiveWindow, 0.9, h, "the interface specific options of "+link,
					fmt.Sprintf("%s has its own options (ISNO: tcp_recvspace %.0f, rfc1323 %.0f), which override those of `no`: over %.0f ms that window allows %v a stream, as was measured.", link, bytes, scale, trip, allowed),
					fmt.Sprintf("`chdev -l %s -a rfc1323=1 -a tcp_recvspace=1048576 -a tcp_sendspace=1048576` on both ends (sb_max above that); `no -o use_isno=0` ignores them.", link), evidence...)
				return
			}
		}
	}
}

// outOfSync: an AIX adapter of an EtherChannel that LACP leaves outside.
func outOfSync(v *scene.View) {
	for _, h := range v.Hosts {
		if system, _ := h.Get("host", "os"); system.Text != "aix" {
			continue
		}
		for _, link := range h.Subjects("link") {
			x, ok := h.Get("link "+link, "partner_sync")
			state, told := h.Get("link "+link, "aggregation")
			if !ok || x.Text != "out_of_sync" || told && state.Text == "aggregated" {
				continue
			}
			v.Add(record.LACPDown, 0.88, h, link+" of "+scene.NameOf(h),
				fmt.Sprintf("%s is outside of the EtherChannel: its LACP partner is out of sync (%s), so that it carries nothing.", link, cmp.Or(state.Text, "not aggregated")),
				"Put the switch's port of that adapter into the same LACP group as the others (active), and check its cable and VLANs.", scene.Saw("entstat of "+link, "partner out of sync", x.Source))
		}
	}
}
