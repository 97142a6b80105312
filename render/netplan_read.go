package render

import (
	"fmt"
	"strings"

	"github.com/linerate/linerate/fabric"
)

// ReadNetplan returns what netplan's files, text by path, say together:
// mappings joined key by key, lists one behind the other, of all else the last
// word, in the order that netplan reads files (netplan-yaml.md). The error is
// fabric.Problems, or ErrEmpty.
func ReadNetplan(files map[string]string) (fabric.Network, error) {
	merged, err := mergeNetplan(files)
	if err != nil {
		return fabric.Network{}, err
	}
	return fabric.ParseNetwork("netplan", []byte(fabric.Write(merged)))
}

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
	for _, file := range sortedKeys(files) {
		name, ok := strings.CutPrefix(file, networkdDir+"10-netplan-")
		dir, _, isDropIn := strings.Cut(name, ".d/")
		if !ok || !isDropIn {
			continue
		}
		r := networkdReader{finder: f, files: files}
		for _, suffix := range []string{".netdev", ".network", ".link"} {
			if id, fits := strings.CutSuffix(dir, suffix); fits {
				for _, s := range readUnit(files[file], r.odd(file)) {
					r.section(placedSection{s, file}, id, suffix)
				}
			}
		}
	}
	return f.found()
}
