package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"github.com/fluxcd/pkg/kustomize"
	"github.com/fluxcd/pkg/sourceignore"
	"github.com/fluxcd/pkg/sourceignore/gitignore"
	"github.com/fluxcd/pkg/ssa/utils"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// passes is how often each Kustomization is reconciled, so that variables are those of objects that came later, too.
const passes = 2

const toolkit = "kustomize.toolkit.fluxcd.io"

// leftAlone is what kustomize-controller excludes from what it applies.
var leftAlone = map[string]string{toolkit + "/reconcile": "disabled", toolkit + "/ssa": "Ignore"}

// cluster has the objects that were applied, for whoever reads variables of them.
type cluster struct {
	client.Client
	objects map[string]*unstructured.Unstructured
}

func keyOf(kind, namespace, name string) string { return kind + " " + namespace + "/" + name }

func (known cluster) Get(_ context.Context, key client.ObjectKey, object client.Object, _ ...client.GetOption) error {
	kind := "ConfigMap"
	if _, found := object.(*corev1.Secret); found {
		kind = "Secret"
	}
	held, found := known.objects[keyOf(kind, key.Namespace, key.Name)]
	if !found {
		return apierrors.NewNotFound(schema.GroupResource{Resource: kind}, key.Name)
	}
	return runtime.DefaultUnstructuredConverter.FromUnstructured(held.Object, object)
}

// fluxed fetches the files as source-controller does, and applies what kustomize-controller builds from a directory
// on; the error of a Kustomization is told, and nothing of it is applied.
func fluxed(asked tree) (answer, error) {
	root, err := os.MkdirTemp("", "flux")
	if err != nil {
		return answer{}, err
	}
	defer os.RemoveAll(root)
	if err := fetch(root, asked); err != nil {
		return answer{}, err
	}
	first := &unstructured.Unstructured{Object: asked.Owner}
	known := cluster{objects: map[string]*unstructured.Unstructured{}}
	var told answer
	for pass := 0; pass < passes; pass++ {
		told = reconciled(root, first, known)
	}
	return told, nil
}

// reconciled goes through all Kustomizations once.
func reconciled(root string, first *unstructured.Unstructured, known cluster) answer {
	waiting, seen := []*unstructured.Unstructured{first}, map[string]bool{keyOf("", first.GetNamespace(), first.GetName()): true}
	told := answer{Failed: map[string]string{}}
	for len(waiting) > 0 {
		owner := waiting[0]
		waiting = waiting[1:]
		objects, err := applied(root, owner, known)
		if err != nil {
			told.Failed[owner.GetNamespace()+"/"+owner.GetName()] = err.Error()
			continue
		}
		for _, object := range objects {
			known.objects[keyOf(object.GetKind(), object.GetNamespace(), object.GetName())] = object
			key := keyOf("", object.GetNamespace(), object.GetName())
			if object.GetKind() == "Kustomization" && strings.HasPrefix(object.GetAPIVersion(), toolkit) && !seen[key] {
				seen[key] = true
				waiting = append(waiting, object)
			}
			told.Objects = append(told.Objects, object.Object)
		}
	}
	return told
}

// fetch writes the files that source-controller archives: all but those that patterns leave out.
func fetch(root string, asked tree) error {
	for path, text := range asked.Files {
		place := filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(place), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(place, []byte(text), 0o644); err != nil {
			return err
		}
	}
	patterns, err := sourceignore.LoadIgnorePatterns(root, nil)
	if err != nil {
		return err
	}
	patterns = append(patterns, sourceignore.ReadPatterns(strings.NewReader(asked.Ignore), nil)...)
	matcher := sourceignore.NewDefaultMatcher(patterns, nil)
	if len(patterns) > 0 {
		matcher = sourceignore.NewMatcher(append(append([]gitignore.Pattern{}, sourceignore.VCSPatterns(nil)...), patterns...))
	}
	for path := range asked.Files {
		if matcher.Match(strings.Split(path, "/"), false) {
			if err := os.Remove(filepath.Join(root, path)); err != nil {
				return err
			}
		}
	}
	return emptied(root)
}

// emptied removes directories without files: an archive has none of them but those that are not left out.
func emptied(directory string) error {
	entries, err := os.ReadDir(directory)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		if entry.IsDir() {
			place := filepath.Join(directory, entry.Name())
			if err := emptied(place); err != nil {
				return err
			}
			if rest, err := os.ReadDir(place); err == nil && len(rest) == 0 {
				if err := os.Remove(place); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// applied returns what kustomize-controller applies of a Kustomization.
func applied(root string, owner *unstructured.Unstructured, known cluster) ([]*unstructured.Unstructured, error) {
	work, err := os.MkdirTemp("", "work")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(work)
	if err := os.CopyFS(work, os.DirFS(root)); err != nil {
		return nil, err
	}
	path, _, _ := unstructured.NestedString(owner.Object, "spec", "path")
	directory := filepath.Join(work, filepath.Clean("/"+path))
	if _, err := os.Stat(directory); err != nil {
		return nil, fmt.Errorf("kustomization path not found")
	}
	if _, err := kustomize.NewGenerator(work, *owner).WriteFile(directory); err != nil {
		return nil, err
	}
	built, err := kustomize.SecureBuild(work, directory, false)
	if err != nil {
		return nil, err
	}
	var kept []*unstructured.Unstructured
	_, substitutes, _ := unstructured.NestedMap(owner.Object, "spec", "postBuild")
	for _, each := range built.Resources() {
		if substitutes {
			filled, err := kustomize.SubstituteVariables(context.Background(), known, *owner, each)
			if err != nil {
				return nil, err
			}
			if filled != nil {
				each = filled
			}
		}
		body, err := each.Map()
		if err != nil {
			return nil, err
		}
		kept = append(kept, &unstructured.Unstructured{Object: body})
	}
	labels, _, _ := unstructured.NestedStringMap(owner.Object, "spec", "commonMetadata", "labels")
	annotations, _, _ := unstructured.NestedStringMap(owner.Object, "spec", "commonMetadata", "annotations")
	var objects []*unstructured.Unstructured
	for _, object := range kept {
		if len(labels) > 0 {
			object.SetLabels(joined(object.GetLabels(), labels))
		}
		if len(annotations) > 0 {
			object.SetAnnotations(joined(object.GetAnnotations(), annotations))
		}
		if !utils.AnyInMetadata(object, leftAlone) {
			objects = append(objects, object)
		}
	}
	return objects, nil
}

func joined(known, more map[string]string) map[string]string {
	both := map[string]string{}
	maps.Copy(both, known)
	maps.Copy(both, more)
	return both
}
