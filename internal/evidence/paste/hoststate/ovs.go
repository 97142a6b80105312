package hoststate

import (
	"slices"
	"strconv"
	"strings"

	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/netstate"
)

// ovsBond is a bond of Open vSwitch as far as it was read.
func ovsBond(h *piece.Host, name string) netstate.OVSBond {
	b := netstate.OVSBond{Ports: portsOf(h, name), Active: fact(h, name, "active_slave")}
	if mode := netstate.OVSMode(fact(h, name, "bond_mode")); slices.Contains(netstate.OVSModes(), mode) {
		b.Mode = mode
	}
	if lacp := fact(h, name, "lacp"); slices.Contains(netstate.OVSLACPs(), lacp) {
		b.LACP = lacp
	}
	ovsLACP(&b, fact(h, name, "lacp_status"), fact(h, name, "lacp_fallback_ab") == "true")
	basis, _ := strconv.ParseUint(fact(h, name, "hash_basis"), 10, 32)
	b.Basis = uint32(basis)
	if _, shown := h.Get("link "+name, "bond_mode"); shown {
		b.Buckets = map[uint8]string{} // what bond/show lists not, has no load
	}
	for _, member := range b.Ports {
		if fact(h, member, "enabled") == "no" {
			b.Disabled = append(b.Disabled, member)
		}
		for _, key := range h.Keys("link " + member) {
			number, is := strings.CutPrefix(key, "hash ")
			if bucket, err := strconv.ParseUint(number, 10, 8); is && err == nil && b.Buckets != nil {
				b.Buckets[uint8(bucket)] = member
			}
		}
	}
	return b
}

// ovsLACP is what the status says: that of bond/show ("negotiated", "configured",
// "off"), or of lacp/show ("active negotiated", "passive"). What falls back without a
// partner is active-backup.
func ovsLACP(b *netstate.OVSBond, status string, fallback bool) {
	switch {
	case status == "off":
		b.LACP = netstate.OVSLACPOff
	case strings.Contains(status, "negotiated"):
		if b.LACP == "" {
			b.LACP = netstate.OVSLACPActive
		}
	case status == "":
	case fallback:
		b.Mode, b.LACP = netstate.OVSActiveBackup, netstate.OVSLACPActive
	default:
		b.NoPartner, b.LACP = true, netstate.OVSLACPActive
	}
}
