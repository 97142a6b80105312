package fabric_test

import (
	"testing"

	"github.com/linerate/linerate/fabric"
)

func TestPathBetween(t *testing.T) {
	p := fabric.Path{From: "a", To: "b"}
	if !p.Joins("a", "b") || !p.Joins("b", "a") || p.Joins("a", "c") || p.Joins("a", "a") {
		t.Error("it joins its two hosts, whichever is named first, and no others")
	}
	if !p.Leads("a", "b") || !p.Leads("b", "a") || p.Leads("c", "b") {
		t.Error("it leads both ways")
	}
	p.Directed = true
	if !p.Joins("b", "a") || !p.Leads("a", "b") || p.Leads("b", "a") {
		t.Error("a directed one leads one way alone")
	}
}
