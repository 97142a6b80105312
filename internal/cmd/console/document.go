package console

import (
	"encoding/json"
	"fmt"
	"reflect"
)

// Document is what a command prints with --json: T says its keys. Name is what
// `linerate schema NAME` calls it, About what prints it.
type Document[T any] struct{ Name, About string }

// Described is a Document of whatever type.
type Described interface {
	// Described returns the document's name, what prints it, and its type.
	Described() (name, about string, typ reflect.Type)
}

// Described implements Described.
func (d Document[T]) Described() (name, about string, typ reflect.Type) {
	return d.Name, d.About, reflect.TypeFor[T]()
}

// Print writes a document to standard output.
func (d Document[T]) Print(con *Console, v T) error {
	b, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fmt.Errorf("encode JSON: %w", err)
	}
	if con.Checked != nil {
		con.Checked(d, b)
	}
	return con.PrintDocument(append(b, '\n'))
}
