package pages

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	cdplog "github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

//go:embed testdata/axe.min.js
var axe string

// EnvShots names a directory in which the screenshots are kept.
const envShots = "LINERATE_SHOTS"

// browser is a Chromium without a window, and what it complained of and asked
// for.
type browser struct {
	context.Context
	mu         sync.Mutex
	complaints []string
	asked      []string
}

// chromium is the browser's program; without it the test is skipped.
func chromium(t *testing.T) string {
	t.Helper()
	program, err := exec.LookPath("chromium")
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("chromium is not here: make deps-pages installs it")
		}
		t.Skip("chromium is not here: make deps-pages installs it")
	}
	return program
}

func open(t *testing.T) *browser {
	t.Helper()
	program := chromium(t)
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program), chromedp.NoSandbox, chromedp.DisableGPU)
	ctx, stop := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(stop)
	ctx, end := chromedp.NewContext(ctx)
	t.Cleanup(end)
	ctx, cancel := context.WithTimeout(ctx, 3*time.Minute)
	t.Cleanup(cancel)
	b := &browser{Context: ctx}
	if err := chromedp.Listen(ctx, b.hear); err != nil {
		t.Fatal(err)
	}
	b.do(t, chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, network := cdp.Call(ctx, t, network.Enable, network.EnableParams{})
		_, runtime := cdp.Call(ctx, t, runtime.Enable, cdp.Empty{})
		_, log := cdp.Call(ctx, t, cdplog.Enable, cdp.Empty{})
		return errors.Join(network, runtime, log)
	}))
	return b
}

func (b *browser) hear(event any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch e := event.(type) {
	case *runtime.EventConsoleAPICalled:
		if e.Type == runtime.ConsoleAPICalledTypeError || e.Type == runtime.ConsoleAPICalledTypeWarning {
			b.complaints = append(b.complaints, fmt.Sprintf("console: %+v", e.Args))
		}
	case *runtime.EventExceptionThrown:
		b.complaints = append(b.complaints, "exception: "+e.ExceptionDetails.Text)
	case *cdplog.EventEntryAdded:
		if e.Entry.Level == cdplog.EntryLevelError || e.Entry.Level == cdplog.EntryLevelWarning {
			b.complaints = append(b.complaints, "log: "+e.Entry.Text+" "+e.Entry.URL)
		}
	case *network.EventRequestWillBeSent:
		b.asked = append(b.asked, e.Request.URL)
	}
}

func (b *browser) do(t *testing.T, actions ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	if err := chromedp.Do(b, actions...); err != nil {
		t.Fatal(err)
	}
}

// value is what a script in the page comes to.
func value[T any](t *testing.T, b *browser, script string) T {
	t.Helper()
	v, err := chromedp.Run(b, chromedp.Evaluate[T](script, chromedp.EvalAwaitPromise))
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// await waits until a condition in the page holds.
func (b *browser) await(t *testing.T, condition string) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if met, err := chromedp.Run(b, chromedp.Evaluate[bool](condition)); err == nil && met {
			return // while a page is left there is none to ask
		}
	}
	t.Fatalf("not so: %s", condition)
}

// size makes the window so wide and the system light or dark.
func (b *browser) size(t *testing.T, width int64, scheme string) {
	t.Helper()
	b.do(t, chromedp.EmulateViewport(width, 900), chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
		return err
	}))
}

// look opens a page, and fails the test for what the browser complained of, for
// requests to elsewhere, for what is wider than the window, and for what axe
// finds.
func (b *browser) look(t *testing.T, page string) {
	t.Helper()
	b.mu.Lock()
	b.complaints, b.asked = nil, nil
	b.mu.Unlock()
	b.do(t, chromedp.Navigate(page), chromedp.WaitReady("body"))
	b.judge(t, page)
}

type violation struct {
	ID, Impact, Help string
	Nodes            []struct{ HTML, FailureSummary string }
}

func (b *browser) judge(t *testing.T, page string) {
	t.Helper()
	overflow := value[int64](t, b, `document.documentElement.scrollWidth - document.documentElement.clientWidth`)
	value[bool](t, b, axe+"\n;true")
	found := value[[]violation](t, b, `axe.run(document, {iframes: false}).then(r => r.violations.map(v => ({ID: v.id, Impact: v.impact, Help: v.help, Nodes: v.nodes.map(n => ({HTML: n.html, FailureSummary: n.failureSummary}))})))`)
	if overflow > 0 {
		t.Errorf("%s: %d pixels wider than the window", page, overflow)
	}
	for _, v := range found {
		t.Errorf("%s: %s (%s): %s, %d times: %.300s\n%.300s", page, v.ID, v.Impact, v.Help, len(v.Nodes), v.Nodes[0].HTML, v.Nodes[0].FailureSummary)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, c := range b.complaints {
		t.Errorf("%s: %s", page, c)
	}
	own, err := url.Parse(page)
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range b.asked {
		u, err := url.Parse(a)
		if err != nil || u.Scheme == "data" || u.Scheme == own.Scheme && u.Host == own.Host {
			continue
		}
		t.Errorf("%s asked %s", page, a)
	}
}

// shoot keeps a picture of the whole page.
func (b *browser) shoot(t *testing.T, name string) {
	t.Helper()
	dir := os.Getenv(envShots)
	if dir == "" {
		return
	}
	picture, err := chromedp.Run(b, chromedp.FullScreenshot(100))
	if err != nil {
		t.Fatal(err)
	}
	keep(t, dir, name, picture)
}

// shootFirst keeps a picture of a page's first screen.
func (b *browser) shootFirst(t *testing.T, name string, width, height int64) {
	t.Helper()
	dir := os.Getenv(envShots)
	if dir == "" {
		return
	}
	b.do(t, chromedp.EmulateViewport(width, height))
	picture, err := chromedp.Run(b, chromedp.CaptureScreenshot())
	if err != nil {
		t.Fatal(err)
	}
	keep(t, dir, name, picture)
}

func keep(t *testing.T, dir, name string, picture []byte) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), picture, 0o600); err != nil {
		t.Fatal(err)
	}
}

// walk presses Tab from the beginning of a page and returns what has the focus
// each time, until it comes round.
func (b *browser) walk(t *testing.T) []string {
	t.Helper()
	const focus = `(() => { const e = document.activeElement; if (!e || e === document.body) return "";
		const r = e.getBoundingClientRect(), s = getComputedStyle(e);
		return [e.tagName.toLowerCase(), (e.getAttribute("aria-label") || e.textContent || e.name || "").trim().slice(0, 40), s.outlineStyle !== "none" && r.width > 0 ? "seen" : "unseen"].join("|"); })()`
	var all []string
	for range 200 {
		b.do(t, chromedp.KeyEvent("\t"))
		now := value[string](t, b, focus)
		if now == "" || strings.HasPrefix(now, "iframe") || len(all) > 1 && now == all[0] {
			break
		}
		all = append(all, now)
	}
	return all
}
