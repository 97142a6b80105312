package change

import (
	"net/netip"
	"slices"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/render"
	"github.com/linerate/linerate/render/formats"
	"github.com/linerate/linerate/render/node"
)

// keeping is the host with the addresses, routes and rules that its own files have and
// the fabric does not name: a change leaves them on the host, and so they must not go at
// the next boot either. A route that the fabric has another way to, by destination,
// table and metric, is replaced as the kernel replaces it. Left says what cannot be
// kept, "" nothing.
func keeping(declared fabric.Host, format render.Format, old map[string]string) (host fabric.Host, left string) {
	found, err := formats.Read(format, old)
	if err != nil || found.Keys == nil {
		return declared, "" // there is nothing that could be kept
	}
	tree, err := yamldoc.Parse("network", []byte(declared.Network.Source))
	if err != nil {
		return declared, ""
	}
	grown := false
	for _, section := range tree.Pairs {
		if section.Value.Kind != yamldoc.MappingNode {
			continue
		}
		for _, d := range section.Value.Pairs {
			had := found.Keys.Get("network").Get(section.Key).Get(d.Key)
			for key, id := range keptLists {
				list := d.Value.Get(key)
				if list == nil || had.Get(key) == nil {
					continue
				}
				for _, item := range had.Get(key).Items {
					same := func(other *yamldoc.Node) bool { return id(other) == id(item) }
					if !slices.ContainsFunc(list.Items, same) {
						node.Push(d.Value, key, item.Clone())
						grown = true
					}
				}
			}
		}
	}
	if !grown {
		return declared, ""
	}
	network, err := fabric.ParseNetwork("network", []byte(yamldoc.Write(tree)))
	if err != nil {
		return declared, "addresses, routes and rules that the files have and the fabric does not name are not kept in them: " + err.Error()
	}
	declared.Network = network
	return declared, ""
}

// keptLists are the lists that are kept, with what tells their items apart.
var keptLists = map[string]func(*yamldoc.Node) string{
	"addresses": func(n *yamldoc.Node) string {
		text := n.Text
		if len(n.Pairs) > 0 {
			text = n.Pairs[0].Key
		}
		if p, err := netip.ParsePrefix(text); err == nil {
			return p.String()
		}
		return text
	},
	"routes": func(n *yamldoc.Node) string {
		to := node.Said(n.Get("to"))
		switch {
		case to == "0.0.0.0/0", to == "default" && !isIPv6(node.Said(n.Get("via"))):
			to = "default"
		case to == "::/0", to == "default":
			to = "default6"
		}
		if p, err := netip.ParsePrefix(to); err == nil {
			to = p.Masked().String()
		}
		table := node.Said(n.Get("table"))
		if table == "254" {
			table = ""
		}
		return to + " " + table + " " + node.Said(n.Get("metric"))
	},
	"routing-policy": func(n *yamldoc.Node) string {
		if priority := node.Said(n.Get("priority")); priority != "" {
			return priority
		}
		return node.Said(n.Get("from")) + " " + node.Said(n.Get("to")) + " " + node.Said(n.Get("table"))
	},
}

func isIPv6(s string) bool {
	a, err := netip.ParseAddr(s)
	return err == nil && a.Is6()
}
