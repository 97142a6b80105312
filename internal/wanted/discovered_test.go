package wanted_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/fabric/describe"
	"github.com/linerate/linerate/internal/wanted"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/plan"
)

// discovered is what a host is written as.
func discovered(hosts ...netstate.Host) string {
	reach := map[string]string{}
	for _, h := range hosts {
		reach[h.Name] = "netns:" + h.Name
	}
	return string(describe.Write(hosts, nil, reach, fabric.Measure{}))
}

// unchanged is an error where a plan of the file that a host was written as, or
// an exact one, would change it, or where the file says what is not so.
func unchanged(h netstate.Host, text string) error {
	f, err := fabric.Parse("discovered.yaml", []byte(text))
	if err != nil {
		return fmt.Errorf("the file is refused: %w", err)
	}
	for _, exact := range []bool{false, true} {
		want, err := wanted.Of(wanted.Request{Fabric: f, Host: h.Name, Observed: h, Exact: exact, Profiles: []string{}})
		if err != nil {
			return fmt.Errorf("exact %v: %w", exact, err)
		}
		p, err := plan.Between(h, want.Host)
		if err != nil {
			return fmt.Errorf("exact %v: %w", exact, err)
		}
		if len(p.Steps) > 0 {
			return fmt.Errorf("exact %v: the plan is not empty:\n%s", exact, p.Text(80))
		}
	}
	file, _ := f.Host(h.Name)
	return truthful(h, file, text)
}

// truthful is an error for a route or rule of the file that the host does not
// have as it stands there, and for one of the host that the file neither says nor
// names.
func truthful(h netstate.Host, file fabric.Host, text string) error {
	routes, rules := map[string]bool{}, map[string]bool{}
	for _, d := range file.Network.Devices() {
		for _, r := range d.Routes {
			routes[r.Kernel(d.ID).Words(nil)] = true
		}
		for _, r := range d.Rules {
			k := r.Kernel()
			rules[k.Family+k.Words()] = true
		}
	}
	for _, m := range file.Multipath {
		routes[m.Kernel().Words(nil)] = true
	}
	var problems []error
	for _, r := range h.Routes {
		if r.Metric == 0 && r.Dst.Addr().Is6() {
			r.Metric = 1024
		}
		words := r.Words(nil)
		named := strings.Contains(text, "route "+words+" ") || r.Protocol == "kernel" || r.Protocol == "dhcp" || r.Protocol == "ra"
		if !routes[words] && !named {
			problems = append(problems, fmt.Errorf("route %s proto %s is neither said nor named", words, r.Protocol))
		}
		delete(routes, words)
	}
	for _, r := range h.Rules {
		words := r.Family + r.Words()
		if !rules[words] && !strings.Contains(text, "rule "+r.Words()+" ") && r.Priority != 0 && r.Priority < 32766 {
			problems = append(problems, fmt.Errorf("rule %s is neither said nor named", words))
		}
		delete(rules, words)
	}
	for words := range routes {
		problems = append(problems, fmt.Errorf("the file has the route %s, the host has not", words))
	}
	for words := range rules {
		problems = append(problems, fmt.Errorf("the file has the rule %s, the host has not", words))
	}
	return errors.Join(problems...)
}

// drawnHosts is how many hosts are drawn, a few milliseconds each.
const drawnHosts = 1500

// TestDiscoveredPlansNothing: a host that somebody else set up is written, and
// the plan of that file is empty, an exact one too.
func TestDiscoveredPlansNothing(t *testing.T) {
	failed := 0
	for seed := range uint64(drawnHosts) {
		h := drawHost(seed)
		text := discovered(h)
		if err := unchanged(h, text); err != nil {
			t.Errorf("host %d: %v\n%s", seed, err, text)
			if failed++; failed == 3 {
				t.FailNow()
			}
		}
	}
}
