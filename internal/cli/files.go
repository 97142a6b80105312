package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"syscall"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/foreign"
	"github.com/linerate/linerate/record"
)

// readFabric reads and checks a fabric file.
func readFabric(path string) (fabric.Fabric, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return fabric.Fabric{}, badFile("read fabric", err)
	}
	return fabric.Parse(path, text)
}

// badFile turns a file that is not there into bad input.
func badFile(verb string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		var path *fs.PathError
		if errors.As(err, &path) {
			return usage(verb+" "+path.Path+": no such file", "")
		}
	}
	if errors.Is(err, syscall.EISDIR) {
		var path *fs.PathError
		if errors.As(err, &path) {
			return usage(verb+" "+path.Path+": it is a directory, not a file", "")
		}
	}
	if errors.Is(err, fs.ErrPermission) {
		return withHint(fmt.Errorf("%s: %w", verb, err), "check who may read the file")
	}
	return fmt.Errorf("%s: %w", verb, err)
}

// readRecord reads a record, or what iperf3 or iperf2 wrote, and refuses what
// is neither.
func readRecord(path string) (record.Record, error) {
	r, _, err := readRecordText(path)
	return r, err
}

// readRecordText is readRecord with the record's JSON as the file has it; of
// another tool's file it is nil.
func readRecordText(path string) (record.Record, []byte, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return record.Record{}, nil, badFile("read record", err)
	}
	r, isForeign, err := parseRecord(path, text)
	if isForeign {
		text = nil
	}
	return r, text, err
}

func parseRecord(path string, text []byte) (r record.Record, isForeign bool, err error) {
	if _, ok := foreign.Detect(text); ok {
		if r, err = foreign.Read(text); err != nil {
			return r, true, usage(path+": "+err.Error(), "")
		}
		return r, true, nil
	}
	if err := json.Unmarshal(text, &r); err != nil {
		return r, false, usage(fmt.Sprintf("read record %s%s", path, where(text, err)), noRecordHint(path, text))
	}
	switch r.Schema {
	case record.Schema:
	case "":
		return r, false, usage("read record "+path+": it has no \"schema\", so it is no record", aRecord)
	default:
		return r, false, usage(fmt.Sprintf("read record %s: schema is %q, want %q", path, r.Schema, record.Schema), "a newer linerate wrote it: `linerate version` says which one this is")
	}
	return r, false, nil
}

const aRecord = "a record is the record.json that `linerate measure`, `tune` or `demo` wrote, or what iperf3 -J or iperf -y C did"

// noRecordHint says what a file may be that is no record.
func noRecordHint(path string, text []byte) string {
	if startOfFabric.Match(text) {
		return "this is a fabric: `linerate measure " + path + " -o record.json` makes a record of it"
	}
	return aRecord
}

// startOfFabric is the key that every fabric file has.
var startOfFabric = regexp.MustCompile(`(?m)^linerate:\s`)

// where names line and column of a JSON error, with what is wrong there.
func where(text []byte, err error) string {
	offset := int64(len(text))
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	what := err.Error()
	switch {
	case errors.As(err, &syntax):
		offset = syntax.Offset
	case errors.As(err, &kind):
		offset = kind.Offset
		what = fmt.Sprintf("%s: found %s, want %s", kind.Field, jsonWords(kind.Value), jsonKind(kind.Type))
		if kind.Field == "" {
			what = fmt.Sprintf("found %s, want %s", jsonWords(kind.Value), jsonKind(kind.Type))
		}
	}
	line, column := 1, 1
	for _, b := range text[:min(int(offset), len(text))] {
		if b == '\n' {
			line, column = line+1, 0
		}
		column++
	}
	return fmt.Sprintf(":%d:%d: %s", line, column, what)
}

// jsonWords is a kind of JSON value as the decoder names it, in words.
func jsonWords(kind string) string {
	switch first, _, _ := strings.Cut(kind, " "); first {
	case "array", "object":
		return "an " + first
	case "string", "bool":
		return "a " + first
	case "number":
		return "a " + kind
	}
	return kind
}

// jsonKind is what JSON calls the values of a Go type.
func jsonKind(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Struct, reflect.Map:
		return "an object"
	case reflect.Slice, reflect.Array:
		return "an array"
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Pointer:
		return jsonKind(t.Elem())
	}
	return "a number"
}

// writeFile writes a result whole or not at all.
func writeFile(path string, content []byte) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	temp, err := os.CreateTemp(dir, ".linerate-*")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	defer os.Remove(temp.Name())
	_, err = temp.Write(content)
	err = errors.Join(err, temp.Chmod(0o644), temp.Close())
	if err == nil {
		err = os.Rename(temp.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

func writeJSON(path string, v any) error {
	b, err := jsonText(v)
	if err != nil {
		return fmt.Errorf("encode %s: %w", path, err)
	}
	return writeFile(path, b)
}

// jsonText is what files of results hold.
func jsonText(v any) ([]byte, error) {
	b, err := json.MarshalIndent(v, "", " ")
	return append(b, '\n'), err
}
