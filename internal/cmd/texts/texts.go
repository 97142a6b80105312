// Package texts reads what a user names as text with outputs of commands in it:
// files, archives and directories of hosts, standard input, and whose they are.
package texts

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/evidence/paste"
	"github.com/linerate/linerate/internal/evidence/paste/archive"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/internal/evidence/unpack"
	"github.com/linerate/linerate/internal/userfile"
)

// Help says what commands read that take such files.
const Help = `A FILE may be an archive (tar, zip; gzip, bzip2, xz, zstd) or a directory:
sosreport, supportconfig, must-gather, pvereport, a debug of TrueNAS, a
vm-support, or a copy of /proc, /sys and /etc. Only members that are known are
read.

`

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
// to the hosts that they name. What was left out of an archive is said on standard
// error.
func (f Flags) Read(ctx context.Context, con *console.Console, files []string) (all []piece.Text, err error) {
	sources, err := f.sources(files)
	if err != nil {
		return nil, err
	}
	for _, s := range sources {
		g, err := s.read(ctx, con)
		if err != nil {
			return nil, err
		}
		all = append(all, g.texts...)
	}
	return distinct(all), nil
}

func (f Flags) sources(files []string) ([]source, error) {
	sources := make([]source, 0, len(files)+len(f.Hosts))
	for _, name := range files {
		sources = append(sources, source{file: name})
	}
	for _, h := range f.Hosts {
		name, file, ok := strings.Cut(h, "=")
		if !ok || name == "" || file == "" {
			return nil, console.BadUsage(fmt.Sprintf("--host %q is no NAME=FILE", h), "--host nas=nas.txt")
		}
		sources = append(sources, source{file, name})
	}
	return sources, nil
}

// distinct puts the host's name before the names of members where there are several
// hosts: each has a member of that name.
func distinct(all []piece.Text) []piece.Text {
	hosts := make(map[string]bool)
	for _, t := range all {
		hosts[t.Host] = true
	}
	if len(hosts) < 2 {
		return all
	}
	for i := range all {
		if t := &all[i]; t.Whole() && t.Host != "" {
			t.Name = t.Host + "/" + t.Name
		}
	}
	return all
}

// source is a file and whose it is; "" not said.
type source struct{ file, host string }

// given is what a source has.
type given struct {
	texts   []piece.Text
	capture bool // internal/host/observe reads it better
}

func (s source) read(ctx context.Context, con *console.Console) (given, error) {
	var text []byte
	var err error
	switch {
	case s.file == "-":
		in := bufio.NewReaderSize(con.Stdin, 64<<10)
		if head, _ := in.Peek(unpack.HeadBytes); unpack.Is("-", head) {
			c, err := unpack.Stream(ctx, "standard input", in)
			return s.unpacked(con, c, err)
		}
		text, err = pasted(in)
	case IsArchive(s.file):
		c, err := unpack.Open(ctx, s.file)
		return s.unpacked(con, c, err)
	default:
		text, err = console.ReadNamed(ctx, "read", s.file, console.MostRecord)
		err = named(err)
	}
	if err != nil {
		return given{}, err
	}
	return given{texts: s.parted(text)}, nil
}

// parted are the outputs of a report that is one text; else the text as it is.
func (s source) parted(text []byte) []piece.Text {
	parts, ok := archive.Parts(text)
	if !ok || len(parts) == 0 {
		return []piece.Text{{Name: s.file, Host: s.host, Bytes: text}}
	}
	host := s.host
	var out []piece.Text
	for _, p := range parts {
		if name, _ := archive.NameIn(p.Member, p.Text); host == "" {
			host = name
		}
		if !p.Names {
			out = append(out, piece.Text{Name: s.file, Bytes: p.Text, Command: p.Command, Path: p.Path, First: p.First})
		}
	}
	for i := range out {
		out[i].Host = host
	}
	return out
}

// IsArchive reports a directory, or a file that begins as an archive does.
func IsArchive(file string) bool {
	info, err := os.Stat(file)
	if err != nil || info.IsDir() {
		return err == nil
	}
	if !userfile.Plain(info) {
		return false
	}
	f, err := os.Open(file)
	if err != nil {
		return false // who reads it says why
	}
	defer f.Close()
	head := make([]byte, unpack.HeadBytes)
	n, _ := io.ReadFull(f, head)
	return unpack.Is(file, head[:n])
}

// unpacked are the texts of an archive; its notes go to standard error.
func (s source) unpacked(con *console.Console, c unpack.Contents, err error) (given, error) {
	var form *unpack.FormError
	switch {
	case errors.As(err, &form):
		return given{}, console.BadUsage("read "+form.Error(), form.Hint)
	case errors.Is(err, userfile.ErrTooLarge), errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrPermission):
		return given{}, named(console.BadFile("read", err))
	case err != nil:
		return given{}, fmt.Errorf("read %s: %w", s.file, err)
	}
	if len(c.Texts) == 0 {
		return given{}, console.BadUsage("read "+s.file+": nothing in it is known"+noted(c.Notes),
			"it can be a sosreport, supportconfig, must-gather, TrueNAS debug, vm-support, or a copy of /proc, /sys and /etc; name files of other outputs one by one")
	}
	for _, n := range c.Notes {
		fmt.Fprint(con.Stderr, console.Wrapped("note: ", s.file+": "+n, con.Width()))
	}
	if c.Single {
		return given{texts: s.parted(c.Texts[0].Bytes)}, nil
	}
	for i := range c.Texts {
		if s.host != "" {
			c.Texts[i].Host = s.host
		}
	}
	return given{c.Texts, c.Capture && s.file != "-"}, nil
}

// noted are an archive's notes behind what is wrong with it.
func noted(notes []string) string {
	if len(notes) == 0 {
		return ""
	}
	return "; " + strings.Join(notes, "; ")
}

// pasted is standard input's text.
func pasted(in io.Reader) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(in, mostPasted+1))
	if err != nil {
		return nil, fmt.Errorf("read standard input: %w", err)
	}
	if len(text) > mostPasted {
		return nil, console.BadUsage("read standard input: it has more than 64 MiB", "leave out what is no output of a command")
	}
	return text, nil
}

// Case is what the texts say. A single text's lines need no file's name, except in
// JSON. Neither an output nor a question of links is bad usage, with what can be read.
func Case(con *console.Console, command string, all []piece.Text) (piece.Case, error) {
	for _, t := range all {
		if !t.Whole() && len(bytes.TrimSpace(t.Bytes)) == 0 {
			return piece.Case{}, console.BadUsage(command+": "+cmp.Or(t.Name, "standard input")+" is empty", paste.Wanted)
		}
	}
	if len(all) == 1 && !all[0].Whole() && !con.JSON {
		all[0].Name = "" // "line 12" says where
	}
	c := paste.Parse(all)
	if !paste.Answerable(c) {
		return piece.Case{}, console.BadUsage(command+": "+paste.Nothing, paste.Wanted)
	}
	return c, nil
}

// named has a file that is not there say what one can be.
func named(err error) error {
	if errors.Is(err, console.ErrUsage) && console.HintFor(err) == "" {
		return console.WithHint(err, "check the name; it may be a record, text with the output of commands, an archive or a directory of a host, or - for standard input")
	}
	return err
}
