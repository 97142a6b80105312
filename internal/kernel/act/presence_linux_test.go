package act

import (
	"errors"
	"strings"
	"testing"
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
