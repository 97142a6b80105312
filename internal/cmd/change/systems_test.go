package change

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/internal/cmd/console"
)

// A host that does not run Linux is refused where it is named or alone, with what to
// do there; beside others it is left out with a note.
func TestOtherSystems(t *testing.T) {
	parse := func(reach string) fabric.Fabric {
		text := `linerate: v1
hosts:
  esx: {system: esxi, reach: "ssh://root@192.0.2.1", network: {ethernets: {vmnic0: {}, vmnic1: {}}, bonds: {vSwitch0: {interfaces: [vmnic0, vmnic1], parameters: {mode: iphash}}}}}
  nas: {system: freebsd, network: {ethernets: {ix0: {}}}}
  plain: {` + reach + `network: {ethernets: {eth0: {}}}}
`
		f, err := fabric.Parse("f.yaml", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	for _, c := range []struct {
		name, reach string
		only        []string
		refused     string // part of the error and its hint
		noted       []string
	}{
		{"named, lines to type", "reach: 'netns:a', ", []string{"esx"}, "type there: esxcli network vswitch standard policy failover set -v vSwitch0 -l iphash -a vmnic0,vmnic1", nil},
		{"named, files to write", "reach: 'netns:a', ", []string{"nas", "plain"}, "--to freebsd`, for TrueNAS CORE --to truenas", nil},
		{"beside Linux", "reach: 'netns:a', ", nil, "", []string{"host esx runs ESXi and is left out", "host nas runs FreeBSD"}},
		{"not asked for", "reach: 'netns:a', ", []string{"plain"}, "", nil},
		{"alone", "", nil, "host esx runs ESXi, and linerate changes Linux hosts only", nil},
	} {
		var said bytes.Buffer
		con := console.System("test")
		con.Stderr = &said
		err := otherSystems(con, parse(c.reach), c.only)
		text := ""
		if err != nil {
			text = err.Error() + console.HintFor(err)
		}
		if (err != nil) != (c.refused != "") || !strings.Contains(text, c.refused) || err != nil && !errors.Is(err, console.ErrUsage) {
			t.Errorf("%s: %q, want %q", c.name, text, c.refused)
		}
		note := strings.Join(strings.Fields(said.String()), " ")
		for _, want := range c.noted {
			if !strings.Contains(note, want) {
				t.Errorf("%s: %q does not say %q", c.name, note, want)
			}
		}
		if c.noted == nil && note != "" {
			t.Errorf("%s: says %q", c.name, note)
		}
	}
}
