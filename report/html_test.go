package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/record"
)

func pageFor(t *testing.T, r record.Record) string {
	t.Helper()
	b, err := HTML(r, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

var (
	styles = regexp.MustCompile(`(?s)<style>.*?</style>`)
	tags   = regexp.MustCompile(`<(/?)([a-zA-Z][a-zA-Z0-9]*)((?:[^<>"]|"[^"]*")*?)(/?)>`)
	ids    = regexp.MustCompile(` id="([^"]*)"`)
	refs   = regexp.MustCompile(` (?:aria-labelledby|aria-describedby)="([^"]*)"`)
	links  = regexp.MustCompile(` href="([^"]*)"`)
)

// balanced fails when an element is not closed where it was opened.
func balanced(t *testing.T, html string) {
	t.Helper()
	void := map[string]bool{"meta": true, "br": true, "hr": true, "col": true}
	var open []string
	for _, m := range tags.FindAllStringSubmatch(styles.ReplaceAllString(html, ""), -1) {
		closing, name, selfClosed := m[1] == "/", m[2], m[4] == "/"
		switch {
		case closing && (len(open) == 0 || open[len(open)-1] != name):
			t.Fatalf("</%s> closes %v", name, open)
		case closing:
			open = open[:len(open)-1]
		case !selfClosed && !void[name]:
			open = append(open, name)
		}
	}
	if len(open) > 0 {
		t.Fatalf("never closed: %v", open)
	}
}

// wellFormed holds every page to what a self-contained page promises.
func wellFormed(t *testing.T, html string) {
	t.Helper()
	balanced(t, html)
	for _, banned := range []string{"<script", "<link", "<img", "<iframe", " src=", "@import", "url(", "javascript:", "NaN", "+Inf", "-Inf", "%!", "ZgotmplZ", "invalid IP", "<no value>", "&lt;nil&gt;"} {
		if strings.Contains(html, banned) {
			t.Errorf("page holds %q", banned)
		}
	}
	for _, m := range links.FindAllStringSubmatch(html, -1) {
		if !strings.HasPrefix(m[1], "#") || !strings.Contains(html, ` id="`+m[1][1:]+`"`) {
			t.Errorf("link to %q leads nowhere in the page", m[1])
		}
	}
	seen := map[string]bool{}
	for _, m := range ids.FindAllStringSubmatch(html, -1) {
		if seen[m[1]] {
			t.Errorf("id %q twice", m[1])
		}
		seen[m[1]] = true
	}
	for _, m := range refs.FindAllStringSubmatch(html, -1) {
		for _, id := range strings.Fields(m[1]) {
			if !seen[id] {
				t.Errorf("no element %q for a label", id)
			}
		}
	}
	if a, b := strings.Count(html, "<svg"), strings.Count(html, "<title id="); a != b {
		t.Errorf("%d drawings, %d titles", a, b)
	}
}

func TestHTMLHasEverything(t *testing.T) {
	r := sampleRecord()
	html := pageFor(t, r)
	wellFormed(t, html)
	if strings.Contains(html, "http://") || strings.Contains(html, "https://") {
		t.Error("page names an address of the network")
	}
	if got := strings.Count(html, `<details class="trial">`); got != len(r.Trials) {
		t.Errorf("%d trials, want %d", got, len(r.Trials))
	}
	// Forward and both, before and after; three panels of bars.
	if got := strings.Count(html, "<svg class=\"map\""); got != 4 {
		t.Errorf("%d drawings of links, want 4", got)
	}
	if got := strings.Count(html, "<svg viewBox"); got != 3 {
		t.Errorf("%d panels of bars, want 3", got)
	}
	for _, want := range []string{"99.7", "layer3&#43;4", "hash-imbalance → line-rate", "rtnl_link_stats64 of a0", "sysctl -w net.ipv4.tcp_rmem", "↶ rolled back", "✓ kept", "linerate demo",
		"9.10 ms", "user-mode Linux", "IFLA_BOND_XMIT_HASH_POLICY", "40007 → 5201", "prefers-color-scheme:dark", "@media print", "6.1.176"} {
		if !strings.Contains(html, want) {
			t.Errorf("page lacks %q", want)
		}
	}
	for _, s := range r.Steps {
		if !strings.Contains(html, strings.ReplaceAll(s.Change, "+", "&#43;")) {
			t.Errorf("page lacks the step %q", s.Change)
		}
	}
}

func TestHTMLPlain(t *testing.T) {
	html := pageFor(t, samplePlain())
	wellFormed(t, html)
	for _, want := range []string{"dial c: connection refused", "linerate measure demo.yaml", "Measurement"} {
		if !strings.Contains(html, want) {
			t.Errorf("page lacks %q", want)
		}
	}
	for _, not := range []string{`class="tag after"`, "What was changed", `<div class="after"`} {
		if strings.Contains(html, not) {
			t.Errorf("a plain measurement shows %q", not)
		}
	}
}

func TestReportsLeaveTheRecordAlone(t *testing.T) {
	r := sampleRecord()
	before, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	first := pageFor(t, r)
	Markdown(r)
	CSV(r)
	Text(r, 80)
	after, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(before), string(after)); diff != "" {
		t.Errorf("record changed:\n%s", diff)
	}
	if first != pageFor(t, r) {
		t.Error("two pages of one record differ")
	}
}

func TestHostileTextStaysText(t *testing.T) {
	r := poisoned()
	html := pageFor(t, r)
	wellFormed(t, strings.ReplaceAll(html, "src=x", "")) // escaped text may say it
	if strings.Contains(html, "<script") || strings.Contains(html, "<img") {
		t.Error("markup of a name reached the page")
	}
	md := string(Markdown(r))
	outside := regexp.MustCompile("(?s)(````*)sh\n.*?\n(````*)\n").ReplaceAllString(md, "")
	if strings.Contains(outside, "<") || strings.Contains(outside, "\n# h") || strings.Contains(md, "\x1b") {
		t.Error("markup of a name reached the ticket")
	}
	for _, s := range []string{html, md, Text(r, 80), string(CSV(r)), TrialLine(r.Trials[2], 80)} {
		for _, c := range s {
			if c != '\n' && c != '\t' && (c < ' ' || c == 0x7f || c == 0x202e) {
				t.Fatalf("control character %q in %.60q", c, s)
			}
		}
	}
}

func TestStrangeRecordsPrint(t *testing.T) {
	for name, r := range strange() {
		t.Run(name, func(t *testing.T) {
			wellFormed(t, strings.ReplaceAll(pageFor(t, r), "src=x", ""))
			all := map[string]string{"markdown": string(Markdown(r)), "csv": string(CSV(r)), "text": Text(r, 80), "headline": Headline(r)}
			for format, s := range all {
				for _, banned := range []string{"NaN", "Inf", "%!", "invalid IP"} {
					if strings.Contains(s, banned) {
						t.Errorf("%s holds %q", format, banned)
					}
				}
				if strings.TrimSpace(s) == "" {
					t.Errorf("%s is empty", format)
				}
			}
		})
	}
}

func TestUnknownIsNeverZero(t *testing.T) {
	r := strange()["zero"]
	html := pageFor(t, r)
	if got := Headline(r); !strings.Contains(got, "unknown") {
		t.Errorf("headline %q", got)
	}
	trial := html[strings.Index(html, `<details class="trial">`):]
	head := trial[:strings.Index(trial, "</summary>")]
	if strings.Contains(head, "0 bit/s") || !strings.Contains(head, unknown) {
		t.Errorf("an unmeasured trial: %s", head)
	}
	if !strings.Contains(html, "The ceiling is unknown") {
		t.Error("page does not say that the ceiling is unknown")
	}
}

func TestManyLinksAreDrawnWithinReason(t *testing.T) {
	html := pageFor(t, strange()["hundred links"])
	first := html[strings.Index(html, `<svg class="map"`):]
	first = first[:strings.Index(first, "</svg>")]
	if got := strings.Count(first, `class="port"`); got != mapLinks+2 {
		t.Errorf("%d links drawn, want %d", got, mapLinks+2)
	}
	if !strings.Contains(first, "90 more links in the table below") {
		t.Error("drawing does not say what it leaves out")
	}
	if !strings.Contains(html, "a101") {
		t.Error("table lacks a link")
	}
}

// TestContrast holds the palette to WCAG 2.2: 4.5 to 1 for text (1.4.3), 3 to 1
// for the parts of a drawing (1.4.11).
func TestContrast(t *testing.T) {
	css := styles.FindString(pageFor(t, record.Record{}))
	light, dark := css[:strings.Index(css, "@media screen")], css[strings.Index(css, "@media screen"):]
	dark = dark[:strings.Index(dark, "*{box")]
	for name, part := range map[string]string{"light": light, "dark": dark} {
		colour := map[string]float64{}
		for _, m := range regexp.MustCompile(`--([a-z-]+):#([0-9a-f]{6})`).FindAllStringSubmatch(part, -1) {
			colour[m[1]] = luminance(t, m[2])
		}
		for _, c := range []struct {
			front, back string
			least       float64
		}{
			{"ink", "page", 7}, {"ink", "card", 7}, {"soft", "page", 4.5}, {"soft", "card", 4.5}, {"soft", "faint", 4.5},
			{"before-ink", "before-wash", 4.5}, {"after-ink", "after-wash", 4.5}, {"after-ink", "page", 4.5}, {"after-ink", "card", 4.5},
			{"before", "card", 3}, {"after", "card", 3}, {"before", "track", 3}, {"after", "track", 3}, {"mark", "card", 3},
			{"arrow", "before", 3}, {"arrow", "after", 3},
		} {
			a, okA := colour[c.front]
			b, okB := colour[c.back]
			if !okA || !okB {
				t.Fatalf("%s: no colour %s or %s", name, c.front, c.back)
			}
			if got := (max(a, b) + 0.05) / (min(a, b) + 0.05); got < c.least {
				t.Errorf("%s: %s on %s has contrast %.2f, want %.1f", name, c.front, c.back, got, c.least)
			}
		}
	}
}

// luminance is WCAG's relative luminance of an sRGB colour.
func luminance(t *testing.T, hex string) float64 {
	t.Helper()
	sum := 0.0
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		n, err := strconv.ParseUint(hex[2*i:2*i+2], 16, 8)
		if err != nil {
			t.Fatal(err)
		}
		v := float64(n) / 255
		if v <= 0.04045 {
			v /= 12.92
		} else {
			v = math.Pow((v+0.055)/1.055, 2.4)
		}
		sum += weight * v
	}
	return sum
}

func TestOptions(t *testing.T) {
	b, err := HTML(sampleRecord(), Options{Title: "Rack 4", RecordFile: "it's.json", Repeat: []string{"linerate demo --seed 3"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"<title>Rack 4</title>", "linerate demo --seed 3", `linerate explain &#39;it&#39;\&#39;&#39;s.json&#39;`} {
		if !bytes.Contains(b, []byte(want)) {
			t.Errorf("page lacks %q", want)
		}
	}
}

// mostElements bounds a page whatever was measured: a browser lays so many out in a
// quarter of a second, and reads a page of mostBytes over a slow link in a few.
const (
	mostElements = 40_000
	mostBytes    = 1_500_000
)

// TestLargePageStaysSmall: of 200 hosts and 10,000 trials, each with its series, a page
// shows what a reader can use, and among the trials those furthest from the ceiling.
func TestLargePageStaysSmall(t *testing.T) {
	var r record.Record
	for i := range 10_000 {
		trial := sampleTrial("", flow.Forward, 4)
		trial.From, trial.To = fmt.Sprintf("host-%03d", i%200), fmt.Sprintf("host-%03d", (i+1+i/200)%200)
		trial.Ceiling, trial.Goodput = 10e9, 9.8e9
		if i == 9_000 {
			trial.Goodput = 1e9
		}
		for s := range 25 {
			trial.Series, trial.SeriesAt = append(trial.Series, trial.Goodput), append(trial.SeriesAt, 0.2*float64(s+1))
		}
		r.Trials = append(r.Trials, trial)
	}
	html := pageFor(t, r)
	if n := len(regexp.MustCompile(`<[a-z]`).FindAllString(html, -1)); n > mostElements || n < 5_000 || len(html) > mostBytes {
		t.Errorf("%d elements, at most %d; %d bytes, at most %d", n, mostElements, len(html), mostBytes)
	}
	trials := html[strings.Index(html, `<section id="trials">`):]
	worst := r.Trials[9_000]
	if !strings.Contains(trials, worst.From+" → "+worst.To) {
		t.Error("the trial furthest from its ceiling is not among those shown")
	}
	grid := heatsByHost("grid", seriesOf(r))[0]
	cells := 0
	for _, area := range grid.Areas {
		cells += strings.Count(area.Path, "M")
	}
	if cells != len(r.Trials) || len(grid.Areas) != 2 {
		t.Errorf("%d cells in %d areas", cells, len(grid.Areas))
	}
}

// TestHostFindings: what is wrong with the hosts themselves is on the page, the same of
// two hosts once, judged by the state that the record leaves.
func TestHostFindings(t *testing.T) {
	r := sampleRecord()
	for _, hosts := range [][]netstate.Host{r.Environment.Hosts, r.Environment.After} {
		for i := range hosts {
			hosts[i].Links = append(slices.Clone(hosts[i].Links), netstate.Link{Name: "eth9", Driver: "ixgbe", Up: true, Carrier: true, Speed: 1e8, Duplex: "half"})
		}
	}
	html := pageFor(t, r)
	wellFormed(t, html)
	_, section, found := strings.Cut(html, `<section id="hosts">`)
	section, _, _ = strings.Cut(section, "</section>")
	if !found || !strings.Contains(section, "eth9") || !strings.Contains(section, "a, b") || strings.Count(section, "eth9") > 6 {
		t.Errorf("hosts' findings: %s", section)
	}
	for i := range r.Environment.After {
		r.Environment.After[i].Links = nil
	}
	if _, section, _ := strings.Cut(pageFor(t, r), `<section id="hosts">`); strings.Contains(section, "eth9") {
		t.Error("what is no more so at the end is said")
	}
}
