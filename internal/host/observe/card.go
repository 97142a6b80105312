package observe

import (
	"cmp"
	"encoding/binary"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict/pcie"
)

// pciAddress is domain:bus:device.function.
var pciAddress = regexp.MustCompile(`^[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]$`)

const pciDevices = "sys/bus/pci/devices/"

// addCards groups the links' PCI functions by bus and device: ports that
// share a slot. A virtual function belongs to its physical one's card. Links
// whose function has no PCIe link (an emulated device) get no card.
func addCards(tree fs.FS, links []netstate.Link) []netstate.Card {
	cards := make(map[string]netstate.Card)
	for i := range links {
		l := &links[i]
		if !pciAddress.MatchString(l.PCI) {
			continue
		}
		function := physicalFunction(tree, l.PCI)
		name := function[:len(function)-2]
		card, known := cards[name]
		if !known {
			card = readCard(tree, name, function)
		}
		if card.Lanes == 0 && card.Generation == 0 {
			continue
		}
		cards[name] = card
		l.Card = name
	}
	all := make([]netstate.Card, 0, len(cards))
	for _, c := range cards {
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b netstate.Card) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// physicalFunction follows an SR-IOV function's physfn link.
func physicalFunction(tree fs.FS, function string) string {
	links, ok := tree.(fs.ReadLinkFS)
	if !ok {
		return function
	}
	target, err := links.ReadLink(pciDevices + function + "/physfn")
	if base := path.Base(target); err == nil && pciAddress.MatchString(base) {
		return base
	}
	return function
}

func readCard(tree fs.FS, name, function string) netstate.Card {
	read := func(file string) string {
		text, err := fs.ReadFile(tree, pciDevices+function+"/"+file)
		if err != nil {
			return ""
		}
		return string(text)
	}
	c := netstate.Card{
		Name:          name,
		Generation:    generation(read("current_link_speed")),
		Lanes:         lanes(read("current_link_width")),
		MaxGeneration: generation(read("max_link_speed")),
		MaxLanes:      lanes(read("max_link_width")),
	}
	if c.Lanes != 0 || c.Generation != 0 { // the configuration is read from the device, slowly
		c.MaxPayload = maxPayload([]byte(read("config")))
	}
	return c
}

// generation reads the PCIe generation of a transfer rate, as sysfs prints it
// (drivers/pci/probe.c pci_speed_string; "8 GT/s" before 5.3); 0 unknown.
func generation(text string) int {
	word, _, _ := strings.Cut(strings.TrimSpace(text), " ")
	transfers, _ := strconv.ParseFloat(word, 64) // zero is no generation's
	return pcie.Generation(transfers)
}

// lanes reads a link width; 0 and 255 are the kernel's unknown.
func lanes(text string) int {
	n, err := strconv.Atoi(strings.TrimSpace(text))
	if err != nil || n < 1 || n > 32 {
		return 0
	}
	return n
}

// Offsets in PCI configuration space (PCI Express Base Specification 7.5.1
// and 7.5.3.4).
const (
	pciStatus             = 0x06
	pciStatusCapabilities = 1 << 4
	pciCapabilityPointer  = 0x34
	pciExpressCapability  = 0x10
	pciDeviceControl      = 8
	pciLegacySize         = 256
)

// maxPayload is the MaxPayloadSize in force, in bytes; zero where the
// configuration space is not readable so far (other users than root see 64
// bytes) or not PCIe.
func maxPayload(config []byte) int {
	if len(config) <= pciCapabilityPointer || binary.LittleEndian.Uint16(config[pciStatus:])&pciStatusCapabilities == 0 {
		return 0
	}
	at := int(config[pciCapabilityPointer]) &^ 3
	// A list longer than the space has a loop.
	for range pciLegacySize / 4 {
		if at < 0x40 || at+pciDeviceControl+2 > len(config) {
			return 0
		}
		if config[at] == pciExpressCapability {
			size := binary.LittleEndian.Uint16(config[at+pciDeviceControl:]) >> 5 & 7
			if size > 5 {
				return 0
			}
			return 128 << size
		}
		at = int(config[at+1]) &^ 3
	}
	return 0
}

// pciOf finds the PCI function behind a device that sits on another bus
// (virtio, usb, xen): the last PCI address of its path in sysfs.
func pciOf(path string) string {
	parts := strings.Split(path, "/")
	for _, p := range slices.Backward(parts) {
		if pciAddress.MatchString(p) {
			return p
		}
	}
	return ""
}
