package link

import (
	"fmt"

	"github.com/nats-io/nats.go"

	"github.com/linerate/linerate/internal/bus"
)

// headroom is kept free of a server's largest message for headers and subject.
const headroom = 4 << 10

// Room is how many bytes of a body fit one message.
func (c *Conn) Room() int {
	most := int(c.MaxPayload())
	if most <= 2*headroom { // not connected yet, or a server of very small messages
		return headroom
	}
	return most - headroom
}

// Send publishes a whole, in as many messages as it takes, each with headers.
// The last of them asks for an answer at reply, "" is none.
func (c *Conn) Send(subject, reply string, headers map[string]string, whole []byte) error {
	parts := bus.Split(whole, c.Room())
	for i, p := range parts {
		m := nats.NewMsg(subject)
		for k, v := range headers {
			m.Header.Set(k, v)
		}
		for k, v := range p.Headers() {
			m.Header.Set(k, v)
		}
		m.Data = p.Body
		if i == len(parts)-1 {
			m.Reply = reply
		}
		if err := c.PublishMsg(m); err != nil {
			return fmt.Errorf("send to %s: %w", subject, err)
		}
	}
	return nil
}
