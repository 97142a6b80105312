package netplan

import (
	"fmt"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/render"
	"github.com/linerate/linerate/render/networkd"
	"github.com/linerate/linerate/render/node"
	"github.com/linerate/linerate/render/readback"
)

func merge(files map[string]string) (*fabric.Node, error) {
	merged := node.Mapping()
	for _, file := range inOrder(files) {
		tree, err := fabric.ParseYAML(file, []byte(files[file]))
		if err != nil {
			return nil, err
		}
		switch n := tree.Get("network"); {
		case tree.Kind == fabric.NullNode:
		case tree.Kind != fabric.MappingNode || n == nil:
			return nil, fabric.Problems{{File: file, Line: 1, Column: 1, What: "this is no netplan file: it has no key network"}}
		case n.Kind == fabric.MappingNode:
			mergeNodes(merged, n)
		}
	}
	if len(merged.Pairs) == 0 {
		return nil, render.ErrEmpty
	}
	return merged, nil
}

func mergeNodes(into, from *fabric.Node) {
	for _, p := range from.Pairs {
		have := into.Get(p.Key)
		switch {
		case have != nil && have.Kind == fabric.MappingNode && p.Value.Kind == fabric.MappingNode:
			mergeNodes(have, p.Value)
		case have != nil && have.Kind == fabric.SequenceNode && p.Value.Kind == fabric.SequenceNode:
			for _, item := range p.Value.Items {
				if !node.Contains(have.Items, item) {
					have.Items = append(have.Items, item.Clone())
				}
			}
		default:
			node.SetKey(into, p.Key, p.Value.Clone())
		}
	}
}

// Read reads netplan's files and the drop-ins of systemd-networkd
// beside them.
func Read(files map[string]string) (render.Found, error) {
	merged, err := merge(files)
	if err != nil {
		return render.Found{}, err
	}
	if _, err := fabric.ParseNetwork("netplan", []byte(fabric.Write(merged))); err != nil {
		return render.Found{}, fmt.Errorf("check what the files say together: %w", err)
	}
	f := readback.New()
	f.Network = merged
	for _, section := range merged.Pairs {
		if section.Value.Kind == fabric.MappingNode && section.Key != "ethernets" {
			for _, d := range section.Value.Pairs {
				f.Kinds[d.Key] = section.Key
			}
		}
	}
	networkd.ReadDropIns(f, files)
	return f.Found()
}
