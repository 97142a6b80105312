package cards

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/linerate/linerate/diagnose/pasted/scene"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict"
	"github.com/linerate/linerate/predict/pcie"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// slotRate is what a slot carries of packets of 1500 bytes, the worse way; zero for
// a speed that no generation has.
func slotRate(gts, width float64) unit.BitRate {
	if width > 32 {
		return 0
	}
	card := netstate.Card{Generation: pcie.Generation(gts), Lanes: int(width)}
	rx, _, _ := predict.CardRate(card, 1514, false)
	tx, _, _ := predict.CardRate(card, 1514, true)
	return min(rx, tx)
}

// slots: a card whose slot gives it fewer or slower lanes than its ports need, and
// bridges that send what goes between cards up to the root.
func slots(v *scene.View) {
	for _, h := range v.Hosts {
		isolatedSomewhere(v, h)
		for _, bdf := range h.Subjects("pci") {
			if bdf == "" && len(h.Facts["pci "]["sta_width"])+len(h.Facts["pci "]["sta_speed"]) > 2 {
				continue // lines of several cards
			}
			isolated(v, h, bdf)
			need, ports := portsOf(v, h, bdf)
			slot(v, h, "pci "+bdf, need, ports)
		}
		for _, link := range h.Subjects("link") { // of /sys/class/net/LINK/device
			if speed, _ := scene.SpeedNow(h, link); scene.Word(h, link, "bus") == "" {
				slot(v, h, "link "+link, speed, []string{link})
			}
		}
	}
}

// leastOfDrivers is the speed of a port of the slowest card that a driver is for.
var leastOfDrivers = map[string]unit.BitRate{"ixgbe": 10 * unit.Gbps, "i40e": 10 * unit.Gbps, "ice": 10 * unit.Gbps, "bnx2x": 10 * unit.Gbps, "mlx4_en": 10 * unit.Gbps, "cxgb4": 10 * unit.Gbps, "mlx5_core": 10 * unit.Gbps}

// isolated: a bridge with ACS on, where devices talk to each other.
func isolated(v *scene.View, h *piece.Host, bdf string) {
	acs, ok := h.Get("pci "+bdf, "acs")
	if !ok || acs.Text != "on" && !strings.Contains(acs.Text, "ReqRedir+") || !peerToPeer(v, h) {
		return
	}
	v.Add(record.CardSlot, 0.72, h, "PCIe bridge "+bdf+" with ACS", fmt.Sprintf("The PCIe bridge %s has ACS on: traffic between devices below it goes up to the root complex and back instead of straight across.", bdf),
		"Turn ACS off on the bridges where no VM needs it: in the firmware, or `setpci -s "+bdf+" ECAP_ACS+6.w=0000`.", scene.Saw("ACSCtl of "+bdf, acs.Text, acs.Source))
}

// isolatedSomewhere: bridges with ACS on, of which grep left the settings only.
func isolatedSomewhere(v *scene.View, h *piece.Host) {
	n, at, ok := scene.Number(h, "host", "acs_redirecting")
	all, _, _ := scene.Number(h, "host", "acs_bridges")
	if !ok || n == 0 {
		return
	}
	sure := 0.6
	if len(v.Case.Runs) > 0 && peerToPeer(v, h) {
		sure = 0.72
	}
	v.Add(record.CardSlot, sure, h, "PCIe bridges with ACS", fmt.Sprintf("%.0f of %.0f PCIe bridges or devices have ACS on (ReqRedir+): traffic between a GPU and a card below them (GPUDirect RDMA) goes up to the root complex and back instead of straight across.", n, all),
		"`lspci -vvv | grep -E '^[0-9a-f]|ACSCtl'` names them. Turn ACS off on the bridges where no VM needs it: in the firmware, or `setpci -s BRIDGE ECAP_ACS+6.w=0000`; then measure again.", scene.Saw("ACSCtl", fmt.Sprintf("ReqRedir+ on %.0f of %.0f", n, all), at))
}

// peerToPeer reports a case of devices that read and write each other: GPUs, NCCL,
// RDMA; or of which grep took ACSCtl and no more, so that it is what was asked.
// Elsewhere ACS is what an IOMMU wants, and costs nothing.
func peerToPeer(v *scene.View, h *piece.Host) bool {
	for _, r := range v.Case.Runs {
		if r.Tool == "nccl-tests" || r.Detail["device"] != "" {
			return true
		}
	}
	if len(h.Facts["nccl"]) > 0 {
		return true
	}
	whole := false
	for _, bdf := range h.Subjects("pci") {
		name, _ := h.Get("pci "+bdf, "name")
		class, _ := h.Get("pci "+bdf, "class")
		if strings.Contains(class.Text, "3D controller") || scene.Contains(name.Text, "nvidia", "mellanox", "connectx") {
			return true
		}
		_, told := h.Get("pci "+bdf, "sta_width")
		whole = whole || told
	}
	return !whole
}

// lanes are a PCIe link's: GT/s a lane, and how many; zero not read.
type lanes struct{ speed, width float64 }

func (l lanes) String() string { return fmt.Sprintf("x%.0f at %g GT/s", l.width, l.speed) }

func (l lanes) rate() unit.BitRate { return slotRate(l.speed, l.width) }

func lanesOf(h *piece.Host, subject, key string) (lanes, piece.Source) {
	speed, _, _ := scene.Number(h, subject, key+"_speed")
	width, at, _ := scene.Number(h, subject, key+"_width")
	return lanes{speed, width}, at
}

// narrowest is the link of a card's way to the processor that carries least, as far
// as it was read, and what said so. By is the port that the kernel names for it.
func narrowest(h *piece.Host, subject string) (l lanes, by string, e record.Evidence) {
	own, at := lanesOf(h, subject, "sta")
	_, name, _ := strings.Cut(subject, " ")
	e = scene.Saw("link of "+name, own.String(), at)
	path, from := lanesOf(h, subject, "limited")
	if path.rate() > 0 && (own.rate() == 0 || path.rate() <= own.rate()) {
		port, _ := h.Get(subject, "limited_by")
		return path, port.Text, scene.Saw("narrowest link, "+cmp.Or(port.Text, "at a port not named"), path.String(), from)
	}
	if own.rate() == 0 {
		if gbps, from, ok := scene.Number(h, subject, "available_gbps"); ok {
			transfers, n := pcie.SlotOf(unit.BitRate(gbps) * unit.Gbps)
			own = lanes{transfers, float64(n)}
			e = scene.Saw("link of "+name, own.String()+" by its rate", from)
		}
	}
	return own, "", e
}

func slot(v *scene.View, h *piece.Host, subject string, need unit.BitRate, ports []string) {
	_, bdf, _ := strings.Cut(subject, " ")
	if strings.HasPrefix(subject, "link ") {
		bdf = "of " + bdf
	}
	now, by, seen := narrowest(h, subject)
	rate := now.rate()
	if rate == 0 {
		return
	}
	can, canAt := lanesOf(h, subject, "cap")
	_, downgraded := h.Get(subject, "downgraded")
	_, complained := h.Get(subject, "insufficient")
	limited := can.width > 0 && now.width < can.width || can.speed > 0 && now.speed < can.speed || downgraded || complained
	driver, _ := h.Get(subject, "driver")
	least := leastOfDrivers[driver.Text]
	if !limited && need == 0 && rate >= least || need > 0 && rate >= need {
		return
	}
	name, _ := h.Get(subject, "name")
	evidence := []record.Evidence{seen}
	if can.width > 0 && limited {
		evidence = append(evidence, scene.Saw("the card could", can.String()+map[bool]string{true: " (downgraded)"}[downgraded], canAt))
	}
	if x, ok := h.Get(subject, "available_gbps"); ok {
		evidence = append(evidence, scene.Saw("the driver says", x.Text+" Gb/s of PCIe bandwidth", x.Source))
	}
	sure, perhaps := 0.62, ""
	switch {
	case need > 0:
		sure = 0.72
	case rate < least:
		sure = 0.66
		evidence = append(evidence, scene.Saw("driver of "+bdf, driver.Text+": of cards with ports of "+least.String()+" and more", driver.Source))
	case !downgraded && !complained && now.width >= can.width:
		sure, perhaps = 0.45, " That limits where its ports together need more: their speeds are not here."
	}
	if ran := allRuns(v); ran > 0 && ran < rate/2 {
		sure = min(sure, 0.4) // what ran, all at once even, needs no more than this slot has
	}
	for _, carried := range rates(v, h, ports) {
		if float64(carried) > 0.8*float64(rate) && float64(carried) < 1.25*float64(rate) {
			evidence = append(evidence, record.Evidence{What: "carried", Value: carried.String(), Source: seen.Source})
			sure, perhaps = 0.93, ""
			break
		}
	}
	if subject == "pci " {
		sure, perhaps = min(sure, 0.58), " Whose lines these are, nobody says: they are the network card's if that is what was asked."
	}
	remedy, form := slotRemedy(h, subject, now, can, by)
	evidence = append(evidence, form...)
	what := fmt.Sprintf("The PCIe slot limits %s: %v carries about %v for all ports of the card together, each way.", strings.TrimSpace("the card "+bdf+" "+name.Text), now, rate)
	if by != "" {
		what = fmt.Sprintf("The PCIe slot limits %s: the narrowest link on its way to the processor, at %s, is %v and carries about %v for all ports of the card together, each way.", strings.TrimSpace("the card "+bdf+" "+name.Text), by, now, rate)
	}
	v.Add(record.CardSlot, sure, h, strings.TrimSpace("PCIe slot "+strings.TrimPrefix(bdf, "of ")+" "+strings.TrimPrefix(strings.Join(ports, ", "), strings.TrimPrefix(bdf, "of "))), what+perhaps, remedy, evidence...)
}

// allRuns is the sum of what all runs came to.
func allRuns(v *scene.View) (sum unit.BitRate) {
	for _, r := range v.Case.Runs {
		sum += r.Rate
	}
	return sum
}

// slotRemedy is what gives a card more of a bus, and what firmware says of its slot:
// other lanes, a faster slot, or the same one with the card seated anew.
func slotRemedy(h *piece.Host, subject string, now, can lanes, by string) (remedy string, evidence []record.Evidence) {
	wanted := "more lanes (x8)"
	switch {
	case can.width > now.width:
		wanted = fmt.Sprintf("more lanes (x%.0f)", can.width)
	case can.speed > now.speed:
		wanted = fmt.Sprintf("faster lanes (%g GT/s, PCIe generation %d)", can.speed, pcie.Generation(can.speed))
	case now.width == 1:
		wanted = "more lanes (x4 or wider)"
	}
	remedy = fmt.Sprintf("Put the card into a slot with %s, wired as such (the form of the slot says nothing; `lspci -vv` LnkSta does), or take two cards.", wanted)
	if by != "" {
		remedy += fmt.Sprintf(" `lspci -tv` shows whether %s is the slot's own port, or that of a riser, switch or chipset above it.", by)
	}
	form, at := lanesOf(h, subject, "slot")
	if form.width == 0 {
		return remedy, nil
	}
	evidence = []record.Evidence{scene.Saw("the firmware's table of slots", form.String(), at)}
	switch {
	case form.width > now.width && can.width > now.width:
		remedy = fmt.Sprintf("The slot has x%.0f by the firmware's table: seat the card anew, clean its contacts, and see whether the firmware (BIOS) splits the slot's lanes (bifurcation); else another slot or a riser with %s.", form.width, wanted)
	case form.speed > now.speed && can.speed > now.speed:
		remedy = fmt.Sprintf("The slot can do %g GT/s by the firmware's table: set its link speed to auto in the firmware (BIOS), seat the card anew, try without a riser.", form.speed)
	}
	return remedy, evidence
}

// portsOf are the links of a card, all its functions, and the sum of their speeds;
// zero where one is unknown.
func portsOf(v *scene.View, h *piece.Host, bdf string) (sum unit.BitRate, names []string) {
	slot, _, _ := strings.Cut(strings.TrimPrefix(bdf, "0000:"), ".")
	all := true
	for _, link := range h.Subjects("link") {
		bus, ok := h.Get("link "+link, "bus")
		if !ok {
			continue
		}
		own, _, _ := strings.Cut(strings.TrimPrefix(bus.Text, "0000:"), ".")
		if own != slot {
			continue
		}
		names = append(names, link)
		speed, _ := scene.SpeedNow(h, link)
		all = all && speed > 0
		sum += speed
	}
	if !all {
		sum = 0
	}
	return sum, names
}
