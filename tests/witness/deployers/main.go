// Reads trees as JSON, one a line, and writes for each what a deployer makes of it: its objects, or why it makes none.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/kustomize/kyaml/openapi"
)

// tree is what a deployer is asked about: with a directory kustomize, with an owner (a Kustomization) Flux, whose source
// leaves out what Ignore says, and with a Chart helm.
type tree struct {
	Files     map[string]string `json:"files"`
	Directory string            `json:"directory"`
	Owner     map[string]any    `json:"owner"`
	Ignore    string            `json:"ignore"`
	Chart     *chart            `json:"chart"`
}

// answer has the objects, or why there are none; Failed, by namespace and name, the Kustomizations that are not applied.
type answer struct {
	Objects []map[string]any  `json:"objects,omitempty"`
	Error   string            `json:"error,omitempty"`
	Failed  map[string]string `json:"failed,omitempty"`
}

func main() {
	lines := bufio.NewReaderSize(os.Stdin, 1<<20)
	written := json.NewEncoder(os.Stdout)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var asked tree
		if err := json.Unmarshal(line, &asked); err != nil {
			panic(err)
		}
		if err := written.Encode(made(asked)); err != nil {
			panic(err)
		}
	}
}

// made returns what a deployer makes of a tree; one that panics fails.
func made(asked tree) (told answer) {
	defer func() {
		if cause := recover(); cause != nil {
			told = answer{Error: fmt.Sprint("panic: ", cause)}
		}
	}()
	by := kustomized
	if asked.Owner != nil {
		by = fluxed
	} else if asked.Chart != nil {
		by = helmed
	}
	told, err := by(asked)
	if err != nil {
		return answer{Error: err.Error()}
	}
	return told
}

// kustomized is `kustomize build --load-restrictor LoadRestrictionsNone`, as Flux calls it, of files in memory.
func kustomized(asked tree) (told answer, err error) {
	files := filesys.MakeFsInMemory()
	for path, text := range asked.Files {
		if err := files.WriteFile("/"+path, []byte(text)); err != nil {
			return told, err
		}
	}
	openapi.ResetOpenAPI()
	options := &krusty.Options{LoadRestrictions: types.LoadRestrictionsNone, PluginConfig: types.DisabledPluginConfig()}
	built, err := krusty.MakeKustomizer(options).Run(files, "/"+asked.Directory)
	if err != nil {
		return told, err
	}
	for _, object := range built.Resources() {
		body, err := object.Map()
		if err != nil {
			return told, err
		}
		told.Objects = append(told.Objects, body)
	}
	return told, nil
}
