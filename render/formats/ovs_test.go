package formats

import (
	"slices"
	"strings"
	"testing"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/render"
)

// A bond of Open vSwitch is written where the format has one, and named in a warning
// where it has none: never as a bond of the kernel.
func TestOVSBond(t *testing.T) {
	f, err := fabric.Parse("f.yaml", []byte(`linerate: v1
hosts:
  h:
    names: {eno1: ent0, eno2: ent1}
    network:
      ethernets: {eno1: {}, eno2: {}, eno3: {addresses: [10.1.0.5/24]}}
      bonds: {bond0: {interfaces: [eno1, eno2], parameters: {mode: balance-slb}, openvswitch: {}}}
      bridges: {br0: {interfaces: [bond0], addresses: [10.0.0.5/24], openvswitch: {}}}
`))
	if err != nil {
		t.Fatal(err)
	}
	f.Hosts[0].Names["eno3"] = "ent2"
	state, err := f.State("h")
	if err != nil {
		t.Fatal(err)
	}
	own := []render.Format{render.FormatNetplan, render.FormatNmstate, render.FormatIfupdown}
	for _, format := range All() {
		if format == render.FormatIproute2 || format == render.FormatSysctl {
			continue // of a plan, of no links
		}
		out, err := Write(format, render.Input{Host: f.Hosts[0], State: state})
		if err != nil {
			t.Errorf("%s: %v", format, err)
			continue
		}
		warned := slices.ContainsFunc(out.Warnings, func(w render.Warning) bool { return w.Where == "bond0" })
		written := slices.ContainsFunc(out.Files, func(file render.File) bool { return strings.Contains(file.Text, "balance-slb") })
		if own := slices.Contains(own, format); warned == own || written != own {
			t.Errorf("%s: written %v, warned of %v: %v", format, written, warned, out.Warnings)
		}
		for _, file := range out.Files {
			if strings.Contains(file.Text, "bond0") && !slices.Contains(own, format) {
				t.Errorf("%s: bond0 in %s\n%s", format, file.Path, file.Text)
			}
		}
	}
}
