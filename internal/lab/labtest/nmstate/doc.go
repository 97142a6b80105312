// Package nmstate brings a host to the states that nmstate's own integration
// tests ask for, each as a fabric file, and looks with ip(8) whether what those
// tests assert is so; and takes each change back.
package nmstate
