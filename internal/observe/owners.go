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
}{
	{"NetworkManager", []string{"run/NetworkManager/NetworkManager.pid", "run/NetworkManager/devices/*", "run/NetworkManager/no-stub-resolv.conf"}, nil},
	{"systemd-networkd", []string{"run/systemd/netif/links/*", "run/systemd/netif/state"}, nil},
	{"ifupdown", []string{"run/network/ifstate", "etc/network/run/ifstate"}, nil},
	{"cloud-init", []string{"run/cloud-init/result.json", "run/cloud-init/enabled", "etc/cloud/cloud.cfg"},
		[]string{"etc/cloud/cloud-init.disabled", "run/cloud-init/disabled", "etc/cloud/cloud.cfg.d/99-disable-network-config.cfg"}},
	{"netplan", []string{"etc/netplan/*.yaml", "run/netplan/*.yaml", "lib/netplan/*.yaml"}, nil},
	{"wicked", []string{"run/wicked/state-*.xml", "run/wicked/*.pid"}, nil},
}

// findOwners names the programs of the table that are at work.
func findOwners(tree fs.FS) []string {
	var names []string
	there := func(pattern string) bool {
		found, err := fs.Glob(tree, pattern)
		return err == nil && len(found) > 0
	}
	for _, o := range owners {
		if slices.ContainsFunc(o.traces, there) && !slices.ContainsFunc(o.unless, there) {
			names = append(names, o.name)
		}
	}
	return names
}
