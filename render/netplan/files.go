package netplan

import (
	"fmt"
	"strings"

	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/render"
	"github.com/linerate/linerate/render/ledger"
	"github.com/linerate/linerate/render/node"
)

// placeFiles puts the wanted network into the files that define parts of it,
// and the rest into one of our own.
func placeFiles(in render.Input, wanted *yamldoc.Node, l *ledger.Ledger) error {
	out := l.Out
	w := writer{in: in, trees: map[string]*yamldoc.Node{}, rest: wanted.Clone()}
	for _, file := range inOrder(in.Old) {
		if !strings.HasPrefix(file, "/etc/netplan/") {
			continue
		}
		tree, err := yamldoc.Parse(file, []byte(in.Old[file]))
		if err != nil {
			return fmt.Errorf("read what netplan has: %w", err)
		}
		if tree.Kind == yamldoc.MappingNode && tree.Get("network").Get("version") == nil && tree.Get("network").Get("renderer") == nil && tree.Get("network") == nil {
			continue
		}
		w.order, w.trees[file] = append(w.order, file), tree.Clone()
	}
	for _, section := range wanted.Pairs {
		if section.Value.Kind == yamldoc.MappingNode {
			for _, d := range section.Value.Pairs {
				if w.place(section.Key, d.Key, d.Value) {
					remove(w.rest, section.Key, d.Key)
				}
			}
			continue
		}
		if w.setTop(section.Key, section.Value) {
			node.SetKey(w.rest, section.Key, nil)
		}
	}
	w.absent(l)
	return w.write(out)
}

type writer struct {
	in    render.Input
	order []string // files, first read first
	trees map[string]*yamldoc.Node
	rest  *yamldoc.Node // what no file has yet
}

// network is a file's mapping under "network".
func (w writer) network(file string) *yamldoc.Node { return w.trees[file].Get("network") }

// holders are the files that define a device.
func (w writer) holders(section, id string) []string {
	var all []string
	for _, file := range w.order {
		if w.network(file).Get(section).Get(id) != nil {
			all = append(all, file)
		}
	}
	return all
}

// place puts a definition into the files that have it; false where none does.
// Netplan joins what its files say: mappings key by key, lists end to end, the
// last word for all else.
func (w writer) place(section, id string, wanted *yamldoc.Node) bool {
	files := w.holders(section, id)
	if len(files) == 0 {
		return false
	}
	var have []*yamldoc.Node
	for _, file := range files {
		n := w.network(file).Get(section).Get(id)
		if n.Kind == yamldoc.NullNode {
			n.Kind, n.Flow = yamldoc.MappingNode, true
		}
		have = append(have, n)
	}
	join(have, wanted)
	return true
}

// join changes what several files say of one mapping to say the wanted keys.
func join(have []*yamldoc.Node, wanted *yamldoc.Node) {
	for _, p := range wanted.Pairs {
		var holders []*yamldoc.Node
		for _, n := range have {
			if n.Get(p.Key) != nil {
				holders = append(holders, n)
			}
		}
		switch {
		case len(holders) == 0:
			node.SetKey(have[len(have)-1], p.Key, p.Value)
		case p.Value.Kind == yamldoc.MappingNode:
			var inner []*yamldoc.Node
			for _, n := range holders {
				if v := n.Get(p.Key); v.Kind == yamldoc.MappingNode {
					inner = append(inner, v)
				}
			}
			if inner == nil {
				node.SetKey(holders[len(holders)-1], p.Key, p.Value)
				continue
			}
			join(inner, p.Value)
		case p.Value.Kind == yamldoc.SequenceNode:
			joinLists(holders, p.Key, p.Value)
		default:
			node.SetKey(holders[len(holders)-1], p.Key, p.Value)
		}
	}
}

// joinLists leaves of each file's list what is wanted and adds what is missing
// to the last.
func joinLists(holders []*yamldoc.Node, key string, wanted *yamldoc.Node) {
	if len(holders) == 1 {
		if !holders[0].Get(key).Equal(wanted) {
			node.SetKey(holders[0], key, wanted)
		}
		return
	}
	var said []*yamldoc.Node
	for _, n := range holders {
		l := n.Get(key)
		var kept []*yamldoc.Node
		for _, item := range l.Items {
			if node.Contains(wanted.Items, item) && !node.Contains(said, item) {
				kept, said = append(kept, item), append(said, item)
			}
		}
		l.Items = kept
	}
	last := holders[len(holders)-1].Get(key)
	if last.Kind != yamldoc.SequenceNode {
		last = &yamldoc.Node{Kind: yamldoc.SequenceNode, Flow: true}
		node.SetKey(holders[len(holders)-1], key, last)
	}
	for _, item := range wanted.Items {
		if !node.Contains(said, item) {
			last.Items = append(last.Items, item)
		}
	}
}

// setTop sets one of the network's own keys where the last file has it.
func (w writer) setTop(key string, value *yamldoc.Node) bool {
	for i := len(w.order) - 1; i >= 0; i-- {
		if n := w.network(w.order[i]); n.Get(key) != nil {
			node.SetKey(n, key, value)
			return key != "version"
		}
	}
	return false
}

// absent takes out the definitions of links that the host must not have.
func (w writer) absent(l *ledger.Ledger) {
	for _, id := range w.in.Host.Absent {
		for _, file := range w.order {
			n := w.network(file)
			if n == nil {
				continue
			}
			for _, section := range n.Pairs {
				if section.Value.Get(id) != nil {
					remove(n, section.Key, id)
					l.Say(id, "absent")
				}
			}
		}
	}
}

// remove takes a definition out, and the section when it was the last.
func remove(network *yamldoc.Node, section, id string) {
	s := network.Get(section)
	node.SetKey(s, id, nil)
	if len(s.Pairs) == 0 {
		node.SetKey(network, section, nil)
	}
}

// write gives every file that changed or holds something of ours.
func (w writer) write(out *render.Output) error {
	for _, file := range w.order {
		text, kept, err := yamldoc.Revise(w.in.Old[file], w.trees[file])
		if err != nil {
			return fmt.Errorf("change %s: %w", file, err)
		}
		if !kept {
			out.Warn("", "network", file+" could not be changed in place: its comments are lost")
		}
		if text != w.in.Old[file] || file == ownFile {
			out.Add(file, fileMode, text)
		}
	}
	return w.writeRest(out)
}

// writeRest writes what no file had: the user's own text where it is all of it.
func (w writer) writeRest(out *render.Output) error {
	devices := false
	for _, p := range w.rest.Pairs {
		devices = devices || p.Key != "version"
	}
	if !devices {
		return nil
	}
	if old, there := w.trees[ownFile]; there {
		n := node.Within(old, "network")
		for _, section := range w.rest.Pairs {
			if section.Value.Kind != yamldoc.MappingNode {
				node.SetKey(n, section.Key, section.Value)
				continue
			}
			for _, d := range section.Value.Pairs {
				node.SetKey(node.Within(n, section.Key), d.Key, d.Value)
			}
		}
		text, _, err := yamldoc.Revise(w.in.Old[ownFile], old)
		for i := range out.Files {
			if out.Files[i].Path == ownFile {
				out.Files[i].Text = text
			}
		}
		return err
	}
	text, _, err := yamldoc.Revise(w.in.Host.Network.Source, w.rest)
	if err != nil {
		return fmt.Errorf("write the host's network: %w", err)
	}
	if w.rest.Get("version") == nil && !strings.HasPrefix(text, "{") && len(w.order) > 0 {
		text = "version: 2\n" + text
	}
	out.Add(ownFile, fileMode, underNetwork(text))
	return nil
}
