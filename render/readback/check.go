package readback

import (
	"errors"
	"strings"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/render"
	"github.com/linerate/linerate/render/node"
)

// mostRounds is how often what is wrong is taken out: once for each thing that
// only shows when another is gone.
const mostRounds = 100

// takeOut leaves out of what was read each part that a fabric refuses, and notes it
// at its place, so that one wrong value is one line and never the refusal of a
// host. The error is yamldoc.Problems where nothing can be left out any more.
func (f *Host) takeOut(keys *yamldoc.Node) error {
	var problems yamldoc.Problems
	for range mostRounds {
		text := render.Found{Keys: keys}.FabricFile(checkedHost)
		_, err := fabric.Parse("", text)
		problems = nil
		if err == nil {
			return nil
		}
		if !errors.As(err, &problems) {
			return err
		}
		written, err := yamldoc.Parse("", text)
		if err != nil {
			return err
		}
		chains := chainsTo(written.Find("hosts", checkedHost), keys, problems) // all of them before anything is cut
		found := false
		for i, p := range problems {
			found = f.cut(keys, chains[i], p) || found
		}
		if !found {
			break
		}
	}
	return problems
}

// mostListed is how many words a hint may list: the keys of a device fill a screen.
const mostListed = 12

// checkedHost is the name that a host has while it is checked.
const checkedHost = "host"

// step is a node on the way to a problem, with the key that led to it; "" for an
// item of a list.
type step struct {
	key  string
	node *yamldoc.Node
}

// chainsTo are, for each problem, the nodes that lead to where it is, found in the text
// that was written and followed in the tree that it was written from.
func chainsTo(written, keys *yamldoc.Node, problems yamldoc.Problems) [][]step {
	type spot struct{ line, column int }
	best := make(map[spot][]step, len(problems))
	for _, p := range problems {
		best[spot{p.Line, p.Column}] = nil
	}
	note := func(line, column int, chain []step) {
		if have, asked := best[spot{line, column}]; asked && len(chain) > len(have) {
			best[spot{line, column}] = append([]step(nil), chain...)
		}
	}
	var visit func(w, k *yamldoc.Node, chain []step)
	visit = func(w, k *yamldoc.Node, chain []step) {
		note(w.Line, w.Column, chain)
		for i, pair := range w.Pairs {
			if i >= len(k.Pairs) {
				return
			}
			next := append(chain, step{pair.Key, k.Pairs[i].Value})
			note(pair.Line, pair.Column, next)
			visit(pair.Value, k.Pairs[i].Value, next)
		}
		for i, item := range w.Items {
			if i < len(k.Items) {
				visit(item, k.Items[i], append(chain, step{"", k.Items[i]}))
			}
		}
	}
	visit(written, keys, nil)
	chains := make([][]step, len(problems))
	for i, p := range problems {
		chains[i] = best[spot{p.Line, p.Column}]
	}
	return chains
}

// cut takes the smallest whole thing out that a problem is in, and notes it; false
// where there is none.
func (f *Host) cut(keys *yamldoc.Node, chain []step, p yamldoc.Problem) bool {
	n := whole(chain)
	if n == 0 {
		return false
	}
	parent := keys
	if n > 1 {
		parent = chain[n-2].node
	}
	gone := chain[n-1].node
	if !drop(parent, gone) {
		return true // with another problem
	}
	at := f.placeOf(chain)
	key, why := named(chain), strings.TrimPrefix(p.What, checkedHost+": ")
	if what, ofKey := strings.CutPrefix(p.What, "hosts."+checkedHost+"."); ofKey {
		key, why, _ = strings.Cut(what, ": ")
	}
	if n < len(chain) {
		why += "; left out with all of " + named(chain[:n])
	}
	why = strings.ReplaceAll(why, "hosts."+checkedHost+".", "") // which no file of the user's has
	if p.Hint != "" && strings.Count(p.Hint, ", ") <= mostListed {
		why += " (" + p.Hint + ")"
	}
	f.Unread = append(f.Unread, render.Unread{Path: at.file, Line: at.line, Column: at.column, Key: key, Value: gone.Text, Why: why})
	return true
}

// where gives a problem with the text that keys are written as the user's own place.
func (f *Host) where(keys *yamldoc.Node, p yamldoc.Problem) yamldoc.Problem {
	written, err := yamldoc.Parse("", render.Found{Keys: keys}.FabricFile(checkedHost))
	if err != nil {
		return p
	}
	if at := f.placeOf(chainsTo(written.Find("hosts", checkedHost), keys, yamldoc.Problems{p})[0]); at.file != "" {
		p.File, p.Line, p.Column = at.file, at.line, at.column
	}
	return p
}

// placeOf is where the last node of a chain was read, or the nearest one above it
// whose place is known; the zero place of none.
func (f *Host) placeOf(chain []step) place {
	for i := len(chain) - 1; i >= 0; i-- {
		if at, known := f.places[chain[i].node]; known {
			return at
		}
	}
	return place{}
}

// whole is how many steps of a chain lead to what can be left out by itself: an
// item of a list, a parameter, a key; a device whose other keys mean nothing
// without it.
func whole(chain []step) int {
	if len(chain) == 0 {
		return 0
	}
	if chain[0].key != "network" {
		for i, s := range chain {
			if s.key == "" {
				return i + 1
			}
		}
		return len(chain)
	}
	const section, device, key, below = 1, 2, 3, 4 // steps to each
	switch {
	case len(chain) <= device+1:
		return len(chain)
	case chain[section].key == "vlans" && (chain[key].key == "id" || chain[key].key == "link"):
		return device + 1
	case chain[key].key == "match":
		return device + 1 // without its match it would be the device of its name
	}
	for i := below; i < len(chain); i++ {
		if chain[i].key == "" {
			return i + 1
		}
	}
	return len(chain)
}

// named is a chain in words.
func named(chain []step) string {
	var keys []string
	for _, s := range chain {
		if s.key != "" {
			keys = append(keys, s.key)
		}
	}
	return strings.Join(keys, ".")
}

// drop takes a node out of the mapping or list that holds it; false where it does
// not.
func drop(parent, gone *yamldoc.Node) bool {
	for i := range parent.Pairs {
		if parent.Pairs[i].Value == gone {
			node.SetKey(parent, parent.Pairs[i].Key, nil)
			return true
		}
	}
	for i := range parent.Items {
		if parent.Items[i] == gone {
			parent.Items = append(parent.Items[:i:i], parent.Items[i+1:]...)
			return true
		}
	}
	return false
}

// Note says of something that is read, and stays, what somebody must know of it, at
// its place.
func (f *Host) Note(at *yamldoc.Node, key, why string) {
	where := f.places[at]
	f.Unread = append(f.Unread, render.Unread{Path: where.file, Line: max(where.line, 1), Column: where.column, Key: key, Value: at.Text, Why: why})
}

// Twice notes the keys that stand twice in one mapping of a YAML file, of which a
// reader takes one (yamldoc.ParseRepeated).
func (f *Host) Twice(file, text string) {
	var twice yamldoc.Problems
	if _, err := yamldoc.Parse(file, []byte(text)); errors.As(err, &twice) {
		for _, p := range twice {
			f.Unread = append(f.Unread, render.Unread{Path: file, Line: p.Line, Column: p.Column, Key: p.What, Why: "mappings are joined and of all else the last counts, where netplan does not refuse the file: write it once"})
		}
	}
}

// LeaveOut takes a device out that a fabric cannot hold, and notes it at the place of
// its definition.
func (f *Host) LeaveOut(section, id, why string) {
	devices := f.Network.Get(section)
	d := devices.Get(id)
	if d == nil {
		return
	}
	at := f.places[d]
	f.Unread = append(f.Unread, render.Unread{Path: at.file, Line: max(at.line, 1), Column: at.column, Key: section + "." + id, Why: why})
	node.SetKey(devices, id, nil)
	delete(f.made, devices)
	if len(devices.Pairs) == 0 {
		node.SetKey(f.Network, section, nil)
	}
}
