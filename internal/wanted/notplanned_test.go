package wanted_test

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/internal/wanted"
	"github.com/linerate/linerate/plan"
)

// outcome is all that a host's network section comes to: what the file declares,
// what is wanted with its reasons, and the plan.
func outcome(t *testing.T, network string) string {
	t.Helper()
	f, err := fabric.Parse("f.yaml", []byte("linerate: v1\nhosts: {h: {network: {"+network+"}, profiles: [throughput]}}\n"))
	if err != nil {
		return "refused: " + err.Error()
	}
	declared, err := f.State("h")
	if err != nil {
		t.Fatal(err)
	}
	observed := running()
	port, _ := observed.Link("eth1")
	six := netip.MustParsePrefix("2001:db8::7/64")
	port.Addresses, port.Leases = append(port.Addresses, six), append(port.Leases, six)
	observed.SetLink(port)
	state, err := wanted.Of(wanted.Request{Fabric: f, Host: "h", Observed: observed, Exact: true})
	steps, planErr := plan.Between(observed, state.Host)
	all, broken := json.Marshal([]any{declared, state, steps})
	if broken != nil {
		t.Fatal(broken)
	}
	return fmt.Sprintf("%s\n%v\n%v", all, err, planErr)
}

// TestNotPlannedKeys gives each key that the reference calls not planned many
// values, and expects the plan to stay: a key that plan reads has other words.
// The keys with other words must change something, or this test sees nothing.
func TestNotPlannedKeys(t *testing.T) {
	var root struct {
		Defs map[string]struct {
			Properties map[string]struct{ Description string }
		} `json:"$defs"`
	}
	if err := json.Unmarshal(fabric.Schema(), &root); err != nil {
		t.Fatal(err)
	}
	// Where a definition's keys stand, and a device beside it that is observed.
	places := map[string][]string{
		"ethernet": {"ethernets: {eth0: {%s}}", "ethernets: {eth1: {%s}}", "ethernets: {eth9: {%s}}"},
		"bond":     {"ethernets: {eth1: {}, eth4: {}}, bonds: {b9: {interfaces: [eth1, eth4], %s}}", "ethernets: {eth1: {}, eth4: {}}, bonds: {b9: {interfaces: [eth1, eth4], accept-ra: false, %s}}"},
		"vlan":     {"ethernets: {eth1: {}}, vlans: {v: {id: 7, link: eth1, %s}}"},
		"bridge":   {"bridges: {docker0: {%s}}"},
		"route":    {"ethernets: {eth0: {routes: [{to: 10.41.0.0/16, via: 10.0.0.254, %s}]}}"},
		"network":  {"ethernets: {eth0: {}}, %s"},
	}
	values := []string{"true", "false", "off", "manual", "1", "1300", "[]", "{}", "{a: 1}", "eth1", "link-local", "[10.0.0.9]"}
	kept, moved := 0, map[string]bool{}
	for kind, networks := range places {
		for key, p := range root.Defs[kind].Properties {
			quiet := strings.HasSuffix(p.Description, fabric.NotPlanned)
			if quiet {
				kept++
			}
			if !quiet && !otherWords[key] {
				continue
			}
			for _, network := range networks {
				without := outcome(t, fmt.Sprintf(network, ""))
				for _, value := range values {
					with := outcome(t, fmt.Sprintf(network, key+": "+value))
					if with == without || strings.HasPrefix(with, "refused: ") {
						continue
					}
					moved[key] = true
					if quiet {
						t.Errorf("%s: %s of a %s is called %q, and changes the plan:\n%s", key, value, kind, p.Description, cmp.Diff(without, with))
					}
				}
			}
		}
	}
	if kept < 60 {
		t.Errorf("%d keys are called not planned", kept)
	}
	for key := range otherWords {
		if !moved[key] {
			t.Errorf("no value of %s changes a plan", key)
		}
	}
}

// otherWords are keys that are kept as they were written, and planned.
var otherWords = map[string]bool{
	"openvswitch": true, "dhcp4": true, "dhcp6": true, "accept-ra": true, "optional": true, "activation-mode": true,
	"congestion-window": true, "advertised-receive-window": true, "advertised-mss": true,
	"generic-receive-offload": true, "tcp-segmentation-offload": true, "large-receive-offload": true,
}
