package root

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/linerate/linerate/internal/cmd/console"
)

// twoLinks is two hosts with an LACP bond of two links each.
const twoLinks = `linerate: v1
hosts:
  alpha: &host
    network:
      version: 2
      ethernets: {eth0: {}, eth1: {}}
      bonds:
        bond0:
          interfaces: [eth0, eth1]
          parameters: {mode: 802.3ad, transmit-hash-policy: POLICY, mii-monitor-interval: 100}
          addresses: [10.0.0.1/24]
    hardware: {links: {eth0: {speed: 1G}, eth1: {speed: 1G}}}
    kernel: "6.1"
  beta:
    network:
      version: 2
      ethernets: {eth0: {}, eth1: {}}
      bonds:
        bond0:
          interfaces: [eth0, eth1]
          parameters: {mode: 802.3ad, transmit-hash-policy: POLICY, mii-monitor-interval: 100}
          addresses: [10.0.0.2/24]
    hardware: {links: {eth0: {speed: 1G}, eth1: {speed: 1G}}}
    kernel: "6.1"
paths:
  - {between: [alpha, beta], rtt: 1ms, switch_hash: layer3+4}
`

func twoLinksWith(policy string) string {
	return strings.NewReplacer("POLICY", policy, " &host", "").Replace(twoLinks)
}

func TestPredictJSON(t *testing.T) {
	doc := document(t, run(t, "", "predict", file(t, "fabric.yaml", twoLinksWith("layer3+4")), "--json"))
	wantKeys(t, "document", doc, "predictions")
	all := doc["predictions"].([]any)
	if len(all) != 15 {
		t.Fatalf("%d predictions, want 5 stream counts in 3 directions", len(all))
	}
	for _, p := range all {
		wantKeys(t, "prediction", p, "from to direction streams protocol rate_bps ceiling_bps limit limits",
			"kernel_ports_bps", "kernel_ports_worst_bps", "kernel_ports_chances", "kernel_ports_chances", "rate_low_bps", "rate_high_bps", "range_why", "forward_bps", "reverse_bps")
		limits := p.(map[string]any)["limits"].([]any)
		wantKeys(t, "limit", limits[0], "cause rate_bps where why")
		if p.(map[string]any)["limit"] != limits[0].(map[string]any)["cause"] {
			t.Errorf("limit is not the first of limits: %v", p)
		}
	}
	rate := func(direction string, streams float64) float64 {
		for _, p := range all {
			if m := p.(map[string]any); m["direction"] == direction && m["streams"] == streams {
				return m["rate_bps"].(float64)
			}
		}
		t.Fatalf("no prediction for %s, %v", direction, streams)
		return 0
	}
	// 1 Gbit/s x 1448/1538 a link.
	if got := rate("forward", 1); got < 930e6 || got > 945e6 {
		t.Errorf("one stream: %v bit/s, want one link", got)
	}
	if got := rate("both", 2); got < 3.7e9 || got > 3.8e9 {
		t.Errorf("two streams each way: %v bit/s, want both links both ways", got)
	}
}

func TestPredictFlags(t *testing.T) {
	name := file(t, "fabric.yaml", twoLinksWith("layer3+4")+"measure: {streams: [3], directions: [reverse], ports: kernel}\n")
	cells := func(args ...string) []string {
		var out []string
		for _, p := range document(t, run(t, "", append([]string{"predict", name, "--json"}, args...)...))["predictions"].([]any) {
			m := p.(map[string]any)
			out = append(out, m["direction"].(string)+string(rune('0'+int(m["streams"].(float64)))))
		}
		return out
	}
	for _, c := range []struct {
		args []string
		want []string
	}{
		{nil, []string{"reverse3"}},
		{[]string{"--streams", "1, 2"}, []string{"reverse1", "reverse2"}},
		{[]string{"--directions", "forward,both"}, []string{"forward3", "both3"}},
	} {
		if got := cells(c.args...); !slices.Equal(got, c.want) {
			t.Errorf("%q: %v, want %v", c.args, got, c.want)
		}
	}
	ports := func(word string) float64 {
		doc := document(t, run(t, "", "predict", name, "--json", "--directions", "forward", "--streams", "2", "--ports", word))
		return doc["predictions"].([]any)[0].(map[string]any)["rate_bps"].(float64)
	}
	if chosen, kernel := ports("chosen"), ports("kernel"); chosen <= kernel {
		t.Errorf("chosen ports %v bit/s, the kernel's %v: want more", chosen, kernel)
	}
}

func TestPredictText(t *testing.T) {
	o := run(t, "", "predict", file(t, "fabric.yaml", twoLinksWith("layer2")))
	if o.status != console.ExitDone || o.stderr != "" {
		t.Fatalf("exit %d, %s", o.status, o.stderr)
	}
	fits(t, o.stdout)
	for _, want := range []string{"alpha -> beta, tcp, payload in Gbit/s\n", "LIMITED BY, NEXT", "both\n", "single-link", "  single-link, alpha"} {
		if !strings.Contains(o.stdout, want) {
			t.Errorf("no %q in\n%s", want, o.stdout)
		}
	}
	if n := strings.Count(o.stdout, "  single-link, "); n != 1 {
		t.Errorf("the limit is explained %d times:\n%s", n, o.stdout)
	}
}

// A pair that the file says too little about is there, unknown, with the
// reason, and the others are predicted.
func TestPredictUnknownSpeed(t *testing.T) {
	open := strings.ReplaceAll(twoLinksWith("layer3+4"), "hardware: {links: {eth0: {speed: 1G}, eth1: {speed: 1G}}}", "hardware: {links: {eth0: {}, eth1: {}}}")
	alone := strings.Replace(open, "rtt: 1ms, ", "", 1)
	name := file(t, "fabric.yaml", alone)
	o := run(t, "", "predict", name, "--json", "--streams", "1,8")
	all := document(t, o)["predictions"].([]any)
	if len(all) != 6 {
		t.Fatalf("%d predictions, want 6", len(all))
	}
	for _, p := range all {
		m := p.(map[string]any)
		limit := m["limits"].([]any)[0].(map[string]any)
		if m["limit"] != "unknown" || m["rate_bps"] != 0.0 || limit["cause"] != "unknown" || !strings.Contains(limit["why"].(string), "hardware.links") {
			t.Errorf("prediction %v, want unknown and what to write", m)
		}
	}
	if text := run(t, "", "predict", name); text.status != console.ExitDone || !strings.Contains(text.stdout, "unknown") || strings.Contains(text.stdout, "0 bit/s") {
		t.Errorf("exit %d:\n%s", text.status, text.stdout)
	}
	// With a round trip the window bounds the rate; the speed is still open.
	text := run(t, "", "predict", file(t, "open.yaml", open))
	if text.status != console.ExitDone || !strings.Contains(text.stdout, " <=22.9 ") ||
		!strings.Contains(strings.Join(strings.Fields(text.stdout), " "), "alpha: bond0 (eth0, eth1); beta: bond0 (eth0, eth1): the speed of eth0 is unknown") {
		t.Errorf("exit %d:\n%s", text.status, text.stdout)
	}
	fits(t, text.stdout)
}

func TestPredictRefuses(t *testing.T) {
	good := file(t, "fabric.yaml", twoLinksWith("layer3+4"))
	matched := file(t, "matched.yaml", `linerate: v1
hosts:
  alpha:
    network:
      version: 2
      ethernets: {cards: {match: {name: "ens2f*"}}}
      bonds: {bond0: {interfaces: [cards], addresses: [10.0.0.1/24]}}
  beta:
    network: {version: 2, ethernets: {eth0: {addresses: [10.0.0.2/24]}}}
    hardware: {links: {eth0: {speed: 1G}}}
`)
	apart := strings.Replace(twoLinksWith("layer3+4"), "10.0.0.2/24", "10.9.0.2/24", 1)
	missing := filepath.Join(t.TempDir(), "none.yaml")
	for _, c := range []struct {
		args       []string
		line, hint string
	}{
		{[]string{"predict"}, "predict: want one FABRIC file, or hosts", "--help"},
		{[]string{"predict", missing}, "read fabric " + missing + ": no such file", "linerate discover"},
		{[]string{"predict", good, "--streams", "0"}, "--streams: want counts from 1", ""},
		{[]string{"predict", good, "--directions", "up"}, "--directions: parse direction \"up\"", ""},
		{[]string{"predict", good, "--ports", "any"}, "--ports: want chosen, kernel", "write chosen, kernel"},
		{[]string{"predict", good, "--stream", "1"}, "unknown flag: --stream", "did you mean --streams?"},
		{[]string{"predict", matched}, matched + ":6:", "hardware: {links:"},
		{[]string{"predict", file(t, "apart.yaml", apart)}, "", "an address in one subnet"},
		{[]string{"predict", file(t, "alone.yaml", strings.Split(apart, "paths:")[0])}, "", "name one in paths:"},
		{[]string{"predict", file(t, "text.yaml", "hello\n")}, "", "linerate: v1"},
	} {
		refused(t, "", console.ExitUsage, c.line, c.hint, c.args...)
	}
	if os.Getuid() != 0 {
		secret := file(t, "secret.yaml", twoLinks)
		if err := os.Chmod(secret, 0); err != nil {
			t.Fatal(err)
		}
		refused(t, "", console.ExitUnreachable, "read fabric: open "+secret, "root", "predict", secret)
	}
}

// TestPredictTooMany: a subnet of hundreds of hosts is refused at once, with what to
// write instead, and predicted where it is asked for less.
func TestPredictTooMany(t *testing.T) {
	var b strings.Builder
	b.WriteString("linerate: v1\nhosts:\n")
	for i := range 400 {
		fmt.Fprintf(&b, "  h%d: {network: {ethernets: {eth0: {addresses: [10.0.%d.%d/16]}}}, hardware: {links: {eth0: {speed: 10G}}}}\n", i, i/250, i%250+1)
	}
	f := file(t, "fabric.yaml", b.String())
	o := run(t, "", "predict", f)
	if o.status != console.ExitUsage || !strings.Contains(o.stderr, "79800 pairs are 1197000 predictions") || !strings.Contains(o.stderr, "--streams") {
		t.Fatalf("exit %d: %s", o.status, o.stderr)
	}
	if o := run(t, "", "predict", f, "--streams", "1", "--directions", "forward"); o.status != console.ExitDone {
		t.Fatalf("exit %d: %s", o.status, o.stderr)
	}
}
