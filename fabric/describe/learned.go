package describe

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/linerate/linerate/fabric"
	"github.com/linerate/linerate/fabric/yamldoc"
	"github.com/linerate/linerate/flow"
)

// Learned is a path's learned hashes as the file has them, nil for none.
func Learned(all []flow.LearnedHash) *yamldoc.Node {
	out := flowList()
	for _, l := range all {
		masks, flows := flowList(), flowList()
		for _, m := range l.Masks {
			masks.Items = append(masks.Items, yamldoc.Text(fmt.Sprintf("0x%04x", m)))
		}
		for _, f := range l.Flows {
			one := &yamldoc.Node{Kind: yamldoc.MappingNode, Flow: true}
			one.Set("src", yamldoc.Text(f.Src.String()))
			one.Set("dst", yamldoc.Text(f.Dst.String()))
			one.Set("port", yamldoc.Text(strconv.Itoa(int(f.Port))))
			one.Set("start", yamldoc.Text(strconv.Itoa(f.Start)))
			flows.Items = append(flows.Items, one)
		}
		n := &yamldoc.Node{Kind: yamldoc.MappingNode, Flow: true}
		n.Set("to", yamldoc.Text(l.To))
		n.Set("links", yamldoc.Texts(l.Links))
		n.Set("field", yamldoc.Text(l.Field))
		n.Set("masks", masks)
		n.Set("ports", yamldoc.Text(l.Ports.String()))
		n.Set("flows", flows)
		n.Set("observed", yamldoc.Count(l.Observed))
		n.Set("checked", yamldoc.Count(l.Checked))
		if l.Date != "" {
			n.Set("date", yamldoc.Text(l.Date))
		}
		out.Items = append(out.Items, n)
	}
	return yamldoc.Filled(out)
}

func flowList() *yamldoc.Node { return &yamldoc.Node{Kind: yamldoc.SequenceNode, Flow: true} }

// WithLearned is the fabric's text with hashes that were learned of the path
// between two hosts, in the place of earlier ones towards the same host by the
// same port. Kept is false where the text had to be written anew, without its
// comments. An error says that the file declares no such path.
func WithLearned(f fabric.Fabric, a, b string, learned []flow.LearnedHash) (text string, kept bool, err error) {
	at := slices.IndexFunc(f.Paths, func(p fabric.Path) bool { return p.Joins(a, b) })
	root, err := yamldoc.Parse(f.File, []byte(f.Text))
	if err != nil {
		return "", false, err
	}
	item := root.Find("paths", at)
	if at < 0 || root.Get("paths") == nil || item == nil {
		return "", false, fmt.Errorf("keep what was learned: %s declares no path between %s and %s", f.File, a, b)
	}
	all := slices.DeleteFunc(slices.Clone(f.Paths[at].Learned), func(old flow.LearnedHash) bool {
		return slices.ContainsFunc(learned, func(l flow.LearnedHash) bool { return l.To == old.To && l.Field == old.Field })
	})
	item.Pairs = slices.DeleteFunc(item.Pairs, func(p yamldoc.Pair) bool { return p.Key == "learned" })
	item.Set("learned", Learned(append(all, learned...)))
	return yamldoc.Revise(f.Text, root)
}
