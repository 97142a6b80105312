package measure

import (
	"github.com/linerate/linerate/internal/cmd/console"
)

var Headings = []console.FlagHeading{
	{Title: "What to measure", Flags: "streams directions protocol tool pairs together sweep repeats aliases alias-subnet resume"},
	{Title: "How each measurement ends", Flags: "duration precision"},
	{Title: "Streams and sockets", Flags: "ports socket-buffer congestion mss no-delay dscp pacing device zerocopy pin datagram no-gso"},
	{Title: "iperf3 servers and listeners", Flags: "busy-wait token-file"},
	{Title: "Latency", Flags: "ping-count ping-interval ping-tcp no-loaded-latency"},
	{Title: "A network in use", Flags: "rate-limit max-bytes max-seconds watch watch-factor wait no-route-check"},
	{Title: "Changing hosts", Flags: "yes dry-run journal fail-link"},
	{Title: "Output", Flags: "output force store"},
}
