// Reads CRDs as one JSON text on the first line of stdin, then lists of objects, one a line; writes for each list what
// becomes of its objects: why one is refused, or what is stored.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"

	utiljson "k8s.io/apimachinery/pkg/util/json"

	"policylint.witness/crds"
)

type fate struct {
	Refused string `json:"refused,omitempty"`
	Stored  any    `json:"stored,omitempty"`
}

func main() {
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	out := json.NewEncoder(os.Stdout)
	line, err := in.ReadBytes('\n')
	var text string
	if err == nil {
		err = json.Unmarshal(line, &text)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	server := crds.Serve([]byte(text))
	for {
		line, err := in.ReadBytes('\n')
		if len(line) > 1 {
			var objects []map[string]any
			if err := utiljson.Unmarshal(line, &objects); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
			fates := []fate{}
			for _, object := range objects {
				fates = append(fates, create(server, object))
			}
			if err := out.Encode(fates); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
		}
		if err != nil {
			return
		}
	}
}

func create(server crds.Server, object map[string]any) (told fate) {
	defer func() {
		if reason := recover(); reason != nil {
			told = fate{Refused: fmt.Sprintf("panic: %v", reason)}
		}
	}()
	if err := server.Create(object); err != nil {
		return fate{Refused: err.Error()}
	}
	return fate{Stored: object}
}
