package observe

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/linerate/linerate/internal/plaintext"
	"github.com/linerate/linerate/internal/userfile"
	"github.com/linerate/linerate/netstate"
)

// observeRoot reads what was captured: a directory, or an archive of one.
// Nothing outside is read, whatever links in it point to.
func observeRoot(ctx context.Context, name string) (netstate.Host, error) {
	info, err := os.Stat(name)
	if err != nil {
		return netstate.Host{}, fmt.Errorf("open captured tree: %w", err)
	}
	if info.IsDir() {
		root, err := os.OpenRoot(name)
		if err != nil {
			return netstate.Host{}, fmt.Errorf("open captured tree: %w", err)
		}
		defer root.Close()
		host, err := opened(plainTree{root.FS().(rootFS), ctx, root})
		return host, errors.Join(ctx.Err(), err)
	}
	packed, err := userfile.Read(ctx, name, mostPackedBytes)
	if err != nil {
		return netstate.Host{}, fmt.Errorf("open archive: %w", err)
	}
	tree, err := readArchive(bytes.NewReader(packed))
	if err != nil {
		return netstate.Host{}, fmt.Errorf("read archive %s: %w", name, err)
	}
	host, err := opened(tree)
	if errors.Is(err, fs.ErrNotExist) {
		err = fmt.Errorf("%w: %w", ErrArchive, err)
	}
	if err != nil {
		return netstate.Host{}, fmt.Errorf("read archive %s: %w", name, err)
	}
	return host, nil
}

// opened reads a tree: the host as it was captured, where a capture made the
// tree, else what /proc and /sys in it tell.
func opened(tree fs.FS) (netstate.Host, error) {
	text, err := readBounded(tree, hostFile)
	var host netstate.Host
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if host, err = Captured(tree); err != nil {
			return netstate.Host{}, err
		}
		if text, err = json.Marshal(host); err != nil {
			return netstate.Host{}, fmt.Errorf("read captured tree: %w", err)
		}
	case err != nil:
		return netstate.Host{}, fmt.Errorf("%w: %s: %w", ErrArchive, hostFile, err)
	}
	// The tree is somebody else's word: what a terminal would obey is taken out.
	host = netstate.Host{}
	if err := rewrite(text, &host, plaintext.Line); err != nil {
		return netstate.Host{}, fmt.Errorf("%w: %s: %w", ErrArchive, hostFile, err)
	}
	if len(host.Links) == 0 {
		return netstate.Host{}, fmt.Errorf("%w: %s names no links", ErrArchive, hostFile)
	}
	var about About
	if text, err := readBounded(tree, aboutFile); err == nil && rewrite(text, &about, plaintext.Line) == nil {
		for _, line := range about.Missing {
			host.Missing = append(host.Missing, "when it was captured: "+line)
		}
		if about.Anonymous {
			host.Missing = append(host.Missing, "addresses and names: the capture is anonymous, they are not the host's own")
		}
	}
	return host, nil
}

func readBounded(tree fs.FS, name string) ([]byte, error) {
	f, err := tree.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, mostFileBytes+1))
	if err == nil && len(text) > mostFileBytes {
		err = fmt.Errorf("more than %d MiB", mostFileBytes>>20)
	}
	return text, err
}

// rewrite decodes JSON into v with every string and key of it put through each.
func rewrite(text []byte, v any, each func(string) string) error {
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.UseNumber() // 64-bit counters are no floats
	var document any
	if err := d.Decode(&document); err != nil {
		return err
	}
	text, err := json.Marshal(rewritten(document, each))
	if err != nil {
		return err
	}
	return json.Unmarshal(text, v)
}

func rewritten(v any, each func(string) string) any {
	switch v := v.(type) {
	case string:
		return each(v)
	case []any:
		for i := range v {
			v[i] = rewritten(v[i], each)
		}
		return v
	case map[string]any:
		changed := make(map[string]any, len(v))
		keys := make([]string, 0, len(v))
		for key := range v {
			keys = append(keys, key)
		}
		slices.Sort(keys)
		for _, key := range keys {
			changed[each(key)] = rewritten(v[key], each)
		}
		return changed
	}
	return v
}
