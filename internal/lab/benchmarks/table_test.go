package benchmarks

import (
	"math"
	"strings"
	"sync"
	"testing"

	"github.com/linerate/linerate/record"
)

// judgedOnce is what every test of the tables looks at.
var judgedOnce = sync.OnceValues(func() ([]Judged, error) {
	tables, err := Builtin()
	if err != nil {
		return nil, err
	}
	return Judge(tables)
})

func judged(t *testing.T) []Judged {
	t.Helper()
	all, err := judgedOnce()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func rowsOf(all []Judged, table string, keep func(Judged) bool) []Judged {
	var rows []Judged
	for _, j := range all {
		if j.Table == table && keep(j) {
			rows = append(rows, j)
		}
	}
	return rows
}

func ofKind(k Kind) func(Judged) bool { return func(j Judged) bool { return j.Kind == k } }

// count demands a number of rows, so that no row gets lost.
func count(t *testing.T, what string, rows []Judged, want int) {
	t.Helper()
	if len(rows) != want {
		t.Fatalf("%s: %d rows, want %d", what, len(rows), want)
	}
}

func report(t *testing.T, j Judged) {
	t.Helper()
	t.Errorf("%s, %s, %s to %s, %s, %d streams: published %v (%s), predicted %v [%v to %v] (%s): %+.1f %%, %s",
		j.Table, j.Step, j.From, j.To, j.Direction, j.Streams, j.Published, j.Limit, j.Predicted, j.Low, j.High, j.Bound, 100*j.Error, j.Verdict)
}

// OVH: where windows bind, within 5 % and 2 % in the mean; the others are a
// range around the shaper's payload.
func TestCrossRegion(t *testing.T) {
	all := judged(t)
	windows := rowsOf(all, "ovh-vrack", ofKind(KindRate))
	count(t, "windows", windows, 24)
	sum := 0.0
	for _, j := range windows {
		sum += math.Abs(j.Error)
		if math.Abs(j.Error) > 0.05 || j.Bound != record.ReceiveWindow {
			report(t, j)
		}
	}
	if mean := sum / 24; mean > 0.02 {
		t.Errorf("windows: mean error %.1f %%, want at most 2", 100*mean)
	}
	shaped := rowsOf(all, "ovh-vrack", ofKind(KindRange))
	count(t, "shaped", shaped, 36)
	near := 0
	for _, j := range shaped {
		if math.Abs(j.Error) <= 0.10 {
			near++
		}
		if payload := 25e9 * 8948 / 9014.0; j.Bound != record.Shaper || j.Low == 0 || float64(j.Low) > payload || float64(j.High) < payload*0.99 {
			report(t, j)
		}
	}
	if near < 28 {
		t.Errorf("shaped: the middle is within 10 %% of %d readings, want 28", near)
	}
}

func TestRoundRobin(t *testing.T) {
	rows := rowsOf(judged(t), "45drives-bond", func(Judged) bool { return true })
	count(t, "rows", rows, 5)
	for i, j := range rows {
		within := 0.05
		if i == 0 {
			within = 0.15
		}
		if math.Abs(j.Error) > within || j.Bound != j.Limit {
			report(t, j)
		}
	}
}

func TestCloud(t *testing.T) {
	tables, err := Builtin()
	if err != nil {
		t.Fatal(err)
	}
	profiles := JudgeProfiles(tables)
	if len(profiles) != 5 {
		t.Errorf("%d profiles, want 5", len(profiles))
	}
	for _, p := range profiles {
		if !p.Exact {
			t.Errorf("%+v", p)
		}
	}
	all := judged(t)
	first := rowsOf(all, "ibm-vpc", func(j Judged) bool { return j.Calibrates })
	count(t, "calibration", first, 2)
	others := rowsOf(all, "ibm-vpc", func(j Judged) bool { return !j.Calibrates })
	count(t, "others", others, 6)
	for _, j := range others {
		if math.Abs(j.Error) > 0.15 {
			report(t, j)
		}
	}
}

func TestSingleLinkThenTwo(t *testing.T) {
	all := judged(t)
	for _, table := range []string{"nfs-lacp", "backup-lacp"} {
		rows := rowsOf(all, table, func(Judged) bool { return true })
		count(t, table, rows, 3)
		for i, j := range rows {
			links, bound := 2, record.LineRate
			if i == 0 {
				links, bound = 1, record.SingleLink
			}
			if j.Used != links || j.Bound != bound || j.Verdict != Within && j.Verdict != Possible {
				report(t, j)
			}
		}
	}
}

// Aliases on one port: what lies above 941.5 Mbit/s is no steady goodput.
func TestAliases(t *testing.T) {
	rows := rowsOf(judged(t), "ip-alias", func(Judged) bool { return true })
	count(t, "rows", rows, 26)
	for _, j := range rows {
		want := Within
		if j.Published > 941.5e6 {
			want = Impossible
		}
		if j.Verdict != want {
			report(t, j)
		}
	}
}

// Summaries count what the rows say.
func TestSummaries(t *testing.T) {
	sums := Summaries([]Judged{
		{Table: "a", Row: Row{Kind: KindRate, Within: 0.05, Limit: record.Shaper}, Bound: record.Shaper, Error: 0.04, Verdict: Within},
		{Table: "a", Row: Row{Kind: KindRate, Within: 0.05, Limit: record.Shaper}, Bound: record.LineRate, Error: -0.06, Verdict: Off},
		{Table: "a", Row: Row{Kind: KindRate}, Verdict: Calibrates, Error: 9},
		{Table: "b", Row: Row{Kind: KindClaim}, Verdict: Impossible, Error: -0.1},
	})
	if len(sums) != 2 {
		t.Fatalf("%+v", sums)
	}
	if got, want := sums[0].String(), "a: 1 of 2 rates within tolerance, mean error 5.0 %, largest 6.0 %; limit right in 1 of 2"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got, want := sums[1].String(), "b: 1 claims, 1 impossible as steady-state goodput"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

const small = `published: v1
tables:
  - name: mine
    title: a test of my own
    fabric: |
      linerate: v1
      hosts:
        a: {network: {version: 2, ethernets: {eth0: {addresses: [10.0.0.1/24]}}}, hardware: {links: {eth0: {speed: 10G}}}, kernel: "6.1"}
        b: {network: {version: 2, ethernets: {eth0: {addresses: [10.0.0.2/24]}}}, hardware: {links: {eth0: {speed: 10G}}}, kernel: "6.1"}
      paths: [{between: [a, b], rtt: 1ms}]
    rows:
      - {step: one, from: a, to: b, streams: 8, published: 9.4G, limit: line-rate}
      - {step: jumbo, from: a, to: b, streams: 8, with: "mtu=9000", published: 9.0G, limit: line-rate}
      - {step: too good, from: a, to: b, kind: claim, published: 12G}
      - {step: nowhere, from: a, to: c, published: 1G}
`

func TestOwnTable(t *testing.T) {
	tables, err := Read("mine.yaml", []byte(small))
	if err != nil {
		t.Fatal(err)
	}
	all, err := Judge(tables)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []Verdict{Within, Off, Impossible, Unknown} {
		if all[i].Verdict != want {
			report(t, all[i])
		}
	}
}

func TestReadRefuses(t *testing.T) {
	for _, c := range []struct{ name, old, new, want string }{
		{"version", "published: v1", "published: v2", "published: v1"},
		{"key", "streams: 8", "strems: 8", "mine.yaml:12:"},
		{"rate", "published: 9.4G", "published: 9.4", "no unit"},
		{"kind", "kind: claim", "kind: clam", `"clam"`},
		{"from", "from: a, to: b, kind", "to: b, kind", "want from and to"},
		{"ratio", "kind: claim, published: 12G", "kind: ratio, of: none, published_ratio: 2", `step "none"`},
		{"within", "published: 12G", "published: 12G, within: -1", "within"},
		{"yaml", "tables:", "tables: [", "mine.yaml:"},
		{"depth", "tables:", "tables: " + strings.Repeat("[", 5000), "nesting deeper than"},
		{"no fabric", "    fabric: |", "    title2: |", "mine.yaml:"},
	} {
		_, err := Read("mine.yaml", []byte(strings.Replace(small, c.old, c.new, 1)))
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "mine.yaml") {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
	for _, c := range []struct{ name, old, new, want string }{
		{"fabric", "speed: 10G", "sped: 10G", "sped"},
		{"with", "mtu=9000", "mut=9000", "mut"},
	} {
		tables, err := Read("mine.yaml", []byte(strings.Replace(small, c.old, c.new, 1)))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Judge(tables); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(small))
	f.Add(Source())
	f.Fuzz(func(t *testing.T, text []byte) {
		tables, err := Read("fuzz.yaml", text)
		if err == nil && len(tables) == 0 {
			t.Fatal("neither tables nor an error")
		}
	})
}

func BenchmarkJudge(b *testing.B) {
	tables, err := Builtin()
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := Judge(tables); err != nil {
			b.Fatal(err)
		}
	}
}
