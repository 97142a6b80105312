package measure

import (
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/run/campaign"
)

// The words of --tool.
const (
	toolLinerate = "linerate"
	toolIPerf2   = "iperf2"
	toolIPerf3   = "iperf3"
)

// chooseTool lays --tool over a matrix, and refuses what the targets cannot do.
func chooseTool(m *campaign.Matrix, tool string, listens bool) error {
	switch {
	case tool == "", tool == toolLinerate, tool == toolIPerf3 && listens:
		return nil
	case tool == toolIPerf2 && (m.Base.MaxBytes > 0 || m.Care.MaxBytes > 0 || m.Care.MaxTime > 0 || len(m.Care.Watch) > 0 || m.Base.Fail != nil):
		return console.BadUsage("--tool iperf2: cannot be stopped in the middle, so no cap, no --watch and no --fail-link", "leave --tool out for those")
	case tool == toolIPerf2 && !listens:
		m.Base.Tool = toolIPerf2
		return nil
	case tool == toolIPerf2:
		return console.BadUsage("--tool iperf2: of a HOST:PORT only its iperf3 server can be asked", "name hosts that have iperf and that can be reached: ssh://user@host")
	case tool == toolIPerf3:
		return console.BadUsage("--tool iperf3: speaks to an iperf3 server, and these hosts are reached otherwise", "name the server as HOST:PORT; between these hosts leave --tool out, or --tool iperf2")
	}
	return console.BadUsage("--tool: want linerate, iperf2 or iperf3, not "+tool, "")
}
