package main

import (
	"io"
	"log"
	"sort"

	"helm.sh/helm/v3/pkg/action"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/release"
	"helm.sh/helm/v3/pkg/releaseutil"
	"sigs.k8s.io/yaml"
)

// chart says how the files of a tree are installed.
type chart struct {
	Name        string         `json:"name"`
	Namespace   string         `json:"namespace"`
	Values      map[string]any `json:"values"`
	APIVersions []string       `json:"apiVersions"`
}

// helmed is `helm template --include-crds --skip-tests`: the objects, in no order.
func helmed(asked tree) (told answer, err error) {
	log.SetOutput(io.Discard)
	var files []*loader.BufferedFile
	for path, text := range asked.Files {
		files = append(files, &loader.BufferedFile{Name: path, Data: []byte(text)})
	}
	sort.Slice(files, func(one, two int) bool { return files[one].Name < files[two].Name })
	loaded, err := loader.LoadFiles(files)
	if err != nil {
		return told, err
	}
	if err := action.CheckDependencies(loaded, loaded.Metadata.Dependencies); err != nil {
		return told, err
	}
	install := action.NewInstall(&action.Configuration{Log: func(string, ...interface{}) {}})
	install.ClientOnly, install.DryRun, install.Replace, install.IncludeCRDs = true, true, true, true
	install.ReleaseName, install.Namespace = asked.Chart.Name, asked.Chart.Namespace
	install.APIVersions = chartutil.VersionSet(asked.Chart.APIVersions)
	made, err := install.Run(loaded, asked.Chart.Values)
	if err != nil {
		return told, err
	}
	texts := releaseutil.SplitManifests(made.Manifest)
	for _, hook := range made.Hooks {
		if !isTest(hook) {
			texts[hook.Path+hook.Name] = hook.Manifest
		}
	}
	for _, text := range texts {
		var body map[string]any
		if err := yaml.Unmarshal([]byte(text), &body); err != nil {
			return told, err
		}
		if len(body) > 0 {
			told.Objects = append(told.Objects, body)
		}
	}
	return told, nil
}

func isTest(hook *release.Hook) bool {
	for _, event := range hook.Events {
		if event == release.HookTest {
			return true
		}
	}
	return false
}
