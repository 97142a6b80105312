// Package texts reads what a user names as text with outputs of commands in it:
// files, standard input, and whose they are.
package texts

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/evidence/paste"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
)

// Flags say whose files are.
type Flags struct {
	Hosts []string // NAME=FILE each
}

// Add adds --host to a command.
func (f *Flags) Add(c *cobra.Command) {
	c.Flags().StringArrayVar(&f.Hosts, "host", nil, "a file and whose it is, as `NAME=FILE` (again for others)")
}

// mostPasted bounds what is read of a text.
const mostPasted = 64 << 20

// Read reads the files, "-" for standard input, and those of the flags, which belong
// to the hosts that they name.
func (f Flags) Read(ctx context.Context, con *console.Console, files []string) (all []piece.Text, err error) {
	for _, name := range files {
		text, err := textOf(ctx, con, name)
		if err != nil {
			return nil, err
		}
		all = append(all, piece.Text{Name: name, Bytes: text})
	}
	for _, h := range f.Hosts {
		name, file, ok := strings.Cut(h, "=")
		if !ok || name == "" || file == "" {
			return nil, console.BadUsage(fmt.Sprintf("--host %q is no NAME=FILE", h), "--host nas=nas.txt")
		}
		text, err := textOf(ctx, con, file)
		if err != nil {
			return nil, err
		}
		all = append(all, piece.Text{Name: file, Host: name, Bytes: text})
	}
	return all, nil
}

// textOf is a file's text, or standard input's.
func textOf(ctx context.Context, con *console.Console, file string) ([]byte, error) {
	if file != "-" {
		return console.ReadNamed(ctx, "read", file, console.MostRecord)
	}
	text, err := io.ReadAll(io.LimitReader(con.Stdin, mostPasted+1))
	if err != nil {
		return nil, fmt.Errorf("read standard input: %w", err)
	}
	if len(text) > mostPasted {
		return nil, console.BadUsage("read standard input: it has more than 64 MiB", "leave out what is no output of a command")
	}
	return text, nil
}

// Case is what the texts say. A single text's lines need no file's name, except in
// JSON. Nothing recognised is bad usage, with what can be read.
func Case(con *console.Console, command string, all []piece.Text) (piece.Case, error) {
	if len(all) == 1 && !con.JSON {
		all[0].Name = "" // "line 12" says where
	}
	c := paste.Parse(all)
	if len(c.Read) == 0 {
		return piece.Case{}, console.BadUsage(command+": "+paste.Nothing, paste.Wanted)
	}
	return c, nil
}
