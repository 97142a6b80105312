package render

import (
	"fmt"

	"github.com/linerate/linerate/fabric"
)

func mergeNetplan(files map[string]string) (*fabric.Node, error) {
	merged := mapping()
	for _, file := range netplanOrder(files) {
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
		return nil, ErrEmpty
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
				if !contains(have.Items, item) {
					have.Items = append(have.Items, item.Clone())
				}
			}
		default:
			setKey(into, p.Key, p.Value.Clone())
		}
	}
}

// readNetplan reads netplan's files and the drop-ins of systemd-networkd
// beside them.
func readNetplan(files map[string]string) (Found, error) {
	merged, err := mergeNetplan(files)
	if err != nil {
		return Found{}, err
	}
	if _, err := fabric.ParseNetwork("netplan", []byte(fabric.Write(merged))); err != nil {
		return Found{}, fmt.Errorf("check what the files say together: %w", err)
	}
	f := newFinder()
	f.network = merged
	for _, section := range merged.Pairs {
		if section.Value.Kind == fabric.MappingNode && section.Key != "ethernets" {
			for _, d := range section.Value.Pairs {
				f.kinds[d.Key] = section.Key
			}
		}
	}
	readDropIns(f, files)
	return f.found()
}
