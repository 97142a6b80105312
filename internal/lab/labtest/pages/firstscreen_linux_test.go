package pages

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// firstPart is where an element ends on the page, and what it says.
type firstPart struct {
	Bottom float64
	Text   string
}

// aboveAll are the places of a page that say a share of a ceiling above 100 %.
const aboveAll = `[...document.querySelectorAll("h1, td.s, .sub, .note, .big, svg .load, svg .on")].map(e => e.textContent).filter(t => [...t.matchAll(/(?<!\+)([\d.]+)\s%/g)].some(m => +m[1] > 100))`

// smallWords are words in drawings whose letters are lower than 9.5 pixels.
const smallWords = `[...document.querySelectorAll("svg text")].filter(e => e.getBoundingClientRect().width > 0)
	.map(e => [parseFloat(getComputedStyle(e).fontSize) * e.getScreenCTM().a, e.closest("svg").getAttribute("class"), e.textContent]).filter(([n]) => n < 9.5).map(a => a.join(" "))`

// touching are words in drawings that lie over other words, or over the edge of a
// host, the network or a cell.
const touching = `[...document.querySelectorAll("svg")].flatMap(svg => {
	const seen = e => { const r = e.getBoundingClientRect(); return r.width > 0 && r.height > 0 ? r : null; };
	const words = [...svg.querySelectorAll("text")].map(e => [e.textContent, seen(e)]).filter(([, r]) => r);
	const boxes = [...svg.querySelectorAll("rect.host, rect.cloud, .heat rect")].map(seen).filter(r => r);
	const over = (a, b) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 3;
	const within = (a, b) => a.left >= b.left - 1 && a.right <= b.right + 1;
	return words.flatMap(([name, r], i) => [
		...words.slice(i + 1).filter(([, other]) => over(r, other)).map(([other]) => name + " | " + other),
		...boxes.filter(b => over(r, b) && !within(r, b)).map(() => name + " | an edge")]);
})`

// TestFirstScreen: whatever the report, what it comes to, what to do and the
// command stand on the first screen; without a ceiling no figure is "unknown",
// and no share is above all of it.
func TestFirstScreen(t *testing.T) {
	pages := sixReports(t)
	for _, name := range slices.Sorted(maps.Keys(pages)) {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), name+".html")
			if err := os.WriteFile(file, pages[name], 0o600); err != nil {
				t.Fatal(err)
			}
			b, page := open(t), "file://"+file
			b.size(t, 1280, "light")
			b.look(t, page)
			b.firstScreen(t, name+"-desk", 1280, 800)
			b.size(t, 390, "dark")
			b.do(t, chromedp.Navigate(page), chromedp.WaitReady("body"))
			b.firstScreen(t, name+"-phone", 390, 844)
			b.judge(t, page)
			if small := value[[]string](t, b, smallWords); len(small) > 0 {
				t.Errorf("%d words in drawings are too small: %q", len(small), small[:min(5, len(small))])
			}
		})
	}
}

// firstScreen judges a page in a window of a size, then unfolds it.
func (b *browser) firstScreen(t *testing.T, name string, width, height int64) {
	t.Helper()
	parts := value[map[string]firstPart](t, b, `Object.fromEntries(Object.entries({verdict: "h1", action: ".do h2", command: ".do pre", sure: ".do .sure"}).map(([k, s]) => {
		const e = document.querySelector(s); return [k, e ? {Bottom: e.getBoundingClientRect().bottom + scrollY, Text: e.innerText.trim()} : {Bottom: 1e6, Text: ""}]; }))`)
	for _, part := range []string{"verdict", "action", "command", "sure"} {
		p := parts[part]
		if p.Text == "" || p.Bottom > float64(height) {
			t.Errorf("%d wide: the %s ends at %.0f, want %d: %q", width, part, p.Bottom, height, p.Text)
		}
		t.Logf("%d wide: %s ends at %.0f: %s", width, part, p.Bottom, p.Text)
	}
	if figures := value[string](t, b, `[...document.querySelectorAll(".figures dd.big")].map(e => e.innerText).join(" | ")`); strings.Contains(figures, "unknown") || figures == "" {
		t.Errorf("figures %q", figures)
	}
	if text := value[string](t, b, `document.body.innerText`); strings.Contains(text, "`") {
		t.Error("a backtick on the page")
	}
	b.shootFirst(t, name+"-first", width, height)
	b.shoot(t, name)
	value[bool](t, b, `document.querySelectorAll("details:not(.trial)").forEach(d => d.open = true); true`)
	if above := value[[]string](t, b, aboveAll); len(above) > 0 {
		t.Errorf("above all of a ceiling: %q", above)
	}
	if words := value[[]string](t, b, touching); len(words) > 0 {
		t.Errorf("%d wide: %d words in drawings touch: %q", width, len(words), words[:min(5, len(words))])
	}
	b.shoot(t, name+"-unfolded")
}
