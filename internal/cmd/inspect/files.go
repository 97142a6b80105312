package inspect

import (
	"bytes"
	"context"
	"fmt"
	"os"

	diagnosehost "github.com/linerate/linerate/diagnose/host"
	"github.com/linerate/linerate/internal/cmd/console"
	"github.com/linerate/linerate/internal/userfile"
	"github.com/linerate/linerate/netstate"
	"github.com/linerate/linerate/predict"
)

// isFiles reports arguments that are files with text in them, archives or directories:
// no fabric, no host.
func isFiles(args []string) bool {
	for _, arg := range args {
		if arg == "-" {
			continue
		}
		info, err := os.Stat(arg)
		if err != nil || !info.IsDir() && (!info.Mode().IsRegular() || userfile.Plain(info) && isFabricName(arg) && isFabric(arg)) {
			return false
		}
	}
	return len(args) > 0
}

// isFabric reports a file that begins as one does, in its first few kilobytes.
func isFabric(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return true // who reads it says why
	}
	defer f.Close()
	head := make([]byte, 8<<10)
	n, _ := f.Read(head)
	for line := range bytes.Lines(head[:n]) {
		if bytes.HasPrefix(line, []byte("linerate:")) {
			return true
		}
	}
	return false
}

// inspectFiles shows the hosts that texts tell of.
func inspectFiles(ctx context.Context, con *console.Console, files []string, flags opts) error {
	if flags.root != "" || flags.capture.file != "" || flags.rate.calibrate {
		return console.BadUsage("inspect: --root, --capture and --calibrate are about a HOST", "leave them out, or the files")
	}
	hosts, paths, err := flags.whose.States(ctx, con, "inspect", files)
	if err != nil {
		return err
	}
	if len(hosts) == 0 {
		return console.BadUsage("inspect: no link, route or setting of a host is in it", "`linerate explain` says what the load tests in it mean")
	}
	doc := inspectedPairs{Probes: []diagnosehost.PathProbe{}}
	states := predict.Fabric{Hosts: make(map[string]netstate.Host), Paths: paths}
	for _, h := range hosts {
		doc.Hosts = append(doc.Hosts, inspected{Host: h, Findings: diagnosehost.Judge(h)})
		states.Hosts[h.Name] = h
	}
	if len(hosts) > 1 {
		doc.Findings = diagnosehost.Pairs(states, nil)
		if con.JSON {
			return pairDocument.Print(con, doc)
		}
		return printPairs(con, doc, flags.all)
	}
	if con.JSON {
		return hostDocument.Print(con, doc.Hosts[0])
	}
	if err := printInspected(con, doc.Hosts[0], flags.all); err != nil {
		return fmt.Errorf("print host: %w", err)
	}
	return nil
}
