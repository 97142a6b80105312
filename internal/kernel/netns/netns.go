// Package netns is the only place that enters a network namespace. Work runs
// on a thread of its own that is thrown away afterwards: a thread that has
// been elsewhere must never serve other goroutines.
package netns

// Namespace is a network namespace to work in. The zero Namespace is the one
// the process runs in.
type Namespace struct {
	// Name is the name under /run/netns; "" is the process's own.
	Name string
}

// Named is the namespace that `ip netns` calls name.
func Named(name string) Namespace { return Namespace{Name: name} }

// String is the name, or "this host".
func (n Namespace) String() string {
	if n.Name == "" {
		return "this host"
	}
	return n.Name
}
