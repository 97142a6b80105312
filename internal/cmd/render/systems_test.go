package render

import (
	"strings"
	"testing"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/render"
)

// A host's own words come out in its own files, under its own names, and a format that
// its system does not read is refused.
func TestOwnWordsAreWritten(t *testing.T) {
	const text = `linerate: v1
hosts:
  nas:
    system: freebsd
    network:
      ethernets: {ix0: {}, ix1: {}}
      bonds: {lagg3: {interfaces: [ix0, ix1], parameters: {mode: lacp, transmit-hash-policy: "l4,l3"}, addresses: [10.0.0.3/24]}}
  power:
    system: aix
    network:
      ethernets: {ent0: {}, ent1: {}}
      bonds: {ent2: {interfaces: [ent0, ent1], parameters: {mode: 8023ad, transmit-hash-policy: src_dst_port}}}
  win:
    system: windows
    network:
      ethernets: {n1: {}, n2: {}}
      bonds: {Team: {interfaces: [n1, n2], parameters: {mode: lacp, transmit-hash-policy: AddressHash}}}
`
	file, err := fabric.Parse("f.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		host   string
		format render.Format
		says   string
		refuse string
	}{
		{"nas", render.FormatFreeBSD, `ifconfig_lagg3="laggproto lacp lagghash l3,l4 laggport ix0 laggport ix1 up inet 10.0.0.3/24"`, ""},
		{"nas", render.FormatTrueNAS, `"lag_ports":["ix0","ix1"],"lag_protocol":"LACP","name":"lagg3"`, ""},
		{"nas", render.FormatNetplan, "", "--to freebsd"},
		{"power", render.FormatAIX, "adapter_names=ent0,ent1 -a mode=8023ad -a hash_mode=src_dst_port", ""},
		{"power", render.FormatFreeBSD, "", "--to aix"},
		{"win", render.FormatNetplan, "", "Set-NetLbfoTeam -Name 'Team' -TeamingMode Lacp -LoadBalancingAlgorithm TransportPorts"},
	} {
		err := readsFormat(file, c.host, c.format)
		if c.refuse != "" {
			if err == nil || !strings.Contains(console.HintFor(err), c.refuse) {
				t.Errorf("%s to %s: %v, hint %q", c.host, c.format, err, console.HintFor(err))
			}
			continue
		}
		in, _, errIn := InputOf(file, c.host)
		if err != nil || errIn != nil {
			t.Fatalf("%s: %v, %v", c.host, err, errIn)
		}
		out, err := Whole(c.format, in)
		if err != nil {
			t.Fatalf("%s to %s: %v", c.host, c.format, err)
		}
		all := ""
		for _, f := range out.Files {
			all += f.Text
			if strings.Contains(f.Path, "scale") {
				t.Errorf("%s of a host that is not Linux", f.Path)
			}
		}
		if !strings.Contains(all, c.says) {
			t.Errorf("%s to %s lacks %q:\n%s", c.host, c.format, c.says, all)
		}
	}
}
