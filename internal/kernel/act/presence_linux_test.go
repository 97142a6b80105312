package act

import (
	"errors"
	"strings"
	"syscall"
	"testing"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netlink/nl"

	"github.com/linerate/linerate/internal/kernel/nlattr"
	"github.com/linerate/linerate/plan"
)

// TestPlainVLAN: a VLAN with what the step that makes it again does not have is not
// deleted.
func TestPlainVLAN(t *testing.T) {
	flags := func(n uint32) []byte { return append(number32(n), 0xff, 0xff, 0xff, 0xff) }
	for what, info := range map[string]map[uint16][]byte{
		"":                {vlanFlags: flags(vlanReorder)},
		"flags (0x0)":     {},
		"flags (0x3)":     {vlanFlags: flags(vlanReorder | 2)}, // GVRP
		"egress-qos-map":  {vlanFlags: flags(vlanReorder), vlanEgress: {1}},
		"ingress-qos-map": {vlanFlags: flags(vlanReorder), vlanIngress: {1}},
	} {
		err := link{name: "v", info: info}.plainVLAN()
		if plain := what == ""; plain != (err == nil) || !plain && (!errors.Is(err, errors.ErrUnsupported) || !strings.Contains(err.Error(), what)) {
			t.Errorf("%q: %v", what, err)
		}
	}
}

// TestKernelPlainVLAN: the same as the kernel tells it.
func TestKernelPlainVLAN(t *testing.T) {
	if inGuest(t) {
		return
	}
	inNewNamespace(t, func() {
		must(t, netlink.LinkAdd(&netlink.Veth{LinkAttrs: netlink.LinkAttrs{Name: "v0"}, PeerName: "v1"}))
		step := plan.Step{Kind: plan.LinkPresence, Link: "x", Make: &plan.Made{Kind: "vlan", Parent: "v0", ID: 7}, Old: plan.Present, New: plan.Absent}
		must(t, do(t.Context(), step.Rollback()))
		now, err := Kernel{}.Read(t.Context(), step)
		if now != plan.Present || err != nil {
			t.Errorf("a VLAN as a step makes it: %q, %v", now, err)
		}
		l, err := findLink("x")
		must(t, err)
		qos := append(number32(3), number32(5)...) // from, to
		for what, attr := range map[string][]byte{
			"egress-qos-map":  nest(vlanEgress, nlattr.Encode(1, qos)),
			"ingress-qos-map": nest(vlanIngress, nlattr.Encode(1, qos)),
			"flags (0x0)":     nlattr.Encode(vlanFlags, append(number32(0), number32(vlanReorder)...)),
		} {
			must(t, l.change(nest(syscall.IFLA_LINKINFO, nlattr.Encode(nl.IFLA_INFO_KIND, []byte("vlan")), nest(nl.IFLA_INFO_DATA, attr))))
			if _, err := (Kernel{}).Read(t.Context(), step); !errors.Is(err, errors.ErrUnsupported) || !strings.Contains(err.Error(), what) {
				t.Errorf("%s: %v", what, err)
			}
		}
		if now, err := (Kernel{}).Read(t.Context(), step.Rollback()); now != plan.Present || err != nil {
			t.Errorf("whether it is there: %q, %v", now, err)
		}
	})
}
