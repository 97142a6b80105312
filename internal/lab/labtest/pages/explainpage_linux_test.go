package pages

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/linerate/linerate/diagnose/pasted"
	"github.com/linerate/linerate/internal/evidence/paste"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/internal/page"
	"github.com/linerate/linerate/internal/page/answer"
	"github.com/linerate/linerate/record"
)

// mostBytes bounds the page, and mostWait an answer to a text of the questions, in
// milliseconds.
const (
	mostBytes = 29 << 18 // of the file: its program is three quarters of that, compressed
	mostWait  = 300
)

// made is the page as `make page` makes it.
func made(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	c := exec.CommandContext(t.Context(), "make", "-C", "../../../..", "page", "PAGE="+dir)
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("make page: %v\n%s", err, out)
	}
	return filepath.Join(dir, "linerate.html")
}

// questions are ten of those in testdata of diagnose/pasted.
func questions(t *testing.T) (names, texts []string) {
	t.Helper()
	files, err := filepath.Glob("../../../../diagnose/pasted/testdata/*.txt")
	if err != nil || len(files) < 10 {
		t.Fatalf("%d questions, %v", len(files), err)
	}
	for i := range 10 {
		file := files[i*len(files)/10]
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		names, texts = append(names, filepath.Base(file)), append(texts, string(text))
	}
	return names, texts
}

func quoted(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// shown is the answer as it stands on the page.
type shown struct {
	First, Remedy, Gain string
	Evidence, Ask       []string
	Read                string
	Markdown            string
	Milliseconds        int
	Pictures            int
}

const readAnswer = `(() => { const all = (s) => [...document.querySelectorAll("#answer > " + s)].map((e) => e.textContent);
	return { First: all(".first")[0] || "", Remedy: all(".remedy")[0] || "", Gain: all(".gain")[0] || "", Evidence: all("ul.evidence > li"), Ask: all("ul > li.ask"), Read: all(".read")[0] || "",
		Markdown: JSON.parse(linerate.explain(document.getElementById("text").value)).markdown, Milliseconds: +document.getElementById("answer").dataset.milliseconds, Pictures: all("svg").length }; })()`

// asks pastes a text into the page and returns the answer.
func (b *browser) asks(t *testing.T, text string) shown {
	t.Helper()
	value[bool](t, b, `document.getElementById("text").value = `+quoted(text)+`, document.querySelector("#explain-form button").click(), true`)
	return value[shown](t, b, readAnswer)
}

// TestExplainPage: the page made anew, opened as a file, answers as the command does,
// asks nobody, and its policy refuses what would.
func TestExplainPage(t *testing.T) {
	chromium(t)
	file := made(t) // before the browser starts, for it takes a while
	b := open(t)
	html, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if len(html) > mostBytes {
		t.Errorf("%d bytes, want at most %d", len(html), mostBytes)
	}
	if _, err := page.PolicyOf(html); err != nil {
		t.Error(err)
	}
	b.size(t, 1280, "light")
	b.look(t, "file://"+file)
	b.await(t, `document.getElementById("state").hidden`)

	names, texts := questions(t)
	pictures, slowest := 0, 0
	for i, text := range texts {
		got := b.asks(t, text)
		c := paste.Parse([]piece.Text{{Bytes: []byte(text)}})
		a := pasted.Judge(c)
		f := a.Findings[0]
		want := shown{First: f.Headline(), Remedy: f.Remedy, Gain: f.Gain(), Read: pasted.ReadText(c), Markdown: pasted.Markdown(a), Milliseconds: got.Milliseconds, Pictures: got.Pictures}
		if f.Cause == record.Unknown && len(a.Missing) > 0 {
			want.Remedy = "" // the commands stand below
		}
		want.First, want.Remedy = strings.ReplaceAll(want.First, "`", ""), strings.ReplaceAll(want.Remedy, "`", "")
		for _, e := range f.Evidence {
			want.Evidence = append(want.Evidence, fmt.Sprintf("%s: %s (%s)", e.What, e.Value, e.Source))
		}
		for _, m := range a.Missing {
			want.Ask = append(want.Ask, fmt.Sprintf("%s on %s: %s", m.Command, m.On(), m.Why))
		}
		if quoted(got) != quoted(want) && strings.ReplaceAll(quoted(got), "[]", "null") != quoted(want) {
			t.Errorf("%s: the page says\n%+v, want\n%+v", names[i], got, want)
		}
		b.shoot(t, "page-answer-"+strings.TrimSuffix(names[i], ".txt"))
		pictures += got.Pictures
		if i == 0 {
			t.Logf("the first answer took %d ms", got.Milliseconds)
		}
		for try := 0; try < 2 && got.Milliseconds > mostWait; try++ { // the machine may be busy for a moment, not thrice
			got.Milliseconds = b.asks(t, text).Milliseconds
		}
		slowest = max(slowest, got.Milliseconds)
	}
	t.Logf("%d bytes; %d of %d with a picture; the slowest answer took %d ms", len(html), pictures, len(texts), slowest)
	if pictures < len(texts)/2 {
		t.Errorf("%d of %d have a picture", pictures, len(texts))
	}
	if slowest > mostWait {
		t.Errorf("an answer took %d ms, want at most %d", slowest, mostWait)
	}
	b.judge(t, "file://"+file)

	t.Run("a line of evidence is marked in the text", func(t *testing.T) {
		got := b.asks(t, texts[0])
		if len(got.Evidence) == 0 {
			t.Fatalf("no evidence: %+v", got)
		}
		value[bool](t, b, `document.querySelector("#answer .evidence button").click(), true`)
		marked := value[string](t, b, `(() => { const e = document.getElementById("text"); return document.activeElement === e ? e.value.slice(e.selectionStart, e.selectionEnd) : "not focused"; })()`)
		at := value[string](t, b, `document.querySelector("#answer .evidence button").textContent`)
		var line int
		if _, err := fmt.Sscanf(at, "line %d", &line); err != nil {
			t.Fatal(at, err)
		}
		if want := strings.Split(texts[0], "\n")[line-1]; !strings.HasPrefix(marked, want) || marked == "" {
			t.Errorf("%s marks %q, want %q", at, marked, want)
		}
	})
	t.Run("what is copied", func(t *testing.T) {
		got := b.asks(t, texts[2])
		value[bool](t, b, `navigator.clipboard.writeText = (t) => { window.copied = t; return Promise.resolve(); }, true`)
		copied := value[[]string](t, b, `[...document.querySelectorAll("#answer .row button")].map((e) => { e.click(); return window.copied; })`)
		if len(copied) != 2 || copied[1] != got.Markdown || strings.Count(copied[0], "\n") != len(got.Ask) || !strings.HasPrefix(got.Ask[0], strings.SplitN(copied[0], "\n", 2)[0]) {
			t.Errorf("copied %q of %+v", copied, got)
		}
	})
	t.Run("a file", func(t *testing.T) {
		wide := `const u = new Uint8Array(2 + 2 * text.length); u[0] = 255, u[1] = 254; for (let i = 0; i < text.length; i++) u[2 + 2 * i] = text.charCodeAt(i);`
		value[bool](t, b, `(() => { const text = `+quoted(texts[4])+`; `+wide+` const d = new DataTransfer(); d.items.add(new File([u], "a.txt"));
			const f = document.getElementById("file"); f.files = d.files; f.dispatchEvent(new Event("change")); return true; })()`)
		b.await(t, `document.getElementById("text").value === `+quoted(strings.ReplaceAll(texts[4], "\r\n", "\n")))
	})
	t.Run("no output", func(t *testing.T) {
		b.asks(t, "hello")
		if said := value[string](t, b, `document.querySelector("#answer .alert").textContent`); !strings.HasPrefix(said, paste.Nothing) {
			t.Errorf("says %q", said)
		}
	})
	t.Run("looks", func(t *testing.T) {
		for _, look := range []struct {
			width  int64
			scheme string
		}{{320, "light"}, {1280, "light"}, {1280, "dark"}, {320, "dark"}} {
			b.size(t, look.width, look.scheme)
			b.do(t, chromedp.Navigate("file://"+file), chromedp.WaitReady("body"))
			b.await(t, `document.getElementById("state").hidden`)
			b.asks(t, texts[0])
			for _, tab := range []string{"explain", "steer", "predict"} {
				value[bool](t, b, `document.getElementById("tab-`+tab+`").click(), document.querySelector("#`+tab+`-form button").click(), true`)
				b.judge(t, "file://"+file)
				b.shoot(t, fmt.Sprintf("page-%s-%d-%s", tab, look.width, look.scheme))
			}
		}
	})
	t.Run("by keys", func(t *testing.T) {
		b.size(t, 1280, "light")
		b.do(t, chromedp.Navigate("file://"+file), chromedp.WaitReady("body"))
		b.await(t, `document.getElementById("state").hidden`)
		for _, one := range b.walk(t) {
			if strings.HasSuffix(one, "|unseen") && !strings.HasPrefix(one, "a|Skip") {
				t.Errorf("the focus is not seen at %s", one)
			}
		}
		value[bool](t, b, `document.getElementById("tab-explain").focus(), true`)
		b.do(t, chromedp.KeyEvent(kb.ArrowRight))
		if tab := value[string](t, b, `document.activeElement.id + " " + document.getElementById("steer").hidden`); tab != "tab-steer false" {
			t.Errorf("right of explain is %s", tab)
		}
	})
	t.Run("steer", func(t *testing.T) {
		want := answer.Steer(answer.SteerRequest{Src: "10.0.0.1", Dst: "10.0.0.2", Links: 2, Policy: "layer3+4", Flows: 8, Dport: 5201})
		value[bool](t, b, `document.getElementById("tab-steer").click(), document.querySelector("#steer-form button").click(), true`)
		if ports := value[string](t, b, `document.querySelector("#steered .ports").textContent`); ports != want.Chosen.Ports || ports == "" {
			t.Errorf("ports %s, want %s", ports, want.Chosen.Ports)
		}
		links := value[[]string](t, b, `[...document.querySelectorAll("#steered > div > div:last-child tbody td:last-child")].map((e) => e.textContent)`)
		for i, f := range want.Flows {
			if len(links) != len(want.Flows) || f.Link == nil || links[i] != fmt.Sprint(*f.Link) {
				t.Fatalf("links %v, want %v", links, want.PerLink)
			}
		}
		value[bool](t, b, `document.getElementById("src").value = "nowhere", document.querySelector("#steer-form button").click(), true`)
		if said := value[string](t, b, `document.querySelector("#steered .alert").textContent`); !strings.Contains(said, "source address") {
			t.Errorf("of an address that is none: %s", said)
		}
	})
	t.Run("predict", func(t *testing.T) {
		value[bool](t, b, `document.getElementById("tab-predict").click(), document.querySelector("#predict-form button").click(), true`)
		text := value[string](t, b, `document.getElementById("fabric").value`)
		want := answer.Predict(text)
		if want.Error != "" || len(want.Pairs) != 1 {
			t.Fatalf("%+v", want)
		}
		cells := value[[]string](t, b, `[...document.querySelectorAll("#predicted tbody tr")].map((r) => [...r.cells].map((c) => c.textContent).join("|"))`)
		for i, r := range want.Pairs[0].Rows {
			if one := fmt.Sprintf("%s|%s|%s|%s|%s", r.Direction, r.Streams, r.Expected, r.Ceiling, r.Limit); len(cells) != len(want.Pairs[0].Rows) || cells[i] != one {
				t.Errorf("row %d is %v, want %s", i, cells, one)
			}
		}
	})
	t.Run("nothing leaves", func(t *testing.T) {
		var asked []string
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if asked = append(asked, r.URL.Path); r.URL.Path == "/linerate.html" {
				_, _ = w.Write(html)
			}
		}))
		defer s.Close()
		b.look(t, s.URL+"/linerate.html")
		b.await(t, `document.getElementById("state").hidden`)
		b.asks(t, texts[0])
		b.judge(t, s.URL+"/linerate.html")
		for what, script := range map[string]string{
			"fetch":  `fetch("/fetched").then(() => "went", (e) => "refused")`,
			"beacon": `new Promise((done) => { document.addEventListener("securitypolicyviolation", (e) => done("refused"), {once: true}); navigator.sendBeacon("/beacon", "x"); setTimeout(() => done("went"), 3000); })`,
			"image":  `new Promise((done) => { const i = new Image(); i.onload = () => done("went"); i.onerror = () => done("refused"); i.src = "/image.png"; })`,
			"script": `new Promise((done) => { const s = document.createElement("script"); s.onload = () => done("went"); s.onerror = () => done("refused"); s.src = "/script.js"; document.body.append(s); })`,
			"eval":   `new Promise((done) => setTimeout(() => { try { done(new Function("return 'went'")()); } catch { done("refused"); } }))`,
		} {
			if got := value[string](t, b, script); got != "refused" {
				t.Errorf("%s: %s", what, got)
			}
		}
		if len(asked) != 1 {
			t.Errorf("the server was asked for %v", asked)
		}
	})
	t.Run("served", func(t *testing.T) {
		without := siteOf(t, nil, mesh(0, 2, 1))
		b.login(t, without)
		if status := value[int](t, b, `fetch("/explain").then((r) => r.status)`); status != http.StatusNotFound {
			t.Errorf("without the page /explain is %d", status)
		}
		s := siteExplaining(t, nil, html, mesh(0, 2, 1))
		if answered, err := http.Get(s.URL + "/explain"); err != nil || answered.Request.URL.Path != "/login" || answered.Body.Close() != nil {
			t.Errorf("without a login: %v, %v", answered, err)
		}
		b.login(t, s)
		b.do(t, chromedp.Navigate(s.URL+"/"), chromedp.WaitVisible(`nav a[href="/explain"]`))
		b.look(t, s.URL+"/explain")
		b.await(t, `document.getElementById("state").hidden`)
		if got := b.asks(t, texts[0]); got.First == "" {
			t.Error("no answer")
		}
	})
}
