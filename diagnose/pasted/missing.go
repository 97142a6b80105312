package pasted

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/linerate/linerate/diagnose/pasted/paths"
	"github.com/linerate/linerate/diagnose/pasted/scene"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/record"
)

// mostAsked is how many outputs are named; enoughAsked are so many of a question's kind
// that others would only distract.
const mostAsked, enoughAsked = 5, 3

// missing are the outputs that would decide, for whom, the most telling first: those
// that settle the cause named first, or of none what that kind of question wants. What
// was read is not asked for.
func missing(v *scene.View) []scene.Missing {
	var first *piece.Host
	if len(v.Hosts) > 0 {
		first = v.Hosts[0]
	}
	if _, ok := failed(v); ok && len(v.Findings) == 0 {
		m := scene.Missing{Command: "iperf3 -c PEER -P 8 -V", Why: "once the other end listens and is reached: no rate was measured"}
		if first != nil {
			m.Host = first.Name
		}
		return []scene.Missing{m}
	}
	var out []scene.Missing
	if len(v.Findings) > 0 {
		best := v.Findings[0]
		for _, f := range v.Findings {
			if f.Confidence > best.Confidence {
				best = f
			}
		}
		if best.Ask != nil {
			return best.Ask
		}
		at := first
		if len(best.Hosts) > 0 {
			at = cmp.Or(v.HostOf(best.Hosts[0]), first)
		}
		for _, about := range settles[best.Cause] {
			if m, ok := ask(v, at, about); ok {
				out = append(out, m)
			}
		}
		if best.Cause == record.LACPDown && systemOf(at) != "esxi" {
			out = append(out, scene.Missing{Command: "show lacp neighbor", Host: "the switch", Why: "whom the switch hears on each port"})
			if len(v.Switches) > 0 && vendorIs(v.Switches[0], "procurve") {
				out[len(out)-1].Command = "show lacp peer"
			} else if len(v.Switches) > 0 && (vendorIs(v.Switches[0], "junos") || vendorIs(v.Switches[0], "aoscx")) {
				out[len(out)-1].Command = "show lacp interfaces"
			}
		}
		if out != nil {
			return out
		}
	}
	seen := make(map[string]bool)
	all := ofKind(v)
	if len(all) < enoughAsked {
		all = append(all, ofCase(v, first)...)
	}
	for _, m := range all {
		if key := m.Host + "\x00" + m.Command; !seen[key] {
			seen[key] = true
			out = append(out, m)
		}
	}
	return out[:min(len(out), mostAsked)]
}

// ofKind are the outputs that a kind of question wants, whatever its system.
func ofKind(v *scene.View) (out []scene.Missing) {
	add := func(h *piece.Host, about ...topic) {
		for _, t := range about {
			if m, ok := ask(v, h, t); ok {
				out = append(out, m)
			}
		}
	}
	say := func(host, command, why string) {
		out = append(out, scene.Missing{Command: command, Host: host, Why: why})
	}
	switch {
	case rdma(v):
		host := ""
		if len(v.Hosts) > 0 {
			host = v.Hosts[0].Name
		}
		pairs := scene.Missing{Command: "ib_write_bw -q 1, then -q 4; ethtool -S LINK | grep phy", Host: host, Why: "what one queue pair (QP) and several carry, and by which port of a bond"}
		if overBond(v) {
			out = append(out, pairs)
		}
		say(host, "lspci -vvv | grep -E '^[0-9a-f]|ACSCtl|LnkSta:'", "as root: ACS on the bridges (SrcValid+) sends what GPU and card exchange through the processor, and a narrow slot limits both")
		say(host, "NCCL_DEBUG=INFO ... | grep -E 'NET/|GDRDMA'", "whether each channel goes by IB with GPU Direct RDMA (GDRDMA), and by which cards")
		if !overBond(v) {
			out = append(out, pairs)
		}
	case len(v.Case.Runs) == 0 && logged(v) != nil:
		h := logged(v)
		out = append(out, ofStart(v)...)
		add(h, aboutLog)
		if systemOf(h) == linux {
			say(h.Name, `journalctl --since "TIME - 1 min" --until "TIME + 1 min"`, "all that happened at one of those moments, without a filter: which program did it, or that the link went first")
		}
		if len(out) < enoughAsked {
			add(h, aboutBundle)
		}
		say("the switch", "show logging; show interfaces counters errors", "what its ports saw at the same moments")
	default:
		out = slices.Concat(paths.Ask(v), ofGuests(v), ofRoutes(v), ofCopies(v), ofThroughput(v))
	}
	return out
}

// ofCopies are the outputs about a copy that sentences speak of, where nothing of a
// bundle or a test of the network is there.
func ofCopies(v *scene.View) []scene.Missing {
	told, by, _ := strings.Cut(v.Case.Topics["rates"].Text, " ")
	if told != "copy" || by == "" || len(v.Case.Runs)+len(v.Bonds) > 0 {
		return nil
	}
	if _, bundle := v.Case.Topics["bundle"]; bundle {
		return nil
	}
	return []scene.Missing{{Command: "iperf3 -c PEER, then with -R, then with -P 8", Why: "whether the network carries more than " + by + " gets, each way"},
		{Command: "iostat -x 2; top -H", Host: "both hosts", Why: "while it copies: whether a disk is busy all the time, or one thread fills a core"},
		{Command: "ss -tin dst PEER", Why: "while it copies: round trip, and what TCP waits for"}}
}

// ofThroughput are the outputs about a network's throughput, where nothing but the
// question is there.
func ofThroughput(v *scene.View) []scene.Missing {
	_, asked := v.Case.Topics[piece.Throughput]
	_, bundle := v.Case.Topics["bundle"]
	_, by, _ := strings.Cut(v.Case.Topics["rates"].Text, " ")
	if !asked || bundle || by != "" || len(v.Case.Runs)+len(v.Hosts)+len(v.Switches) > 0 {
		return nil
	}
	return []scene.Missing{{Command: "iperf3 -c PEER, then with -R, then with -P 8", Why: "what the network alone carries, each way, by one connection and by several"},
		{Command: "ethtool LINK; ip -s -d link", Host: "both hosts", Why: "at which speed each link came up (Windows: Get-NetAdapter, Get-NetAdapterStatistics; macOS: ifconfig), its MTU, errors and drops"},
		{Command: "mpstat -P ALL 1 5; ss -tin dst PEER", Host: "both hosts", Why: "while it runs: whether one core is full, and what TCP waits for"}}
}

// ofStart are the outputs about a bond of which LACP had not answered yet.
func ofStart(v *scene.View) []scene.Missing {
	for _, h := range v.Hosts {
		if n, _ := scene.Events(h, "lacp-no-response"); n > 0 {
			return []scene.Missing{{Command: "cat /proc/net/bonding/*", Host: h.Name, Why: "as root, some minutes after the start: whether an LACP partner answers"},
				{Command: "show spanning-tree interface PORT", Host: "the switch", Why: "whether its ports are edge ports (portfast): spanning tree and the slow LACP rate hold a bond down for up to 30 s"}}
		}
	}
	return nil
}

// ofGuests are the outputs about a guest's card: it is served by threads of its host.
func ofGuests(v *scene.View) (out []scene.Missing) {
	h, inside := guestOf(v)
	if h == nil || len(v.Case.Runs) == 0 {
		return nil
	}
	if systemOf(h) == "freebsd" {
		if m, ok := ask(v, h, aboutCores); ok {
			out = append(out, m)
		}
		out = append(out, scene.Missing{Command: "sysctl dev.vtnet hw.vtnet", Host: h.Name, Why: "how many queues the card has (act_vq_pairs)"})
	}
	on, guest := h.Name, "the guest"
	if inside {
		on, guest = "", h.Name
	}
	if esx := slices.ContainsFunc(h.Subjects("link"), func(l string) bool { return scene.Word(h, l, "driver") == "vmxnet3" || strings.HasPrefix(l, "vmx") }); esx {
		return append(out, scene.Missing{Command: "esxtop (c, then n)", Host: "the hypervisor", Why: "while it runs: whether one of the guest's worlds (vCPU, NetWorld) is full, and dropped packets (%DRPRX)"})
	}
	out = append(out, scene.Missing{Command: "top -H -b -n 1 | head -30", Host: cmp.Or(on, "the hypervisor"), Why: "while it runs: whether a vhost thread (vhost-PID) or one of the guest's vCPUs is full"})
	queues := slices.ContainsFunc(v.Hosts, func(h *piece.Host) bool {
		return slices.ContainsFunc(h.Subjects("link"), func(l string) bool { _, ok := h.Get("link "+l, "channels"); return ok })
	})
	if !queues && systemOf(h) != "freebsd" {
		out = append(out, scene.Missing{Command: "ethtool -l LINK; mpstat -P ALL 1 5", Host: guest, Why: "how many queues the guest's card has (Combined), and whether one core is full"})
	}
	return out
}

// ofRoutes are the outputs about which way answers take.
func ofRoutes(v *scene.View) (out []scene.Missing) {
	if len(v.Bonds) > 0 || len(v.Case.Runs) > 0 {
		return nil
	}
	for _, h := range v.Hosts {
		if len(h.Routes) == 0 {
			continue
		}
		if m, ok := ask(v, h, aboutRoutes); ok {
			out = append(out, m)
		} else if systemOf(h) == linux {
			out = append(out, scene.Missing{Command: "ip route get PEER from ADDRESS", Host: h.Name, Why: "by which interface the answers of each address leave"})
		}
		if systemOf(h) == linux {
			if len(h.Subjects("link")) == 0 || len(scene.Addresses(h)) == 0 {
				out = append(out, scene.Missing{Command: "ip -br addr", Host: h.Name, Why: "which address is on which interface"})
			}
			out = append(out, scene.Missing{Command: "sysctl -a | grep '\\.rp_filter'; nstat -az | grep -i filter", Host: h.Name, Why: "whether the kernel drops what arrives by another interface than answers leave (IPReversePathFilter)"})
		}
		break
	}
	return out
}

// ofCase are the outputs that help with any question of rates.
func ofCase(v *scene.View, first *piece.Host) (out []scene.Missing) {
	add := func(h *piece.Host, about ...topic) {
		for _, t := range about {
			if m, ok := ask(v, h, t); ok {
				out = append(out, m)
			}
		}
	}
	for _, h := range v.Hosts {
		if v.MPTCP(h) {
			out = append(out, scene.Missing{Command: "ss -Mtin; ip mptcp endpoint", Host: h.Name, Why: "which MPTCP subflow carries how much over which link"})
			break
		}
	}
	out = append(out, ofStart(v)...)
	if len(v.Hosts) == 0 {
		out = append(out, ofSwitches(v)...)
	}
	for _, r := range v.Case.Runs {
		if r.UDP && r.Datagrams > 0 && r.Lost*50 > r.Datagrams {
			out = append(out, scene.Missing{Command: "nstat -az | grep Udp; ethtool -S LINK | grep -E 'drop|miss'", Host: r.Server, Why: "on the receiver: whether its sockets (UdpRcvbufErrors, net.core.rmem_max) or its card lost what the test counts as lost; a TCP run beside it tells the path apart from the program"})
			break
		}
	}
	for _, b := range v.Bonds {
		if systemOf(b.Host) == linux {
			out = append(out, ofBond(b)...)
		} else {
			add(b.Host, aboutBundle, aboutTraffic)
		}
	}
	add(first, aboutRate)
	if len(v.Case.Runs) > 0 || len(v.Bonds) > 0 || len(v.Switches) > 0 {
		add(first, aboutCores, aboutSockets)
	}
	switch {
	case len(v.Bonds)+len(v.Switches) > 0:
	case severalLinks(v):
		add(first, aboutBundle)
	case systemOf(first) == linux:
		out = append(out, scene.Missing{Command: "ethtool LINK; ip -s -d link", Host: scene.NameOf(first), Why: "at which speed the link came up, its MTU, errors and drops"})
	}
	if len(v.Switches) == 0 && len(v.Bonds) > 0 && systemOf(first) == linux {
		out = append(out, scene.Missing{Command: "show etherchannel summary; show etherchannel load-balance", Host: "the switch", Why: "which members are bundled, and by what the switch chooses"})
	}
	add(first, aboutCores)
	for _, h := range v.Hosts {
		if systemOf(h) != systemOf(first) {
			add(h, aboutBundle, aboutCores)
			break
		}
	}
	if systemOf(first) == "windows" {
		out = append(out, scene.Missing{Command: "iostat -x 5 or the disk and pool load page", Host: "the server", Why: "whether the disks or the pool are the limit"})
	}
	add(first, aboutSlot, aboutSockets)
	return out
}

// severalLinks reports a text that speaks of a bundle or shows several links.
func severalLinks(v *scene.View) bool {
	_, bundle := v.Case.Topics["bundle"]
	_, one := v.Case.Topics["one link"]
	return bundle || one || v.Said("ports", "one_link", "two_homed", "one_idle") || slices.ContainsFunc(v.Hosts, func(h *piece.Host) bool {
		n := 0
		for _, name := range h.Subjects("link") {
			if !scene.Pseudo(name) {
				n++
			}
		}
		_, ovs := ovsBond(h)
		return n > 1 || ovs
	})
}

// ofBond are what was not read of a Linux bond or team.
func ofBond(b scene.Bond) (out []scene.Missing) {
	_, runs := b.Host.Get("link "+b.Name, "mode")
	switch {
	case scene.Word(b.Host, b.Name, "kind") == "team":
		if _, runs = b.Host.Get("link "+b.Name, "runner"); !runs {
			out = append(out, scene.Missing{Command: "teamdctl " + b.Name + " state", Host: b.Host.Name, Why: "only the configuration is here: which ports carry, and the LACP state"})
		}
	case b.Mode == "":
		out = append(out, scene.Missing{Command: "cat /proc/net/bonding/" + b.Name, Host: b.Host.Name, Why: "the top is cut: mode and hash policy are not here"})
	case !runs:
		out = append(out, scene.Missing{Command: "cat /proc/net/bonding/" + b.Name, Host: b.Host.Name, Why: "only the configuration is here: whether it runs so, which ports carry, and the LACP state"})
	}
	if _, _, ok := b.Carried("tx"); !ok {
		out = append(out, scene.Missing{Command: "ip -s link", Host: b.Host.Name, Why: "which link carries how much"})
	}
	return out
}

// unknown is the answer where nothing that was read decides.
func unknown(v *scene.View, missing []scene.Missing) scene.Finding {
	f := scene.Finding{Where: "not known from this"}
	f.Cause, f.Confidence = record.Unknown, 0
	f.Rate = v.Best()
	f.Summary = "Unknown: what is here does not show the cause."
	if r, ok := failed(v); ok {
		f.Summary = fmt.Sprintf("Unknown: the test did not run (%s), so nothing was measured.", r.Error)
		f.Evidence = []record.Evidence{scene.Saw(r.Tool, r.Error, r.Source)}
		f.Remedy = "Start the other end (`iperf3 -s` there), let its port through the firewalls (5201 is iperf3's), and see that the address is reached (`ping`); then measure again."
		return f
	}
	if all := v.Case.Described; len(all) > 0 && len(v.Case.Read) == 0 {
		f.Summary = fmt.Sprintf("Unknown: this is %s. It describes, and is nobody's case: what it says and shows as examples was not read.", all[0].Kind)
		f.Evidence = []record.Evidence{scene.Saw("no case", all[0].Kind, all[0].Source)}
	}
	for _, m := range missing[:min(len(missing), 3)] {
		f.Remedy += fmt.Sprintf("Run on %s: `%s` (%s). ", m.On(), m.Command, m.Why)
	}
	return f
}

// failed is the first run that came to nothing, where no other did better.
func failed(v *scene.View) (piece.Run, bool) {
	for _, r := range v.Case.Runs {
		if r.Rate > 0 {
			return piece.Run{}, false
		}
	}
	for _, r := range v.Case.Runs {
		if r.Error != "" {
			return r, true
		}
	}
	return piece.Run{}, false
}
