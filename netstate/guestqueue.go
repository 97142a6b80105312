package netstate

import "github.com/linerate/linerate/unit"

// GuestQueues are the pairs of queues of a guest's virtio card. Each pair is one thread
// of the host below (vhost), which serves both directions.
type GuestQueues struct {
	Count int `json:"count"`
	// Rate is what one of the threads moves, both directions together; zero unknown.
	Rate unit.BitRate `json:"rate_bps,omitempty"`
}

// QueuesOfGuest are those of a virtio card: what a file declares, else as many as the
// driver uses. False of any other card, and where nobody read them.
func (l Link) QueuesOfGuest() (GuestQueues, bool) {
	q := GuestQueues{}
	if l.GuestQueues != nil {
		q = *l.GuestQueues
	}
	if q.Count == 0 && l.Driver == "virtio_net" && l.Device != nil && l.Device.Channels != nil {
		q.Count = l.Device.Channels.Combined
	}
	return q, q.Count > 0
}
