package scene

import (
	"fmt"
	"strings"

	"github.com/linerate/linerate/internal/bondopt"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// SetBond is how a bond's option is set on that person's system: in what declares
// the bond, and at once where the kernel takes it.
func SetBond(h *piece.Host, bond, option, value string) string {
	now := atOnce(bond, option, value)
	keep := ""
	format := Word(h, bond, "format")
	system := ""
	if x, ok := h.Get("host", "system"); ok {
		system = x.Text
	}
	dashed := strings.ReplaceAll(option, "_", "-")
	switch {
	case system == "proxmox":
		keep = fmt.Sprintf("to keep it: `bond-%s %s` in the stanza of %s in /etc/network/interfaces (or in the web interface, Network), then `ifreload -a`", dashed, value, bond)
	case format == "ifupdown":
		keep = fmt.Sprintf("to keep it: `bond-%s %s` in the stanza of %s in /etc/network/interfaces", dashed, value, bond)
	case format == "netplan":
		key := map[string]string{"xmit_hash_policy": "transmit-hash-policy"}[option]
		if key == "" {
			key = dashed
		}
		return fmt.Sprintf("Under `bonds: %s: parameters:` write `%s: %s`, then `netplan apply`; %s.", bond, key, value, now)
	case format == "ifcfg":
		keep = fmt.Sprintf("to keep it: `%s=%s` in BONDING_OPTS of ifcfg-%s", option, value, bond)
	case format == "networkd":
		key := map[string]string{"xmit_hash_policy": "TransmitHashPolicy", "mode": "Mode", "lacp_rate": "LACPTransmitRate"}[option]
		keep = fmt.Sprintf("to keep it: `%s=%s` under [Bond] of the .netdev file of %s", key, value, bond)
	case format == "keyfile" || format == "nmcli":
		keep = fmt.Sprintf("to keep it: `nmcli connection modify %s +bond.options %s=%s`", bond, option, value)
	case format == "nmstate" || format == "nncp":
		keep = fmt.Sprintf("to keep it: `%s: %s` under link-aggregation: options: of %s, and apply the file again", option, value, bond)
	case format == "talos":
		keep = fmt.Sprintf("to keep it: the bond's %s in the machine configuration", option)
	default:
		keep = "to keep it: the same option in what declares the bond"
	}
	return fmt.Sprintf("Set %s to %s on %s: %s; %s.", option, value, bond, now, keep)
}

// atOnce is how the option is set on a bond that runs, as far as the kernel takes it
// then.
func atOnce(bond, option, value string) string {
	set := fmt.Sprintf("`ip link set %s type bond %s %s`", bond, option, value)
	switch o, _ := bondopt.Find(option); {
	case o.NoPorts:
		return fmt.Sprintf("the kernel takes another %s from a bond without ports only, so that the change restarts %s: make it from a console or with a timed rollback, and the switch's side with it", option, bond)
	case o.NeedsDown:
		return fmt.Sprintf("now: %s, which the kernel takes while %s is down: its traffic stops meanwhile", set, bond)
	}
	return "at once: " + set
}

// NameOf is a host's or switch's name in a sentence.
func NameOf(h *piece.Host) string {
	if h != nil && h.Name == "" && h.Switch {
		return "the switch"
	}
	if h == nil || h.Name == "" {
		return "the host"
	}
	return h.Name
}
