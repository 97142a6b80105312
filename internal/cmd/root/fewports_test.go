package root

import (
	"encoding/json"
	"strings"
	"testing"
)

// TestBondOfFewPorts predicts and renders hosts whose bonds have one port and none, in
// every mode: one port carries what the port does, and no port is named as the reason.
func TestBondOfFewPorts(t *testing.T) {
	fabric := func(ports, mode string) string {
		text := strings.NewReplacer("[eth0, eth1]", ports, "802.3ad", mode).Replace(twoLinksWith("layer3+4"))
		if mode != "802.3ad" && mode != "balance-xor" {
			text = strings.ReplaceAll(text, "transmit-hash-policy: layer3+4, ", "")
		}
		return text
	}
	for _, mode := range []string{"balance-rr", "active-backup", "balance-xor", "broadcast", "802.3ad", "balance-tlb", "balance-alb"} {
		one, none := file(t, "one.yaml", fabric("[eth0]", mode)), file(t, "none.yaml", fabric("[]", mode))
		var doc struct {
			Predictions []struct {
				Direction string  `json:"direction"`
				Rate      float64 `json:"rate_bps"`
				Ceiling   float64 `json:"ceiling_bps"`
			} `json:"predictions"`
		}
		out := run(t, "", "predict", one, "--json")
		if err := json.Unmarshal([]byte(out.stdout), &doc); err != nil || len(doc.Predictions) != 15 {
			t.Fatalf("%s: %v, %d predictions\n%s", mode, err, len(doc.Predictions), out.stderr)
		}
		for _, p := range doc.Predictions {
			most := 1e9 * 1448 / 1538
			if p.Direction == "both" {
				most *= 2
			}
			if p.Rate <= 0 || p.Rate > p.Ceiling || p.Ceiling < most*0.99 || p.Ceiling > most*1.01 {
				t.Errorf("%s, one port: %+v, want at most %.0f", mode, p, most)
			}
		}
		if out := run(t, "", "predict", none); out.status != 2 || !strings.Contains(out.stderr, "bond0 on alpha has no port") {
			t.Errorf("%s, no port: exit %d, %s", mode, out.status, out.stderr)
		}
		for _, format := range []string{"netplan", "ifcfg", "networkd", "nmkeyfile", "nmstate", "iproute2"} {
			for _, path := range []string{one, none} {
				if out := run(t, "", "render", path, "--host", "alpha", "--to", format); format == "nmstate" && strings.Contains(out.stdout, "port: []") != (path == none) {
					t.Errorf("%s to nmstate: the ports\n%s", mode, out.stdout)
				}
				if out := run(t, "", "render", path, "--host", "alpha", "--to", format); out.status != 0 || !strings.Contains(out.stdout, "bond0") {
					t.Errorf("%s to %s: exit %d, %s", mode, format, out.status, out.stderr)
				}
			}
		}
	}
}
