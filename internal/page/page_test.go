package page

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"io"
	"regexp"
	"strings"
	"testing"
)

var program = []byte("\x00asm\x01\x00\x00\x00 and so on")

func TestMake(t *testing.T) {
	html, err := Make(program, []byte("globalThis.Go = 1;"), "v1 <dirty>")
	if err != nil {
		t.Fatal(err)
	}
	again, err := Make(program, []byte("globalThis.Go = 1;"), "v1 <dirty>")
	if err != nil || !bytes.Equal(html, again) {
		t.Errorf("the same input makes other bytes, %v", err)
	}
	part := func(pattern string) string {
		m := regexp.MustCompile("(?s)" + pattern).FindSubmatch(html)
		if m == nil {
			t.Fatalf("no %s", pattern)
		}
		return string(m[1])
	}
	own, err := PolicyOf(html)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"default-src 'none'", "connect-src 'none'", hash(part(`<style>(.*?)</style>`)), hash(part(`<script>(.*?)</script>`)), "'wasm-unsafe-eval'", "form-action 'none'", "base-uri 'none'"} {
		if !strings.Contains(own, want) {
			t.Errorf("the policy is %s, without %s", own, want)
		}
	}
	if strings.Contains(own, "unsafe-inline") || strings.Contains(own, "'unsafe-eval'") || strings.Contains(own, "http") {
		t.Errorf("the policy is %s", own)
	}
	packed, err := base64.StdEncoding.DecodeString(part(`id="program">([^<]*)<`))
	if err != nil {
		t.Fatal(err)
	}
	unpacked, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(unpacked); err != nil || !bytes.Equal(got, program) {
		t.Errorf("the program is %q, %v", got, err)
	}
	if bytes.Contains(html, []byte("{{")) && regexp.MustCompile(`\{\{(policy|style|script|program|version|fabric)\}\}`).Match(html) {
		t.Error("a place was not filled")
	}
	if !bytes.Contains(html, []byte("v1 &lt;dirty&gt;")) {
		t.Error("the version is markup")
	}
	if m := regexp.MustCompile(`(?i) (src|href|action|style|on[a-z]+)="[^#"][^"]*"`).Find(html); m != nil {
		t.Errorf("%s asks for something, or the policy refuses it", m)
	}
}

func TestRefused(t *testing.T) {
	for name, one := range map[string][2]string{
		"no WebAssembly": {"\x7fELF", ""}, "a script that ends early": {string(program), "</script><script>"}, "line ends that browsers change": {string(program), "a\r\nb"},
	} {
		if _, err := Make([]byte(one[0]), []byte(one[1]), ""); err == nil {
			t.Errorf("%s is no error", name)
		}
	}
	for name, other := range map[string]string{
		"nothing": "", "another page": "<!DOCTYPE html><html></html>", "a policy that allows requests": `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; connect-src *;">`,
	} {
		if own, err := PolicyOf([]byte(other)); err == nil {
			t.Errorf("%s has the policy %q", name, own)
		}
	}
}
