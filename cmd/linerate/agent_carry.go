//go:build carry

package main

import (
	"embed"
	"strings"
)

// carried are the agents that deploy/package/agents builds before this program.
//
//go:embed agents
var carried embed.FS

// agent is the carried agent of a system, packed; nil where there is none.
func agent(system string) []byte {
	packed, err := carried.ReadFile("agents/linerate-agent-" + strings.ReplaceAll(system, "/", "-") + ".gz")
	if err != nil {
		return nil
	}
	return packed
}
