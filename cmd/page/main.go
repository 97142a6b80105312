//go:build !js

// Command page makes linerate.html of the program for browsers, which is this package
// built for GOOS=js and GOARCH=wasm: `make page` runs both.
package main

import (
	"fmt"
	"os"

	"github.com/linerate/linerate/internal/page"
)

func main() {
	if len(os.Args) != 5 {
		fmt.Fprintln(os.Stderr, "usage: page PROGRAM.wasm WASM_EXEC.js VERSION OUTPUT.html (`make page` calls it)")
		os.Exit(2)
	}
	if err := write(os.Args[1], os.Args[2], os.Args[3], os.Args[4]); err != nil {
		fmt.Fprintln(os.Stderr, "page:", err)
		os.Exit(1)
	}
}

// write makes the page of a program and the script that Go's programs for browsers need.
func write(program, support, version, to string) error {
	wasm, err := os.ReadFile(program)
	if err != nil {
		return err
	}
	script, err := os.ReadFile(support)
	if err != nil {
		return err
	}
	html, err := page.Make(wasm, script, version)
	if err != nil {
		return err
	}
	return os.WriteFile(to, html, 0o644)
}
