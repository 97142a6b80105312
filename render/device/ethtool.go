package device

import (
	"maps"
	"slices"
	"strconv"
	"strings"
)

// EthtoolCalls are the calls of ethtool(8), without its name, that set the device's
// offloads, rings, coalescing, channels and wake-on-LAN, with link in the interface's
// place; and the keys of the fabric file that they say.
func (d Device) EthtoolCalls(link string) (calls, said []string) {
	call := func(letter string, words []string) {
		if len(words) > 0 {
			calls = append(calls, letter+" "+link+" "+strings.Join(words, " "))
		}
	}
	if wol, there := d.Truth("wakeonlan"); there {
		call("-s", []string{"wol", map[bool]string{true: "g", false: "d"}[wol]})
		said = append(said, "wakeonlan")
	}
	offloads := d.Offloads()
	var words []string
	for _, name := range slices.Sorted(maps.Keys(offloads)) {
		words = append(words, name, OnOff(offloads[name]))
		said = append(said, "offloads."+name)
		for _, row := range Offloads {
			if row.Ethtool == name && row.Netplan != "" {
				said = append(said, row.Netplan)
			}
		}
	}
	call("-K", words)
	numbers := map[string][]string{}
	for _, n := range Numbers(d.Settings) {
		value := strconv.Itoa(n.Value)
		if strings.HasPrefix(n.Name, "adaptive-") {
			value = OnOff(n.Value != 0)
		}
		numbers[n.Kind] = append(numbers[n.Kind], n.Name, value)
		said = append(said, n.Key())
	}
	call("-G", numbers["rings"])
	call("-C", numbers["coalesce"])
	call("-L", numbers["channels"])
	return calls, said
}
