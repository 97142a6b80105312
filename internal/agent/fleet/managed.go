package fleet

import "strings"

// managed is a transport by an ssh connection, and the host's own address of
// that connection; "" where it is not known.
type managed struct {
	Transport
	at string
}

// serverOf is the server's address of sshd's SSH_CONNECTION, which holds the
// client's address and port and the server's; "" of another text.
func serverOf(connection string) string {
	if words := strings.Fields(connection); len(words) == 4 {
		return words[2]
	}
	return ""
}
