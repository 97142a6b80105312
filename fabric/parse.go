package fabric

// Parse reads a fabric file. Name is what problems call it. The error is
// Problems, one for everything that is wrong and each with its line and
// column; nothing is returned beside it.
//
// A match that covers no known device is no problem here, since the devices
// may yet be observed: State lists it as missing, and ResolveAlone is asked
// when the file is all there is. Paths are filled in when the file has none:
// every pair with a common subnet.
func Parse(name string, text []byte) (Fabric, error) {
	ps := &problems{file: name}
	text = normalised(text)
	t := parseTree(ps, text)
	if t == nil || !isFabric(ps, t.root) {
		return Fabric{}, ps.all.err()
	}
	f := Fabric{File: name, Text: string(text)}
	fileKeys.decode(&decoder{ps}, "", t.root, &f)
	if hosts := t.root.Get("hosts"); hosts != nil && len(f.Hosts) == 0 && len(ps.all) == 0 {
		ps.at(hosts, "hosts: names no host", "")
	}
	for i := range f.Hosts {
		n := t.root.find("hosts", f.Hosts[i].Name, "network")
		f.Hosts[i].Network.Source = t.source(n)
		f.Hosts[i].layBonding()
	}
	check(ps, t.root, f)
	if len(ps.all) > 0 {
		return Fabric{}, ps.all.err()
	}
	for i := range f.Hosts {
		if h := &f.Hosts[i]; h.Become != "" {
			h.Reach += becomeQuery + h.Become
		}
	}
	if len(f.Paths) == 0 {
		f.Paths = f.EffectivePaths()
	}
	return f, nil
}

// isFabric says at once what a file that is something else is.
func isFabric(ps *problems, root *Node) bool {
	switch {
	case root.Kind == NullNode:
		ps.add(1, 1, "the file is empty", "begin it with linerate: "+Version)
		return false
	case root.Kind != MappingNode:
		ps.at(root, "the file is "+root.Kind.String()+", must be a mapping", "begin it with linerate: "+Version)
		return false
	case root.Get("linerate") == nil && root.Get("network") != nil && root.Get("hosts") == nil:
		ps.at(root, "this is a netplan file, not a fabric", "put it below hosts: {NAME: {network: ...}} and begin with linerate: "+Version)
		return false
	}
	return true
}

// ParseNetwork reads one netplan file, with or without its "network" key, as
// hosts.NAME.network of a fabric would hold it.
func ParseNetwork(name string, text []byte) (Network, error) {
	ps := &problems{file: name}
	text = normalised(text)
	t := parseTree(ps, text)
	if t == nil {
		return Network{}, ps.all.err()
	}
	var h Host
	readNetwork(&decoder{ps}, "network", t.root, &h)
	checkNetwork(ps, "network", t.root, h)
	checkText(ps, "network", t.root)
	if len(ps.all) > 0 {
		return Network{}, ps.all.err()
	}
	h.Network.Source = t.source(t.root)
	return h.Network, nil
}

// CheckYAML refuses text that is not YAML of the depth, the size and the number
// of references that a fabric file may have: parsers recurse on these. For
// other files of the program's, before they are handed to a parser. The error
// is Problems.
func CheckYAML(name string, text []byte) error {
	ps := &problems{file: name}
	parseTree(ps, normalised(text))
	return ps.all.err()
}
