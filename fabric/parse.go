package fabric

import "github.com/linerate/linerate/fabric/yamldoc"

// Parse reads a fabric file. Name is what problems call it. The error is
// Problems, one for everything that is wrong and each with its line and
// column; nothing is returned beside it.
//
// A match that covers no known device is no problem here, since the devices
// may yet be observed: State lists it as missing, and ResolveAlone is asked
// when the file is all there is. Paths are filled in when the file has none:
// every pair with a common subnet.
func Parse(name string, text []byte) (Fabric, error) {
	ps := &yamldoc.Collector{File: name}
	text = yamldoc.Normalised(text)
	t := yamldoc.Read(ps, text)
	if t == nil || !isFabric(ps, t.Root) {
		return Fabric{}, ps.All.Err()
	}
	f := Fabric{File: name, Text: string(text)}
	fileKeys.decode(&decoder{Collector: ps}, "", t.Root, &f)
	if hosts := t.Root.Get("hosts"); hosts != nil && len(f.Hosts) == 0 && len(ps.All) == 0 {
		ps.At(hosts, "hosts: names no host", "")
	}
	for i := range f.Hosts {
		n := t.Root.Find("hosts", f.Hosts[i].Name, "network")
		f.Hosts[i].Network.Source = t.Source(unwrapped(n))
		f.Hosts[i].layBonding()
		f.Hosts[i].settleSystem(ps, n)
	}
	check(ps, t.Root, f)
	if len(ps.All) > 0 {
		return Fabric{}, ps.All.Err()
	}
	for i := range f.Hosts {
		if h := &f.Hosts[i]; h.Become != "" {
			h.Reach += BecomeQuery + h.Become
		}
	}
	if len(f.Paths) == 0 {
		f.Paths = f.EffectivePaths()
	}
	f.Paths = f.Over(f.Paths)
	return f, nil
}

// isFabric says at once what a file that is something else is.
func isFabric(ps *yamldoc.Collector, root *yamldoc.Node) bool {
	switch {
	case root.Kind == yamldoc.NullNode:
		ps.Add(1, 1, "the file is empty", "begin it with linerate: "+Version)
		return false
	case root.Kind != yamldoc.MappingNode:
		ps.At(root, "the file is "+root.Kind.String()+", must be a mapping", "begin it with linerate: "+Version)
		return false
	case root.Get("linerate") == nil && root.Get("network") != nil && root.Get("hosts") == nil:
		ps.At(root, "this is a netplan file, not a fabric", "put it below hosts: {NAME: {network: ...}} and begin with linerate: "+Version)
		return false
	}
	return true
}

// ParseNetwork reads one netplan file, with or without its "network" key, as
// hosts.NAME.network of a fabric would hold it.
func ParseNetwork(name string, text []byte) (Network, error) {
	ps := &yamldoc.Collector{File: name}
	text = yamldoc.Normalised(text)
	t := yamldoc.Read(ps, text)
	if t == nil {
		return Network{}, ps.All.Err()
	}
	var h Host
	readNetwork(&decoder{Collector: ps}, "network", t.Root, &h)
	checkNetwork(ps, "network", t.Root, h)
	ps.CheckPlain("network", t.Root)
	if len(ps.All) > 0 {
		return Network{}, ps.All.Err()
	}
	h.Network.Source = t.Source(unwrapped(t.Root))
	return h.Network, nil
}

// CheckYAML refuses text that is not YAML of the depth, the size and the number
// of references that a fabric file may have: parsers recurse on these. For
// other files of the program's, before they are handed to a parser. The error
// is Problems.
func CheckYAML(name string, text []byte) error {
	ps := &yamldoc.Collector{File: name}
	yamldoc.Read(ps, yamldoc.Normalised(text))
	return ps.All.Err()
}
