package inspect

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/unit"
)

// Without --all a host with more links than manyLinks shows those that a
// person set up, and no more than mostTroubles counters of a device.
const (
	manyLinks    = 24
	mostTroubles = 6
)

// worthShowing leaves out the many links that containers and virtual machines
// bring along, and says how many.
func worthShowing(h netstate.Host) (shown []netstate.Link, left string) {
	if len(h.Links) <= manyLinks {
		return h.Links, ""
	}
	out := make(map[string]int)
	for _, l := range h.Links {
		if (l.Kind == "veth" || l.Kind == "tun" || l.Kind == "netkit") && len(l.Addresses) == 0 {
			out[l.Kind]++
			continue
		}
		shown = append(shown, l)
	}
	var parts []string
	for _, kind := range slices.Sorted(maps.Keys(out)) {
		parts = append(parts, fmt.Sprintf("%d %s links without an address", out[kind], kind))
	}
	if len(parts) == 0 {
		return shown, ""
	}
	return shown, "and " + strings.Join(parts, ", ") + " (--all lists them)"
}

// printMachine is the line about the machine that does not change.
func printMachine(con *console.Console, h netstate.Host) {
	var parts []string
	if m := h.Machine; m != nil {
		parts = append(parts, strings.TrimSpace(m.Vendor+" "+m.Product))
		if m.Provider != "" && h.Cloud == nil {
			parts = append(parts, "at "+m.Provider)
		}
	}
	if h.Memory > 0 {
		parts = append(parts, h.Memory.String()+" of memory")
	}
	if nodes := slices.Compact(slices.Sorted(slices.Values(h.CoreNodes))); len(nodes) > 1 {
		parts = append(parts, fmt.Sprintf("%d memory nodes", len(nodes)))
	}
	if h.CPU.Governor != "" {
		parts = append(parts, "governor "+h.CPU.Governor)
	}
	if c := h.Cloud; c != nil {
		parts = append(parts, "cloud "+strings.TrimSpace(c.Provider+" "+cmp.Or(c.Instance, "instance of unknown type")))
	}
	parts = slices.DeleteFunc(parts, func(s string) bool { return s == "" })
	if len(parts) > 0 {
		fmt.Fprint(con.Stdout, console.Wrapped("", strings.Join(parts, ", "), con.Width()))
	}
}

// printDevices prints what drivers and sysfs know of the devices; of virtual
// links too where everything is asked for.
func printDevices(con *console.Console, h netstate.Host, all bool) {
	first := true
	for _, l := range h.Links {
		if l.Kind == "loopback" || l.Kind != "" && !all {
			continue
		}
		text := deviceText(l, all)
		if text == "" {
			continue
		}
		if first {
			fmt.Fprintln(con.Stdout)
		}
		first = false
		fmt.Fprint(con.Stdout, console.Wrapped(l.Name+": ", text, con.Width()))
	}
}

func deviceText(l netstate.Link, all bool) string {
	var parts []string
	add := func(format string, values ...any) { parts = append(parts, fmt.Sprintf(format, values...)) }
	if l.Owner != "" {
		add("managed by %s", l.Owner)
	}
	if d := l.Device; d != nil {
		if d.Firmware != "" {
			add("firmware %s", d.Firmware)
		}
		parts = append(parts, speedParts(l, *d)...)
		parts = append(parts, queueParts(*d, all)...)
		parts = append(parts, placeParts(*d)...)
		parts = append(parts, troubleParts(*d, all)...)
	}
	if l.Duplex == "half" {
		add("half duplex")
	}
	if !l.PermanentMAC.IsZero() && (all || l.Port == nil && l.PermanentMAC != l.MAC) {
		add("permanent address %s", l.PermanentMAC)
	}
	for _, c := range []struct {
		name  string
		count uint64
	}{{"CRC errors", l.Counters.RxCRC}, {"missed for want of room", l.Counters.RxMissed}, {"dropped in", l.Counters.RxDropped}, {"dropped out", l.Counters.TxDropped}} {
		if c.count > 0 {
			add("%d %s", c.count, c.name)
		}
	}
	if all {
		add("%s", offloadText(l))
	}
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), "; ")
}

// speedParts say whether the two ends could do better than they do.
func speedParts(l netstate.Link, d netstate.Device) []string {
	var parts []string
	if d.Autoneg != nil && !*d.Autoneg {
		parts = append(parts, "autonegotiation off")
	}
	if d.FastestOwn > l.Speed && l.Speed > 0 {
		parts = append(parts, "could run at "+d.FastestOwn.String())
	}
	if d.FastestPartner > 0 && l.Speed > 0 && d.FastestPartner != l.Speed {
		parts = append(parts, "the partner offers up to "+d.FastestPartner.String())
	}
	return parts
}

func queueParts(d netstate.Device, all bool) []string {
	var parts []string
	if r := d.Rings; r != nil {
		parts = append(parts, fmt.Sprintf("rings rx %s tx %s", ofMost(r.Rx, r.RxMax), ofMost(r.Tx, r.TxMax)))
	}
	if c := d.Channels; c != nil {
		var counts []string
		for _, one := range []struct {
			name     string
			now, max int
		}{{"combined", c.Combined, c.CombinedMax}, {"rx", c.Rx, c.RxMax}, {"tx", c.Tx, c.TxMax}} {
			if one.now > 0 || all && one.max > 0 {
				counts = append(counts, one.name+" "+ofMost(one.now, one.max))
			}
		}
		if len(counts) > 0 {
			parts = append(parts, "channels "+strings.Join(counts, " "))
		}
	}
	if len(d.Coalescing) > 0 {
		var settings []string
		for _, name := range slices.Sorted(maps.Keys(d.Coalescing)) {
			v := d.Coalescing[name]
			if all || v != 0 && (name == "rx-usecs" || name == "rx-frames" || strings.HasPrefix(name, "adaptive-")) {
				settings = append(settings, fmt.Sprintf("%s %d", name, v))
			}
		}
		if len(settings) > 0 {
			parts = append(parts, "moderation "+strings.Join(settings, " "))
		}
	}
	if p := d.Pause; p != nil && (p.Rx || p.Tx || all) {
		parts = append(parts, fmt.Sprintf("pause rx %s tx %s", onOff(p.Rx), onOff(p.Tx)))
	}
	return parts
}

func onOff(on bool) string {
	if on {
		return "on"
	}
	return "off"
}

// ofMost is "512 of 4096", or the number alone where it is all there is.
func ofMost(now, most int) string {
	if now == most || most == 0 {
		return strconv.Itoa(now)
	}
	return fmt.Sprintf("%d of %d", now, most)
}

func placeParts(d netstate.Device) []string {
	var parts []string
	if d.Node != nil {
		parts = append(parts, fmt.Sprintf("memory node %d", *d.Node))
	}
	var cores []int
	for _, i := range d.IRQs {
		cores = append(cores, i.Cores...)
	}
	if len(d.IRQs) > 0 {
		text := unit.Counted(len(d.IRQs), "interrupt")
		if len(cores) > 0 {
			text += " on " + coreText(cores)
		}
		parts = append(parts, text)
	}
	for _, s := range []struct {
		name   string
		queues []netstate.QueueCores
	}{{"RPS", d.RPS}, {"XPS", d.XPS}} {
		var chosen []int
		for _, q := range s.queues {
			chosen = append(chosen, q.Cores...)
		}
		if len(chosen) > 0 {
			parts = append(parts, fmt.Sprintf("%s of %s to %s", s.name, unit.Counted(len(s.queues), "queue"), coreText(chosen)))
		}
	}
	return parts
}

// coreText is a set of cores as the kernel writes lists: "cores 0-3,8".
func coreText(cores []int) string {
	runs := unit.Runs(cores)
	noun := "cores "
	if len(runs) == 1 && !strings.Contains(runs[0], "-") {
		noun = "core "
	}
	return noun + strings.Join(runs, ",")
}

// troubleParts are the driver's counters, the largest first.
func troubleParts(d netstate.Device, all bool) []string {
	names := slices.SortedFunc(maps.Keys(d.Statistics), func(a, b string) int {
		return cmp.Or(cmp.Compare(d.Statistics[b], d.Statistics[a]), strings.Compare(a, b))
	})
	more := 0
	if !all && len(names) > mostTroubles {
		more, names = len(names)-mostTroubles, names[:mostTroubles]
	}
	if len(names) == 0 {
		return nil
	}
	var counts []string
	for _, name := range names {
		counts = append(counts, fmt.Sprintf("%s %d", name, d.Statistics[name]))
	}
	text := "counted: " + strings.Join(counts, ", ")
	if more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return []string{text}
}

func offloadText(l netstate.Link) string {
	var on, off []string
	for _, name := range slices.Sorted(maps.Keys(l.Offloads)) {
		shown := name
		if l.Device != nil && slices.Contains(l.Device.Fixed, name) {
			shown += " (fixed)"
		}
		if l.Offloads[name] {
			on = append(on, shown)
		} else {
			off = append(off, shown)
		}
	}
	if len(on)+len(off) == 0 {
		return ""
	}
	return "offloads on: " + console.OrNone(len(on) > 0, strings.Join(on, ", ")) + "; off: " + console.OrNone(len(off) > 0, strings.Join(off, ", "))
}

// printCards says what each card's slot moves and which ports share it.
func printCards(con *console.Console, h netstate.Host) {
	for _, c := range h.Cards {
		text := "slot not known"
		if c.Generation > 0 && c.Lanes > 0 {
			text = fmt.Sprintf("PCIe generation %d x%d", c.Generation, c.Lanes)
			if c.MaxPayload > 0 {
				text += fmt.Sprintf(", payload %d", c.MaxPayload)
			}
		}
		var ports []string
		mtu := 0
		for _, l := range h.Links {
			if l.Card == c.Name {
				ports = append(ports, l.Name)
				mtu = max(mtu, l.MTU)
			}
		}
		if rate, low, high := predict.CardRate(c, mtu+14, false); rate > 0 {
			text += fmt.Sprintf(": takes in about %s of frames at MTU %d (%s to %s)", rate, mtu, low, high)
		}
		if len(ports) > 0 {
			text += ", shared by " + strings.Join(ports, ", ")
		}
		if better := predict.BetterSlot(c); better != "" {
			text += "; " + better
		}
		fmt.Fprint(con.Stdout, console.Wrapped("card "+c.Name+": ", text, con.Width()))
	}
}
