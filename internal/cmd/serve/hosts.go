package serve

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/linerate/linerate/internal/agent/nats/results"
	"github.com/linerate/linerate/internal/agent/nats/wire"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/cmd/progress"
)

// hostState is one host of `serve hosts --json`.
type hostState struct {
	Name string `json:"name"`
	wire.State
}

// quietAfter is how long ago a host may have said something before it is taken for gone:
// agents speak at least every minute and a half.
const quietAfter = 3 * time.Minute

func newHosts(con *console.Console) *cobra.Command {
	return &cobra.Command{
		Use: "hosts", Args: console.NoArgs, Short: "the hosts of the fleet, as their agents last said",
		Long: `Lists the hosts that were ever on the bus at --nats, as their agents last said of
themselves. None is asked, so it takes no longer with a thousand. One that has
said nothing for three minutes is shown as gone.

` + console.ExitHelp,
		RunE: func(cmd *cobra.Command, _ []string) error {
			conn, _, err := con.Bus.Conn(cmd.Context(), false)
			if err != nil {
				return err
			}
			states, refused, err := results.States(cmd.Context(), conn)
			if err != nil {
				return err
			}
			for _, host := range slices.Sorted(maps.Keys(refused)) {
				fmt.Fprintf(con.Stderr, "warning: %s: what is kept of it is not believed: %v\n", host, refused[host])
			}
			all := make([]hostState, 0, len(states))
			for _, name := range slices.Sorted(maps.Keys(states)) {
				all = append(all, hostState{name, states[name]})
			}
			if con.JSON {
				return hostsDocument.Print(con, fleetHosts{all})
			}
			for _, h := range all {
				since := "up"
				if h.Quiet > quietAfter {
					since = "gone for " + progress.Roughly(h.Quiet)
				}
				fmt.Fprintf(con.Stdout, "%-20s %-8s %-12s %s %s, linerate %s, %d links\n", h.Name, h.Most, since, h.Hello.OS, h.Hello.Kernel, h.Hello.Linerate, len(h.Links))
			}
			return nil
		},
	}
}
