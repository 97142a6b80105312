// Package scene is what the rules of a pasted question share: the hosts, switches and
// bonds that were read, facts of theirs, and the findings so far.
package scene
