package hosts

import (
	"fmt"
	"strings"

	"github.com/linerate/linerate/diagnose/pasted/scene"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// emulated are models of cards that a hypervisor emulates register by register.
func emulated(model string) bool {
	for _, p := range []string{"e1000", "rtl8139", "ne2k", "pcnet", "i825", "vlance", "flexible"} {
		if strings.HasPrefix(model, p) {
			return true
		}
	}
	return false
}

// emulatedChips are the names of such cards in the guest.
var emulatedChips = []string{"82540EM", "82545EM", "PRO/1000 MT", "RTL-8100/8101L/8139", "RTL8139", "82574L"}

// guestCardsEmulated: a guest's card that is emulated, where a paravirtual one exists.
func guestCardsEmulated(v *scene.View) {
	for _, h := range v.Case.Hosts {
		for _, name := range h.Subjects("vnic") {
			if x, ok := h.Get("vnic "+name, "model"); ok && emulated(x.Text) {
				emulatedCard(v, h, "guest card "+name, x)
			}
		}
		guest := false
		for _, key := range []string{"virtualization", "hypervisor"} {
			x, ok := h.Get("host", key)
			guest = guest || ok && x.Text != "none"
		}
		for _, name := range h.Subjects("link") {
			driver, ok := h.Get("link "+name, "driver")
			if ok && (driver.Text == "e1000" || driver.Text == "8139cp" || driver.Text == "8139too" || driver.Text == "pcnet32" || driver.Text == "ne2k-pci") {
				emulatedCard(v, h, name, piece.Value{Text: driver.Text, Source: driver.Source})
			}
		}
		for _, bdf := range h.Subjects("pci") {
			x, ok := h.Get("pci "+bdf, "name")
			for _, chip := range emulatedChips {
				if ok && strings.Contains(x.Text, chip) && (guest || chip != "82574L") {
					emulatedCard(v, h, "card "+bdf, piece.Value{Text: "e1000 (" + chip + ")", Source: x.Source})
				}
			}
		}
	}
}

func emulatedCard(v *scene.View, h *piece.Host, where string, model piece.Value) {
	better := "virtio (with the NetKVM driver of virtio-win in Windows; vmxnet3 with VMware Tools on ESXi)"
	sure := 0.6
	evidence := []record.Evidence{scene.Saw("model of "+where, model.Text, model.Source)}
	for _, p := range h.Processes {
		if p.CPU >= 80 && (strings.Contains(p.Name, "KVM") || scene.Contains(p.Name, "kvm", "qemu", "vmx", "vcpu")) {
			evidence = append(evidence, scene.Saw(p.Name, fmt.Sprintf("%.0f %% of a core", p.CPU), p.Source))
			sure = 0.9
			break
		}
	}
	for _, c := range h.Cores {
		if c.ID != "all" && c.Idle < 6 && sure < 0.9 {
			evidence = append(evidence, scene.Saw("core "+c.ID, fmt.Sprintf("%.0f %% idle", c.Idle), c.Source))
			sure = 0.9
		}
	}
	for _, r := range v.Case.Runs {
		switch {
		case r.Rate > 8e9:
			return // it carries what such a card never does
		case r.Rate > 0:
			evidence = append(evidence, scene.Saw(r.Tool, r.Rate.String(), r.Source))
			sure = max(sure, 0.8)
		}
	}
	v.Add(record.ReceiverCPU, sure, h, where+" ("+model.Text+")",
		fmt.Sprintf("%s is an emulated card (%s): each access to its registers stops the guest's vCPU (core) and the host's emulator, so that one core's CPU time limits it to about 1 Gbit/s and less.", where, model.Text),
		"Give the guest a paravirtual card: "+better+"; with several queues (queues=4).", evidence...)
}

// guestLimits: a guest's card with a rate that its hypervisor enforces.
func guestLimits(v *scene.View) {
	for _, h := range v.Case.Hosts {
		for _, name := range h.Subjects("vnic") {
			limit, at, ok := scene.Number(h, "vnic "+name, "limit_bps")
			if !ok || limit <= 0 {
				continue
			}
			words, _ := h.Get("vnic "+name, "limit_words")
			said := unit.BitRate(limit).String()
			if words.Text != "" {
				said = words.Text + ", that is " + said
			}
			sure := 0.6
			evidence := []record.Evidence{scene.Saw("limit of "+name, said, at)}
			if e, ok := runNear(v, unit.BitRate(limit)); ok {
				evidence = append(evidence, e)
				sure = 0.93
			} else if v.Best() > unit.BitRate(limit)*120/100 {
				sure = 0.4 // another guest's, or another path
			}
			for _, link := range h.Subjects("link") {
				if n, from, ok := scene.Number(h, "link "+link, "qdisc overlimits"); ok && n > 1000 && scene.Contains(link, "tap", "veth", "vnet", "fwln", "fwpr") {
					evidence = append(evidence, scene.Saw("overlimits of "+link, fmt.Sprintf("%.0f", n), from))
					sure = max(sure, 0.8)
					break
				}
			}
			v.Add(record.Shaper, sure, h, name+" of "+scene.NameOf(h)+" (rate limit)",
				fmt.Sprintf("The hypervisor limits the guest's card %s: rate limit %s. No setting in the guest lifts it.", name, said),
				limitRemedy(h, name), evidence...)
		}
	}
}

// limitRemedy is how the hypervisor's limit is removed.
func limitRemedy(h *piece.Host, name string) string {
	guest, card, _ := strings.Cut(name, "/")
	os, _ := h.Get("host", "os")
	switch {
	case os.Text == "esxi":
		return "Raise or disable traffic shaping: `esxcli network vswitch standard policy shaping set -v VSWITCH -e false` (for a port group: `... portgroup policy shaping set -p NAME -e false`); on a distributed switch in the port group's traffic shaping."
	case os.Text == "windows":
		return "Remove it: `Set-VMNetworkAdapter -VMName " + guest + " -MaximumBandwidth 0`."
	case strings.HasPrefix(card, "net") && guest != "guest" && guest == strings.Trim(guest, "abcdefghijklmnopqrstuvwxyz"):
		return fmt.Sprintf("Set it without rate= : `qm set %s --%s MODEL=MAC,bridge=BRIDGE` (a container: `pct set`); rate is in MB/s, not Mbit/s. Or raise it.", guest, card)
	}
	return "Remove or raise it: without <bandwidth> in the domain's XML, `virsh domiftune GUEST CARD --inbound 0 --outbound 0 --live --config`; on Proxmox `qm set` without rate=."
}

// onePath: a disk with several paths of which the policy uses one.
func onePath(v *scene.View) {
	for _, h := range v.Hosts {
		for _, name := range h.Subjects("lun") {
			psp, ok := h.Get("lun "+name, "psp")
			if !ok {
				continue
			}
			working, told := h.Get("lun "+name, "working")
			paths, at, _ := scene.Number(h, "lun "+name, "paths")
			n := len(strings.Fields(working.Text))
			switch psp.Text {
			case "MRU", "FIXED", "FOO":
			case "RR", "RRWS":
				if told && n == 1 && paths >= 2 {
					v.Add(record.SingleLink, 0.72, h, "disk "+name, fmt.Sprintf("The disk %s is on round robin, but only one of its %.0f paths is a working (optimized) path: one link carries all.", name, paths),
						"Check the ALUA state of the other paths on the array (`esxcli storage nmp path list`): only active/optimized ones are used.", scene.Saw("working paths", working.Text, working.Source))
				}
				if iops, from, ok := scene.Number(h, "lun "+name, "iops"); ok && iops >= 100 && n > 1 {
					v.Add(record.SingleLink, 0.55, h, "disk "+name+" (round robin by 1000)", fmt.Sprintf("The disk %s is on round robin with iops=%.0f: that many commands go by one path before the next one has its turn, so that at any moment one link carries and the other waits.", name, iops),
						fmt.Sprintf("`esxcli storage nmp psp roundrobin deviceconfig set -d %s -t iops -I 1` changes the path with each command.", name), scene.Saw("policy", fmt.Sprintf("round robin, iops=%.0f", iops), from))
				}
				continue
			default:
				continue
			}
			if n > 1 {
				continue
			}
			sure := 0.72
			evidence := []record.Evidence{scene.Saw("path selection policy of "+name, psp.Text, psp.Source)}
			if told {
				evidence = append(evidence, scene.Saw("working paths", working.Text, working.Source))
				sure = 0.8
			}
			if paths >= 2 {
				evidence = append(evidence, scene.Saw("active paths", fmt.Sprintf("%.0f", paths), at))
				sure = 0.9
			} else if len(h.Subjects("vmk")) > 1 {
				sure = 0.86
			}
			kind := map[string]string{"MRU": "Most Recently Used (VMW_PSP_MRU)", "FIXED": "Fixed (VMW_PSP_FIXED)", "FOO": "Fail Over Only (FOO)"}[psp.Text]
			remedy := fmt.Sprintf("Use round robin: `esxcli storage nmp device set -d %s -P VMW_PSP_RR`, then `esxcli storage nmp psp roundrobin deviceconfig set -d %s -t iops -I 1`; a claim rule (`esxcli storage nmp satp rule add`) keeps it for new disks.", name, name)
			if psp.Text == "FOO" {
				remedy = "Use round robin: `mpclaim -l -d DISK 2`, or for new disks `Set-MSDSMGlobalDefaultLoadBalancePolicy -Policy RR`."
			}
			v.Add(record.SingleLink, sure, h, "disk "+name+" of "+scene.NameOf(h)+" (one path)",
				fmt.Sprintf("The path selection policy of %s is %s: it uses one path at a time, %s, and the other paths are spares, so that a single path's link carries everything.", name, kind, orOne(working.Text)), remedy, evidence...)
		}
	}
}

func orOne(path string) string {
	if path == "" {
		return "one current path"
	}
	return "now " + path
}
