package fabric

import (
	"fmt"

	"github.com/linerate/linerate/fabric/yamldoc"
)

// Places tells where a fabric file says what. The zero Places knows nothing.
type Places struct {
	file string
	root *yamldoc.Node
}

// Places reads the file's text once more for its lines.
func (f Fabric) Places() Places {
	t := yamldoc.Read(&yamldoc.Collector{}, []byte(f.Text))
	if t == nil {
		return Places{file: f.File}
	}
	return Places{file: f.File, root: t.Root}
}

// Host is the places of one host.
func (p Places) Host(name string) Places {
	p.root = p.root.Get("hosts").Get(name)
	return p
}

// Line is "FILE:LINE" of what the keys and indices lead to, or of the last that
// they lead to; "FILE" where nothing is known. A "network" may be a pasted
// file with that key once more.
func (p Places) Line(path ...any) string {
	n := p.follow(path)
	if n == nil || n.Line == 0 {
		return p.file
	}
	return fmt.Sprintf("%s:%d", p.file, n.Line)
}

// Has reports whether the file says what the keys lead to.
func (p Places) Has(path ...any) bool {
	n := p.root
	for i, step := range path {
		switch s := step.(type) {
		case string:
			n = n.Get(s)
		case int:
			if n == nil || s < 0 || s >= len(n.Items) {
				return false
			}
			n = n.Items[s]
		}
		if i == 0 && step == "network" && n != nil {
			n = unwrapped(n)
		}
	}
	return n != nil
}

func (p Places) follow(path []any) *yamldoc.Node {
	if p.root == nil {
		return nil
	}
	if len(path) > 0 && path[0] == "network" {
		if n := p.root.Get("network"); n != nil {
			return unwrapped(n).Find(path[1:]...)
		}
	}
	return p.root.Find(path...)
}

// Problem is something wrong with what the keys lead to.
func (p Places) Problem(what, hint string, path ...any) yamldoc.Problem {
	problem := yamldoc.Problem{File: p.file, What: what, Hint: hint}
	if n := p.follow(path); n != nil {
		problem.Line, problem.Column = n.Line, n.Column
	}
	return problem
}
