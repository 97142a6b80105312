//go:build !linux

package payload

// Release frees nothing here: no stream asks for a file.
func (s *Source) Release() {}
