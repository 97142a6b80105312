package console

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"

	"github.com/goccy/go-yaml"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/linerate/linerate/internal/userfile"
)

// Content is what a command writes to the file that a user names, and what such
// a file holds.
type Content int

const (
	OtherText    Content = iota // reports, tables, drawings: made again at any time
	FabricFile                  // what people edit: a fabric or another configuration
	RecordFile                  // a record of linerate
	Archive                     // a captured host, whose moment does not come again
	nothingThere                // no file, an empty one, a pipe or a device
)

var contentWords = map[Content]string{FabricFile: "a fabric", RecordFile: "a record of linerate", Archive: "an archive"}

// Output is a file or directory that a command was told to write.
type Output struct {
	Path  string
	Force bool // whatever it contains
}

// Add adds -o and --force; the shell completes files with the extensions, without
// any every file.
func (o *Output) Add(c *cobra.Command, usage string, extensions ...string) {
	AddPath(c.Flags(), &o.Path, "output", "o", usage)
	_ = c.MarkFlagFilename("output", extensions...)
	o.AddForce(c)
}

// AddPath adds a flag for a file to write; its shorthand may be "".
func AddPath(flags *pflag.FlagSet, path *string, name, shorthand, usage string) {
	flags.VarP((*outputPath)(path), name, shorthand, usage)
}

// outputPath is the path of a file to write: "-" is standard output, as it is
// standard input where a file is read.
type outputPath string

// Set is pflag.Value's.
func (p *outputPath) Set(text string) error {
	if text == "-" {
		text = "/dev/stdout"
	}
	*p = outputPath(text)
	return nil
}

// String is pflag.Value's.
func (p *outputPath) String() string { return string(*p) }

// Type is what help shows.
func (p *outputPath) Type() string { return "string" }

// AddForce adds --force alone.
func (o *Output) AddForce(c *cobra.Command) {
	c.Flags().BoolVar(&o.Force, "force", false, "replace a file that is there, whatever it contains")
}

// Check is the one rule of all commands for a file that they are told to write,
// held to before their work begins: its directory is there, and what it holds is
// nothing, or what the command writes and can be written again: a record is
// replaced by a record, a report by a report. A fabric, an archive, and anything
// of another kind is replaced with --force alone. flag is how errors name the
// file: "measure -o".
func (o Output) Check(flag string, writes Content) error {
	if o.Path == "" {
		return nil
	}
	name := flag + " " + o.Path
	if dir := filepath.Dir(o.Path); !IsDir(dir) {
		return noDirectory(name, dir)
	}
	info, err := os.Stat(o.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return BadFile("write "+o.Path, err)
	case info.IsDir():
		return BadUsage(name+": it is a directory, not a file", "name a file in it")
	case o.Force:
		return nil
	}
	return replaceable(name, writes, contentOf(o.Path, info))
}

// replaceable says why a file is not replaced; nil it is.
func replaceable(name string, writes, holds Content) error {
	const hint = "name another file, or add --force to overwrite this one"
	switch {
	case holds == nothingThere:
		return nil
	case writes == FabricFile:
		return BadUsage(name+" exists", hint)
	case writes == Archive:
		return BadUsage(name+": it is there already", "--force overwrites it; or name another file")
	case writes == RecordFile && holds != RecordFile:
		return BadUsage(name+": the file is there and is no record of linerate", hint)
	case writes == OtherText && holds != OtherText:
		return BadUsage(name+": the file is there and is "+contentWords[holds], hint)
	}
	return nil
}

var (
	// startOfFabric is the key that every fabric file has.
	startOfFabric = regexp.MustCompile(`(?m)^linerate:\s`)
	// startOfArray is that of JSON: a paste may begin with a title or a tool's row in brackets.
	startOfArray = regexp.MustCompile(`^\[\s*[{\["\]]`)
	// startOfRecord is the key that every record has.
	startOfRecord = regexp.MustCompile(`^\s*\{\s*"schema"\s*:\s*"linerate\.record/`)
	startOfGzip   = []byte{0x1f, 0x8b} // RFC 1952, 2.3.1
)

// headRead is how much of a file tells what it is.
const headRead = 64 << 10

// contentOf looks into a plain file. One that cannot be read counts as other
// text: writing it says why it cannot be written.
func contentOf(path string, info fs.FileInfo) Content {
	if !userfile.Plain(info) {
		return nothingThere
	}
	f, err := os.Open(path)
	if err != nil {
		return OtherText
	}
	defer f.Close()
	head, _ := io.ReadAll(io.LimitReader(f, headRead))
	switch {
	case bytes.HasPrefix(head, startOfGzip):
		return Archive
	case startOfRecord.Match(head):
		return RecordFile
	case startOfFabric.Match(head):
		return FabricFile
	}
	return OtherText
}

// HoldsFabric reports a file that begins as a fabric does.
func HoldsFabric(path string) bool {
	info, err := os.Stat(path)
	return err == nil && contentOf(path, info) == FabricFile
}

// CheckDir is check of a directory to write files into: it is there, or is made
// with mkDir when the one above it is.
func CheckDir(flag, dir string) error {
	info, err := os.Stat(dir)
	switch {
	case err == nil && info.IsDir():
		return nil
	case err == nil:
		return BadUsage(flag+" "+dir+": it is a file, not a directory", "name a directory")
	}
	if above := filepath.Dir(filepath.Clean(dir)); !IsDir(above) {
		return noDirectory(flag+" "+dir, above)
	}
	return nil
}

// noDirectory is the error of what is to be written into a directory that is not
// there, or is none.
func noDirectory(what, dir string) error {
	if _, err := os.Stat(dir); err == nil {
		return BadUsage(what+": "+dir+" is a file, not a directory", "name a directory")
	}
	return BadUsage(what+": no directory "+dir, "make it first: mkdir -p "+dir)
}

// MkDir makes a directory to write files into, and none above it.
func MkDir(flag, dir string) error {
	if err := CheckDir(flag, dir); err != nil {
		return err
	}
	err := os.Mkdir(dir, 0o777) // less the umask
	if err == nil || errors.Is(err, fs.ErrExist) {
		return nil
	}
	if at := (*fs.PathError)(nil); errors.As(err, &at) {
		err = at.Err
	}
	return &userfile.WriteError{Path: dir, Err: err}
}

// IsDir reports a directory that is there.
func IsDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// IsStream reports a pipe or a device, which takes one document and not one
// after every trial.
func IsStream(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.Mode().IsRegular()
}

// WriteFile writes a result to a file that a user named (userfile.Write).
func WriteFile(ctx context.Context, path string, text []byte) error {
	return userfile.Write(ctx, path, text)
}

// WriteJSON writes a value as files of results hold it.
func WriteJSON(ctx context.Context, path string, v any) error {
	b, err := JSONText(v)
	if err != nil {
		return fmt.Errorf("encode %s: %w", path, err)
	}
	return WriteFile(ctx, path, b)
}

// PrintSource prints a YAML file that the program holds, or the same as a JSON
// document, without its comments.
func (con *Console) PrintSource(what string, text []byte) error {
	if con.JSON {
		converted, err := yaml.YAMLToJSON(text)
		if err != nil {
			return fmt.Errorf("convert %s: %w", what, err)
		}
		var indented bytes.Buffer
		if err := json.Indent(&indented, converted, "", "  "); err != nil {
			return fmt.Errorf("convert %s: %w", what, err)
		}
		return con.PrintDocument(append(indented.Bytes(), '\n'))
	}
	if _, err := con.Stdout.Write(text); err != nil {
		return fmt.Errorf("print %s: %w", what, err)
	}
	return nil
}
