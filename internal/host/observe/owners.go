package observe

import (
	"io/fs"
	"slices"
)

// owners is the one table of programs that manage a host's network and of the
// traces each leaves while it does: files under / (patterns of path.Match).
var owners = [...]struct {
	name   string
	traces []string
	// unless are files that say it keeps its hands off.
	unless []string
	// program is its name in /proc/PID/comm; "" where the traces suffice: it
	// runs at boot, or its traces go with it.
	program string
}{
	{"NetworkManager", []string{"run/NetworkManager/NetworkManager.pid", "run/NetworkManager/devices/*", "run/NetworkManager/no-stub-resolv.conf"}, nil, "NetworkManager"},
	{"systemd-networkd", []string{"run/systemd/netif/links/*", "run/systemd/netif/state"}, nil, "systemd-network"},
	{"ifupdown", []string{"run/network/ifstate", "etc/network/run/ifstate"}, nil, ""},
	{"cloud-init", []string{"run/cloud-init/result.json", "run/cloud-init/enabled", "etc/cloud/cloud.cfg"},
		[]string{"etc/cloud/cloud-init.disabled", "run/cloud-init/disabled", "etc/cloud/cloud.cfg.d/99-disable-network-config.cfg"}, ""},
	{"netplan", []string{"etc/netplan/*.yaml", "run/netplan/*.yaml", "lib/netplan/*.yaml"}, nil, ""},
	{"wicked", []string{"run/wicked/state-*.xml", "run/wicked/*.pid"}, nil, ""},
	{"teamd", []string{"run/teamd/*.pid"}, nil, "teamd"},
	{"Kubernetes", []string{"etc/kubernetes/kubelet.conf", "var/lib/kubelet/config.yaml", "var/lib/rancher/k3s/agent", "var/lib/rancher/rke2/agent", "var/snap/microk8s/current"}, nil, ""},
	{"Cilium", []string{"run/cilium/*", "etc/cni/net.d/*cilium*"}, nil, ""},
	{"Calico", []string{"run/calico/*", "var/lib/calico/*", "etc/cni/net.d/*calico*"}, nil, ""},
	{"flannel", []string{"run/flannel/subnet.env", "etc/cni/net.d/*flannel*"}, nil, ""},
	{"Open vSwitch", []string{"run/openvswitch/db.sock"}, nil, "ovs-vswitchd"},
	{"tuned", []string{"run/tuned/tuned.pid", "run/systemd/units/invocation:tuned.service"}, nil, "tuned"},
	{"bpftune", []string{"run/systemd/units/invocation:bpftune.service"}, nil, "bpftune"},
	{"dhclient", []string{"run/dhclient*.pid"}, nil, "dhclient"},
	{"dhcpcd", []string{"run/dhcpcd*.pid", "run/dhcpcd/*.pid", "run/dhcpcd/pid"}, nil, "dhcpcd"},
}

// findOwners names the programs of the table that are at work.
func findOwners(tree fs.FS, lives alive) []string {
	var names []string
	there := func(pattern string) bool {
		found, err := fs.Glob(tree, pattern)
		return err == nil && len(found) > 0
	}
	for _, o := range owners {
		if !slices.ContainsFunc(o.traces, there) || slices.ContainsFunc(o.unless, there) || o.program != "" && lives.dead(o.program) {
			continue
		}
		names = append(names, o.name)
	}
	return names
}

// ownerTraces are the files of the table, for a capture, which keeps that they
// are there and not what is in them.
func ownerTraces() []string {
	var all []string
	for _, o := range owners {
		all = append(append(all, o.traces...), o.unless...)
	}
	return all
}
