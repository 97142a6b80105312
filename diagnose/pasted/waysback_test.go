package pasted

import (
	"testing"

	"github.com/linerate/linerate/record"
)

// Two interfaces, of which one has the default route.
const twoNets = `root@h1:~# ip -br addr
lo               UNKNOWN        127.0.0.1/8
eno1             UP             192.0.2.10/24
eno2             UP             198.51.100.4/24
root@h1:~# ip route
default via 192.0.2.1 dev eno1
192.0.2.0/24 dev eno1 proto kernel scope link src 192.0.2.10
198.51.100.0/24 dev eno2 proto kernel scope link src 198.51.100.4
`

const noRules = `root@h1:~# ip rule
0:	from all lookup local
32766:	from all lookup main
32767:	from all lookup default
`

// TestWaysBack: a second interface without a gateway is a network of its own unless
// something says that it is asked from beyond it; a host route is wrong where its
// address cannot answer.
func TestWaysBack(t *testing.T) {
	for _, c := range []struct {
		name, text string
		cause      record.Cause
		least      float64
	}{
		{"storage network", twoNets + noRules, record.Unknown, 0},
		{"storage network with a loose filter", twoNets + noRules + "root@h1:~# sysctl net.ipv4.conf.all.rp_filter\nnet.ipv4.conf.all.rp_filter = 2\n", record.Unknown, 0},
		{"a provider's instance", "Our EC2 instance has a second ENI that does not answer.\n" + twoNets + noRules, record.AsymmetricRoute, 0.8},
		{"strict filter", twoNets + noRules + "root@h1:~# sysctl net.ipv4.conf.eno2.rp_filter\nnet.ipv4.conf.eno2.rp_filter = 1\n", record.AsymmetricRoute, 0.6},
		{"the way from the second address", twoNets + noRules + "root@h1:~# ip route get 203.0.113.9 from 198.51.100.4\n203.0.113.9 from 198.51.100.4 via 192.0.2.1 dev eno1 uid 0 \n    cache \n", record.AsymmetricRoute, 0.8},
		{"the way from the first address", twoNets + noRules + "root@h1:~# ip route get 203.0.113.9 from 192.0.2.10\n203.0.113.9 from 192.0.2.10 via 192.0.2.1 dev eno1 uid 0 \n    cache \n", record.Unknown, 0},
		{"a pinned peer of a VPN", twoNets + "203.0.113.7 via 198.51.100.1 dev eno2\n", record.Unknown, 0},
		{"a peer of a tunnel", twoNets + "10.99.0.5 dev wg0 scope link\n", record.Unknown, 0},
		{"a guest's address on a bridge", twoNets + "203.0.113.7 dev vmbr0 scope link\n", record.Unknown, 0},
		{"a neighbour with a route of its own", twoNets + "198.51.100.77 dev eno2 scope link\n", record.Unknown, 0},
		{"a gateway outside the subnet", twoNets + "203.0.113.1 dev eno2 scope link\n10.0.0.0/8 via 203.0.113.1 dev eno2\n", record.Unknown, 0},
		{"the platform's address", twoNets + "168.63.129.16 dev eno2 scope link\n", record.AsymmetricRoute, 0.8},
		{"no neighbour of that interface", twoNets + "203.0.113.7 dev eno2 scope link\n", record.AsymmetricRoute, 0.55},
		{"metadata of AWS by the second", "An EC2 instance.\n" + "root@h1:~# ip route\ndefault via 192.0.2.1 dev eth0\n192.0.2.0/24 dev eth0 proto kernel scope link src 192.0.2.10\n169.254.169.254 dev eth1 scope link\n", record.Unknown, 0},
	} {
		check(t, []shows{{c.name, c.text, c.cause, c.least, nil, nil}})
	}
}
