package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/run/campaign"
	"github.com/linerate/linerate/netstate"
)

// early refuses flags that no host makes right, before one is reached.
func (r *runFlags) early(args []string, given func(string) bool) error {
	if names, _ := splitTargets(args); len(names) == 0 {
		for _, name := range []string{"token-file", "busy-wait"} {
			if given(name) {
				return usage("--"+name+": is for a target that listens, and none is named", "name it as HOST or HOST:PORT, or leave the flag out")
			}
		}
	}
	return output{r.out, r.force}.check("measure -o", aRecordFile)
}

// ofHosts refuses what the hosts, now that they were seen, do not have.
func (r *runFlags) ofHosts(c *campaign.Campaign, m campaign.Matrix) error {
	congestions := []string{m.Base.Socket.Congestion}
	flag := "--congestion"
	if r.sweeps.sweep.Setting == "congestion" {
		flag = "--sweep congestion"
		for _, v := range r.sweeps.sweep.Variants {
			congestions = append(congestions, v.Value)
		}
	}
	for _, host := range senders(c, m) {
		for _, name := range congestions {
			if err := checkCongestion(flag, host, name); err != nil {
				return err
			}
		}
		if err := checkDevice(host, m.Base.Socket.Device); err != nil {
			return err
		}
	}
	return nil
}

// senders are the observed hosts that send in some direction of a matrix.
func senders(c *campaign.Campaign, m campaign.Matrix) []netstate.Host {
	var out []netstate.Host
	seen := make(map[string]bool)
	for _, p := range c.State().Paths {
		for _, d := range m.Directions {
			for _, name := range [...]string{p.From, p.To} {
				sends := d == flow.Both || (d == flow.Forward) == (name == p.From)
				host, ok := c.State().Hosts[name]
				if !sends || seen[name] || !ok || !c.Reached(name) {
					continue
				}
				seen[name] = true
				out = append(out, host)
			}
		}
	}
	return out
}

// loadable are the congestion controls of the kernel's tree (net/ipv4/Kconfig,
// Linux 6.18): what is not listed as available may be a module that the kernel
// loads when it is asked for.
var loadable = [...]string{
	"bbr", "bic", "cdg", "cubic", "dctcp", "highspeed", "htcp", "hybla", "illinois", "lp", "nv", "reno", "scalable", "vegas", "veno", "westwood", "yeah",
}

const availableCongestion = "net.ipv4.tcp_available_congestion_control"

func checkCongestion(flag string, host netstate.Host, name string) error {
	have := strings.Fields(host.Sysctls[availableCongestion].Value)
	if name == "" || len(have) == 0 || slices.Contains(have, name) || slices.Contains(loadable[:], name) {
		return nil
	}
	return usage(fmt.Sprintf("%s %s: %s knows no such congestion control", flag, name, host.Name), "it has "+strings.Join(have, ", "))
}

func checkDevice(host netstate.Host, name string) error {
	if name == "" || len(host.Links) == 0 {
		return nil
	}
	var have []string
	for _, l := range host.Links {
		if l.Name == name {
			return nil
		}
		have = append(have, l.Name)
	}
	return usage(fmt.Sprintf("--device %s: %s has no such link", name, host.Name), "it has "+strings.Join(have, ", "))
}
