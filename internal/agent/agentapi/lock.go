package agentapi

import (
	"fmt"
	"strings"
	"time"

	"github.com/linerate/linerate/internal/plaintext"
)

// LockRequest asks for the host, or rather its network namespace, as the only
// run that measures or changes it. It is held until Empty, or until
// the connection to the agent ends, however it ends. A host that another run
// holds is ErrBusy, and the error says who; nobody waits here.
type LockRequest struct {
	Holder Holder `json:"holder"`
}

// LockReply is an answer: the host is held.
type LockReply struct {
	// Note says what the hold does not keep off; "" is nothing.
	Note string `json:"note,omitempty"`
}

// Holder is a run that holds hosts.
type Holder struct {
	// Run tells runs apart. A run may hold one namespace under several names.
	Run string `json:"run"`
	// User, Host and PID are the controller's; What is its command.
	User string `json:"user,omitempty"`
	Host string `json:"host,omitempty"`
	PID  int    `json:"pid,omitempty"`
	What string `json:"what,omitempty"`
	// Since is set by the host, when it grants the hold.
	Since time.Time `json:"since,omitzero"`
}

// longestWord bounds each word of a holder as it is shown and kept.
const longestWord = 120

// Clean is the holder with words that are safe to print: one line each, and
// no longer than a line.
func (h Holder) Clean() Holder {
	for _, word := range []*string{&h.Run, &h.User, &h.Host, &h.What} {
		*word = plaintext.Line(strings.ReplaceAll(*word, "\n", "?")) // an end of a line shows
		if runes := []rune(*word); len(runes) > longestWord {
			*word = string(runes[:longestWord]) + "..."
		}
	}
	return h
}

// Text says who holds, and for how long at the moment now: "locked by root@ctl,
// process 4711 (measure fabric.yaml), for 2m10s".
func (h Holder) Text(now time.Time) string {
	h = h.Clean()
	text := "locked by another run"
	switch {
	case h.User != "" && h.Host != "":
		text = "locked by " + h.User + "@" + h.Host
	case h.User+h.Host != "":
		text = "locked by " + h.User + h.Host
	}
	if h.PID > 0 {
		text += fmt.Sprintf(", process %d", h.PID)
	}
	if h.What != "" {
		text += " (" + h.What + ")"
	}
	if !h.Since.IsZero() {
		text += fmt.Sprintf(", for %v", max(now.Sub(h.Since), 0).Round(time.Second))
	}
	return text
}
