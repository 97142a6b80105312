package predict

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/linerate/linerate/internal/advise/cloud"
	"github.com/linerate/linerate/internal/cmd/console"
)

// cloudsFlag is a file of cloud providers' rules over the built-in ones.
type cloudsFlag struct {
	file string
	show bool
}

func (f *cloudsFlag) add(c *cobra.Command) {
	c.Flags().StringVar(&f.file, "clouds", "", "file with rules of cloud providers, laid over the built-in ones")
	_ = c.MarkFlagFilename("clouds", "yaml", "yml")
	c.Flags().BoolVar(&f.show, "show-clouds", false, "print the built-in rules of cloud providers, each with where and when it was read, and stop")
}

// args refuses what --show-clouds would ignore.
func (f *cloudsFlag) args(args []string) error {
	if len(args) > 0 || f.file != "" {
		return console.BadUsage("predict: --show-clouds prints the built-in rules alone", "leave the file away")
	}
	return nil
}

// table is the built-in table, with the file's rules over it.
func (f *cloudsFlag) table(ctx context.Context) (cloud.Table, error) {
	if f.file == "" {
		return cloud.Table{}, nil
	}
	text, err := console.ReadNamed(ctx, "read cloud rules", f.file, console.MostFabric)
	if err != nil {
		return cloud.Table{}, err
	}
	t, err := cloud.Table{}.Extend(f.file, text)
	if err != nil {
		return cloud.Table{}, console.BadUsage(err.Error(), "`linerate predict --show-clouds` prints the form; every rule names a source with title, url and the day it was read")
	}
	return t, nil
}

func printClouds(con *console.Console) error {
	return con.PrintSource("cloud rules", cloud.BuiltinText())
}
