package formats_test

import (
	"fmt"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/render"
	"github.com/linerate/linerate/render/formats"
)

// The files of another configuration system for a host of a fabric file, and what
// they cannot say.
func Example() {
	file, err := fabric.Parse("web.yaml", []byte(`
linerate: v1
hosts:
  web:
    network:
      version: 2
      ethernets: {eno1: {}, eno2: {}}
      bonds:
        bond0:
          interfaces: [eno1, eno2]
          addresses: [192.0.2.10/24]
          parameters: {mode: 802.3ad, transmit-hash-policy: layer3+4}
`))
	if err != nil {
		fmt.Println(err)
		return
	}
	out, err := formats.Write("ifcfg", render.Input{Host: file.Hosts[0]})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, f := range out.Files {
		fmt.Printf("# %s\n%s", f.Path, f.Text)
	}
	for _, w := range out.Warnings {
		fmt.Println(w)
	}
	// Output:
	// # /etc/sysconfig/network-scripts/ifcfg-bond0
	// DEVICE=bond0
	// TYPE=Bond
	// ONBOOT=yes
	// BONDING_MASTER=yes
	// BONDING_OPTS="mode=802.3ad xmit_hash_policy=layer3+4"
	// BOOTPROTO=none
	// IPADDR=192.0.2.10
	// PREFIX=24
	// # /etc/sysconfig/network-scripts/ifcfg-eno1
	// DEVICE=eno1
	// TYPE=Ethernet
	// ONBOOT=yes
	// MASTER=bond0
	// SLAVE=yes
	// BOOTPROTO=none
	// # /etc/sysconfig/network-scripts/ifcfg-eno2
	// DEVICE=eno2
	// TYPE=Ethernet
	// ONBOOT=yes
	// MASTER=bond0
	// SLAVE=yes
	// BOOTPROTO=none
}
