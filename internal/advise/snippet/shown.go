package snippet

import (
	"github.com/linerate/linerate/steer"
	"github.com/linerate/linerate/steer/subflow"
)

// ShownPick is the document of `linerate steer pick --json`.
type ShownPick struct {
	steer.ShownPick
	// Snippet runs the streams with the program asked for.
	Snippet *Snippet `json:"recipe,omitempty"`
}

// ShownAddresses is the document of `linerate steer addresses --json`.
type ShownAddresses struct {
	steer.ShownAddresses
	// Commands are lines to type or to put into files: for each host (near,
	// far, client, server) by kind (ip, netplan, mount, fstab, ...).
	Commands map[string]map[string][]string `json:"commands"`
}

// ShownSubflows is the document of `linerate steer mptcp --json`.
type ShownSubflows struct {
	subflow.ShownSubflows
	// Commands are lines to type or to put into files, by host (client,
	// server).
	Commands map[string]SubflowCommands `json:"commands"`
}
