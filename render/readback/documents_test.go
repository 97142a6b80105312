package readback

import (
	"errors"
	"strings"
	"testing"

	"github.com/linerate/linerate/fabric/yamldoc"
)

func TestDocuments(t *testing.T) {
	all, err := Documents("f.yaml", "# a\n---\na: 1\r\n---   \n\n---\n# only words\n---\nb:\n  - c: &x {d: 2}\n  - *x\n")
	if err != nil {
		t.Fatal(err)
	}
	var places []int
	for _, n := range all {
		if a := n.Get("a"); a != nil {
			places = append(places, a.Line)
		}
		if b := n.Get("b"); b != nil {
			places = append(places, b.Items[0].Get("c").Get("d").Line)
		}
	}
	if len(places) != 2 || places[0] != 3 || places[1] != 10 {
		t.Errorf("lines %v, want 3 and 10", places)
	}
	_, err = Documents("f.yaml", "a: 1\n---\nb: [\n")
	var problems yamldoc.Problems
	if !errors.As(err, &problems) || problems[0].Line < 3 {
		t.Errorf("%v, want a problem in line 3 or below", err)
	}
	if all, err := Documents("f.yaml", strings.Repeat("---\na: 1\n", 20000)); err != nil || len(all) != 20000 {
		t.Errorf("%d documents, %v", len(all), err)
	}
}
