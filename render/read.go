package render

import (
	"fmt"

	"github.com/linerate/linerate/fabric"
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
	Keys *fabric.Node
	// Unread is what Keys leaves out.
	Unread []Unread
}

// FabricFile is what was found as a fabric file with one host.
func (f Found) FabricFile(host string) []byte {
	hosts := &fabric.Node{Kind: fabric.MappingNode, Pairs: []fabric.Pair{{Key: host, Value: f.Keys}}}
	return []byte(fabric.Write(&fabric.Node{Kind: fabric.MappingNode, Pairs: []fabric.Pair{
		{Key: "linerate", Value: &fabric.Node{Kind: fabric.ScalarNode, Text: fabric.Version}},
		{Key: "hosts", Value: hosts},
	}}))
}
