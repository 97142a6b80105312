package cli

import "github.com/spf13/cobra"

// flagHeading is a title in a command's list of flags, and the flags under it.
type flagHeading struct{ title, flags string }

// headings are those of a command that has very many flags; others have none.
func headings(c *cobra.Command) []flagHeading {
	switch commandName(c) {
	case "measure":
		return measureHeadings
	case "predict":
		return predictHeadings
	}
	return nil
}

var predictHeadings = []flagHeading{
	{"What to predict", "streams directions ports socket-buffer together limits"},
	{"From what", "live calibrate calibrate-streams clouds show-clouds"},
	{"What to compare", "what-if buy from to"},
	{"The model itself", "validate format"},
}

var measureHeadings = []flagHeading{
	{"What to measure", "streams directions protocol tool pairs together sweep repeats aliases alias-subnet resume"},
	{"How each measurement ends", "duration precision"},
	{"Streams and sockets", "ports socket-buffer congestion mss no-delay dscp pacing device zerocopy pin datagram no-gso"},
	{"iperf3 servers and listeners", "busy-wait token-file"},
	{"Latency", "ping-count ping-interval ping-tcp no-loaded-latency"},
	{"A network in use", "rate-limit max-bytes max-seconds watch watch-factor wait no-route-check"},
	{"Changing hosts", "yes dry-run journal fail-link"},
	{"Output", "output force store"},
}
