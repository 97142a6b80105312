package root

import (
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/record"
)

// measured writes a record of one trial and returns its file.
func measured(t *testing.T, id string) string {
	t.Helper()
	r := record.Record{
		Schema: record.Schema, ID: id, Linerate: "test", Latency: []record.Latency{},
		Trials: []record.Trial{{From: "alpha", To: "beta", Direction: flow.Forward, Streams: 2, Protocol: "tcp", Tool: "linerate",
			Goodput: 496e6, GoodputLow: 495e6, GoodputHigh: 497e6, Ceiling: 960e6, Window: 4,
			Finding: &record.Finding{From: "alpha", To: "beta", Direction: flow.Forward, Streams: 2, Cause: record.SingleLink, Confidence: 0.97, Summary: "One link carries all."}}},
	}
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	return file(t, id+".json", string(text))
}

func TestReportFormats(t *testing.T) {
	one, two := measured(t, "one"), measured(t, "two")
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "deep"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		out     string
		records []string
		want    []string
	}{
		{"r.html", []string{one}, []string{"<!doctype html>", "alpha", "single-link"}},
		{"R.HTML", []string{one}, []string{"<!doctype html>"}},
		{"r.md", []string{one, two}, []string{"alpha", "single-link", "496"}},
		{"deep/r.csv", []string{one, two}, []string{"goodput_bps", "496000000", "one,", "two,"}},
	} {
		out := filepath.Join(dir, c.out)
		o := run(t, "", append([]string{"report", "-o", out}, c.records...)...)
		if o.status != console.ExitDone || o.stdout != "" || !strings.Contains(o.stderr, out+" is written") {
			t.Errorf("%s: exit %d, stdout %q, stderr %q", c.out, o.status, o.stdout, o.stderr)
			continue
		}
		text, err := os.ReadFile(out)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range c.want {
			if !strings.Contains(strings.ToLower(string(text)), want) {
				t.Errorf("%s: no %q in\n%.600s", c.out, want, text)
			}
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, "deep", "r.csv"))
	if err != nil {
		t.Fatal(err)
	}
	if rows, err := csv.NewReader(strings.NewReader(string(text))).ReadAll(); err != nil || len(rows) != 3 || rows[1][0] != "one" || rows[2][0] != "two" {
		t.Errorf("CSV of two records: %v, %d rows, want one header and a row each", err, len(rows))
	}
}

// TestReportPlots: every drawing of each record, as a file of its own.
func TestReportPlots(t *testing.T) {
	one, two := measured(t, "one"), measured(t, "two")
	dir := filepath.Join(t.TempDir(), "plots")
	o := run(t, "", "report", one, two, "--plots", dir, "--json")
	var said struct{ Plots []string }
	if err := json.Unmarshal([]byte(o.stdout), &said); err != nil || o.status != console.ExitDone || len(said.Plots) < 2 {
		t.Fatalf("exit %d, %v\n%s%s", o.status, err, o.stdout, o.stderr)
	}
	for _, path := range said.Plots {
		text, err := os.ReadFile(path)
		if err != nil || !strings.HasPrefix(string(text), "<svg xmlns=") || !strings.HasSuffix(path, ".svg") {
			t.Errorf("%s: %v\n%.80s", path, err, text)
		}
	}
	if o := run(t, "", "report", one, "--plots", dir, "-o", filepath.Join(dir, "r.md")); o.status != console.ExitDone || !strings.Contains(o.stderr, " in "+dir) || !strings.Contains(o.stderr, "r.md is written") {
		t.Errorf("exit %d, %s", o.status, o.stderr)
	}
	if o := run(t, "", "report", one, "--plots", dir, "-o", filepath.Join(dir, "r.md"), "--json"); o.status != console.ExitUsage {
		t.Errorf("two documents: exit %d", o.status)
	}
}

func TestReportText(t *testing.T) {
	o := run(t, "", "report", measured(t, "one"))
	if o.status != console.ExitDone || !strings.Contains(o.stdout, "alpha") || !strings.Contains(o.stdout, "496 Mbit/s") {
		t.Errorf("exit %d:\n%s%s", o.status, o.stdout, o.stderr)
	}
	fits(t, o.stdout)
	out := filepath.Join(t.TempDir(), "r.md")
	wantKeys(t, "document", document(t, run(t, "", "report", measured(t, "one"), "-o", out, "--json")), "report records")
}

func TestReportRefuses(t *testing.T) {
	one := measured(t, "one")
	text, err := os.ReadFile(one)
	if err != nil {
		t.Fatal(err)
	}
	cut := file(t, "cut.json", string(text[:len(text)/2]))
	other := file(t, "other.json", `{"schema":"linerate.record/v9"}`)
	dir := t.TempDir()
	for _, c := range []struct {
		args       []string
		line, hint string
	}{
		{[]string{"report"}, "report: want one RECORD file or more", "record.json"},
		{[]string{"report", one, "-o", filepath.Join(dir, "r.pdf")}, "report: cannot write " + filepath.Join(dir, "r.pdf") + ": its extension is not one of .html, .md, .csv", "report.html"},
		{[]string{"report", one, "-o", filepath.Join(dir, "r")}, "report: cannot write ", "report.html"},
		{[]string{"report", one, one, "-o", filepath.Join(dir, "r.html")}, "report: a page shows one record, and 2 are named", ".csv"},
		{[]string{"report", cut, "-o", filepath.Join(dir, "r.md")}, "read record " + cut + ":1:", "record.json"},
		{[]string{"report", other, "-o", filepath.Join(dir, "r.md")}, "read record " + other + ": schema is \"linerate.record/v9\"", "a newer linerate"},
		{[]string{"report", filepath.Join(dir, "none.json"), "-o", filepath.Join(dir, "r.md")}, "read record " + filepath.Join(dir, "none.json") + ": no such file", "check the name"},
	} {
		refused(t, "", console.ExitUsage, c.line, c.hint, c.args...)
	}
	if o := run(t, "", "report", one, "--json"); o.status != console.ExitUsage || o.stdout != "" {
		t.Errorf("text as JSON: exit %d, stdout %q", o.status, o.stdout)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

// TestPredictionPages: a fabric's prediction is a page, a picture and Markdown, by
// predict and by report, with the verdict, what to do and its command; nothing is
// written for what has no page.
func TestPredictionPages(t *testing.T) {
	fabric, err := filepath.Abs("../../../docs/examples/one-link.yaml")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, command := range []string{"predict", "report"} {
		for extension, first := range map[string]string{"html": "<!doctype html>", "svg": "<svg xmlns", "md": "# prediction web"} {
			out := filepath.Join(dir, command+"."+extension)
			o := run(t, "", command, fabric, "-o", out)
			text, err := os.ReadFile(out)
			if err != nil || o.status != console.ExitDone || o.stdout != "" || !strings.Contains(o.stderr, out+" is written") {
				t.Fatalf("%s: %v, exit %d, stdout %q, stderr %q", out, err, o.status, o.stdout, o.stderr)
			}
			for _, want := range []string{"Two 10 Gbit/s links should carry 9.41 Gbit/s, 50.0 % of the ceiling", "Let the traffic use every link."} {
				if !strings.Contains(strings.ReplaceAll(strings.Join(strings.Fields(string(text)), " "), "\u00a0", " "), want) && extension != "svg" {
					t.Errorf("%s: no %q", out, want)
				}
			}
			if !strings.HasPrefix(strings.ToLower(string(text)), first) || extension != "svg" && !strings.Contains(string(text), "--what-if policy=layer3") {
				t.Errorf("%s: %.300s", out, text)
			}
		}
	}
	if o := run(t, "", "report", fabric); o.status != console.ExitDone || !strings.Contains(o.stdout, "LIMITED BY, NEXT") {
		t.Errorf("report of a fabric without -o: exit %d, %q", o.status, o.stdout)
	}
	for _, c := range [][]string{
		{"predict", fabric, "-o", filepath.Join(dir, "p.docx")}, {"report", fabric, "-o", filepath.Join(dir, "p.csv")}, {"predict", fabric, "-o", filepath.Join(dir, "none", "p.html")},
		{"predict", fabric, "--what-if", "mtu=9000", "-o", filepath.Join(dir, "p.html")}, {"predict", fabric, "--force"}, {"report", fabric, "--plots", filepath.Join(dir, "plots")},
	} {
		if o := run(t, "", c...); o.status != console.ExitUsage || !strings.Contains(o.stderr, "hint: ") {
			t.Errorf("%v: exit %d, %q", c, o.status, o.stderr)
		}
	}
	o := run(t, "", "predict", fabric, "-o", filepath.Join(dir, "j.html"), "--json")
	var said struct{ Report string }
	if err := json.Unmarshal([]byte(o.stdout), &said); err != nil || said.Report == "" {
		t.Errorf("--json: %v, %q", err, o.stdout)
	}
}
