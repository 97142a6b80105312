package describe

import (
	"fmt"
	"strconv"

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
