package observe

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"testing"

	"github.com/vishvananda/netlink"

	"github.com/linerate/linerate/internal/kernel/sys"
)

// BenchmarkManyLinks reads a namespace with 500 links, which is to take less
// than two seconds: `go test -bench ManyLinks -benchtime 3x ./internal/host/observe`.
func BenchmarkManyLinks(b *testing.B) {
	if os.Getuid() != 0 {
		b.Skip("making a network namespace needs root")
	}
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		var err error
		defer func() { done <- err }()
		if err = sys.NewNetNS(); err != nil {
			return
		}
		if err = sys.PrivateSysfs(); err != nil {
			return
		}
		for i := range 250 {
			attrs := netlink.NewLinkAttrs()
			attrs.Name = fmt.Sprintf("many%d", i)
			if err = netlink.LinkAdd(&netlink.Veth{LinkAttrs: attrs, PeerName: fmt.Sprintf("peer%d", i)}); err != nil {
				return
			}
		}
		b.ResetTimer()
		for b.Loop() {
			h, e := Observe(context.Background(), Config{})
			if err = e; err != nil {
				return
			}
			if len(h.Links) < 500 {
				err = fmt.Errorf("%d links only", len(h.Links))
				return
			}
		}
		made, e := Capture(context.Background(), CaptureConfig{})
		if err = e; err == nil {
			b.ReportMetric(float64(len(made.Content)), "archive-bytes")
			b.ReportMetric(float64(made.Files), "archive-files")
		}
	}()
	if err := <-done; err != nil {
		b.Fatal(err)
	}
}

// BenchmarkHost reads the machine itself, which a fleet's inventory has each
// host do.
func BenchmarkHost(b *testing.B) {
	for b.Loop() {
		if _, err := Observe(context.Background(), Config{}); err != nil {
			b.Fatal(err)
		}
	}
}
