// Package netns is the only place that enters a network namespace. Work runs
// on a thread of its own that is thrown away afterwards: a thread that has
// been elsewhere must never serve other goroutines.
package netns

// Namespace is a network namespace to work in. The zero Namespace is the one
// the process runs in.
type Namespace struct {
	// Name is the name under /run/netns; "" is the process's own.
	Name string
	// file names a namespace that has no name; "" otherwise.
	file string
}

// own reports whether it is the one that the process runs in.
func (n Namespace) own() bool { return n.Name == "" && n.file == "" }

// Named is the namespace that `ip netns` calls name.
func Named(name string) Namespace { return Namespace{Name: name} }

// String is the name, "this host", or "a namespace without a name".
func (n Namespace) String() string {
	switch {
	case n.own():
		return "this host"
	case n.Name == "":
		return "a namespace without a name"
	}
	return n.Name
}
