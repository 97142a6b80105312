package change

import (
	"strings"
	"testing"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/render"
	"github.com/linerate/linerate/render/formats"
)

// TestFilesKeepWhatStays: what the fabric does not name stays on a host after a change,
// and so in its files; what it names otherwise does not.
func TestFilesKeepWhatStays(t *testing.T) {
	const text = `linerate: v1
hosts:
  h:
    network:
      version: 2
      ethernets:
        eth0: {addresses: [192.0.2.6/24], routes: [{to: 10.9.0.0/16, via: 192.0.2.1}, {to: 10.8.0.0/16, via: 192.0.2.2}]}
`
	f, err := fabric.Parse("f.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	declared, _ := f.Host("h")
	state, err := f.State("h")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		format render.Format
		file   string
		text   string
		keeps  []string
		never  []string
	}{
		{render.FormatNetplan, "/etc/netplan/a.yaml", "network:\n  version: 2\n  ethernets:\n    eth0:\n      addresses: [192.0.2.5/24]\n      routes:\n      - {to: default, via: 192.0.2.1}\n      - {to: 10.8.0.0/16, via: 192.0.2.7}\n",
			[]string{"192.0.2.5/24", "192.0.2.6/24", "to: default", "10.9.0.0/16", "192.0.2.2"}, []string{"192.0.2.7"}},
		{render.FormatNetworkd, "/etc/systemd/network/a.network", "[Match]\nName=eth0\n\n[Network]\nAddress=192.0.2.5/24\nGateway=192.0.2.1\n",
			[]string{"192.0.2.5/24", "192.0.2.6/24", "Gateway=192.0.2.1", "10.9.0.0/16"}, nil},
		{render.FormatIfcfg, "/etc/sysconfig/network-scripts/ifcfg-eth0", "DEVICE=eth0\nIPADDR=192.0.2.5\nPREFIX=24\nGATEWAY=192.0.2.1\n",
			[]string{"192.0.2.5", "192.0.2.6", "192.0.2.1", "10.9.0.0/16"}, nil},
		{render.FormatKeyfile, "/etc/NetworkManager/system-connections/eth0.nmconnection", "[connection]\nid=eth0\ntype=ethernet\ninterface-name=eth0\n\n[ipv4]\nmethod=manual\naddress1=192.0.2.5/24,192.0.2.1\n",
			[]string{"192.0.2.5/24", "192.0.2.6/24", "192.0.2.1", "10.9.0.0/16"}, nil},
		{render.FormatIfupdown, "/etc/network/interfaces", "auto eth0\niface eth0 inet static\n  address 192.0.2.5/24\n  gateway 192.0.2.1\n",
			[]string{"192.0.2.5/24", "192.0.2.6/24", "gateway 192.0.2.1", "10.9.0.0/16"}, nil},
	} {
		old := map[string]string{c.file: c.text}
		host, left := keeping(declared, c.format, old)
		out, err := formats.Write(c.format, render.Input{Host: host, State: state, Old: old})
		if err != nil || left != "" {
			t.Errorf("%s: %v %s", c.format, err, left)
			continue
		}
		all := ""
		for _, f := range out.Files {
			all += f.Text
		}
		for _, want := range c.keeps {
			if !strings.Contains(all, want) {
				t.Errorf("%s: %s is gone from\n%s", c.format, want, all)
			}
		}
		for _, never := range c.never {
			if strings.Contains(all, never) {
				t.Errorf("%s: %s is still in\n%s", c.format, never, all)
			}
		}
	}
}
