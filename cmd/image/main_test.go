package main

import (
	"archive/tar"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/validate"
)

// The image is one that the library's own checks take, has a manifest for each
// architecture, and the program in it whole.
func TestImage(t *testing.T) {
	t.Chdir("../..") // LICENSE is read from there
	dir := t.TempDir()
	program := filepath.Join(dir, "program")
	if err := os.WriteFile(program, []byte("not much"), 0o755); err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(dir, "image")
	if err := run([]string{to, "x", "1.0~a+b", "1700000000", "amd64=" + program, "arm64=" + program, "--", "/usr/bin/x", "go"}); err != nil {
		t.Fatal(err)
	}
	index, err := layout.ImageIndexFromPath(to)
	if err != nil {
		t.Fatal(err)
	}
	if err := validate.Index(index); err != nil {
		t.Error(err)
	}
	top, err := index.IndexManifest()
	if err != nil || len(top.Manifests) != 1 || top.Manifests[0].Annotations["org.opencontainers.image.ref.name"] != "1.0-a-b" {
		t.Fatalf("%+v, %v", top, err)
	}
	all, err := index.ImageIndex(top.Manifests[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	list, err := all.IndexManifest()
	if err != nil || len(list.Manifests) != 2 {
		t.Fatalf("%+v, %v", list, err)
	}
	for i, arch := range []string{"amd64", "arm64"} {
		one, err := all.Image(list.Manifests[i].Digest)
		if err != nil {
			t.Fatal(err)
		}
		config, err := one.ConfigFile()
		if err != nil || config.Architecture != arch || list.Manifests[i].Platform.Architecture != arch || !slices.Equal(config.Config.Entrypoint, []string{"/usr/bin/x", "go"}) {
			t.Errorf("%+v, %v", config, err)
		}
		if got := content(t, one)["usr/bin/x"]; got != "not much" {
			t.Errorf("the program is %q", got)
		}
	}
}

// content is the text of an image's files.
func content(t *testing.T, one v1.Image) map[string]string {
	t.Helper()
	layers, err := one.Layers()
	if err != nil || len(layers) != 1 {
		t.Fatalf("%d layers, %v", len(layers), err)
	}
	r, err := layers[0].Uncompressed()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	files := make(map[string]string)
	for in := tar.NewReader(r); ; {
		h, err := in.Next()
		if err == io.EOF {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(in)
		if err != nil {
			t.Fatal(err)
		}
		files[h.Name] = string(text)
	}
}
