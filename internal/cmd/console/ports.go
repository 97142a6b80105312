package console

import (
	"strings"

	"github.com/linerate/linerate/flow"
)

const portsHint = "write chosen, kernel, ports for the receiver such as 5201-5216, or both: kernel,5201-5216"

// TrialPorts reads --ports: how source ports are found, "" where it does not
// say, and the only ports that receivers may listen on; nil is any.
func TrialPorts(s string) (word string, within *flow.PortRange, err error) {
	for _, part := range strings.Split(s, ",") {
		part = strings.TrimSpace(part)
		switch {
		case part == "chosen" || part == "kernel":
			if word != "" {
				return "", nil, BadUsage("--ports: want chosen or kernel, once, not "+s, portsHint)
			}
			word = part
		case part == "" || part[0] < '0' || part[0] > '9':
			return "", nil, BadUsage("--ports: want chosen, kernel or ports, not "+s, portsHint)
		default:
			r, err := flow.ParsePortRange(part)
			if err != nil || r.First == 0 {
				return "", nil, BadUsage("--ports: want ports from 1 to 65535, such as 5201-5216, not "+part, portsHint)
			}
			if within != nil {
				return "", nil, BadUsage("--ports: want one range of ports, not "+s, portsHint)
			}
			within = &r
		}
	}
	return word, within, nil
}

// ListenPorts reads --ports of a command that finds source ports by itself: the only
// ports that receivers may listen on; nil is any.
func ListenPorts(s string) (*flow.PortRange, error) {
	if s == "" {
		return nil, nil
	}
	word, within, err := TrialPorts(s)
	if err == nil && word != "" {
		return nil, BadUsage("--ports: want ports for the receiver alone, not "+s, "write a range such as 5201-5216; source ports are chosen here as each trial needs them")
	}
	return within, err
}
