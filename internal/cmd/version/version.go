// Package version is `linerate version`: what this program is and can do here.
package version

import (
	"context"
	"fmt"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/lab"
	"github.com/linerate/linerate/internal/lab/guest"
	"github.com/linerate/linerate/internal/traffic/engine"
)

// versions is what `version --json` prints.
type versions struct {
	Linerate string       `json:"linerate"`
	Go       string       `json:"go"`
	OS       string       `json:"os"`
	Arch     string       `json:"arch"`
	Engine   string       `json:"engine"`
	Kernel   string       `json:"kernel"`
	Protocol int          `json:"protocol"` // of the agents, agentapi.Version
	Lab      []labBackEnd `json:"lab_back_ends"`
}

// labBackEnd is where a lab could run, and why it can or cannot.
type labBackEnd struct {
	Name   lab.BackEnd `json:"name"`
	Usable bool        `json:"usable"`
	Why    string      `json:"why"`
}

// New is `linerate version`.
func New(con *console.Console) *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "what this binary is and what it can do here", Args: console.NoArgs,
		Long: `Says which version this is, how it sends traffic here, and on which kernels the
lab and the demo can run here and why.

` + console.ExitHelp,
		Example: "  linerate version\n  linerate version --json",
		RunE: func(cmd *cobra.Command, _ []string) error {
			doc, err := version(cmd.Context(), con)
			if err != nil {
				return err
			}
			if con.JSON {
				return document.Print(con, doc)
			}
			printVersion(con, doc)
			return nil
		},
	}
}

func version(ctx context.Context, con *console.Console) (versions, error) {
	h, err := con.Dial(ctx, console.Target{Name: console.ThisHost(), Reach: "local:"})
	if err != nil {
		return versions{}, err
	}
	defer h.Close()
	return versions{
		Linerate: con.Version, Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH,
		Engine: engine.Kind, Kernel: h.Hello.Kernel, Protocol: agentapi.Version, Lab: labBackEnds(),
	}, nil
}

// labBackEnds asks each back end whether it could run here.
func labBackEnds() []labBackEnd {
	host := labBackEnd{Name: lab.Local, Usable: true, Why: "the running kernel has namespaces, bonding and shaping"}
	if _, err := lab.Choose(lab.Local); err != nil {
		host.Usable, host.Why = false, console.OneLine(err.Error())
		if _, why, found := strings.Cut(err.Error(), lab.ErrNoBackEnd.Error()+": "); found {
			host.Why = console.OneLine(why)
		}
	}
	uml := labBackEnd{Name: lab.UML, Usable: true, Why: "a lab kernel is installed, and needs no privilege"}
	if err := guest.Installed(); err != nil {
		uml.Usable, uml.Why = false, err.Error()
	}
	return []labBackEnd{host, uml, emulated()}
}

func emulated() labBackEnd {
	dir, series := lab.Kernels()
	b := labBackEnd{Name: lab.QEMU, Usable: true, Why: fmt.Sprintf("emulates the kernels in %s: %s", dir, strings.Join(series, ", "))}
	if _, err := lab.ChooseKernel(""); err != nil {
		b.Usable, b.Why = false, strings.TrimPrefix(err.Error(), "use back end qemu: ")
	}
	return b
}

func printVersion(con *console.Console, doc versions) {
	fmt.Fprintf(con.Stdout, "linerate %s (%s, %s/%s)\n", doc.Linerate, doc.Go, doc.OS, doc.Arch)
	kernel := doc.Kernel
	if kernel == "" {
		kernel = "unknown"
	}
	fmt.Fprintf(con.Stdout, "kernel %s, engine %s, agent protocol %d\n", kernel, doc.Engine, doc.Protocol)
	for _, b := range doc.Lab {
		word := "no"
		if b.Usable {
			word = "yes"
		}
		fmt.Fprint(con.Stdout, console.Wrapped(fmt.Sprintf("lab back end %s: ", b.Name), word+", "+b.Why, con.Width()))
	}
}
