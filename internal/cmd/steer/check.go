package steer

import (
	"context"
	"fmt"
	"net/netip"
	"text/tabwriter"

	"github.com/linerate/linerate/flow"
	"github.com/linerate/linerate/internal/agent/agentapi"
	"github.com/linerate/linerate/internal/agent/ask"
	"github.com/linerate/linerate/internal/cmd/console"
)

// connected is the document of `linerate steer addresses --check --json`.
type connected struct {
	Dport   uint16            `json:"dport"`
	Servers []connectedServer `json:"servers"`
}

type connectedServer struct {
	Dst netip.Addr `json:"dst"`
	// Connections are established ones; Sources their own addresses and ports.
	Connections int              `json:"connections_count"`
	Sources     []netip.AddrPort `json:"sources"`
}

// checkConnections counts a host's established TCP connections to each server
// address.
func checkConnections(ctx context.Context, con *console.Console, reach string, flags *addressFlags) error {
	addrs, err := parseAddresses("--check", flags.check)
	if err != nil {
		return err
	}
	frame, err := flags.template()
	if err != nil {
		return err
	}
	t, h, err := con.Open(ctx, reach)
	if err != nil {
		return err
	}
	defer h.Close()
	reply, err := ask.Call(ctx, h, agentapi.Sockets, agentapi.SocketsRequest{Proto: flow.TCP, Dport: frame.Dport})
	if err != nil {
		return fmt.Errorf("list sockets of %s: %w", t.Name, err)
	}
	doc := countConnections(reply.Sockets, frame.Dport, addrs)
	if con.JSON {
		return checkDocument.Print(con, doc)
	}
	w := tabwriter.NewWriter(con.Stdout, 0, 8, 2, ' ', 0)
	fmt.Fprintln(w, "SERVER\tPORT\tCONNECTIONS")
	for _, s := range doc.Servers {
		fmt.Fprintf(w, "%s\t%d\t%d\n", s.Dst, doc.Dport, s.Connections)
	}
	if err := w.Flush(); err != nil {
		return fmt.Errorf("print connections: %w", err)
	}
	for _, s := range doc.Servers {
		if s.Connections == 0 && len(doc.Servers) == 1 {
			fmt.Fprint(con.Stdout, console.Wrapped("note: ", fmt.Sprintf("no connection to %s: nothing has it mounted, or it has not been used yet", s.Dst), con.Width()))
		} else if s.Connections == 0 {
			fmt.Fprint(con.Stdout, console.Wrapped("note: ", fmt.Sprintf("no connection to %s: its link carries nothing of this; NFS 4.1 and later put a second mount on the first one's connection unless both have max_connect=%d", s.Dst, len(doc.Servers)), con.Width()))
			break
		}
	}
	return nil
}

func countConnections(sockets []agentapi.Socket, dport uint16, servers []netip.Addr) connected {
	doc := connected{Dport: dport}
	for _, dst := range servers {
		one := connectedServer{Dst: dst, Sources: []netip.AddrPort{}}
		for _, s := range sockets {
			if s.State == "established" && s.Dport == dport && s.Dst.Unmap() == dst.Unmap() {
				one.Connections++
				one.Sources = append(one.Sources, netip.AddrPortFrom(s.Src.Unmap(), s.Sport))
			}
		}
		doc.Servers = append(doc.Servers, one)
	}
	return doc
}
