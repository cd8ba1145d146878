// Package crds does with objects what the API server does that serves some CRDs: it prunes them, fills in defaults, and
// refuses those that break a schema or a rule in CEL.
package crds

import (
	"bytes"
	"context"
	"fmt"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	structuraldefaulting "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	structuralpruning "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apiextensions-apiserver/pkg/crdserverscheme"
	"k8s.io/apiextensions-apiserver/pkg/registry/customresource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"sigs.k8s.io/yaml"
)

// Server has what CRDs say, by kind; the rules in CEL are compiled once.
type Server map[schema.GroupVersionKind]served

type served struct {
	structural *structuralschema.Structural
	strategy   rest.RESTCreateStrategy
}

// Serve reads YAML documents, of which those are taken that are CRDs.
func Serve(text []byte) Server {
	known := Server{}
	for _, document := range bytes.Split(text, []byte("\n---")) {
		var written apiextensionsv1.CustomResourceDefinition
		var made apiextensions.CustomResourceDefinition
		must(yaml.Unmarshal(document, &written))
		if written.Kind != "CustomResourceDefinition" {
			continue
		}
		must(apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(&written, &made, nil))
		for _, version := range made.Spec.Versions {
			kind := schema.GroupVersionKind{Group: made.Spec.Group, Version: version.Name, Kind: made.Spec.Names.Kind}
			validated, err := apiextensions.GetSchemaForVersion(&made, version.Name)
			must(err)
			structural, err := structuralschema.NewStructural(validated.OpenAPIV3Schema)
			must(err)
			validator, _, err := validation.NewSchemaValidator(validated.OpenAPIV3Schema)
			must(err)
			namespaced := made.Spec.Scope == apiextensions.NamespaceScoped
			typer := crdserverscheme.NewUnstructuredObjectTyper()
			strategy := customresource.NewStrategy(typer, namespaced, kind, validator, nil, structural, nil, nil, nil)
			known[kind] = served{structural, strategy}
		}
	}
	return known
}

// Create changes an object into what is stored of it, or says why nothing is.
func (known Server) Create(object map[string]any) error {
	made := &unstructured.Unstructured{Object: object}
	kind, found := known[made.GroupVersionKind()]
	if !found {
		return fmt.Errorf("%s is not served", made.GroupVersionKind())
	}
	structuralpruning.Prune(made.Object, kind.structural, true)
	structuraldefaulting.PruneNonNullableNullsWithoutDefaults(made.Object, kind.structural)
	structuraldefaulting.Default(made.Object, kind.structural)
	created := made.GetCreationTimestamp()
	rest.FillObjectMetaSystemFields(made)
	in := request.WithNamespace(context.Background(), made.GetNamespace())
	if err := rest.BeforeCreate(kind.strategy, in, made); err != nil {
		return err
	}
	made.SetCreationTimestamp(created)
	return nil
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
