package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"

	"github.com/spf13/cobra"

	"github.com/linerate/linerate/internal/userfile"
)

// content is what a command writes to the file that a user names, and what such
// a file holds.
type content int

const (
	otherText    content = iota // reports, tables, drawings: made again at any time
	aFabricFile                 // what people edit: a fabric or another configuration
	aRecordFile                 // a record of linerate
	anArchive                   // a captured host, whose moment does not come again
	nothingThere                // no file, an empty one, a pipe or a device
)

var contentWords = map[content]string{aFabricFile: "a fabric", aRecordFile: "a record of linerate", anArchive: "an archive"}

// output is a file or directory that a command was told to write.
type output struct {
	path  string
	force bool // whatever it holds
}

// add adds -o and --force.
func (o *output) add(c *cobra.Command, usage string) {
	c.Flags().StringVarP(&o.path, "output", "o", "", usage)
	o.addForce(c)
}

func (o *output) addForce(c *cobra.Command) {
	c.Flags().BoolVar(&o.force, "force", false, "replace a file that is there, whatever it holds")
}

// check is the one rule of all commands for a file that they are told to write,
// held to before their work begins: its directory is there, and what it holds is
// nothing, or what the command writes and can be written again: a record is
// replaced by a record, a report by a report. A fabric, an archive, and anything
// of another kind is replaced with --force alone. flag is how errors name the
// file: "measure -o".
func (o output) check(flag string, writes content) error {
	if o.path == "" {
		return nil
	}
	name := flag + " " + o.path
	if dir := filepath.Dir(o.path); !isDir(dir) {
		return noDirectory(name, dir)
	}
	info, err := os.Stat(o.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return badFile("write "+o.path, err)
	case info.IsDir():
		return usage(name+": it is a directory, not a file", "name a file in it")
	case o.force:
		return nil
	}
	return replaceable(name, writes, contentOf(o.path, info))
}

// replaceable says why a file is not replaced; nil it is.
func replaceable(name string, writes, holds content) error {
	const hint = "name another file, or add --force to overwrite this one"
	switch {
	case holds == nothingThere:
		return nil
	case writes == aFabricFile:
		return usage(name+" exists", hint)
	case writes == anArchive:
		return usage(name+": it is there already", "--force overwrites it; or name another file")
	case writes == aRecordFile && holds != aRecordFile:
		return usage(name+": the file is there and is no record of linerate", hint)
	case writes == otherText && holds != otherText:
		return usage(name+": the file is there and is "+contentWords[holds], hint)
	}
	return nil
}

var (
	// startOfFabric is the key that every fabric file has.
	startOfFabric = regexp.MustCompile(`(?m)^linerate:\s`)
	// startOfRecord is the key that every record has.
	startOfRecord = regexp.MustCompile(`^\s*\{\s*"schema"\s*:\s*"linerate\.record/`)
	startOfGzip   = []byte{0x1f, 0x8b} // RFC 1952, 2.3.1
)

// headRead is how much of a file tells what it is.
const headRead = 64 << 10

// contentOf looks into a plain file. One that cannot be read counts as other
// text: writing it says why it cannot be written.
func contentOf(path string, info fs.FileInfo) content {
	if !info.Mode().IsRegular() || info.Size() == 0 {
		return nothingThere
	}
	f, err := os.Open(path)
	if err != nil {
		return otherText
	}
	defer f.Close()
	head, _ := io.ReadAll(io.LimitReader(f, headRead))
	switch {
	case bytes.HasPrefix(head, startOfGzip):
		return anArchive
	case startOfRecord.Match(head):
		return aRecordFile
	case startOfFabric.Match(head):
		return aFabricFile
	}
	return otherText
}

// checkDir is check of a directory to write files into: it is there, or is made
// with mkDir when the one above it is.
func checkDir(flag, dir string) error {
	info, err := os.Stat(dir)
	switch {
	case err == nil && info.IsDir():
		return nil
	case err == nil:
		return usage(flag+" "+dir+": it is a file, not a directory", "name a directory")
	}
	if above := filepath.Dir(filepath.Clean(dir)); !isDir(above) {
		return noDirectory(flag+" "+dir, above)
	}
	return nil
}

// noDirectory is the error of what is to be written into a directory that is not
// there, or is none.
func noDirectory(what, dir string) error {
	if _, err := os.Stat(dir); err == nil {
		return usage(what+": "+dir+" is a file, not a directory", "name a directory")
	}
	return usage(what+": no directory "+dir, "make it first: mkdir -p "+dir)
}

// mkDir makes a directory to write files into, and none above it.
func mkDir(flag, dir string) error {
	if err := checkDir(flag, dir); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o777); err != nil && !errors.Is(err, fs.ErrExist) { // less the umask
		return fmt.Errorf("make directory: %w", err)
	}
	return nil
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// isStream reports a pipe or a device, which takes one document and not one
// after every trial.
func isStream(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.Mode().IsRegular()
}

// writeFile writes a result to a file that a user named (userfile.Write).
func writeFile(ctx context.Context, path string, text []byte) error {
	return userfile.Write(ctx, path, text)
}

// writeJSON writes a value as files of results hold it.
func writeJSON(ctx context.Context, path string, v any) error {
	b, err := jsonText(v)
	if err != nil {
		return fmt.Errorf("encode %s: %w", path, err)
	}
	return writeFile(ctx, path, b)
}
