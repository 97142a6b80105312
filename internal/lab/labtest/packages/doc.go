// Package packages proves what is handed out: the .deb is installed on a clean
// Debian, works there, and is gone when it is removed.
package packages
