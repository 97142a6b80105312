package render

import (
	"fmt"
	"sort"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/fabric/yamldoc"
)

// Unread is a line of a file that says something which a fabric has no words
// for, or which could not be understood.
type Unread struct {
	Path string `json:"path"`
	Line int    `json:"line"` // from 1
	// Key is the file's own word with its section ("[connection] zone").
	Key   string `json:"key"`
	Value string `json:"value,omitempty"`
	Why   string `json:"why"`
}

// String is the line as compilers point at one.
func (u Unread) String() string { return fmt.Sprintf("%s:%d: %s: %s", u.Path, u.Line, u.Key, u.Why) }

// Found is what the files of a format say of a host.
type Found struct {
	// Keys is the host as hosts.NAME of a fabric file holds it: "network", and
	// beside it what netplan has no words for. Sysctls stand under "sysctl".
	Keys *yamldoc.Node
	// Unread is what Keys leaves out.
	Unread []Unread
}

// reader is a format's way back, in the one table of formats that are read.
type reader struct {
	format Format
	read   func(files map[string]string) (Found, error)
}

// Read returns what a format's files, text by path, say of a host. The error
// is ErrFormat for a format that is not read back, ErrEmpty where the files
// say nothing of a network.
func Read(f Format, files map[string]string) (Found, error) {
	for _, r := range readers() {
		if r.format != f {
			continue
		}
		found, err := r.read(files)
		if err != nil {
			return Found{}, fmt.Errorf("read %s: %w", f, err)
		}
		sort.SliceStable(found.Unread, func(i, j int) bool {
			a, b := found.Unread[i], found.Unread[j]
			return a.Path < b.Path || a.Path == b.Path && a.Line < b.Line
		})
		return found, nil
	}
	return Found{}, fmt.Errorf("%w: %s is not read back", ErrFormat, f)
}

// FabricFile is what was found as a fabric file with one host.
func (f Found) FabricFile(host string) []byte {
	hosts := &yamldoc.Node{Kind: yamldoc.MappingNode, Pairs: []yamldoc.Pair{{Key: host, Value: f.Keys}}}
	return []byte(yamldoc.Write(&yamldoc.Node{Kind: yamldoc.MappingNode, Pairs: []yamldoc.Pair{
		{Key: "linerate", Value: &yamldoc.Node{Kind: yamldoc.ScalarNode, Text: fabric.Version}},
		{Key: "hosts", Value: hosts},
	}}))
}
