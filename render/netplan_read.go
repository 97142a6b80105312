package render

import (
	"fmt"
	"strings"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/fabric/yamldoc"
)

// ReadNetplan returns what netplan's files, text by path, say together:
// mappings joined key by key, lists one behind the other, of all else the last
// word, in the order that netplan reads files (netplan-yaml.md). The error is
// yamldoc.Problems, or ErrEmpty.
func ReadNetplan(files map[string]string) (fabric.Network, error) {
	merged, err := mergeNetplan(files)
	if err != nil {
		return fabric.Network{}, err
	}
	return fabric.ParseNetwork("netplan", []byte(yamldoc.Write(merged)))
}

func mergeNetplan(files map[string]string) (*yamldoc.Node, error) {
	merged := mapping()
	for _, file := range netplanOrder(files) {
		tree, err := yamldoc.Parse(file, []byte(files[file]))
		if err != nil {
			return nil, err
		}
		switch n := tree.Get("network"); {
		case tree.Kind == yamldoc.NullNode:
		case tree.Kind != yamldoc.MappingNode || n == nil:
			return nil, yamldoc.Problems{{File: file, Line: 1, Column: 1, What: "this is no netplan file: it has no key network"}}
		case n.Kind == yamldoc.MappingNode:
			mergeNodes(merged, n)
		}
	}
	if len(merged.Pairs) == 0 {
		return nil, ErrEmpty
	}
	return merged, nil
}

func mergeNodes(into, from *yamldoc.Node) {
	for _, p := range from.Pairs {
		have := into.Get(p.Key)
		switch {
		case have != nil && have.Kind == yamldoc.MappingNode && p.Value.Kind == yamldoc.MappingNode:
			mergeNodes(have, p.Value)
		case have != nil && have.Kind == yamldoc.SequenceNode && p.Value.Kind == yamldoc.SequenceNode:
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
	if _, err := fabric.ParseNetwork("netplan", []byte(yamldoc.Write(merged))); err != nil {
		return Found{}, fmt.Errorf("check what the files say together: %w", err)
	}
	f := newFinder()
	f.network = merged
	for _, section := range merged.Pairs {
		if section.Value.Kind == yamldoc.MappingNode && section.Key != "ethernets" {
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
