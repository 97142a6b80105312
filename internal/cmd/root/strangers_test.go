package root

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/plaintext"
	"github.com/linerate/linerate/netstate"
)

// stranger is text as somebody writes it who wants to be obeyed by a terminal: a
// new title, colours, a cleared screen (ESC and C1), a bell, text turned around,
// and a line that the program seems to say.
const stranger = "x\x1b]0;owned\x07\x1b[31m\x1b[2J\u009b2J\x7f\x08\u202egnihton\u2066\u200e\r\nFAKED line of another host\n\u2028FAKED\u0085FAKED"

// printed fails when something that a command printed is more than text, or has a
// line that a stranger wrote.
func printed(t *testing.T, what, text string) {
	t.Helper()
	if !utf8.ValidString(text) {
		t.Errorf("%s: no UTF-8: %.200q", what, text)
	}
	for i, r := range text {
		if r != '\n' && r != '\t' && !plaintext.Harmless(r) {
			t.Errorf("%s: %q at byte %d: %.80q", what, r, i, text[max(0, i-20):])
			return
		}
	}
	for line := range strings.Lines(text) {
		if strings.HasPrefix(strings.TrimLeft(line, " "), "FAKED") {
			t.Errorf("%s: a stranger's line: %q", what, line)
			return
		}
	}
}

// wide runs a command on a terminal that is too wide to break a line.
func wide(t *testing.T, args ...string) outcome {
	t.Helper()
	var out, errs bytes.Buffer
	con := &console.Console{Version: "test", Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Getenv: os.Getenv, Columns: 1 << 20}
	return outcome{Run(con, args), out.String(), errs.String()}
}

// strangers runs a command as text and as JSON, and holds both streams to what a
// terminal may get. A JSON document is one, and has no other characters either.
func strangers(t *testing.T, args ...string) outcome {
	t.Helper()
	what := strings.Join(args, " ")
	o := wide(t, args...)
	printed(t, what+": stdout", o.stdout)
	printed(t, what+": stderr", o.stderr)
	if slices.Contains(args, "--metrics") { // which is a format of its own
		return o
	}
	doc := wide(t, append(slices.Clone(args), "--json")...)
	printed(t, what+" --json: stderr", doc.stderr)
	if doc.status == console.ExitDone && !json.Valid([]byte(doc.stdout)) {
		t.Errorf("%s --json: no JSON: %.200q", what, doc.stdout)
	}
	for _, r := range doc.stdout {
		if r != '\n' && r != '\t' && !plaintext.Harmless(r) {
			t.Errorf("%s --json: %q in it", what, r)
			break
		}
	}
	return o
}

// mutated is a document some of whose strings are a stranger's: those below the
// keys that free takes.
func mutated(v any, key string, free func(key string) bool) any {
	switch v := v.(type) {
	case map[string]any:
		for _, name := range sortedKeys(v) {
			v[name] = mutated(v[name], name, free)
		}
	case []any:
		for i := range v {
			v[i] = mutated(v[i], key, free)
		}
	case string:
		if free(key) {
			return v + stranger
		}
	}
	return v
}

func sortedKeys(m map[string]any) []string {
	keys := make([]string, 0, len(m))
	for key := range m {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

// mutant is a JSON text with a stranger's words below free keys.
func mutant(t *testing.T, text []byte, free func(key string) bool) []byte {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var doc any
	if err := d.Decode(&doc); err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(mutated(doc, "", free))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// freeKeys are the keys of a document whose strings may be anything: it is read
// all the same.
func freeKeys(t *testing.T, text []byte, read func([]byte) error) []string {
	t.Helper()
	all := map[string]bool{}
	mutant(t, text, func(key string) bool { all[key] = key != "text"; return false }) // the fabric has lines
	var free []string
	for key, lines := range all {
		if lines && read(mutant(t, text, func(k string) bool { return k == key })) == nil {
			free = append(free, key)
		}
	}
	slices.Sort(free)
	if len(free) < 10 {
		t.Fatalf("only %v may be anything", free)
	}
	return free
}

// picked takes a share of keys.
func picked(r *rand.Rand, keys []string, share float64) func(string) bool {
	var some []string
	for _, key := range keys {
		if r.Float64() < share {
			some = append(some, key)
		}
	}
	return func(key string) bool { return slices.Contains(some, key) }
}

// TestStrangersInRecords is the finding: compare, explain and history printed text
// of a record raw. It runs every command that shows one on records some of whose
// strings are hostile.
func TestStrangersInRecords(t *testing.T) {
	if testing.Short() {
		t.Skip("left out by -short: it takes seconds")
	}
	rounds := 2 // for each kind of record
	shown := map[string]int{}
	records := []string{filepath.Join("testdata", "strangers", "record-escapes.json")}
	for _, base := range []string{"measure.json", "tune.json", "udp.json", "iperf2.json"} {
		text, err := os.ReadFile(filepath.Join("..", "..", "..", "record", "testdata", "v1", base))
		if err != nil {
			t.Fatal(err)
		}
		keys := freeKeys(t, text, func(text []byte) error {
			_, err := console.ReadRecord(t.Context(), file(t, base, string(text)))
			return err
		})
		for i := range rounds {
			r := rand.New(rand.NewPCG(uint64(i), 0))
			records = append(records, file(t, base, string(mutant(t, text, picked(r, keys, []float64{0.2, 1}[i%2])))))
		}
	}
	for i, rec := range records {
		other, dir := records[(i+1)%len(records)], t.TempDir()
		db := filepath.Join(dir, "s.db")
		for _, args := range [][]string{
			{"explain", rec}, {"report", rec}, {"report", rec, "-o", filepath.Join(dir, "r.html")}, {"report", rec, "-o", filepath.Join(dir, "r.md")},
			{"report", rec, "-o", filepath.Join(dir, "r.csv")}, {"report", rec, "--plots", filepath.Join(dir, "plots")}, {"compare", rec, rec}, {"compare", rec}, {"compare", rec, other},
			{"history", "add", rec, "--store", db}, {"history", "--store", db}, {"history", "--store", db, "--metrics", "-"},
			{"compare", rec, "--since", "10y", "--store", db, "--min-runs", "3"}, {"predict", "--calibrate", rec}, {"explain", rec, "--probe", "--yes"},
			{"measure", "netns:linerate-no-such", "netns:linerate-no-such2", "--resume", rec}, {"lab", "report", rec, "-o", filepath.Join(dir, "charts")},
		} {
			if o := strangers(t, args...); o.status == console.ExitDone && strings.Contains(o.stdout, "]0;owned") {
				shown[args[0]]++
			}
		}
		if runs := wide(t, "history", "--store", db, "--json"); runs.status == console.ExitDone {
			var doc struct{ Runs []struct{ Name string } }
			if err := json.Unmarshal([]byte(runs.stdout), &doc); err != nil {
				t.Fatal(err)
			}
			for _, r := range doc.Runs {
				strangers(t, "history", "show", r.Name, "--store", db)
			}
		}
		for _, name := range []string{"r.html", "r.md", "r.csv"} {
			if text, err := os.ReadFile(filepath.Join(dir, name)); err == nil {
				printed(t, rec+" as "+name, string(text))
			}
		}
		if t.Failed() {
			t.Fatalf("the record is %s", rec)
		}
	}
	for _, command := range []string{"explain", "report", "compare", "history"} {
		if shown[command] == 0 {
			t.Errorf("%s showed nothing of a stranger: the test tests nothing", command)
		}
	}
}

// TestStrangersInCaptures: a capture whose every string is hostile.
func TestStrangersInCaptures(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "record", "testdata", "v1", "measure.json"))
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Environment struct{ Hosts []json.RawMessage }
	}
	if err := json.Unmarshal(text, &doc); err != nil || len(doc.Environment.Hosts) == 0 {
		t.Fatal(err)
	}
	keys := freeKeys(t, doc.Environment.Hosts[0], func(text []byte) error { return json.Unmarshal(text, new(netstate.Host)) })
	for seed := range uint64(12) {
		text := mutant(t, doc.Environment.Hosts[0], picked(rand.New(rand.NewPCG(seed, 1)), keys, []float64{0.05, 0.3, 1}[seed%3]))
		dir := t.TempDir()
		path := filepath.Join(dir, "linerate", "host.json")
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, text, 0o600)); err != nil {
			t.Fatal(err)
		}
		strangers(t, "inspect", "--root", dir)
		strangers(t, "inspect", "--root", dir, "--all")
	}
	// And one that was copied by hand.
	dir := t.TempDir()
	for name, text := range map[string]string{
		"proc/sys/kernel/osrelease": "6.1" + stranger, "proc/sys/kernel/hostname": stranger, "sys/class/net/eth0/ifindex": "2\n",
		"sys/class/net/eth0/operstate": stranger, "sys/class/net/a\x1b[31m\nFAKED/ifindex": "3\n", "proc/cpuinfo": "model name\t: " + stranger,
	} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	if o := strangers(t, "inspect", "--root", dir, "--all"); o.status != console.ExitDone {
		t.Errorf("exit %d: %s", o.status, o.stderr)
	}
}

// TestStrangersInNamesAndFiles: names of files, hosts and flags, and the text of
// files that are refused, come back in errors.
func TestStrangersInNamesAndFiles(t *testing.T) {
	bad := file(t, "bad.yaml", "linerate: v1\nhosts: {\"a\u202e\u0085FAKED\": {network: 3}}\n# "+"\u009b31m\n")
	named := filepath.Join(t.TempDir(), "no"+stranger)
	for _, args := range [][]string{
		{"predict", bad}, {"plan", bad}, {"measure", bad}, {"render", bad, "--to", "netplan"}, {"render", "--from", bad, "--to", "fabric"},
		{"explain", bad}, {"report", bad}, {"compare", bad, bad}, {"history", "add", bad}, {"history", "--store", named}, {"lab", "run", bad}, {"lab", "up", stranger},
		{"explain", named}, {"predict", named}, {"discover", "ssh://root@" + stranger}, {"discover", stranger}, {"inspect", "netns:" + stranger}, {"inspect", "--root", named},
		{"journal", "netns:" + stranger}, {"rollback", stranger}, {"confirm", stranger}, {"measure", "host" + stranger}, {"measure", stranger, "--streams", stranger},
		{stranger}, {"report", "--" + stranger}, {"steer", "show", "--policy", stranger}, {"listen", "--allow", stranger}, {"serve", "hosts", "--nats", stranger, "--creds", named},
		{"schema", stranger}, {"enroll", stranger}, {"history", "show", stranger, "--store", named}, {"predict", "--clouds", bad}, {"report", bad, "-o", named + "/r.html"},
	} {
		strangers(t, args...)
	}
}

// TestNumbersOfNoLink: a record, or another tool's file, with a rate that no link
// carries is refused as bad input, in every command that reads one.
func TestNumbersOfNoLink(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "record", "testdata", "v1", "measure.json"))
	if err != nil {
		t.Fatal(err)
	}
	rate := regexp.MustCompile(`"(goodput_bps|ceiling_bps|delivery_bps|tx_bps)": ?[0-9.e+]+`)
	for _, number := range []string{"1e308", "1e16"} {
		for _, key := range []string{"goodput_bps", "ceiling_bps", "delivery_bps", "tx_bps"} {
			done := false
			huge := rate.ReplaceAllStringFunc(string(text), func(s string) string {
				if done || !strings.Contains(s, `"`+key+`"`) {
					return s
				}
				done = true
				return `"` + key + `": ` + number
			})
			if !done {
				continue
			}
			rec := file(t, "r.json", huge)
			for _, args := range [][]string{{"report", rec}, {"explain", rec}, {"compare", rec, rec}} {
				if o := wide(t, args...); o.status != console.ExitUsage || !strings.Contains(o.stderr, key) || !strings.Contains(o.stderr, "which no link carries") {
					t.Errorf("%v, %s %s: exit %d: %s%s", args, key, number, o.status, o.stderr, o.stdout)
				}
			}
		}
	}
}

// TestHugeRecord is the finding: a record of 1.2 GB took 4 GB of memory. It is
// refused by its size, before it is read.
func TestHugeRecord(t *testing.T) {
	rec := file(t, "r.json", "{")
	if err := os.Truncate(rec, console.MostRecord+1); err != nil {
		t.Fatal(err)
	}
	fabricFile := file(t, "f.yaml", "linerate: v1\n")
	if err := os.Truncate(fabricFile, console.MostFabric+1); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"report", rec}, {"explain", rec}, {"compare", rec, rec}, {"predict", fabricFile}, {"predict", "--calibrate", rec}, {"plan", fabricFile}} {
		o := wide(t, args...)
		if o.status != console.ExitUsage || !strings.Contains(o.stderr, "MiB, which is more than is read") || !strings.Contains(o.stderr, "hint: ") {
			t.Errorf("%v: exit %d: %s", args, o.status, o.stderr)
		}
	}
}
