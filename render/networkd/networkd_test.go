package networkd

import (
	"testing"

	"github.com/linerate/linerate/render/unitfile"
)

// FuzzUpdateUnit: a file of any text is changed in place so that a second time
// changes nothing.
func FuzzUpdateUnit(f *testing.F) {
	f.Add("# a\n[Match]\nName=eth0\n\n[Network]\nAddress=10.0.0.1/24\n")
	f.Add("[Route]\nGateway=1\n[Route]\n")
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 4000 {
			return
		}
		wanted := []unitfile.Section{
			{Name: "Network", Keys: []unitfile.Assignment{{Key: "Address", Value: "10.0.0.2/24"}, {Key: "Address", Value: "10.0.0.3/24"}, {Key: "VLAN", Value: "v1"}}},
			{Name: "Route", Keys: []unitfile.Assignment{{Key: "Destination", Value: "10.9.0.0/16"}, {Key: "Gateway", Value: "10.0.0.1"}}},
		}
		once := unitfile.Update(text, wanted, mergingOf(wanted))
		if again := unitfile.Update(once, wanted, mergingOf(wanted)); again != once {
			t.Fatalf("%q\nthen %q", once, again)
		}
	})
}
