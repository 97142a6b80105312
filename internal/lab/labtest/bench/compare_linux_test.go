package bench

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/linerate/linerate/internal/lab/labtest/floor"
)

// row is a line of the published table: medians of one contender in one setting.
type row struct{ rate, cost float64 }

// published reads the rows of a document that TestBench wrote, by setting and tool.
func published(text string) map[setting]map[string]row {
	all := map[setting]map[string]row{}
	for line := range strings.Lines(text) {
		cells := strings.Split(line, "|")
		if len(cells) != 9 {
			continue
		}
		number := func(cell int) float64 {
			first, _, _ := strings.Cut(strings.TrimSpace(cells[cell]), " ")
			n, err := strconv.ParseFloat(first, 64)
			if err != nil {
				return 0
			}
			return n
		}
		at, tool := setting{int(number(1)), int(number(2))}, strings.TrimSpace(cells[3])
		r := row{number(4), number(6)}
		if at.mtu == 0 || at.streams == 0 || r.rate == 0 || r.cost == 0 {
			continue // a heading
		}
		if all[at] == nil {
			all[at] = map[string]row{}
		}
		all[at][tool] = r
	}
	return all
}

// regress is how much worse beside a peer, in the best of the rounds, is said to be
// worse: rounds of a short run scatter.
const regress = 0.85

// comparison says how each contender does beside the published table. Machines differ,
// and so do days: what tells is ours over the peers that ran beside it, now and then.
func comparison(then map[setting]map[string]row, now results, chosen []contender) (text string, worse []string) {
	var b strings.Builder
	fmt.Fprintf(&b, "%-8s %-22s %22s %22s\n", "MTU/str", "tool", "rate now/then", "CPU s/GB now/then")
	for _, at := range settings {
		for _, c := range chosen {
			before, known := then[at][c.name]
			s := now[at][c.name]
			if !known || len(s) == 0 {
				continue
			}
			rate, _ := c.rate()
			r, cost := quantile(s.values(rate), 0.5), quantile(s.values(outcome.cost), 0.5)
			fmt.Fprintf(&b, "%-8v %-22s %8.3g/%-6.3g = %4.2f %8.3f/%-6.3f = %4.2f\n", at, c.name, r, before.rate, r/before.rate, cost, before.cost, cost/before.cost)
			if !c.our {
				continue
			}
			for _, peer := range chosen {
				old, known := then[at][peer.name]
				p := now[at][peer.name]
				if peer.our || peer.kind != c.kind || !known || len(p) == 0 {
					continue
				}
				against := r / quantile(p.values(rate), 0.5)
				used := before.rate / old.rate
				fmt.Fprintf(&b, "%-8v   over %-17s %8.2f now, %.2f then = %4.2f\n", at, peer.name, against, used, against/used)
				if quantile(ratios(s, p, rate), 1) < regress*used {
					worse = append(worse, fmt.Sprintf("%v: %s is %.2f of %s, and was %.2f", at, c.name, against, peer.name, used))
				}
			}
		}
	}
	return b.String(), worse
}

// TestCompare measures a few contenders in a few settings (BENCH_ONLY, BENCH_AT) and
// compares them with the table in BENCH_COMPARE, which stays as it is.
func TestCompare(t *testing.T) {
	name := os.Getenv("BENCH_COMPARE")
	if name == "" {
		t.Skip("takes minutes: make bench-compare")
	}
	text, err := os.ReadFile(name)
	floor.Must(t, err)
	then := published(string(text))
	if len(then) == 0 {
		t.Fatalf("no table in %s: make bench writes it", name)
	}
	now, chosen := measureRounds(t, 3)
	said, worse := comparison(then, now, chosen)
	t.Log("\n" + said)
	for _, w := range worse {
		t.Error(w)
	}
}

// TestComparison: what is worse beside the peers is said, and a slower machine is not.
func TestComparison(t *testing.T) {
	const table = `| MTU | streams | tool | Gb/s | to the best peer | CPU s/GB | to the best peer |
|---|---|---|---|---|---|---|
| 1500 | 1 | ours | 60.0 (50.0 to 70.0) | **1.20 (1.1 to 1.3)** peer | 0.200 (0.1 to 0.3) | **0.70 (0.6 to 0.8)** peer |
| 1500 | 1 | peer | 50.0 (40.0 to 60.0) |  | 0.300 (0.2 to 0.4) |  |
| 9000 | 8 | gone | 50.0 (40.0 to 60.0) |  | 0.300 (0.2 to 0.4) |  |
| link | other | tables | have | other | rows | too |
`
	then := published(table)
	at := setting{1500, 1}
	if len(then) != 2 || then[at]["ours"] != (row{60, 0.2}) || then[at]["peer"] != (row{50, 0.3}) {
		t.Fatalf("read %v", then)
	}
	chosen := []contender{{name: "ours", our: true, kind: copying}, {name: "peer", kind: copying}}
	for _, tt := range []struct {
		name       string
		ours, peer float64
		worse      int
	}{{"the same", 60, 50, 0}, {"half as fast a machine", 30, 25, 0}, {"worse beside the peer", 30, 50, 1}, {"the peer is not there", 30, 0, 0}} {
		now := results{}
		now.add(at, "ours", 1, outcome{Bytes: uint64(tt.ours * 1e9 / 8), Seconds: 1, Total: 1e9, CPU: time.Second})
		if tt.peer > 0 {
			now.add(at, "peer", 1, outcome{Bytes: uint64(tt.peer * 1e9 / 8), Seconds: 1, Total: 1e9, CPU: time.Second})
		}
		said, worse := comparison(then, now, chosen)
		if len(worse) != tt.worse || !strings.Contains(said, fmt.Sprintf("%.3g/60", tt.ours)) {
			t.Errorf("%s: worse %q, said\n%s", tt.name, worse, said)
		}
	}
}
