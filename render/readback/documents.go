package readback

import (
	"errors"
	"strings"

	"github.com/linerate/linerate/fabric/yamldoc"
)

// Documents are the trees of a YAML file's documents, which lines of --- part, with
// their places in the whole file. Documents of blanks alone are none. The error is
// yamldoc.Problems for what is no YAML.
func Documents(file, text string) ([]*yamldoc.Node, error) {
	var all []*yamldoc.Node
	lines := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
	from := 0
	part := func(to int) error {
		own := strings.Join(lines[from:to], "\n")
		if strings.TrimSpace(own) == "" {
			return nil
		}
		tree, err := yamldoc.Parse(file, []byte(own))
		var problems yamldoc.Problems
		if errors.As(err, &problems) {
			for i := range problems {
				problems[i].Line += from
			}
			return problems
		}
		if err == nil && tree != nil {
			lower(tree, from, map[*yamldoc.Node]bool{})
			all = append(all, tree)
		}
		return err
	}
	for i, line := range lines {
		if strings.TrimRight(line, " \t") == "---" {
			if err := part(i); err != nil {
				return nil, err
			}
			from = i + 1
		}
	}
	if err := part(len(lines)); err != nil {
		return nil, err
	}
	return all, nil
}

// lower moves a tree down by a number of lines. What an alias has twice is moved once.
func lower(n *yamldoc.Node, by int, moved map[*yamldoc.Node]bool) {
	if n == nil || moved[n] {
		return
	}
	moved[n] = true
	if n.Line > 0 {
		n.Line += by
	}
	for i := range n.Pairs {
		n.Pairs[i].Line += by
		lower(n.Pairs[i].Value, by, moved)
	}
	for _, item := range n.Items {
		lower(item, by, moved)
	}
}
