package lab

import (
	"strings"
	"testing"

	"github.com/linerate/linerate/internal/lab"
	"github.com/linerate/linerate/internal/lab/scenario"
)

// TestLabPlace: the scenario's word on where it stands counts where the user
// says nothing.
func TestLabPlace(t *testing.T) {
	n := labNetwork{file: &scenario.Scenario{BackEnd: "qemu", Kernel: "5.10"}}
	for _, c := range []struct{ asked, want Place }{
		{Place{backEnd: "auto"}, Place{backEnd: "qemu", kernel: "5.10"}},
		{Place{backEnd: "uml"}, Place{backEnd: "uml"}},
		{Place{backEnd: "auto", kernel: "6.12"}, Place{backEnd: "auto", kernel: "6.12"}},
	} {
		if got := n.place(c.asked); got.backEnd != c.want.backEnd || got.kernel != c.want.kernel {
			t.Errorf("asked %+v: %+v, want %+v", c.asked, got, c.want)
		}
	}
	built := labNetwork{Built: &lab.Scenario{}}
	if got := built.place(Place{backEnd: "auto"}); got.backEnd != "auto" || strings.TrimSpace(got.kernel) != "" {
		t.Errorf("a network of the lab's own is placed at %+v", got)
	}
}
