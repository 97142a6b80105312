package hosts

import (
	"fmt"
	"strings"

	"github.com/linerate/linerate/diagnose/pasted/scene"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// windowsRSS: a card of Windows that hands all it receives to one core.
func windowsRSS(v *scene.View) {
	for _, h := range v.Hosts {
		global, _ := h.Get("host", "rss_global")
		if global.Text == "disabled" {
			rssOff(v, h, global)
			continue
		}
		for _, name := range h.Subjects("link") {
			x, ok := h.Get("link "+name, "rss")
			if !ok || x.Text != "off" && x.Text != "disabled" || scene.Word(h, name, "state") == "down" {
				continue
			}
			more, sure := oneCoreFull(h, 0.6)
			evidence := append([]record.Evidence{scene.Saw("RSS of "+name, "disabled", x.Source)}, more...)
			v.Add(record.ReceiverCPU, sure, h, name+" of "+scene.NameOf(h)+" (RSS off)",
				fmt.Sprintf("Receive side scaling (RSS) is off on %s: one core (CPU) handles all that the card receives, and SMB opens one connection only. One full core of many is a small part of the total that the task manager shows.", name),
				fmt.Sprintf("Turn it on: `Enable-NetAdapterRss -Name \"%s\"` (in the adapter's advanced properties: Receive Side Scaling); `netsh interface tcp set global rss=enabled`.", name), evidence...)
		}
	}
}

// oneCoreFull is what shows that receiving by one core is felt, and how sure it makes
// what is so sure without.
func oneCoreFull(h *piece.Host, sure float64) (evidence []record.Evidence, now float64) {
	for _, c := range h.Cores {
		if c.ID != "all" && c.Idle < 10 {
			evidence = append(evidence, scene.Saw("core "+c.ID, fmt.Sprintf("%.0f %% busy", 100-c.Idle), c.Source))
			sure = 0.93
			break
		}
	}
	for _, path := range h.Subjects("smb") {
		if r, ok := h.Get("smb "+path, "rss"); ok && r.Text == "false" {
			return append(evidence, scene.Saw("SMB connection", "client not RSS capable: one connection", r.Source)), max(sure, 0.84)
		}
	}
	return evidence, sure
}

// rssOff: Windows that uses receive side scaling on none of its cards.
func rssOff(v *scene.View, h *piece.Host, global piece.Value) {
	more, sure := oneCoreFull(h, 0.66)
	evidence := append([]record.Evidence{scene.Saw("receive side scaling of Windows", "disabled, for all cards", global.Source)}, more...)
	v.Add(record.ReceiverCPU, sure, h, "all cards of "+scene.NameOf(h)+" (RSS off)",
		"Receive side scaling (RSS) is off for all of Windows: one core (CPU) handles all that a card receives, and SMB opens one connection only. One full core of many is a small part of the total that the task manager shows.",
		"Turn it on: `Set-NetOffloadGlobalSetting -ReceiveSideScaling Enabled`, then `Get-NetAdapterRss` for each card (`Enable-NetAdapterRss -Name NAME`).", evidence...)
}

// rscOff: a card of Windows that does not merge what it receives.
func rscOff(v *scene.View) {
	if !v.Complains() || v.HasFinding(record.ReceiverCPU) {
		return
	}
	for _, h := range v.Hosts {
		for _, name := range h.Subjects("link") {
			x, ok := h.Get("link "+name, "rsc")
			if !ok || x.Text != "off" {
				continue
			}
			v.Add(record.ReceiverCPU, 0.46, h, name+" of "+scene.NameOf(h)+" (RSC off)",
				fmt.Sprintf("Receive segment coalescing (RSC) does not work on %s: Windows takes each packet of a flow by itself, which costs a core several times as much as merged ones; receiving is slower than sending then. A filter driver, a virtual switch or IPsec turns it off, and so does a property of the card.", name),
				"Turn it on: `Enable-NetAdapterRsc -Name \"NAME\"`, `Set-NetOffloadGlobalSetting -ReceiveSegmentCoalescing Enabled`, for a virtual switch `Set-VMSwitch -EnableSoftwareRsc $true`; IPv4FailureReason says what prevents it. Larger frames help as much.",
				scene.Saw("RSC of "+name, "off", x.Source)).Ask = []scene.Missing{
				{Command: `Get-Counter '\Processor(*)\% Processor Time'`, Host: scene.NameOf(h), Why: "while it receives: whether one core is full"},
				{Command: "iperf3 -c PEER, then with -R", Host: scene.NameOf(h), Why: "whether receiving is slower than sending"},
				{Command: "Get-NetAdapterRss; Get-NetAdapterRsc | Format-List", Host: scene.NameOf(h), Why: "how many cores receive, and why RSC does not work"}}
			return
		}
	}
}

// hyperVQueues: Hyper-V whose guests' traffic all goes by one core: VMQ is off on the
// card, or for the guest.
func hyperVQueues(v *scene.View) {
	if v.Best() > 8*unit.Gbps {
		return // one core does not come to that
	}
	for _, h := range v.Hosts {
		var off []string
		var evidence []record.Evidence
		card, guest := false, false
		for _, name := range h.Subjects("link") {
			if x, ok := h.Get("link "+name, "vmq"); ok && x.Text == "off" {
				if speed, _ := scene.SpeedNow(h, name); speed > 0 && speed <= unit.Gbps {
					continue // a core carries that
				}
				card, off = true, append(off, name)
				evidence = append(evidence, scene.Saw("VMQ of "+name, "not enabled", x.Source))
			}
		}
		for _, name := range h.Subjects("vnic") {
			if x, ok := h.Get("vnic "+name, "vmq_weight"); ok && x.Text == "0" {
				guest, off = true, append(off, name)
				evidence = append(evidence, scene.Saw("VmqWeight of "+name, "0", x.Source))
				if x, ok := h.Get("vnic "+name, "vrss"); ok {
					evidence = append(evidence, scene.Saw("virtual RSS of "+name, x.Text, x.Source))
				}
			}
		}
		if !card && !guest {
			continue
		}
		sure := 0.66
		switch {
		case card && guest:
			sure = 0.78
		case guest:
			sure = 0.55
		}
		v.Add(record.ReceiverCPU, sure, h, strings.Join(off, ", ")+" (VMQ off)",
			fmt.Sprintf("Virtual machine queues (VMQ) are off for %s: the Hyper-V host receives for its guests (VMs) on one core (CPU), which ends at some 3 to 6 Gbit/s.", strings.Join(off, ", ")),
			"Turn them on: `Enable-NetAdapterVmq -Name \"CARD\"` on 10 Gbit/s cards and faster, `Set-VMNetworkAdapter -VMName GUEST -VmqWeight 100 -VrssEnabled $true`; keep each card's cores apart (`Set-NetAdapterVmq -BaseProcessorNumber`). `Get-Counter '\\Processor(*)\\% Processor Time'` shows the core meanwhile.", evidence...)
	}
}

// windowsTuning: Windows' receive window that does not grow: 64 KiB a round trip.
func windowsTuning(v *scene.View) {
	for _, h := range v.Hosts {
		x, ok := h.Get("host", "autotuning")
		if !ok || x.Text == "normal" || x.Text == "experimental" || x.Text == "inherited" {
			continue
		}
		trip := roundTrip(v)
		sure := 0.66
		summary := fmt.Sprintf("Receive window auto-tuning is %s on %s: its TCP window stays near 64 KiB, so that one connection gets at most 64 KiB in a round trip.", x.Text, scene.NameOf(h))
		evidence := []record.Evidence{scene.Saw("auto-tuning level", x.Text, x.Source)}
		if trip >= 1 {
			allowed := unit.FromBytes(65535, trip/1000)
			summary += fmt.Sprintf(" Over %.0f ms that is %v.", trip, allowed)
			sure = 0.7
			for _, r := range v.Case.Runs {
				n := unit.BitRate(max(len(r.Streams), r.Parallel, 1))
				each := r.Rate / n
				if each > allowed*65/100 && each < allowed*115/100 && !r.UDP {
					evidence = append(evidence, scene.Saw(r.Tool, r.Rate.String(), r.Source))
					sure = 0.94
				}
			}
		}
		v.Add(record.ReceiveWindow, sure, h, "the receive window of "+scene.NameOf(h)+" (auto-tuning "+x.Text+")", summary,
			"Set it back to normal: `netsh interface tcp set global autotuninglevel=normal` (PowerShell: `Set-NetTCPSetting -AutoTuningLevelLocal Normal`); check that no group policy or tuning tool sets it again.", evidence...)
	}
}

// isWireless reports a link of a radio, by its facts or its name.
func isWireless(h *piece.Host, link string) bool {
	if scene.Word(h, link, "wifi") == "yes" {
		return true
	}
	low := strings.ToLower(link)
	return strings.HasPrefix(low, "wl") || strings.Contains(low, "wi-fi") || strings.Contains(low, "wifi") || strings.Contains(low, "wlan") || strings.Contains(low, "wireless") ||
		scene.Contains(scene.Word(h, link, "description"), "wi-fi", "wireless", "802.11")
}

// preferredLink: two links into the same subnet, of which the system prefers the
// slower one (a radio) by its metric.
func preferredLink(v *scene.View) {
	for _, h := range v.Hosts {
		for _, p := range scene.SharedSubnets(h) {
			preferred(v, h, p[0].Link, p[1].Link, p[0].Prefix.Masked().String())
		}
		for i, a := range h.Routes {
			for _, b := range h.Routes[i+1:] {
				if a.Dst == b.Dst && a.Link != b.Link && a.Link != "" && b.Link != "" && a.Table == b.Table && a.Metric != b.Metric && (a.Dst.Bits() == 0 || !a.Gateway.IsValid()) {
					first, second := a, b
					if b.Metric < a.Metric {
						first, second = b, a
					}
					if isWireless(h, first.Link) && !isWireless(h, second.Link) {
						overRadio(v, h, first.Link, second.Link, fmt.Sprintf("metric %d against %d", first.Metric, second.Metric), first.Source, 0.82)
					}
				}
			}
		}
	}
}

func preferred(v *scene.View, h *piece.Host, a, b, subnet string) {
	am, at, aok := scene.Number(h, "link "+a, "metric")
	bm, bt, bok := scene.Number(h, "link "+b, "metric")
	chosen, told := h.Get("host", "chosen_link")
	first, second, from, said := a, b, at, ""
	switch {
	case aok && bok && am != bm:
		said = fmt.Sprintf("metric %.0f against %.0f", min(am, bm), max(am, bm))
		if bm < am {
			first, second, from = b, a, bt
		}
	case told && (chosen.Text == a || chosen.Text == b):
		said, from = "the route chosen", chosen.Source
		if chosen.Text == b {
			first, second = b, a
		}
	default:
		return
	}
	fast, slow := scene.SpeedOf(h, second), scene.SpeedOf(h, first)
	switch {
	case isWireless(h, first) && !isWireless(h, second):
		overRadio(v, h, first, second, said+", both in "+subnet, from, 0.9)
	case fast > slow && slow > 0:
		v.Add(record.AsymmetricRoute, 0.86, h, fmt.Sprintf("%s is preferred to %s", first, second),
			fmt.Sprintf("%s and %s are both in %s, and %s prefers %s (%s), the slower one (%v against %v).", first, second, subnet, scene.NameOf(h), first, said, slow, fast),
			metricRemedy(h, first, second), scene.Saw("interface metric", said, from))
	}
}

func overRadio(v *scene.View, h *piece.Host, radio, wire, said string, at piece.Source, sure float64) {
	if scene.Word(h, wire, "carrier") == "no" || scene.Word(h, wire, "state") == "down" {
		return
	}
	evidence := []record.Evidence{scene.Saw("interface metric", said, at)}
	if x, ok := h.Get("host", "chosen_link"); ok && x.Text == radio {
		evidence = append(evidence, scene.Saw("route chosen", "by "+radio, x.Source))
	}
	if x, ok := h.Get("host", "smb_multichannel"); ok && x.Text == "false" {
		evidence = append(evidence, scene.Saw("SMB multichannel", "off: SMB cannot add the other adapter by itself", x.Source))
	}
	v.Add(record.AsymmetricRoute, sure, h, fmt.Sprintf("%s is preferred to %s", radio, wire),
		fmt.Sprintf("%s sends by Wi-Fi (%s) although the cable (%s) leads to the same network: the interface metric of %s is the lower one (%s), and a lower metric wins, whatever the speeds are.", scene.NameOf(h), radio, wire, radio, said),
		metricRemedy(h, radio, wire), evidence...)
}

func metricRemedy(h *piece.Host, first, second string) string {
	if system, _ := h.Get("host", "os"); system.Text == "windows" {
		return fmt.Sprintf("Give the wired adapter the lower metric: `Set-NetIPInterface -InterfaceAlias \"%s\" -InterfaceMetric 5` (or -AutomaticMetric Enabled on both), and turn SMB multichannel on; or disconnect %s.", second, first)
	}
	return fmt.Sprintf("Give the wired link the lower metric (`nmcli connection modify NAME ipv4.route-metric 50` for %s), or disconnect %s.", second, first)
}

// teamFailures: members of a Windows team that say why they do not carry.
func teamFailures(v *scene.View) {
	for _, h := range v.Hosts {
		for _, name := range h.Subjects("link") {
			x, ok := h.Get("link "+name, "failure")
			if !ok || x.Text == "NoFailure" || x.Text == "AdministrativeDecision" || x.Text == "" {
				continue
			}
			team := scene.Word(h, name, "master")
			evidence := []record.Evidence{scene.Saw("failure of "+name, x.Text, x.Source)}
			switch {
			case strings.Contains(x.Text, "Lacp"):
				port := ""
				if e, ok := v.SwitchPortOut(); ok {
					evidence = append(evidence, e)
					port = " (" + e.What + " is the group's member that is not in the bundle: perhaps the cable is in another port)"
				}
				v.Add(record.LACPDown, 0.93, h, name+" of team "+team,
					fmt.Sprintf("%s of the team %s has failed LACP (%s): the switch's port at the other end is not in the same LACP group, or does not speak LACP%s.", name, team, x.Text, port),
					fmt.Sprintf("On the switch put the port that %s is plugged into in the LACP group of its neighbour, or move the cable to the group's port.", name), evidence...)
			case strings.Contains(x.Text, "Disconnected") || strings.Contains(x.Text, "Media"):
				v.Add(record.LACPDown, 0.7, h, name+" of team "+team, fmt.Sprintf("%s of the team %s has no link (%s): the team carries with the others only.", name, team, x.Text),
					"Check its cable and the switch's port.", evidence...)
			}
		}
	}
}
