package steer

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestErasOf(t *testing.T) {
	for _, tt := range []struct {
		release string
		want    []Era
	}{
		{"6.18.44", []Era{EraCurrent}},
		{"7.0.0-rc1", []Era{EraCurrent}},
		{"6.1.0-32-amd64", []Era{EraCurrent}},
		{"5.18", []Era{EraCurrent}},
		{"5.17.6", []Era{EraCurrent}},
		{"5.17.5", []Era{EraHostProto}},
		{"5.16.20", []Era{EraHostProto}},
		{"5.15.38-1-pve", []Era{EraCurrent}},
		{"5.15.37", []Era{EraHostProto}},
		{"5.15", []Era{EraHostProto}},
		{"5.15.0-105-generic", []Era{EraCurrent, EraHostProto}},
		{"5.14", []Era{EraShifted}},
		{"5.12.0", []Era{EraShifted}},
		{"5.11.11", []Era{EraShifted}},
		{"5.11.10", []Era{EraRawID}},
		{"5.11.0-49-generic", []Era{EraShifted, EraRawID}},
		{"5.10.0-28-amd64", []Era{EraShifted}},
		{"5.10", []Era{EraShifted}},
		{"5.10.27", []Era{EraShifted}},
		{"5.10.26", []Era{EraRawID}},
		{"5.8.0-63-generic", []Era{EraRawID, EraShifted}},
		{"5.5", []Era{EraRawID}},
		{"5.4.0-150-generic", []Era{EraNoICMP}},
		{"4.15", []Era{EraNoICMP}},
		{"4.14.1", []Era{EraNoICMP}},
		{"4.14", []Era{EraRawProto}},
		{"4.14.0-3-amd64", []Era{EraNoICMP, EraRawProto}},
		{"4.9.30", []Era{EraRawProto}},
		{"4.9.65", []Era{EraNoICMP, EraRawProto}},
		{"4.9.0-19-amd64", []Era{EraNoICMP, EraRawProto}},
		{"4.4.302", []Era{EraNoICMP}},
		{"4.4.1", []Era{EraRawProto}},
		{"3.17.0", []Era{EraRawProto}},
		{"3.16.84", []Era{EraNoProto}},
		{"3.12", []Era{EraSeparate}},
		{"2.6.32", []Era{EraSeparate}},
		{"5.14.0-427.13.1.el9_4.x86_64", []Era{EraShifted, EraHostProto, EraCurrent}},
		{"6.12.0-55.el10.x86_64", []Era{EraCurrent}},
		{"3.10.0-1160.el7.x86_64", []Era{EraSeparate, EraNoProto, EraRawProto, EraNoICMP, EraRawID, EraShifted, EraHostProto, EraCurrent}},
		{"5.14.21-150500.55.19-default", []Era{EraShifted, EraHostProto, EraCurrent}},
		{"5.14.21-150500.33.54-azure", []Era{EraShifted, EraHostProto, EraCurrent}},
		{"5.14.21-150400.15.28-rt", []Era{EraShifted, EraHostProto, EraCurrent}},
		{"5.14.21-150500.55.19-64kb", []Era{EraShifted, EraHostProto, EraCurrent}},
		{"4.12.14-16.142-azure", []Era{EraRawProto, EraNoICMP, EraRawID, EraShifted, EraHostProto, EraCurrent}},
		{"5.10.134-13.al8.x86_64", []Era{EraShifted, EraHostProto, EraCurrent}},
		{"4.19.91-26.al7.x86_64", []Era{EraNoICMP, EraRawID, EraShifted, EraHostProto, EraCurrent}},
		{"5.10.134-12.2.an8.x86_64", []Era{EraShifted, EraHostProto, EraCurrent}},
		{"4.19.91-26.an7.x86_64", []Era{EraNoICMP, EraRawID, EraShifted, EraHostProto, EraCurrent}},
		{"5.4.119-19.0009.28.tl2", []Era{EraNoICMP, EraRawID, EraShifted, EraHostProto, EraCurrent}},
		{"5.4.119-20.0009.tl3.x86_64", []Era{EraNoICMP, EraRawID, EraShifted, EraHostProto, EraCurrent}},
		{"4.14.105-1-tlinux3-0013", []Era{EraNoICMP, EraRawID, EraShifted, EraHostProto, EraCurrent}},
		{"5.10.0-136.12.0.86.oe2203sp1.x86_64", []Era{EraShifted, EraHostProto, EraCurrent}},
		{"5.10.192-183.736.amzn2.x86_64", []Era{EraShifted}},
		{"5.4.0-1113-azure", []Era{EraNoICMP}},
		{"5.10.0-28-rt-amd64", []Era{EraShifted}},
		{"5.10.0-0.deb10.16-rt-amd64", []Era{EraShifted}},
		{"4.19.0-0.bpo.19-amd64", []Era{EraNoICMP}},
		{"5.10.103-v7l+", []Era{EraShifted}},
		{"", nil},
		{"six", nil},
		{"6", nil},
		{"6.x", nil},
		{"99999999999999999999.1", nil},
	} {
		if d := cmp.Diff(tt.want, ErasOf(tt.release)); d != "" {
			t.Errorf("ErasOf(%q) (-want +got):\n%s", tt.release, d)
		}
	}
}

func TestEraNames(t *testing.T) {
	seen := map[string]bool{}
	for _, e := range Eras() {
		if seen[e.String()] {
			t.Errorf("two eras are called %q", e)
		}
		seen[e.String()] = true
	}
	if got := Era(99).String(); got != "unknown-99" {
		t.Errorf("Era(99) is called %q", got)
	}
}
