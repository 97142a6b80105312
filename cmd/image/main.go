// Command image makes a container image of one program, for several architectures,
// without a daemon: a directory as the OCI image layout has it. The same programs make
// the same bytes, whenever and wherever it is run.
//
//	image DIRECTORY NAME VERSION SECONDS ARCHITECTURE=PROGRAM... -- COMMAND...
//
// NAME is the program's, in the image as /usr/bin/NAME, SECONDS since 1970 are the
// image's date, COMMAND is what it runs with.
package main

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "image:", err)
		os.Exit(1)
	}
}

// image is what is made.
type image struct {
	name, version string
	date          time.Time
	command       []string
}

func run(args []string) error {
	end := slices.Index(args, "--")
	if end < 5 || end == len(args)-1 {
		return errors.New("want DIRECTORY NAME VERSION SECONDS ARCHITECTURE=PROGRAM... -- COMMAND [ARGUMENT]")
	}
	seconds, err := strconv.ParseInt(args[3], 10, 64)
	if err != nil {
		return fmt.Errorf("read date: %w", err)
	}
	i := image{args[1], args[2], time.Unix(seconds, 0).UTC(), args[end+1:]}
	all := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, word := range args[4:end] {
		arch, path, _ := strings.Cut(word, "=")
		one, err := i.of(arch, path)
		if err != nil {
			return fmt.Errorf("make image for %s: %w", arch, err)
		}
		all = mutate.AppendManifests(all, mutate.IndexAddendum{Add: one, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: arch}}})
	}
	to, err := layout.Write(args[0], empty.Index)
	if err != nil {
		return fmt.Errorf("write layout: %w", err)
	}
	// A registry's name is not known here: these are what loaders take for one.
	return to.AppendIndex(all, layout.WithAnnotations(map[string]string{
		"org.opencontainers.image.ref.name": i.tag(), "io.containerd.image.name": "docker.io/library/" + i.name + ":" + i.tag(),
	}))
}

// tag is the version in the letters of a tag, which has no ~ and no +.
func (i image) tag() string { return strings.NewReplacer("~", "-", "+", "-").Replace(i.version) }

// of is the image for one architecture: the program, and a directory for what it
// writes in passing.
func (i image) of(arch, path string) (v1.Image, error) {
	program, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	license, err := os.ReadFile("LICENSE")
	if err != nil {
		return nil, err
	}
	files, err := i.files(program, license)
	if err != nil {
		return nil, err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(files)), nil }, tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return nil, err
	}
	out := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	out, err = mutate.Append(out, mutate.Addendum{Layer: layer, History: v1.History{Created: v1.Time{Time: i.date}, CreatedBy: i.name + " " + i.version}})
	if err != nil {
		return nil, err
	}
	return mutate.ConfigFile(out, i.config(out, arch))
}

// config is how the program runs, with the words that registries show.
func (i image) config(of v1.Image, arch string) *v1.ConfigFile {
	c, err := of.ConfigFile()
	if err != nil {
		c = &v1.ConfigFile{}
	}
	c = c.DeepCopy()
	c.Architecture, c.OS, c.Created = arch, "linux", v1.Time{Time: i.date}
	c.Config.Entrypoint = i.command
	c.Config.Env = []string{"PATH=/usr/bin"}
	c.Config.WorkingDir = "/"
	c.Config.Labels = map[string]string{
		"org.opencontainers.image.title": i.name, "org.opencontainers.image.version": i.version, "org.opencontainers.image.licenses": "Apache-2.0",
		"org.opencontainers.image.source": "https://github.com/linerate/linerate", "org.opencontainers.image.created": i.date.Format(time.RFC3339),
	}
	return c
}

// files are the image's, as a tar.
func (i image) files(program, license []byte) ([]byte, error) {
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, f := range []struct {
		name string
		mode int64
		text []byte // nil is a directory
	}{
		{"tmp/", 0o1777, nil}, {"usr/", 0o755, nil}, {"usr/bin/", 0o755, nil}, {"usr/bin/" + i.name, 0o755, program},
		{"usr/share/", 0o755, nil}, {"usr/share/doc/", 0o755, nil}, {"usr/share/doc/" + i.name + "/", 0o755, nil}, {"usr/share/doc/" + i.name + "/copyright", 0o644, license},
	} {
		h := tar.Header{Name: f.name, Typeflag: tar.TypeDir, Mode: f.mode, ModTime: i.date}
		if f.text != nil {
			h.Typeflag, h.Size = tar.TypeReg, int64(len(f.text))
		}
		if err := w.WriteHeader(&h); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.text); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil { // which writes the tar's end
		return nil, err
	}
	return out.Bytes(), nil
}
