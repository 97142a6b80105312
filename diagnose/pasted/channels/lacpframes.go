package channels

import (
	"fmt"
	"strings"

	"github.com/linerate/linerate/diagnose/pasted/scene"
	"github.com/linerate/linerate/record"
)

// lacpFrames: what a captured LACP frame says of its sender's port: whom it heard, and
// whether it is in use.
func lacpFrames(v *scene.View) {
	for _, h := range v.Hosts {
		for _, port := range h.Subjects("lacpdu") {
			partner, _ := h.Get("lacpdu "+port, "partner")
			flags, ok := h.Get("lacpdu "+port, "flags")
			if !ok || strings.Contains(flags.Text, "Distributing") {
				continue
			}
			system, number, _ := strings.Cut(port, "/")
			where := "port " + number + " of " + system
			if x, ok := h.Get("lacpdu "+port, "link"); ok {
				where += ", at " + x.Text
			}
			sure, what := 0.6, "has not agreed with the port that it hears: it does not distribute, so that it carries nothing"
			if strings.Trim(partner.Text, "0:") == "" || strings.Contains(flags.Text, "Default") {
				sure, what = 0.74, "sends LACP and hears none: it names no partner, so that it stays outside the bundle"
			}
			v.Add(record.LACPDown, sure, h, where,
				fmt.Sprintf("The port %s (%s) %s. Its frames are the newest that were captured.", number, system, what),
				"Make the other end LACP, on just these ports, and one end active; look whether its frames arrive (`tcpdump -e -i PORT ether proto 0x8809`: those with the other system's address). A bridge, a virtual switch or a media converter between eats them; a driver of user space must poll the port often enough, with queues of their own for LACP.",
				scene.Saw("LACP frame of "+port, "flags "+flags.Text, flags.Source), scene.Saw("its partner", partner.Text, partner.Source)).Ask = askBothEnds
		}
	}
}
