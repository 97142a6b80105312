package remedy

import (
	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/render/switchlines"
)

// SwitchHash has the switch before a host hash by addresses and ports, in its own words
// where the fabric file says whose it is.
func SwitchHash(paths []fabric.Path, toward string) record.Action {
	a := record.Action{Host: toward, Switch: record.HashPorts}
	for _, p := range paths {
		if n := fabric.NetworkOf(p); n != nil && (p.From == toward || p.To == toward) {
			if s, ok := switchlines.SystemOf(n.SystemTowards(toward)); ok {
				a.Lines = s.Hash.Change
			}
			return a
		}
	}
	return a
}

// SwitchWords are how a switch of the fabric file is told to hash by addresses and ports;
// "" where the file does not say what it runs.
func SwitchWords(paths []fabric.Path, name string) string {
	for _, p := range paths {
		if n := fabric.NetworkOf(p); n != nil {
			at, _ := n.Switch(name)
			if s, ok := switchlines.SystemOf(at.System); ok {
				return s.Hash.Words()
			}
		}
	}
	return ""
}
