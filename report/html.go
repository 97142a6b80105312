package report

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"strings"

	"github.com/linerate/linerate/record"
)

//go:embed templates/*.tmpl
var templates embed.FS

// HTML is the record as one page that needs nothing else: no script, no font,
// no picture from elsewhere. It is light or dark as the reader's system is,
// and prints on A4. Every text of the record is escaped. The error is only
// ever the template's own.
func HTML(r record.Record, opts Options) ([]byte, error) { return htmlOf(pageOf(r, opts)) }

func htmlOf(p page) ([]byte, error) {
	t, err := parsed()
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := t.ExecuteTemplate(&b, "page.tmpl", p); err != nil {
		return nil, fmt.Errorf("fill report template: %w", err)
	}
	return visible(b.Bytes()), nil
}

// parsed are the templates of pages and drawings.
func parsed() (*template.Template, error) {
	t, err := template.New("report").Funcs(words()).ParseFS(templates, "templates/*.tmpl")
	if err != nil {
		return nil, fmt.Errorf("parse report template: %w", err)
	}
	return t, nil
}

// words are what the templates need besides the page: column heads, and values
// that go to a template of their own.
func words() template.FuncMap {
	return template.FuncMap{
		"laneHeads": laneHeads, "linkHeads": linkHeads, "portHeads": portHeads, "cpuHeads": cpuHeads, "latencyHeads": latencyHeads,
		"table": func(label string, heads []string, rows [][]string) tableView { return tableView{label, heads, rows} },
		"label": label, "prose": prose, "named": named,
		"lines": func(all []string) string { return strings.Join(all, "\n") },
		"meter": meterOf,
		"bonds": func(rows []bondSetting, changed bool) bondsView {
			label := "Bonds"
			if changed {
				label = "What changed of the bonds"
			}
			return bondsView{label, rows, changed}
		},
		"place": func(class string, s side, compared bool) placeView {
			return placeView{s, meterOf(class, s.Width, compared)}
		},
	}
}

// prose is text with its code, which backticks enclose, as code. A backtick alone
// stays what it is.
func prose(text string) template.HTML {
	parts := strings.Split(text, "`")
	var b strings.Builder
	for i, part := range parts {
		safe := template.HTMLEscapeString(part)
		switch {
		case i%2 == 0:
			b.WriteString(unbroken(safe))
		case i == len(parts)-1:
			b.WriteString("`" + safe)
		default:
			b.WriteString("<code>" + safe + "</code>")
		}
	}
	return template.HTML(b.String()) //nolint:gosec // every part is escaped
}

// mostWhole is the longest name that stays on one line: a phone has room for it.
const mostWhole = 24

// named is a headline whose names with hyphens, such as host-003, stay on one line.
func named(text string) template.HTML {
	words := strings.Split(text, " ")
	for i, w := range words {
		safe := template.HTMLEscapeString(w)
		if strings.Contains(w, "-") && len(w) <= mostWhole {
			safe = `<span class="n">` + safe + `</span>`
		}
		words[i] = safe
	}
	return template.HTML(strings.Join(words, " ")) //nolint:gosec // every word is escaped
}

// label is words that name a part of the page, each one that is there.
func label(words ...any) string {
	var out []string
	for _, w := range words {
		if text := fmt.Sprint(w); text != "" {
			out = append(out, text)
		}
	}
	return strings.Join(out, " ")
}

type tableView struct {
	Label string
	Heads []string
	Rows  [][]string
}

type bondsView struct {
	Label   string
	Rows    []bondSetting
	Changed bool
}

type meterView struct {
	Class string
	Width float64
}

type placeView struct {
	Side  side
	Meter meterView
}

// meterOf is a bar in a phase's colour; without phases there is one colour.
func meterOf(class string, width float64, compared bool) meterView {
	if !compared {
		class = "single"
	}
	return meterView{class, width}
}
