package agentapi

// CaptureRequest asks for the host as `inspect --capture` writes it.
type CaptureRequest struct {
	// Anonymous maps addresses, hardware addresses and the host's name before
	// anything leaves the host.
	Anonymous bool `json:"anonymous,omitempty"`
}

// CaptureReply is a tar.gz of at most observe.MostCapture bytes, which as one
// line of the wire is a third longer.
type CaptureReply struct {
	Archive []byte `json:"archive"`
	Files   int    `json:"files_count"`
	// Missing says what could not be read and why.
	Missing []string `json:"missing,omitempty"`
}
