// Reads trees as JSON, one a line, and writes for each what a deployer makes of it: its objects, or why it makes none.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"

	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/api/types"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/kustomize/kyaml/openapi"
)

type tree struct {
	Files     map[string]string `json:"files"`
	Directory string            `json:"directory"`
}

type answer struct {
	Objects []map[string]any `json:"objects,omitempty"`
	Error   string           `json:"error,omitempty"`
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
		if err := written.Encode(made(kustomized, asked)); err != nil {
			panic(err)
		}
	}
}

// made returns what a deployer makes of a tree; one that panics fails.
func made(by func(tree) (resmap.ResMap, error), asked tree) (told answer) {
	defer func() {
		if cause := recover(); cause != nil {
			told = answer{Error: fmt.Sprint("panic: ", cause)}
		}
	}()
	objects, err := by(asked)
	if err != nil {
		return answer{Error: err.Error()}
	}
	for _, object := range objects.Resources() {
		body, err := object.Map()
		if err != nil {
			return answer{Error: err.Error()}
		}
		told.Objects = append(told.Objects, body)
	}
	return told
}

// kustomized is `kustomize build --load-restrictor LoadRestrictionsNone`, as Flux calls it, of files in memory.
func kustomized(asked tree) (resmap.ResMap, error) {
	files := filesys.MakeFsInMemory()
	for path, text := range asked.Files {
		if err := files.WriteFile("/"+path, []byte(text)); err != nil {
			return nil, err
		}
	}
	openapi.ResetOpenAPI()
	options := &krusty.Options{LoadRestrictions: types.LoadRestrictionsNone, PluginConfig: types.DisabledPluginConfig()}
	return krusty.MakeKustomizer(options).Run(files, "/"+asked.Directory)
}
