// Package worlds reads one world per line on stdin, a list of objects as the API server stores them, and writes what a
// controller makes of it, one line per world: every status that it would write.
package worlds

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
)

// Written is the status of one object.
type Written struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Status    any    `json:"status"`
}

// Answer is what a controller makes of a world, or why it failed.
type Answer struct {
	Error    string    `json:"error,omitempty"`
	Statuses []Written `json:"statuses"`
}

// Add takes the status of an object.
func (a *Answer) Add(kind, namespace, name string, status any) {
	a.Statuses = append(a.Statuses, Written{kind, namespace, name, status})
}

// Serve asks about every line until stdin ends.
func Serve(ask func(line []byte, told *Answer) error) {
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	out := json.NewEncoder(os.Stdout)
	for {
		line, err := in.ReadBytes('\n')
		if len(line) > 1 {
			told := Answer{Statuses: []Written{}}
			if failure := ask(line, &told); failure != nil {
				told.Error = failure.Error()
			}
			if err := out.Encode(told); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
		}
		if err != nil {
			return
		}
	}
}
