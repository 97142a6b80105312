package ifupdown

import (
	"fmt"
	"slices"
	"strings"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/internal/bondopt"
	"github.com/linerate/linerate/netstate"
)

// Reloads says what `ifreload -a` of ifupdown2 would take down on a host that runs
// otherwise than its files say: bonds of which one of few options differs
// (_bond_down_nl_attributes_list and should_update_bond_mode of addons/bond.py, ifupdown2
// 3.0.0), ports that join or leave one (_add_slaves). None where files and host agree, or
// where the files cannot be read.
func Reloads(files map[string]string, live netstate.Host) []string {
	found, err := Read(files)
	if err != nil {
		return nil
	}
	const host = "h"
	f, err := fabric.Parse("", found.FabricFile(host))
	if err != nil {
		return nil
	}
	said, _ := f.Host(host)
	var all []string
	for _, b := range said.Network.Bonds {
		l, _ := live.Link(b.ID)
		if l.Bond == nil {
			continue
		}
		var why []string
		for _, o := range bondopt.Options() {
			s, _ := o.Saying(bondopt.Ifupdown2)
			file, now := o.Of(b.Options), o.Of(*l.Bond)
			if s.Downs && slices.Contains(b.Set, o.Name) && now != "" && file != now {
				why = append(why, fmt.Sprintf("its files say %s %s, and the host has %s", o.Name, file, now))
			}
		}
		if len(why) > 0 && l.Up {
			all = append(all, fmt.Sprintf("ifreload would take %s down and up: %s", b.ID, strings.Join(why, "; ")))
		}
		for _, port := range b.Interfaces {
			if p, there := live.Link(port); there && p.Up && !slices.Contains(l.Bond.Ports, port) {
				all = append(all, fmt.Sprintf("ifreload would take %s down and up, to make it a port of %s", port, b.ID))
			}
		}
		for _, port := range l.Bond.Ports {
			if b.Interfaces != nil && !slices.Contains(b.Interfaces, port) {
				all = append(all, fmt.Sprintf("ifreload would take %s out of %s: its files do not name it", port, b.ID))
			}
		}
	}
	return all
}
