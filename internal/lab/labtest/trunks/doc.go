// Package trunks tests what is predicted of two switches with a trunk of two links
// between them: bridges of a real kernel, and bonds for the trunk.
package trunks
