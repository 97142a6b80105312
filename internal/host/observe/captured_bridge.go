package observe

import (
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/linerate/linerate/netstate"
)

// bridgeStates are files of /sys/class/net/BRIDGE/bridge that are no settings.
var bridgeStates = []string{
	"bridge_id", "root_id", "root_port", "root_path_cost", "topology_change", "topology_change_detected",
	"hello_timer", "tcn_timer", "topology_change_timer", "gc_timer", "flush",
}

// bridges reads the bridges' options. Which links are ports of one the tree
// says only where its symbolic links were kept.
func (c *captured) bridges() {
	tree, linked := c.tree.(fs.ReadLinkFS)
	for i := range c.host.Links {
		l := &c.host.Links[i]
		if !linked || l.Master != "" {
			continue
		}
		if target, err := tree.ReadLink(classNet + l.Name + "/master"); err == nil && c.find(path.Base(target)) != nil {
			l.Master = path.Base(target)
		}
	}
	for i := range c.host.Links {
		l := &c.host.Links[i]
		if l.Kind != "bridge" {
			continue
		}
		l.Bridge = &netstate.Bridge{Ports: []string{}, Options: make(map[string]string)}
		for _, name := range (reader{c.tree}).names(classNet + l.Name + "/bridge") {
			if value := c.text(classNet + l.Name + "/bridge/" + name); value != "" && !slices.Contains(bridgeStates, name) {
				l.Bridge.Options[name], _, _ = strings.Cut(value, "\n")
			}
		}
		for _, p := range c.host.Links {
			if p.Master == l.Name {
				l.Bridge.Ports = append(l.Bridge.Ports, p.Name)
			}
		}
	}
}
