// Package overlays judges tunnels: what a bond's hash makes of their packets, which
// receive queue takes them, whether they fit into the links below.
package overlays

import "github.com/linerate/linerate/diagnose/pasted/scene"

// Rules are all there are about tunnels. Their order does not matter.
func Rules() []scene.Rule { return []scene.Rule{outerFlow, tunnelFrames, tunnelQueue} }
