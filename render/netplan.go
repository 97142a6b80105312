// Package render writes a declared network as the files of configuration
// systems. It must never read or change a host.
package render

import (
	"errors"
	"strings"

	"github.com/linerate/linerate/fabric"
)

// ErrEmpty is the error for a network that declares nothing.
var ErrEmpty = errors.New("the host has no network")

// Netplan returns the network as a netplan file: the user's own text below a
// top-level "network:" key, comments and order as they are, indented by two.
// The file belongs in /etc/netplan with mode 0600. The error is ErrEmpty.
func Netplan(n fabric.Network) ([]byte, error) {
	if n.Source == "" {
		return nil, ErrEmpty
	}
	var b strings.Builder
	b.WriteString("network:\n")
	for _, line := range strings.Split(strings.TrimSuffix(n.Source, "\n"), "\n") {
		if line != "" {
			b.WriteString("  " + line)
		}
		b.WriteString("\n")
	}
	return []byte(b.String()), nil
}
