package cli

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/goccy/go-yaml"
	"github.com/spf13/cobra"

	"github.com/linerate/linerate/internal/advise/cloud"
)

// cloudsFlag is a file of cloud providers' rules over the built-in ones.
type cloudsFlag struct {
	file string
	show bool
}

func (f *cloudsFlag) add(c *cobra.Command) {
	c.Flags().StringVar(&f.file, "clouds", "", "file with rules of cloud providers, laid over the built-in ones")
	c.Flags().BoolVar(&f.show, "show-clouds", false, "print the built-in rules of cloud providers, each with where and when it was read, and stop")
}

// args refuses what --show-clouds would ignore.
func (f *cloudsFlag) args(args []string) error {
	if len(args) > 0 || f.file != "" {
		return usage("predict: --show-clouds prints the built-in rules alone", "leave the file away")
	}
	return nil
}

// table is the built-in table, with the file's rules over it.
func (f *cloudsFlag) table(ctx context.Context) (cloud.Table, error) {
	if f.file == "" {
		return cloud.Table{}, nil
	}
	text, err := readNamed(ctx, "read cloud rules", f.file, mostFabric)
	if err != nil {
		return cloud.Table{}, err
	}
	t, err := cloud.Table{}.Extend(f.file, text)
	if err != nil {
		return cloud.Table{}, usage(err.Error(), "`linerate predict --show-clouds` prints the form; every rule names a source with title, url and the day it was read")
	}
	return t, nil
}

func (a *App) printClouds() error {
	return a.printSource("cloud rules", cloud.BuiltinText())
}

// printSource prints a YAML file that the program holds, or the same as a JSON
// document, without its comments.
func (a *App) printSource(what string, text []byte) error {
	if a.json {
		converted, err := yaml.YAMLToJSON(text)
		if err != nil {
			return fmt.Errorf("convert %s: %w", what, err)
		}
		return a.printJSON(json.RawMessage(converted))
	}
	if _, err := a.Stdout.Write(text); err != nil {
		return fmt.Errorf("print %s: %w", what, err)
	}
	return nil
}
