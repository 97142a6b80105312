// Command manual writes what a package has beside the program: a man page for
// each command, and completions for three shells. The same program writes the
// same bytes, whenever and wherever it is run.
//
//	manual VERSION SECONDS DIRECTORY
//	manual reference DIRECTORY
//
// VERSION stands on each page, SECONDS since 1970 are its date. The second writes
// the reference of docs/, from the project's directory.
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/cmd/root"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "manual:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) == 2 && args[0] == "reference" {
		pages, err := reference(root.New(console.System("dev")), ".")
		if err != nil {
			return err
		}
		return writeReference(pages, args[1])
	}
	if len(args) != 3 {
		return errors.New("want VERSION SECONDS DIRECTORY, or reference DIRECTORY")
	}
	seconds, err := strconv.ParseInt(args[1], 10, 64)
	if err != nil {
		return fmt.Errorf("read date: %w", err)
	}
	root := root.New(console.System(args[0]))
	root.InitDefaultCompletionCmd()
	if err := pages(root, args[0], time.Unix(seconds, 0).UTC(), filepath.Join(args[2], "man")); err != nil {
		return err
	}
	return completions(root, filepath.Join(args[2], "completions"))
}

// pages writes linerate.1, linerate-measure.1 and so on.
func pages(root *cobra.Command, version string, date time.Time, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	disableDate(root)
	if err := doc.GenManTree(root, &doc.GenManHeader{Section: "1", Source: "linerate " + version, Manual: "linerate", Date: &date}, dir); err != nil {
		return err
	}
	made, err := filepath.Glob(filepath.Join(dir, "*.1"))
	if err != nil {
		return err
	}
	for _, page := range made {
		text, err := os.ReadFile(page)
		if err != nil {
			return err
		}
		if err := os.WriteFile(page, []byte(clean(string(text), date)), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// disableDate leaves out the line with the day on which a page was made.
func disableDate(c *cobra.Command) {
	c.DisableAutoGenTag = true
	for _, below := range c.Commands() {
		disableDate(below)
	}
}

func completions(root *cobra.Command, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return errors.Join(
		root.GenBashCompletionFileV2(filepath.Join(dir, "linerate.bash"), true),
		root.GenZshCompletionFile(filepath.Join(dir, "_linerate")),
		root.GenFishCompletionFile(filepath.Join(dir, "linerate.fish"), true),
	)
}
