package cards

import (
	"fmt"

	"github.com/linerate/linerate/diagnose/pasted/scene"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// legacyPCI is what a bus of 32 bits at 33 MHz carries, before arbitration and bursts
// that end early take a third or so: for both ways, and for all cards on it.
const legacyPCI = 32 * 33_333_333 * unit.BitRate(1)

// legacySlots: a gigabit card on a bus from before PCI Express.
func legacySlots(v *scene.View) {
	for _, h := range v.Hosts {
		for _, link := range h.Subjects("link") {
			clock, ok := h.Get("link "+link, "pci_legacy")
			driver := scene.Word(h, link, "driver")
			if !ok || scene.SpeedOf(h, link) < unit.Gbps || scene.Contains(driver, "virtio", "e1000", "vmxnet", "hv_netvsc", "xen") {
				continue // a guest's cards are drawn as such
			}
			v.Add(record.CardSlot, 0.6, h, link+" of "+scene.NameOf(h)+" (a PCI slot)",
				fmt.Sprintf("%s of %s is a card for PCI, not for PCI Express: 32 bits at 33 MHz carry %v at most, for both ways and all cards of the bus together, and a gigabit card gets 70 to 100 MB/s of it.", link, scene.NameOf(h), legacyPCI),
				"Use a card for PCI Express (any x1 slot carries a gigabit), or the port on the board; on a board with 66 MHz or 64 bit slots one of those.",
				scene.Saw("bus of "+link, "32 bits, "+clock.Text+", no PCI Express", clock.Source)).Ask = []scene.Missing{
				{Command: "lspci -vvt; lspci -vv", Host: scene.NameOf(h), Why: "as root: behind which bridge the card is, and what else is there"}}
		}
	}
}
