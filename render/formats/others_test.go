package formats

import (
	"strings"
	"testing"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/render"
)

// otherSystem renders one host of a fabric's text.
func otherSystem(t *testing.T, format render.Format, text string) render.Output {
	t.Helper()
	file, err := fabric.Parse("f.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	state, err := file.State("h")
	if err != nil {
		t.Fatal(err)
	}
	host, _ := file.Host("h")
	return mustRender(t, format, render.Input{Host: host, State: state})
}

func allText(out render.Output) string {
	var b strings.Builder
	for _, f := range out.Files {
		b.WriteString(f.Text)
	}
	for _, w := range out.Warnings {
		b.WriteString("warning: " + w.String() + "\n")
	}
	return b.String()
}

// TestOtherSystems renders what went wrong once: a definition that matches
// several devices, aliases of one network, two default routes, names of
// another system, buffers that nobody asked for.
func TestOtherSystems(t *testing.T) {
	const matched = `linerate: v1
hosts:
  h:
    network:
      ethernets: {ports: {match: {name: "ens2f*"}, mtu: 9000}, eth0: {addresses: [192.0.2.2/24], routes: [{to: default, via: 192.0.2.1}]}}
      bonds: {bond0: {interfaces: [ports], mtu: 9000, parameters: {mode: 802.3ad}, addresses: [10.0.0.2/24, 10.0.0.3/24, 10.1.0.3/24], routes: [{to: default, via: 10.0.0.1, metric: 50}]}}
    hardware: {links: {ens2f0: {speed: 25G}, ens2f1: {speed: 25G}}}
    names: {ens2f0: NAME0, ens2f1: NAME1, eth0: NAME2}
`
	ent := strings.ReplaceAll(matched, "NAME", "ent")
	for _, tt := range []struct {
		format     render.Format
		text       string
		want, lack []string
	}{
		{render.FormatFreeBSD, ent, []string{
			`ifconfig_ent0="up mtu 9000"`, `ifconfig_ent1="up mtu 9000"`, "laggport ent0 laggport ent1", `alias0="inet 10.0.0.3/32"`, `alias1="inet 10.1.0.3/24"`,
			`defaultrouter="192.0.2.1"`, "bond0: routes[0]: one default route",
		}, nil},
		{render.FormatTrueNAS, ent, []string{`"lag_ports":["ens2f0","ens2f1"]`, `"lag_ports":["ent0","ent1"]`}, nil},
		{render.FormatAIX, ent, []string{"chdev -l ent0 -a jumbo_frames=yes", "chdev -l ent1 -a jumbo_frames=yes", "adapter_names=ent0,ent1"}, []string{"tcp_sendspace", "use_isno"}},
		{render.FormatAIX, strings.Replace(ent, "eth0: ent2", "eth0: ix2", 1), []string{`"ix2" is no device's name there`}, []string{"enix2"}},
		{render.FormatFreeBSD, strings.Replace(ent, "ens2f1: ent1", "ens2f1: ent0", 1), []string{"ent0 is another device's name already", "left out, since it rides on ens2f1"}, []string{"laggport"}},
	} {
		got := allText(otherSystem(t, tt.format, tt.text))
		for _, want := range tt.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: %q is missing:\n%s", tt.format, want, got)
			}
		}
		for _, lack := range tt.lack {
			if strings.Contains(got, lack) {
				t.Errorf("%s: %q should not be there:\n%s", tt.format, lack, got)
			}
		}
	}
}
