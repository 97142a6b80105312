package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/ask"
	"github.com/linerate/linerate/unit"
)

// captureFlags ask for an archive of a host.
type captureFlags struct {
	file      string
	anonymous bool
	force     bool
}

func (f *captureFlags) add(c *cobra.Command) {
	c.Flags().StringVar(&f.file, "capture", "", "write what was read into this archive (.tar.gz)")
	c.Flags().BoolVar(&f.anonymous, "anonymous", false, "with --capture: replace addresses and the host's name")
	c.Flags().BoolVar(&f.force, "force", false, "with --capture: replace a file that is there, whatever it holds")
}

func (f captureFlags) check() error {
	switch {
	case f.file == "" && (f.anonymous || f.force):
		return usage("inspect: --anonymous and --force say how to capture", "add --capture FILE.tar.gz")
	case f.file == "":
		return nil
	case !strings.HasSuffix(f.file, ".tar.gz") && !strings.HasSuffix(f.file, ".tgz"):
		return usage("inspect: --capture "+f.file+": an archive's name ends in .tar.gz", "--capture host.tar.gz")
	}
	return output{f.file, f.force}.check("inspect: --capture", anArchive)
}

// capturedDocument is the document of `inspect --capture --json`.
type capturedDocument struct {
	Host      string     `json:"host"`
	Archive   string     `json:"archive"`
	Size      unit.Bytes `json:"archive_bytes"`
	Files     int        `json:"files_count"`
	Anonymous bool       `json:"anonymous"`
	Missing   []string   `json:"missing"`
}

// capture writes the archive of a host.
func (a *App) capture(ctx context.Context, reach string, flags captureFlags) error {
	t, err := a.target(reach)
	if err != nil {
		return err
	}
	h, err := a.dial(ctx, t)
	if err != nil {
		return err
	}
	defer h.Close()
	reply, err := ask.Call(ctx, h, agentapi.Capture, agentapi.CaptureRequest{Anonymous: flags.anonymous})
	if errors.Is(err, errors.ErrUnsupported) {
		return withHint(fmt.Errorf("capture %s: %w", t.name, err), "it takes a linerate on the host that is as new as this one")
	}
	if err != nil {
		return fmt.Errorf("capture %s: %w", t.name, err)
	}
	if err := writeFile(ctx, flags.file, reply.Archive); err != nil {
		return err
	}
	doc := capturedDocument{Host: t.name, Archive: flags.file, Size: unit.Bytes(len(reply.Archive)), Files: reply.Files, Anonymous: flags.anonymous, Missing: reply.Missing}
	if doc.Missing == nil {
		doc.Missing = []string{}
	}
	if a.json {
		return a.printJSON(doc)
	}
	a.printCaptured(doc)
	return nil
}

func (a *App) printCaptured(doc capturedDocument) {
	fmt.Fprint(a.Stdout, wrapped("", fmt.Sprintf("%s: %s captured in %d files, %s", doc.Archive, doc.Host, doc.Files, doc.Size), a.width()))
	what := "It holds the host's name, addresses, hardware addresses and routes, and no keys, passwords or configuration files; --anonymous replaces the former."
	if doc.Anonymous {
		what = "Names and addresses in it are made up; the names of links and the kernel's release are the host's own."
	}
	fmt.Fprint(a.Stdout, wrapped("", what, a.width()))
	fmt.Fprint(a.Stdout, wrapped("", "To look at it, anywhere: linerate inspect --root "+doc.Archive, a.width()))
	for _, m := range doc.Missing {
		fmt.Fprint(a.Stdout, wrapped("not in it: ", m, a.width()))
	}
}
