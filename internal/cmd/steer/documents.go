package steer

import (
	"github.com/linerate/linerate/internal/advise/snippet"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/steer"
)

// What is printed with --json.
var (
	showDocument      = console.Document[steer.Shown]{Name: "steer-show", About: "`steer show`"}
	waysDocument      = console.Document[shownWays]{Name: "steer-show-fabric", About: "`steer show --fabric FILE`: the ports of switches"}
	askDocument       = console.Document[askings]{Name: "steer-show-ask", About: "`steer show --ask SYSTEM`: what to type on a switch"}
	probeDocument     = console.Document[shownProbe]{Name: "steer-probe", About: "`steer probe`"}
	learnDocument     = console.Document[shownLearn]{Name: "steer-probe-learn", About: "`steer probe --learn`"}
	pickDocument      = console.Document[snippet.ShownPick]{Name: "steer-pick", About: "`steer pick`"}
	addressesDocument = console.Document[snippet.ShownAddresses]{Name: "steer-addresses", About: "`steer addresses`"}
	checkDocument     = console.Document[connected]{Name: "steer-addresses-check", About: "`steer addresses --check`"}
	mptcpDocument     = console.Document[snippet.ShownSubflows]{Name: "steer-mptcp", About: "`steer mptcp`"}
)

// Documents are what the commands of this package print with --json.
func Documents() []console.Described {
	return []console.Described{showDocument, waysDocument, askDocument, probeDocument, learnDocument, pickDocument, addressesDocument, checkDocument, mptcpDocument}
}

// shownWays are the ways of flows through switches.
type shownWays struct {
	Flows []shownWay `json:"flows"`
}

// askings are what to type on a switch.
type askings struct {
	System    string   `json:"system"`
	Questions []asking `json:"questions"`
}
