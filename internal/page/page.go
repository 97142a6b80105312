// Package page makes the page in the browser: one file with its style, its script and
// linerate's program for browsers in it, which works without a server. Its own content
// security policy lets nothing leave it. What the page says is package answer's; it
// must never ask anybody for anything.
package page

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"errors"
	"fmt"
	"html"
	"regexp"
	"strings"
)

//go:embed assets
var assets embed.FS

// Make returns the page of a program, built for GOOS=js and GOARCH=wasm, and of the
// script by which browsers run Go's programs (lib/wasm/wasm_exec.js of the same Go).
// The same input makes the same bytes.
func Make(wasm, support []byte, version string) ([]byte, error) {
	if !bytes.HasPrefix(wasm, []byte("\x00asm")) {
		return nil, errors.New("make the page: the program is no WebAssembly: build it with GOOS=js GOARCH=wasm")
	}
	parts := make(map[string]string)
	for _, name := range []string{"page.html", "page.css", "page.js", "example.yaml"} {
		b, err := assets.ReadFile("assets/" + name)
		if err != nil {
			return nil, fmt.Errorf("make the page: %w", err)
		}
		parts[name] = string(b)
	}
	style, script := parts["page.css"], string(support)+"\n"+parts["page.js"]
	if strings.Contains(script, "</script") || strings.Contains(script, "\r") {
		return nil, errors.New("make the page: the script has a line end or a tag that ends it early: take wasm_exec.js from Go's own lib/wasm")
	}
	packed, err := pack(wasm)
	if err != nil {
		return nil, fmt.Errorf("make the page: compress the program: %w", err)
	}
	return []byte(strings.NewReplacer(
		"{{policy}}", policy(style, script), "{{style}}", style, "{{script}}", script, "{{program}}", packed, "{{version}}", html.EscapeString(version), "{{fabric}}", html.EscapeString(parts["example.yaml"]),
	).Replace(parts["page.html"])), nil
}

// policy is the page's content security policy: its own script and style, known by
// their hashes, and no request to anybody.
func policy(style, script string) string {
	return fmt.Sprintf("default-src 'none'; script-src %s 'wasm-unsafe-eval'; style-src %s; connect-src 'none'; base-uri 'none'; form-action 'none'", hash(script), hash(style))
}

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}

func pack(wasm []byte) (string, error) {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return "", err
	}
	if _, err := w.Write(wasm); err != nil {
		return "", err
	}
	if err := w.Close(); err != nil {
		return "", err
	}
	return base64.StdEncoding.EncodeToString(b.Bytes()), nil
}

var policyTag = regexp.MustCompile(`<meta http-equiv="Content-Security-Policy" content="(default-src 'none'; [^"]*connect-src 'none';[^"]*)">`)

// mostHead bounds where the policy may stand: before the program.
const mostHead = 4096

// PolicyOf returns the policy of a page that Make made, for who serves it. The error
// says that it is another file.
func PolicyOf(file []byte) (string, error) {
	m := policyTag.FindSubmatch(file[:min(len(file), mostHead)])
	if m == nil {
		return "", errors.New("it is not the page that `make page` makes")
	}
	return string(m[1]), nil
}
