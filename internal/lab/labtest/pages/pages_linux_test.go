package pages

import (
	"context"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/chromedp"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/store"
	"github.com/linerate/linerate/internal/web"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/report"
	"github.com/linerate/linerate/unit"
)

var looks = []struct {
	width  int64
	scheme string
}{{1280, "light"}, {390, "dark"}}

type everybody struct{}

func (everybody) Visit(token string) (web.User, bool) {
	return web.User{Name: "eve", Role: agentapi.RoleChange}, token == "good"
}

// mesh is a run of n hosts, each to the next ones, until it has so many trials.
func mesh(id, hosts, trials int) record.Record {
	r := record.Record{Schema: record.Schema, ID: fmt.Sprintf("run-%03d", id), Started: time.Date(2026, 5, 1+id, 3, 0, 0, 0, time.UTC), Linerate: "test"}
	for step := 1; step < hosts; step++ {
		for i := range hosts {
			if len(r.Trials) == trials {
				return r
			}
			from, to := fmt.Sprintf("host-%03d", i), fmt.Sprintf("host-%03d", (i+step)%hosts)
			rate, cause, why := unit.BitRate(9.8e9), record.LineRate, "The links are full."
			if (i*7+step*3+id)%11 == 0 {
				rate, cause, why = 4.9e9, record.HashImbalance, "All four streams took one link."
			}
			t := record.Trial{
				From: from, To: to, Direction: flow.Forward, Streams: 4, Protocol: "tcp", Tool: "linerate", Ports: "chosen", Started: r.Started,
				Goodput: rate, GoodputLow: rate * 0.99, GoodputHigh: rate * 1.01, Ceiling: 9.9e9, CeilingMTU: 9000, Window: 4, WarmUp: 1,
				Finding: &record.Finding{From: from, To: to, Direction: flow.Forward, Streams: 4, Cause: cause, Confidence: 0.9, Summary: why, Rate: rate, Ceiling: 9.9e9},
			}
			for s := range 25 {
				t.Series, t.SeriesAt = append(t.Series, rate), append(t.SeriesAt, 0.2*float64(s+1))
			}
			for n := range 2 {
				t.Links = append(t.Links, record.LinkUse{Host: from, Link: fmt.Sprint("eth", n), Tx: rate / 2, TxPayload: rate / 2, Ceiling: 4.95e9}, record.LinkUse{Host: to, Link: fmt.Sprint("eth", n), Rx: rate / 2, RxPayload: rate / 2, Ceiling: 4.95e9})
			}
			r.Trials = append(r.Trials, t)
		}
	}
	return r
}

func site(t *testing.T, records ...record.Record) *httptest.Server {
	return siteOf(t, nil, records...)
}

func siteOf(t *testing.T, fleet web.Fleet, records ...record.Record) *httptest.Server {
	t.Helper()
	return siteExplaining(t, fleet, nil, records...)
}

// siteExplaining has the page of `make page` too.
func siteExplaining(t *testing.T, fleet web.Fleet, explain []byte, records ...record.Record) *httptest.Server {
	t.Helper()
	runs, err := store.Open(t.Context(), store.Config{Place: filepath.Join(t.TempDir(), "history.db"), Create: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { runs.Close() })
	for _, r := range records {
		if _, err := runs.Add(t.Context(), r, nil); err != nil {
			t.Fatal(err)
		}
	}
	h, err := web.Handler(web.Config{
		Store: runs, Authenticator: everybody{}, Fleet: fleet, Explain: explain, Version: "test", Now: func() time.Time { return time.Date(2026, 5, 20, 0, 0, 0, 0, time.UTC) },
		Trials: func(ctx context.Context, each func(string, record.Trial)) {
			each("eve/run-9", mesh(9, 2, 1).Trials[0])
			<-ctx.Done()
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s
}

func (b *browser) login(t *testing.T, s *httptest.Server) {
	t.Helper()
	b.do(t, chromedp.Navigate(s.URL+"/"), chromedp.SendKeys("#token", "good\r"), chromedp.WaitVisible(`nav a[aria-current]`))
}

// mostHead is how high what stands on every page may be: the answer is below it.
const mostHead = 60

// TestWebPages: every page, as it is seen on a desk and on a phone at night.
func TestWebPages(t *testing.T) {
	var all []record.Record
	for i := range 8 {
		all = append(all, mesh(i, 5, 20))
	}
	s := siteOf(t, &rack{}, all...)
	b := open(t)
	b.size(t, 1280, "light")
	b.look(t, s.URL+"/login")
	b.login(t, s)
	for _, look := range looks {
		b.size(t, look.width, look.scheme)
		for _, page := range []struct{ name, path, shows string }{
			{"status", "/", ".alarm"}, {"runs", "/runs", "tbody tr"}, {"paths", "/path", ".paths tbody tr"}, {"run", "/run/run-003", "iframe"}, {"path", "/path?from=host-000&to=host-001", ".uplot canvas"},
			{"matrix", "/matrix", ".matrix td a"}, {"compare", "/compare?before=run-001&after=run-002", ".verdict"}, {"live", "/live", "#trials td.n"},
			{"hosts", "/hosts", `form[action="/measure"]`}, {"host", "/host/db01", ".waits button"},
			{"missing", "/run/none", ".alert"},
		} {
			if page.name == "missing" { // the browser's own log names it, as it should
				b.do(t, chromedp.Navigate(s.URL+page.path), chromedp.WaitVisible(page.shows))
				continue
			}
			b.look(t, s.URL+page.path)
			b.do(t, chromedp.WaitVisible(page.shows))
			if tall := value[float64](t, b, `document.querySelector("header").offsetHeight`); tall > mostHead {
				t.Errorf("%s, %d px: the head is %.0f px high, want at most %d", page.name, look.width, tall, mostHead)
			}
			const both = `[...document.querySelectorAll(".wide, .slim")].filter(e => getComputedStyle(e).display != "none").map(e => e.className.match(/wide|slim/)[0]).filter((c, i, all) => all.indexOf(c) == i).join(" and ")`
			if shown := value[string](t, b, both); strings.Contains(shown, "and") {
				t.Errorf("%s, %d px: what stands for %s screens is shown, one thing twice", page.name, look.width, shown)
			}
			b.shoot(t, fmt.Sprintf("web-%s-%d", page.name, look.width))
		}
	}
}

// TestKeyboard: all there is to do on a page is done without a mouse, and it is
// seen where one is.
func TestKeyboard(t *testing.T) {
	s := site(t, mesh(0, 3, 6), mesh(1, 3, 6))
	b := open(t)
	b.size(t, 1280, "light")
	b.login(t, s)
	b.do(t, chromedp.Navigate(s.URL+"/runs"))
	seen := b.walk(t)
	for _, want := range []string{"a|Skip to the content|", "a|Runs|seen", "a|Live|seen", "a|Matrix|seen", "a|Status|seen", "a|Paths|seen", "a|Compare|seen", "button|Log out|seen", "a|run-001|seen", "a|Compare run-000 with another run|seen"} {
		if !slices.ContainsFunc(seen, func(one string) bool { return strings.HasPrefix(one, want) }) {
			t.Errorf("no %s among %v", want, seen)
		}
	}
	for _, one := range seen {
		if strings.HasSuffix(one, "|unseen") && !strings.HasPrefix(one, "a|Skip") {
			t.Errorf("the focus is not seen at %s", one)
		}
	}
	// By keys alone from the first page to a comparison.
	b.do(t, chromedp.Navigate(s.URL+"/runs"))
	for range 40 {
		b.do(t, chromedp.KeyEvent("\t"))
		if strings.HasPrefix(value[string](t, b, `document.activeElement.getAttribute("aria-label") || ""`), "Compare run-001") {
			break
		}
	}
	b.do(t, chromedp.KeyEvent("\r"))
	b.await(t, `document.querySelector("select[name=before]") !== null`)
	at := value[string](t, b, `location.toString()`)
	if !strings.HasSuffix(at, "/compare?after=run-001") {
		t.Errorf("at %s", at)
	}
}

// TestReportPage: the report as a file, with the sample record and with none
// of its scripts, of which it has none.
func TestReportPage(t *testing.T) {
	r := mesh(3, 4, 12)
	r.Trials[0].Finding = &record.Finding{From: r.Trials[0].From, To: r.Trials[0].To, Direction: flow.Forward, Streams: 4, Cause: record.SingleLink, Confidence: 0.9, Rate: 4.9e9, Ceiling: 9.9e9,
		Summary: "One link carries all.", Expected: 9.8e9, Remedy: "choose ports", Evidence: []record.Evidence{{What: "eth0", Value: "full", Source: "counters"}}}
	r.Trials[0].Goodput, r.Trials[0].Shaper = 4.9e9, &record.TokenBucket{Rate: 4e9, Bucket: 1 << 28, Burst: 9e9, BurstFor: 2}
	text, err := report.HTML(r, report.Options{})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	b := open(t)
	for _, look := range looks {
		b.size(t, look.width, look.scheme)
		b.look(t, "file://"+file)
		value[bool](t, b, `document.querySelectorAll("details").forEach(d => d.open = true); true`)
		b.judge(t, "file://"+file)
		b.shoot(t, fmt.Sprintf("report-%d", look.width))
	}
}

// mostDrawing is how many times as long as a plain table of as many cells as the matrix
// has a browser may take to lay out a large page: seconds of its main thread alone, so that
// neither a busy machine nor a slow one judges. The matrix took 1.2 times as long.
const mostDrawing = 2.0

// TestLargePages: 200 hosts in the matrix, and a record of 10,000 trials, are each drawn
// in about the time that a plain table takes.
func TestLargePages(t *testing.T) {
	large := mesh(0, 200, 10_000)
	s := site(t, large)
	b := open(t)
	b.size(t, 1280, "light")
	b.login(t, s)
	text, err := report.HTML(large, report.Options{})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "large.html")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	plain := b.leastDrawn(t, "file://"+plainTable(t, 200))
	t.Logf("a plain table of 200 by 200 cells: %.2f s to draw", plain)
	for name, page := range map[string]string{"matrix of 200 hosts": s.URL + "/matrix", "report of 10,000 trials": "file://" + file, "run of 10,000 trials": s.URL + "/run/run-000"} {
		ours := b.leastDrawn(t, page)
		t.Logf("%s: %.2f s to draw, %.1f times the plain table", name, ours, ours/plain)
		if ours > mostDrawing*plain || plain <= 0 || ours <= 0 {
			t.Errorf("%s took %.2f s, want %v times %.2f s at most", name, ours, mostDrawing, plain)
		}
	}
	t.Logf("the report of 10,000 trials has %.1f MB", float64(len(text))/1e6)
}

// plainTable is the file of a page that is a table of so many rows and columns of
// figures, and nothing else.
func plainTable(t *testing.T, side int) string {
	t.Helper()
	text := "<!doctype html><title>plain</title><table>" + strings.Repeat("<tr>"+strings.Repeat("<td>12.3", side), side) + "</table><footer>end</footer>"
	file := filepath.Join(t.TempDir(), "plain.html")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// leastDrawn is the least of three times of drawing a page: the first reads the program, too.
func (b *browser) leastDrawn(t *testing.T, page string) float64 {
	t.Helper()
	least := time.Hour.Seconds()
	for range 3 {
		b.do(t, chromedp.Navigate("about:blank"))
		before := b.drawn(t)
		b.do(t, chromedp.Navigate(page), chromedp.WaitReady("footer"))
		least = min(least, b.drawn(t)-before)
	}
	return least
}

// drawn is how long the browser's main thread has worked for its page: seconds.
func (b *browser) drawn(t *testing.T) (seconds float64) {
	t.Helper()
	b.do(t, chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		if _, err := cdp.Call(ctx, target, performance.Enable, performance.EnableParams{TimeDomain: performance.EnableTimeDomainThreadTicks}); err != nil {
			return err
		}
		m, err := cdp.Call(ctx, target, performance.GetMetrics, cdp.Empty{})
		if err != nil {
			return err
		}
		for _, one := range m.Metrics {
			if one.Name == "TaskDuration" {
				seconds = one.Value
			}
		}
		return nil
	}))
	return seconds
}
