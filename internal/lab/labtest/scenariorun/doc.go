// Package scenariorun tests that a lab builds, and changes, the networks that
// scenarios declare.
package scenariorun
