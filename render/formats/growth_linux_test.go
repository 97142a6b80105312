package formats

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/linerate/linerate/render"
)

// manyPorts are files of a host with n ports, half of them a bond's, the others with an
// address, a route and a VLAN each.
func manyPorts(format render.Format, n int) map[string]string {
	files, text := map[string]string{}, &strings.Builder{}
	say := func(words string, args ...any) { fmt.Fprintf(text, words+"\n", args...) }
	address := func(i int) string { return fmt.Sprintf("10.%d.%d.1", i/250, i%250) }
	keep := func(file string) {
		files[file] = text.String()
		text.Reset()
	}
	var ports []string
	for i := range n / 2 {
		ports = append(ports, fmt.Sprintf("p%d", i))
	}
	list := strings.Join(ports, ", ")
	switch format {
	case render.FormatNetplan:
		say("network:\n  ethernets:")
		for i := range n {
			if say("    p%d:\n      mtu: 9000", i); i >= n/2 {
				say("      addresses: [%s/24]\n      routes: [{to: 172.%d.%d.0/24, via: %s}]", address(i), 16+i/250, i%250, strings.TrimSuffix(address(i), "1")+"2")
			}
		}
		say("  bonds:\n    bond0: {interfaces: [%s], parameters: {mode: 802.3ad}}\n  vlans:", list)
		for i := n / 2; i < n; i++ {
			say("    v%d: {id: %d, link: p%d}", i, i%4000+1, i)
		}
		keep("x/a.yaml")
	case render.FormatNetworkd:
		say("[NetDev]\nName=bond0\nKind=bond\n[Bond]\nMode=802.3ad")
		keep("x/bond0.netdev")
		for i := range n {
			say("[Match]\nName=p%d\n[Link]\nMTUBytes=9000\n[Network]", i)
			if i < n/2 {
				say("Bond=bond0")
			} else {
				say("Address=%s/24\nVLAN=v%d\n[Route]\nDestination=172.%d.%d.0/24\nGateway=%s", address(i), i, 16+i/250, i%250, strings.TrimSuffix(address(i), "1")+"2")
			}
			keep(fmt.Sprintf("x/p%d.network", i))
			say("[Match]\nOriginalName=p%d\n[Link]\nRxBufferSize=4096", i)
			keep(fmt.Sprintf("x/p%d.link", i))
			if i >= n/2 {
				say("[NetDev]\nName=v%d\nKind=vlan\n[VLAN]\nId=%d", i, i%4000+1)
				keep(fmt.Sprintf("x/v%d.netdev", i))
			}
		}
	case render.FormatIfcfg:
		say("DEVICE=bond0\nTYPE=Bond\nBONDING_OPTS=\"mode=4\"")
		keep("x/ifcfg-bond0")
		for i := range n {
			if say("DEVICE=p%d\nMTU=9000", i); i < n/2 {
				say("MASTER=bond0\nSLAVE=yes")
			} else {
				say("IPADDR=%s\nPREFIX=24", address(i))
			}
			keep(fmt.Sprintf("x/ifcfg-p%d", i))
			if i >= n/2 {
				say("DEVICE=p%d.%d\nVLAN=yes\nPHYSDEV=p%d", i, i%4000+1, i)
				keep(fmt.Sprintf("x/ifcfg-p%d.%d", i, i%4000+1))
				say("172.%d.%d.0/24 via %s", 16+i/250, i%250, strings.TrimSuffix(address(i), "1")+"2")
				keep(fmt.Sprintf("x/route-p%d", i))
			}
		}
	case render.FormatKeyfile:
		say("[connection]\nid=bond0\nuuid=00000000-0000-4000-8000-0000000fffff\ntype=bond\ninterface-name=bond0\n[bond]\nmode=802.3ad")
		keep("x/bond0.nmconnection")
		for i := range n {
			say("[connection]\nid=p%d\nuuid=00000000-0000-4000-8000-00000000%04x\ntype=ethernet\ninterface-name=p%d", i, i, i)
			if i < n/2 {
				say("master=00000000-0000-4000-8000-0000000fffff\nslave-type=bond\n[ethernet]\nmtu=9000")
			} else {
				say("[ipv4]\nmethod=manual\naddress1=%s/24\nroute1=172.%d.%d.0/24,%s", address(i), 16+i/250, i%250, strings.TrimSuffix(address(i), "1")+"2")
			}
			keep(fmt.Sprintf("x/p%d.nmconnection", i))
			if i >= n/2 {
				say("[connection]\nid=v%d\ntype=vlan\ninterface-name=v%d\n[vlan]\nid=%d\nparent=00000000-0000-4000-8000-00000000%04x", i, i, i%4000+1, i)
				keep(fmt.Sprintf("x/v%d.nmconnection", i))
			}
		}
	case render.FormatIfupdown:
		say("auto bond0\niface bond0 inet manual\n  bond-mode 802.3ad\n  bond-slaves %s", strings.Join(ports, " "))
		for i := range n {
			if i < n/2 {
				say("iface p%d inet manual\n  mtu 9000", i)
				continue
			}
			say("auto p%d\niface p%d inet static\n  address %s/24\n  up ip route add 172.%d.%d.0/24 via %s dev p%d", i, i, address(i), 16+i/250, i%250, strings.TrimSuffix(address(i), "1")+"2", i)
			say("auto p%d.%d\niface p%d.%d inet manual", i, i%4000+1, i, i%4000+1)
		}
		keep("x/interfaces")
	case render.FormatNmstate:
		say("interfaces:\n- name: bond0\n  type: bond\n  link-aggregation: {mode: 802.3ad, port: [%s]}", list)
		for i := range n {
			if say("- name: p%d\n  type: ethernet\n  mtu: 9000", i); i >= n/2 {
				say("  ipv4: {enabled: true, address: [{ip: %s, prefix-length: 24}]}", address(i))
				say("- name: v%d\n  type: vlan\n  vlan: {base-iface: p%d, id: %d}", i, i, i%4000+1)
			}
		}
		say("routes:\n  config:")
		for i := n / 2; i < n; i++ {
			say("  - {destination: 172.%d.%d.0/24, next-hop-address: %s, next-hop-interface: p%d}", 16+i/250, i%250, strings.TrimSuffix(address(i), "1")+"2", i)
		}
		keep("x/state.yml")
	case render.FormatTalos:
		say("machine:\n  network:\n    interfaces:\n    - interface: bond0\n      bond: {mode: 802.3ad, interfaces: [%s]}", strings.Join(ports[:100], ", "))
		for i := n / 2; i < n; i++ {
			say("    - interface: p%d\n      mtu: 9000\n      addresses: [%s/24]\n      routes: [{network: 172.%d.%d.0/24, gateway: %s}]\n      vlans: [{vlanId: %d}]", i, address(i), 16+i/250, i%250, strings.TrimSuffix(address(i), "1")+"2", i%4000+1)
		}
		keep("x/machine.yaml")
	case render.FormatTeamd:
		say(`{"device": "team0", "runner": {"name": "lacp", "tx_hash": ["ipv4", "ipv6"]}, "link_watch": {"name": "ethtool"}, "ports": {`)
		for i := range n {
			say(`"p%d": {}%s`, i, map[bool]string{true: ",", false: ""}[i < n-1])
		}
		say("}}")
		keep("x/team0.conf")
	}
	return files
}

// used is the processor time that this program has had: others that run beside it do
// not count.
func used(t *testing.T) time.Duration {
	t.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		t.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

// TestGrowth: four times the ports take every reader about four times as long, and never
// the sixteen times of a loop within a loop.
func TestGrowth(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: half a minute of reading")
	}
	for _, format := range Readable() {
		t.Run(string(format), func(t *testing.T) {
			took := func(n int) time.Duration {
				files := manyPorts(format, n)
				best := time.Duration(1<<63 - 1)
				for range 2 {
					start := used(t)
					found, err := Read(format, files)
					if err != nil {
						t.Fatal(err)
					}
					if best = min(best, used(t)-start); len(found.Keys.Get("network").Pairs) == 0 {
						t.Fatal("nothing was read")
					}
					if len(found.Unread) > n/10 {
						t.Fatalf("%d lines are unread, such as %s", len(found.Unread), found.Unread[0])
					}
				}
				return best
			}
			few, many := took(1000), took(4000)
			t.Logf("1,000 ports %v, 4,000 %v: %.1f times", few, many, float64(many)/float64(few))
			// Up to 8 is seen where the collector of garbage has more to do: what is
			// refused is well above that.
			if many > 12*few {
				t.Errorf("4,000 ports take %.1f times as long as 1,000: %v and %v", float64(many)/float64(few), many, few)
			}
		})
	}
}
