package observe

import (
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/linerate/linerate/netstate"
)

// alive says whether a program of that name runs; known is false where nobody
// can tell, as in a tree without processes. What managers write under /run
// outlives them, so a dead one owns nothing.
type alive func(program string) (running, known bool)

// everAlive is the answer of a tree without processes.
func everAlive(string) (bool, bool) { return false, false }

// dead reports that a program is known not to run.
func (a alive) dead(program string) bool {
	running, known := a(program)
	return known && !running
}

// claims is the one table of programs that own a single link, and how they
// show it; the first that claims a link has it.
var claims = [...]struct {
	owner string
	// program is its name in /proc/PID/comm, which holds 15 characters; "" is
	// the kernel's own record and needs nobody alive.
	program string
	claims  func(reader, netstate.Link) bool
}{
	{"NetworkManager", "NetworkManager", networkManagerClaims},
	{"systemd-networkd", "systemd-network", networkdClaims},
	{"wicked", "wickedd-nanny", func(r reader, l netstate.Link) bool {
		return len(r.names("run/wicked/nanny")) > 0 && slices.Contains(r.names("etc/sysconfig/network"), "ifcfg-"+l.Name)
	}},
	{"teamd", "teamd", func(r reader, l netstate.Link) bool { return r.text("run/teamd/"+l.Name+".pid") != "" }},
	{"ifupdown", "", ifupdownClaims},
	{"dhclient", "dhclient", func(r reader, l netstate.Link) bool {
		return r.text("run/dhclient."+l.Name+".pid") != "" || r.text("run/dhclient-"+l.Name+".pid") != ""
	}},
	{"dhcpcd", "dhcpcd", func(r reader, l netstate.Link) bool {
		return r.text("run/dhcpcd/"+l.Name+".pid") != "" || r.text("run/dhcpcd-"+l.Name+".pid") != ""
	}},
}

// networkManagerClaims reads NetworkManager's record of a link. There is one
// for every link that it knows; managed ones say so.
func networkManagerClaims(r reader, l netstate.Link) bool {
	return setting(r.text("run/NetworkManager/devices/"+strconv.Itoa(l.Index)), "managed") == "true"
}

// networkdClaims reads networkd's record of a link: it has one in which it
// found a .network file to follow, unless it was told to leave the link alone.
func networkdClaims(r reader, l netstate.Link) bool {
	text := r.text("run/systemd/netif/links/" + strconv.Itoa(l.Index))
	switch setting(text, "ADMIN_STATE") {
	case "configured", "configuring", "failed", "pending", "initialized":
		return setting(text, "NETWORK_FILE") != ""
	}
	return false
}

// ifupdownClaims reads which links ifup(8) brought up: "eth0=eth0" a line.
func ifupdownClaims(r reader, l netstate.Link) bool {
	for line := range strings.Lines(r.text("run/network/ifstate")) {
		if name, _, ok := strings.Cut(strings.TrimSpace(line), "="); ok && name == l.Name {
			return true
		}
	}
	return false
}

// setting is the value of KEY=value in a file of such lines; "" for none.
func setting(text, key string) string {
	for line := range strings.Lines(text) {
		if v, ok := strings.CutPrefix(strings.TrimSpace(line), key+"="); ok {
			return strings.Trim(v, `"`)
		}
	}
	return ""
}

// made is the one table of programs that make links of their own, and what
// the links are called: a name that ends in "*" is how it begins. kinds are
// those that they make: a person may give a device any name.
var made = [...]struct {
	owner string
	names []string
	kinds []string
}{
	{"Cilium", []string{"cilium_*", "lxc*"}, []string{"veth", "vxlan", "dummy", "netkit"}},
	{"Calico", []string{"cali*", "tunl0", "vxlan.calico", "vxlan-v6.calico", "wireguard.cali"}, []string{"veth", "ipip", "vxlan", "wireguard"}},
	{"flannel", []string{"flannel.*", "flannel-v6.*", "flannel-wg"}, []string{"vxlan", "wireguard"}},
	{"OVN-Kubernetes", []string{"ovn-k8s-*", "br-int"}, []string{"openvswitch"}},
	{"Antrea", []string{"antrea-*"}, []string{"openvswitch", "veth"}},
	{"Weave", []string{"weave", "vethwe*"}, []string{"bridge", "veth"}},
	{"Kubernetes", []string{"cni0", "kube-ipvs0", "kube-bridge", "nodelocaldns"}, []string{"bridge", "dummy"}},
	{"Docker", []string{"docker0", "docker_gwbridge", "br-????????????"}, []string{"bridge"}},
	{"Podman", []string{"cni-podman*", "podman*"}, []string{"bridge"}},
	{"libvirt", []string{"virbr*", "vnet*"}, []string{"bridge", "tun"}},
	{"LXD", []string{"lxdbr*", "incusbr*"}, []string{"bridge"}},
	{"Proxmox VE", []string{"fwbr*", "fwln*", "fwpr*"}, []string{"bridge", "veth"}},
}

// called reports whether a name fits a pattern of the table.
func called(name, pattern string) bool {
	if rest, ok := strings.CutSuffix(pattern, "*"); ok {
		return strings.HasPrefix(name, rest)
	}
	if strings.Contains(pattern, "?") {
		prefix := strings.TrimRight(pattern, "?")
		rest, ok := strings.CutPrefix(name, prefix)
		return ok && len(rest) == len(pattern)-len(prefix) && strings.Trim(rest, "0123456789abcdef") == ""
	}
	return name == pattern
}

// ownLinks says of each link who manages it.
func ownLinks(tree fs.FS, links []netstate.Link, lives alive) {
	r := reader{tree}
	for i := range links {
		l := &links[i]
		if l.Kind == "loopback" {
			continue
		}
		l.Owner = ownerOf(r, *l, lives)
	}
	// A port of what a container network made is that network's, too.
	host := netstate.Host{Links: links}
	for i := range links {
		if m, ok := host.Link(links[i].Master); ok && links[i].Owner == "" && links[i].Kind == "veth" && madeBy(m) != "" {
			links[i].Owner = m.Owner
		}
	}
}

func ownerOf(r reader, l netstate.Link, lives alive) string {
	for _, c := range claims {
		if c.claims(r, l) && (c.program == "" || !lives.dead(c.program)) {
			return c.owner
		}
	}
	return madeBy(l)
}

func madeBy(l netstate.Link) string {
	for _, m := range made {
		if slices.Contains(m.kinds, l.Kind) && slices.ContainsFunc(m.names, func(pattern string) bool { return called(l.Name, pattern) }) {
			return m.owner
		}
	}
	return ""
}

// linkTraces are the files that the claims above read, for a capture.
var linkTraces = []string{
	"run/NetworkManager/devices/*", "run/systemd/netif/links/*", "run/teamd/*.pid", "run/network/ifstate",
	"run/dhclient*.pid", "run/dhcpcd*.pid", "run/dhcpcd/*.pid",
}
