package channels

import (
	"fmt"
	"strings"

	"github.com/linerate/linerate/diagnose/pasted/scene"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/record"
)

// membersOut: a group of a system that shows which of its members LACP has in use (ESXi,
// VPP), of which some are not.
func membersOut(v *scene.View) {
	for _, h := range v.Hosts {
		for _, name := range h.Subjects("link") {
			if scene.Word(h, name, "protocol") != "lacp" {
				continue
			}
			var in, out []string
			var at piece.Source
			for _, p := range h.Ports[name] {
				switch x, ok := h.Get("link "+p, "bundled"); {
				case ok && x.Text == "yes":
					in = append(in, p)
				case ok:
					out, at = append(out, p), x.Source
				}
			}
			if len(out) == 0 {
				continue
			}
			carries := "the others carry all"
			if len(in) == 0 {
				carries = "none of them is"
			}
			v.Add(record.LACPDown, 0.84, h, fmt.Sprintf("%s of %s", name, scene.NameOf(h)),
				fmt.Sprintf("%d of %d members of %s are in use: %s is outside, for LACP has not agreed there or its link is down, and %s.", len(in), len(in)+len(out), name, strings.Join(out, " and "), carries),
				"Put the switch's port of that member into the same LACP group as the others, active, with the same speed and VLANs; then look whom the member hears (`esxcli network vswitch dvs vmware lacp status get`, VPP `show lacp details`: the partner's Device ID or system).",
				scene.Saw("members of "+name+" in use", fmt.Sprintf("%d of %d", len(in), len(in)+len(out)), at)).Ask = askBothEnds
		}
	}
}
