package hosts

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/linerate/linerate/diagnose/pasted/scene"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// ownLimits: a program that was told to go no faster.
func ownLimits(v *scene.View) {
	for _, h := range v.Case.Hosts {
		for _, name := range h.Subjects("limit") {
			bits, at, ok := scene.Number(h, "limit "+name, "bps")
			if !ok || bits <= 0 {
				continue
			}
			limit := unit.BitRate(bits)
			words, _ := h.Get("limit "+name, "words")
			evidence := []record.Evidence{scene.Saw("limit of "+name, words.Text, at)}
			sure, own, passed := 0.6, false, false
			for _, r := range v.Case.Runs {
				switch {
				case r.Rate > limit*60/100 && r.Rate < limit*110/100:
					evidence = append(evidence, scene.Saw(r.Tool, r.Rate.String(), r.Source))
					own, sure = true, max(sure, 0.88)
				case r.Tool == name && r.Rate > limit*120/100:
					passed = true
				case r.Rate > 2*limit:
					evidence = append(evidence, scene.Saw(r.Tool, r.Rate.String()+": the network carries more", r.Source))
					sure = max(sure, 0.8)
				}
			}
			if passed {
				continue
			}
			if own && len(evidence) > 2 {
				sure = 0.94
			}
			if name == "dladm" || name == "flowadm" {
				v.Add(record.Shaper, sure, h, fmt.Sprintf("%s (%s)", name, words.Text),
					fmt.Sprintf("%s limits a link or a flow of this host to %v (%s): no program gets more, whatever the network carries.", name, limit, words.Text),
					"Raise the limit or take it out: `dladm reset-linkprop -p maxbw LINK`, `flowadm remove-flow FLOW`.", evidence...)
				continue
			}
			what := map[string]string{"vzdump": "the backup job (vzdump)"}[name]
			v.Add(record.Application, sure, h, fmt.Sprintf("%s (%s)", cmp.Or(what, name), words.Text),
				fmt.Sprintf("%s limits itself: its bandwidth limit (bwlimit) is %s, that is %v. The network is not asked for more.", cmp.Or(what, name), words.Text, limit),
				limitsOf(name), evidence...)
		}
	}
}

// limitsOf is where a program's limit is removed.
func limitsOf(name string) string {
	switch name {
	case "vzdump":
		return "Raise or take out bwlimit (KiB/s): in /etc/vzdump.conf, in the backup job, or in /etc/pve/datacenter.cfg and the storage's bwlimit."
	case "migration", "clone", "move", "restore", "default":
		return "Raise or take out bwlimit in /etc/pve/datacenter.cfg (KiB/s; Datacenter, Options)."
	}
	return "Raise or take out that option in the command, its crontab or the job's settings."
}

// fullDisks: disks that are busy all the time beside a network that carries more.
func fullDisks(v *scene.View) {
	for _, h := range v.Hosts {
		var busy []string
		disks := 0
		var at piece.Source
		for _, name := range h.Subjects("disk") {
			if n, from, ok := scene.Number(h, "disk "+name, "util"); ok {
				disks++
				if n >= 92 {
					busy, at = append(busy, name), from
				}
			}
		}
		carried, pool := unit.BitRate(0), ""
		var from piece.Source
		for _, name := range h.Subjects("pool") {
			if _, several := h.Get("pool "+name, "looks"); !several && len(busy) == 0 {
				continue // the mean since the system's start
			}
			for _, key := range []string{"read_bps", "write_bps"} {
				if n, source, ok := scene.Number(h, "pool "+name, key); ok && unit.BitRate(n) > carried {
					carried, pool, from = unit.BitRate(n), name, source
				}
			}
		}
		for _, name := range h.Subjects("disk") {
			if n, source, ok := scene.Number(h, "disk "+name, "moved_bps"); ok && pool == "" && !strings.HasPrefix(name, "md") && !strings.HasPrefix(name, "dm-") && !strings.HasPrefix(name, "zd") {
				carried, from = carried+unit.BitRate(n), source
			}
		}
		if len(busy) == 0 && carried == 0 {
			continue
		}
		var evidence []record.Evidence
		sure := 0.0
		if len(busy) > 0 {
			evidence = append(evidence, scene.Saw("disks of "+scene.NameOf(h), fmt.Sprintf("%d of %d are busy all the time (%s: 92 %% util and more)", len(busy), disks, busy[0]), at))
			sure = 0.7
		}
		if pool != "" {
			text := fmt.Sprintf("%v", carried)
			if n, _, ok := scene.Number(h, "pool "+pool, "used_percent"); ok {
				text += fmt.Sprintf(", %.0f %% full", n)
			}
			evidence = append(evidence, scene.Saw("pool "+pool, text, from))
		}
		fast := false
		for _, r := range v.Case.Runs {
			if r.OfNetwork() && (carried == 0 && len(busy) > 0 && r.Rate > 900*unit.Mbps || carried > 0 && r.Rate > carried*13/10) {
				evidence = append(evidence, scene.Saw(r.Tool, r.Rate.String()+": the network carries more", r.Source))
				fast = true
			}
		}
		switch {
		case fast && len(busy) > 0:
			sure = 0.92
		case fast && pool != "" && carried > 50*unit.Mbps:
			sure = 0.62
		}
		if sure < scene.LeastSure {
			continue
		}
		where := "the disks of " + scene.NameOf(h)
		if pool != "" {
			where = "the disks of the pool " + pool + " of " + scene.NameOf(h)
		}
		v.Add(record.Application, sure, h, where,
			fmt.Sprintf("The storage is the limit: %s write and read no faster, while the network is not full. A copy is fast for as long as the cache (RAM) takes it, then the disks set the pace.", where),
			"More or faster disks (mirrors instead of RAIDZ, more vdevs, SSDs), free space on a pool that is nearly full, fewer sync writes (or a log device), larger blocks. No setting of the network helps.", evidence...)
	}
}

// isAdapter reports a USB device that is a network adapter by its driver or its name.
func isAdapter(h *piece.Host, name string) bool {
	_, driver := h.Get("usb "+name, "driver")
	_, product := h.Get("usb "+name, "product")
	return driver || product
}

// slowBus: a USB network adapter on a bus that is slower than its link.
func slowBus(v *scene.View) {
	for _, h := range v.Hosts {
		for _, name := range h.Subjects("usb") {
			mbits, at, ok := scene.Number(h, "usb "+name, "speed")
			if !ok || mbits <= 0 || mbits > 10000 {
				continue
			}
			bus := unit.BitRate(mbits) * unit.Mbps
			link := unit.BitRate(0)
			for _, l := range h.Subjects("link") {
				if s := scene.SpeedOf(h, l); s > link && scene.Word(h, l, "kind") != "bond" {
					link = s
				}
			}
			evidence := []record.Evidence{scene.Saw("USB adapter "+name, fmt.Sprintf("%.0f Mbit/s", mbits), at)}
			sure := 0.0
			_, below := h.Get("usb "+name, "below")
			_, other := h.Get("usb "+name, "other")
			unknown := (below || other) && !isAdapter(h, name)
			switch {
			case unknown && (other || slices.ContainsFunc(h.Subjects("usb"), func(other string) bool { return isAdapter(h, other) })):
				continue
			case unknown:
				sure = 0.25 // a device that could do more, of which no more is known
			case mbits <= 480:
				sure = 0.8
			case link > bus:
				sure = 0.6
			case link > 0 && link >= bus*90/100 && mbits >= 5000:
				sure = 0.4
			default:
				continue
			}
			if link > 0 {
				evidence = append(evidence, scene.Saw("link", link.String(), at))
			}
			for _, r := range v.Case.Runs {
				switch {
				case r.Rate > bus*105/100:
					sure = 0
				case r.Rate > bus*45/100 && r.Rate < bus*86/100:
					evidence = append(evidence, scene.Saw(r.Tool, r.Rate.String(), r.Source))
					sure = min(sure+0.35, 0.93)
				}
				if sure == 0 {
					break
				}
			}
			if sure < 0.5 {
				continue
			}
			what := "USB 2.0 (high speed)"
			if mbits > 480 {
				what = "USB 3"
			}
			v.Add(record.CardSlot, sure, h, "the USB port of "+name,
				fmt.Sprintf("The USB network adapter (%s) hangs on a bus of %.0f Mbit/s, %s: that carries about %.0f Mbit/s of payload, whatever its Ethernet link says.", name, mbits, what, mbits*0.68),
				"Get it onto a USB 3 bus (5000 Mbit/s or more): another port (blue, SuperSpeed; not behind a USB 2 hub), another cable or adapter (turn the USB-C plug round), then look again with `lsusb -t`; or a PCIe card.", evidence...)
		}
	}
}
