package runs

import (
	"cmp"
	"fmt"

	"github.com/linerate/linerate/diagnose/pasted/scene"
	"github.com/linerate/linerate/internal/evidence/paste/piece"
	"github.com/linerate/linerate/record"
	"github.com/linerate/linerate/unit"
)

// leastUnread is how much waits in a connection's receive queue from which its program is
// late, and not just about to read.
const leastUnread = 512 << 10

// unreadSockets: connections whose program does not take what has arrived.
func unreadSockets(v *scene.View) {
	for _, h := range v.Hosts {
		var worst piece.Socket
		many := 0
		for _, s := range h.Sockets {
			if s.RecvQ < leastUnread || s.Remote.Port() == 0 || s.State != "" && !scene.Contains(s.State, "estab", "close") {
				continue
			}
			if many++; s.RecvQ > worst.RecvQ {
				worst = s
			}
		}
		if many == 0 || v.HasFinding(record.Application) {
			continue
		}
		sure := 0.62
		if many > 1 {
			sure = 0.68 // no moment between two reads
		}
		who := cmp.Or(worst.Process, fmt.Sprintf("the program at port %d", worst.Local.Port()))
		v.Add(record.Application, sure, h, who+" of "+scene.NameOf(h),
			fmt.Sprintf("%v wait in the receive queue of a connection of %s that %s has not read: the network brought them, and the program (its thread, its disk, a lock) is late; the sender then stands still, for its window is closed.", unit.Bytes(worst.RecvQ), scene.NameOf(h), who),
			"Look at the program and not at the network: its threads (`top -H`, `gdb -p` or a stack dump), how many of them serve connections (nfsd: `nfsdctl threads`, Ganesha: Nb_Worker), its disk (`iostat -x 2`). Twice in a row: a queue that stays shows one that hangs.",
			scene.Saw("receive queue", unit.Bytes(worst.RecvQ).String(), worst.Source)).Ask = []scene.Missing{
			{Command: "ss -tinmp state established, twice", Host: scene.NameOf(h), Why: "whether Recv-Q stays or grows, and whose socket it is"},
			{Command: "top -H -b -n 1 | head -30; iostat -x 2", Host: scene.NameOf(h), Why: "whether that program's thread is full, or waits for a disk"}}
	}
}
