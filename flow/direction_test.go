package flow_test

import (
	"testing"

	"github.com/linerate/linerate/flow"
)

func TestTurned(t *testing.T) {
	for _, d := range []flow.Direction{flow.Forward, flow.Reverse, flow.Both} {
		if d.Turned().Turned() != d {
			t.Errorf("%v turned twice is %v", d, d.Turned().Turned())
		}
	}
	if flow.Forward.Turned() != flow.Reverse || flow.Both.Turned() != flow.Both {
		t.Error("forward turned is reverse, both ways stay both")
	}
}
