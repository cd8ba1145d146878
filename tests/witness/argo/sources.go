package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/argoproj/argo-cd/v3/pkg/apis/application/v1alpha1"
	"github.com/argoproj/argo-cd/v3/reposerver/apiclient"
	reposerver "github.com/argoproj/argo-cd/v3/reposerver/repository"
	apppath "github.com/argoproj/argo-cd/v3/util/app/path"
	"github.com/argoproj/argo-cd/v3/util/argo"
	"github.com/argoproj/argo-cd/v3/util/git"
	utilio "github.com/argoproj/argo-cd/v3/util/io"
	"github.com/argoproj/gitops-engine/pkg/sync/common"
	"github.com/argoproj/gitops-engine/pkg/sync/hook"
	"github.com/argoproj/gitops-engine/pkg/utils/kube"
)

// scopes knows the kinds without a namespace; of others an API server would say that they have one.
type scopes map[schema.GroupKind]bool

func (known scopes) IsNamespaced(asked schema.GroupKind) (bool, error) { return !known[asked], nil }

// deployed returns what Argo CD applies of Applications, and of those that they bring along; of an Application whose
// manifests cannot be made it applies nothing.
func deployed(asked tree) (told answer) {
	root, err := os.MkdirTemp("", "argo")
	defer func() { _ = os.RemoveAll(root) }()
	if err != nil {
		return answer{Error: err.Error()}
	}
	if err := write(root, asked); err != nil {
		return answer{Error: err.Error()}
	}
	known := scopes{}
	for _, pair := range asked.ClusterScoped {
		known[schema.GroupKind{Group: pair[0], Kind: pair[1]}] = true
	}
	told.Failed = map[string]string{}
	waiting, seen := asked.Owners, map[string]bool{}
	for len(waiting) > 0 {
		owner := &unstructured.Unstructured{Object: waiting[0]}
		waiting = waiting[1:]
		key := owner.GetNamespace() + "/" + owner.GetName()
		if seen[key] {
			continue
		}
		seen[key] = true
		objects, err := applied(root, owner, known)
		if err != nil {
			told.Failed[key] = err.Error()
			continue
		}
		for _, object := range objects {
			told.Objects = append(told.Objects, object.Object)
			if object.GetKind() == "Application" && object.GroupVersionKind().Group == "argoproj.io" {
				waiting = append(waiting, object.DeepCopy().Object)
			}
		}
	}
	return told
}

// applied returns what stays in the cluster after a sync of an Application.
func applied(root string, owner *unstructured.Unstructured, known scopes) (kept []*unstructured.Unstructured, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("panic: %v", cause)
		}
	}()
	var application v1alpha1.Application
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(owner.Object, &application); err != nil {
		return nil, err
	}
	sources := application.Spec.GetSources()
	lookup := func(_ context.Context, url, _ string) (*v1alpha1.Repository, error) {
		return &v1alpha1.Repository{Repo: url}, nil
	}
	references, err := argo.GetRefSources(context.Background(), sources, "default", lookup, nil)
	if err != nil {
		return nil, err
	}
	var targets []*unstructured.Unstructured
	for index := range sources {
		if application.Spec.HasMultipleSources() && sources[index].Path == "" {
			continue
		}
		made, err := generated(root, &application, sources[index].DeepCopy(), references)
		if err != nil {
			return nil, err
		}
		for _, text := range made {
			target := &unstructured.Unstructured{}
			if err := json.Unmarshal([]byte(text), target); err != nil {
				return nil, err
			}
			targets = append(targets, target)
		}
	}
	for _, target := range deduplicated(application.Spec.Destination.Namespace, targets, known) {
		if stays(target) {
			kept = append(kept, target)
		}
	}
	return kept, nil
}

// deduplicated does what the controller's DeduplicateTargetObjects does, whose package does not compile in this release.
func deduplicated(namespace string, targets []*unstructured.Unstructured, known scopes) []*unstructured.Unstructured {
	last := map[kube.ResourceKey]int{}
	keyed := map[int]kube.ResourceKey{}
	for index, target := range targets {
		if !kube.IsNamespacedOrUnknown(known, target.GroupVersionKind().GroupKind()) {
			target.SetNamespace("")
		} else if target.GetNamespace() == "" {
			target.SetNamespace(namespace)
		}
		key := kube.GetResourceKey(target)
		if key.Name == "" && target.GetGenerateName() != "" {
			key.Name = fmt.Sprintf("%s%d", target.GetGenerateName(), index)
		}
		last[key], keyed[index] = index, key
	}
	var kept []*unstructured.Unstructured
	for index, target := range targets {
		if last[keyed[index]] == index {
			kept = append(kept, target)
		}
	}
	return kept
}

// generated returns the manifests of one source, made in a checkout of its own as the repo server does it.
func generated(
	root string, application *v1alpha1.Application, source *v1alpha1.ApplicationSource,
	references v1alpha1.RefTargetRevisionMapping,
) ([]string, error) {
	work, err := os.MkdirTemp("", "work")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(work) }()
	if work, err = filepath.EvalSymlinks(work); err != nil {
		return nil, err
	}
	if err := os.CopyFS(work, os.DirFS(root)); err != nil {
		return nil, err
	}
	if err := apppath.CheckOutOfBoundsSymlinks(work); err != nil {
		return nil, err
	}
	directory, err := apppath.Path(work, source.Path)
	if err != nil {
		return nil, err
	}
	paths := utilio.NewRandomizedTempPaths(work)
	paths.Add(git.NormalizeGitURL(source.RepoURL), work)
	asked := &apiclient.ManifestRequest{
		Repo: &v1alpha1.Repository{Repo: source.RepoURL}, AppName: application.Name,
		Namespace: application.Spec.Destination.Namespace, ApplicationSource: source, KubeVersion: "1.33.0",
		RefSources: references, HasMultipleSources: application.Spec.HasMultipleSources(), ProjectName: "default",
	}
	made, err := reposerver.GenerateManifests(
		context.Background(), directory, work, "0123456789abcdef0123456789abcdef01234567", asked, false, git.NoopCredsStore{},
		resource.MustParse("10M"), paths,
	)
	if err != nil {
		return nil, err
	}
	return made.Manifests, nil
}

// stays says whether an object is there after a sync that succeeds: hooks of other occasions, and those that are
// deleted then, are not, nor is what the API server refuses for want of a name or a version, or does not know.
func stays(object *unstructured.Unstructured) bool {
	if hook.Skip(object) || object.GetName()+object.GetGenerateName() == "" || object.GetAPIVersion() == "" ||
		object.GroupVersionKind().Group == "kustomize.config.k8s.io" {
		return false
	}
	if !hook.IsHook(object) {
		return true
	}
	for _, policy := range hook.DeletePolicies(object) {
		if policy == common.HookDeletePolicyHookSucceeded {
			return false
		}
	}
	for _, phase := range hook.Types(object) {
		if phase == common.HookTypePreSync || phase == common.HookTypeSync || phase == common.HookTypePostSync {
			return true
		}
	}
	return false
}

func write(root string, asked tree) error {
	for path, text := range asked.Files {
		if err := placed(root, path, func(place string) error { return os.WriteFile(place, []byte(text), 0o600) }); err != nil {
			return err
		}
	}
	for path := range maps.Keys(asked.Links) {
		if err := placed(root, path, func(place string) error { return os.Symlink(asked.Links[path], place) }); err != nil {
			return err
		}
	}
	return nil
}

func placed(root, path string, make func(string) error) error {
	place := filepath.Join(root, path)
	if err := os.MkdirAll(filepath.Dir(place), 0o700); err != nil {
		return err
	}
	return make(place)
}
