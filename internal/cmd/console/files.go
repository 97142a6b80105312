package console

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"syscall"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/internal/evidence/resultfile"
	"github.com/linerate/linerate/internal/plaintext"
	"github.com/linerate/linerate/internal/userfile"
	"github.com/linerate/linerate/record"
)

// The most that is read of a file of each kind: a record of some hundred
// thousand trials, a fabric of more than a hundred thousand hosts. Decoded they
// take about four times as much memory.
const (
	MostRecord = 256 << 20
	MostFabric = 64 << 20
)

// ReadNamed reads the file that a user named, a pipe or a device too: as long as
// ctx lasts.
func ReadNamed(ctx context.Context, verb, path string, most int64) ([]byte, error) {
	text, err := userfile.Read(ctx, path, most)
	if err != nil {
		return nil, BadFile(verb, err)
	}
	return text, nil
}

// BadFile turns a file that is not there, or cannot be of its kind, into bad
// input.
func BadFile(verb string, err error) error {
	var path *fs.PathError
	var large *userfile.TooLargeError
	switch {
	case errors.Is(err, fs.ErrNotExist) && errors.As(err, &path):
		return BadUsage(verb+" "+path.Path+": no such file", "")
	case errors.Is(err, syscall.EISDIR) && errors.As(err, &path):
		return BadUsage(verb+" "+path.Path+": it is a directory, not a file", "name a file in it")
	case errors.As(err, &large):
		return BadUsage(verb+" "+large.Error(), "name a smaller file, or a part of it: `head -c 8M FILE`; of a record or a fabric, measure fewer pairs at a time or name fewer hosts")
	case errors.Is(err, fs.ErrPermission):
		return WithHint(fmt.Errorf("%s: %w", verb, err), "you may not read it: `ls -l` says who may; run this as such a user, or copy it")
	}
	return fmt.Errorf("%s: %w", verb, err)
}

// ReadRecord reads a record, or what iperf3 or iperf2 wrote, and refuses what
// is neither.
func ReadRecord(ctx context.Context, path string) (record.Record, error) {
	r, _, err := ReadRecordText(ctx, path)
	return r, err
}

// ReadRecordText is readRecord with the record's JSON as the file has it; of
// another tool's file it is nil.
func ReadRecordText(ctx context.Context, path string) (record.Record, []byte, error) {
	text, err := ReadNamed(ctx, "read record", path, MostRecord)
	if errors.Is(err, ErrUsage) && HintFor(err) == "" {
		err = WithHint(err, "check the name; "+WhatIsRecord)
	}
	if err != nil {
		return record.Record{}, nil, err
	}
	r, isExternal, err := ParseRecord(path, text)
	if isExternal {
		text = nil
	}
	return r, text, err
}

// ParseRecord is the record of a file's text; isExternal is another tool's result.
func ParseRecord(path string, text []byte) (r record.Record, isExternal bool, err error) {
	if _, ok := resultfile.Detect(text); ok {
		if r, err = resultfile.Read(text); err != nil {
			return r, true, BadUsage(path+": "+err.Error(), "")
		}
		plaintext.Fields(&r)
		return r, true, nil
	}
	if isEmpty := len(bytes.TrimSpace(text)) == 0; isEmpty {
		return r, false, BadUsage("read record "+path+": the file is empty", WhatIsRecord)
	}
	if !MayBeRecord(text) || startOfFabric.Match(text) {
		return r, false, BadUsage("read record "+path+": it is not JSON, so it is no record", noRecordHint(path, text))
	}
	if r, err = record.Decode(text); err != nil {
		return r, false, BadUsage(fmt.Sprintf("read record %s%s", path, where(text, err)), noRecordHint(path, text))
	}
	switch r.Schema {
	case record.Schema:
		if err := record.CheckRates(r); err != nil {
			return r, false, BadUsage("read record "+path+": "+err.Error(), "it is no measurement: where the file came from knows more")
		}
	case "":
		return r, false, BadUsage("read record "+path+": it has no \"schema\", so it is no record", WhatIsRecord)
	default:
		return r, false, BadUsage(fmt.Sprintf("read record %s: schema is %q, want %q", path, r.Schema, record.Schema), "a newer linerate wrote it: `linerate version` says which one this is")
	}
	return r, false, nil
}

// WhatIsRecord is the hint where a file is no record.
const WhatIsRecord = "a record is the record.json that `linerate measure`, `tune` or `demo` wrote, or what iperf3 -J or iperf -y C did"

// noRecordHint says what a file may be that is no record.
func noRecordHint(path string, text []byte) string {
	if startOfFabric.Match(text) {
		return "this is a fabric: `linerate measure " + path + " -o record.json` makes a record of it"
	}
	return WhatIsRecord
}

// MayBeRecord reports a text that is JSON, or a fabric: what is wrong with it is said
// as of a record.
func MayBeRecord(text []byte) bool {
	text = bytes.TrimSpace(text)
	return bytes.HasPrefix(text, []byte("{")) || startOfArray.Match(text) || startOfFabric.Match(text)
}

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

// JSONText is what files of results hold.
func JSONText(v any) ([]byte, error) {
	b, err := json.MarshalIndent(v, "", " ")
	return append(b, '\n'), err
}

// ReadFabric reads and checks a fabric file.
func ReadFabric(ctx context.Context, path string) (fabric.Fabric, error) {
	text, err := ReadNamed(ctx, "read fabric", path, MostFabric)
	if errors.Is(err, ErrUsage) && HintFor(err) == "" {
		err = WithHint(err, "check the name, or make it: `linerate discover ssh://root@HOST ssh://root@HOST -o "+path+"`")
	}
	if err != nil {
		return fabric.Fabric{}, err
	}
	if isRecord(text) {
		return fabric.Fabric{}, BadUsage("read fabric "+path+": this is a record, the result of a measurement", "`linerate explain "+path+"` and `linerate report "+path+"` read it; `linerate discover HOST... -o fabric.yaml` makes a fabric")
	}
	return fabric.Parse(path, text)
}

// isRecord reports a measurement's result: a document of JSON that says so, or another
// tool's.
func isRecord(text []byte) bool {
	var doc struct {
		Schema string `json:"schema"`
	}
	if _, is := resultfile.Detect(text); is {
		return true
	}
	return bytes.HasPrefix(bytes.TrimSpace(text), []byte("{")) && json.Unmarshal(text, &doc) == nil && strings.HasPrefix(doc.Schema, "linerate.record/")
}

// LabJournal is where changes to lab hosts are journalled: it goes when the
// machine goes, as they do.
const LabJournal = "/run/linerate-lab-journal"

// HostNames are a fabric's hosts in one line.
func HostNames(f fabric.Fabric) string {
	var names []string
	for _, h := range f.Hosts {
		names = append(names, h.Name)
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// ChosenHost is the host that a command is for, which may be left unsaid where
// there is one only.
func ChosenHost(command string, file fabric.Fabric, name string) (string, error) {
	var names []string
	for _, h := range file.Hosts {
		names = append(names, h.Name)
	}
	switch {
	case name == "" && len(names) == 1:
		return names[0], nil
	case name == "":
		return "", BadUsage(command+": want --host", "hosts of "+file.File+" are "+strings.Join(names, ", "))
	case !slices.Contains(names, name):
		return "", BadUsage(fmt.Sprintf("%s: %s has no host %s", command, file.File, name), OrMeant(name, names, "", "its hosts are "+strings.Join(names, ", ")))
	}
	return name, nil
}

// tokenMost is the longest token that makes sense in a file.
const tokenMost = 4096

// ReadToken reads a token: the file without the blanks around it. No name is
// no token. A file that others may read is refused, as credentials are.
func ReadToken(ctx context.Context, path string) ([]byte, error) {
	if path == "" {
		return nil, nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, BadFile("read token", err)
	}
	if info.Mode().IsRegular() && info.Mode().Perm()&othersMay(path) != 0 {
		return nil, WithHint(fmt.Errorf("read token %s: others than its owner may read it (mode %04o): %w", path, info.Mode().Perm(), fs.ErrPermission), "chmod 600 "+path)
	}
	text, err := ReadNamed(ctx, "read token", path, 2*tokenMost) // with blanks around it
	if err != nil {
		return nil, err
	}
	text = bytes.TrimSpace(text)
	if len(text) == 0 || len(text) > tokenMost {
		return nil, BadUsage(fmt.Sprintf("read token %s: want 1 to %d characters, it has %d", path, tokenMost, len(text)),
			"`(umask 077; head -c 24 /dev/urandom | base64 >FILE)` makes one")
	}
	return text, nil
}

// othersMay are the permissions that a file with a secret must not have. Where
// systemd hands it over, its access list shows as the group's right to read.
func othersMay(path string) fs.FileMode {
	if dir := os.Getenv("CREDENTIALS_DIRECTORY"); dir != "" && filepath.Dir(path) == filepath.Clean(dir) {
		return 0o037
	}
	return 0o077
}
