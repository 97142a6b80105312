package labtest

import (
	"testing"
	"time"

	"github.com/linerate/linerate/internal/kernel/netns"
	"github.com/linerate/linerate/internal/kernel/rtnl"
)

// testSpace is a namespace that goes when the test does.
type testSpace struct {
	ns      netns.Namespace
	builder *rtnl.Builder
}

func space(t *testing.T, name string) testSpace {
	t.Helper()
	name = "linerate-test-" + name
	ns, err := netns.Create(name)
	must(t, err)
	t.Cleanup(func() { _ = netns.Delete(name) })
	b, err := rtnl.OpenBuilder(ns)
	must(t, err)
	t.Cleanup(b.Close)
	return testSpace{ns, b}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func pause() { time.Sleep(20 * time.Millisecond) }
