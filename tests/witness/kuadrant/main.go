// Asks Kuadrant's operator about worlds. The path of this module lies below the operator's own, so that it may import
// the reconcilers.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"unsafe"

	authorinooperator "github.com/kuadrant/authorino-operator/api/v1beta1"
	authorino "github.com/kuadrant/authorino/api/v1beta3"
	limitador "github.com/kuadrant/limitador-operator/api/v1alpha1"
	"github.com/kuadrant/policy-machinery/controller"
	"github.com/kuadrant/policy-machinery/machinery"
	istioapi "istio.io/api/networking/v1alpha3"
	istiotype "istio.io/api/type/v1beta1"
	istio "istio.io/client-go/pkg/apis/networking/v1alpha3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/dynamic"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	gatewayapi "sigs.k8s.io/gateway-api/apis/v1"

	"policylint.witness/worlds"

	kuadrantv1 "github.com/kuadrant/kuadrant-operator/api/v1"
	kuadrantv1alpha1 "github.com/kuadrant/kuadrant-operator/api/v1alpha1"
	kuadrantv1beta1 "github.com/kuadrant/kuadrant-operator/api/v1beta1"
	kuadrantauthorino "github.com/kuadrant/kuadrant-operator/internal/authorino"
	controllers "github.com/kuadrant/kuadrant-operator/internal/controller"
	"github.com/kuadrant/kuadrant-operator/internal/cel"
	kuadrantistio "github.com/kuadrant/kuadrant-operator/internal/istio"
	"github.com/kuadrant/kuadrant-operator/internal/policymachinery"
	"github.com/kuadrant/kuadrant-operator/internal/wasm"
)

var decoder = serializer.NewCodecFactory(scheme()).UniversalDeserializer()

func scheme() *runtime.Scheme {
	made := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme, gatewayapi.Install, kuadrantv1.AddToScheme, kuadrantv1alpha1.AddToScheme,
		kuadrantv1beta1.AddToScheme,
	} {
		must(add(made))
	}
	return made
}

// nowhere answers no request: the statuses are read where the operator keeps them.
type nowhere struct{}

func (nowhere) RoundTrip(*http.Request) (*http.Response, error) { return nil, errors.New("nobody listens") }

func main() {
	client, err := dynamic.NewForConfig(&rest.Config{Host: "http://nowhere", Transport: nowhere{}, QPS: -1})
	must(err)
	worlds.Serve(func(line []byte, told *worlds.Answer) error { return ask(client, line, told) })
}

func ask(client *dynamic.DynamicClient, line []byte, told *worlds.Answer) error {
	var texts []json.RawMessage
	if err := json.Unmarshal(line, &texts); err != nil {
		return err
	}
	store := controller.Store{}
	for _, text := range texts {
		object, _, err := decoder.Decode(text, nil, nil)
		if err != nil {
			return err
		}
		keep(store, object.(controller.Object))
	}
	keep(store, ready()...)
	state := &sync.Map{}
	topology, err := topologyOf(store)
	if err != nil {
		return err
	}
	ctx := context.Background()
	run := func(reconcile controller.ReconcileFunc) { must(reconcile(ctx, nil, topology, nil, state)) }
	installed := []string{"isGatewayAPIInstalled", "isGatewayProviderInstalled", "isAuthorinoOperatorInstalled"}
	limited := append(installed[:2:2], "isLimitadorOperatorInstalled")
	run(having(&controllers.AuthPolicyValidator{}, installed...).Validate)
	run(having(&controllers.RateLimitPolicyValidator{}, limited...).Validate)
	run(having(&controllers.TokenRateLimitPolicyValidator{}, limited...).Validate)
	effective := func() {
		run((&controllers.EffectiveAuthPolicyReconciler{}).Reconcile)
		run((&controllers.EffectiveRateLimitPolicyReconciler{}).Reconcile)
		run((&controllers.EffectiveTokenRateLimitPolicyReconciler{}).Reconcile)
	}
	effective()
	state.Range(func(_, each any) bool {
		if policies, ok := each.(controllers.EffectiveAuthPolicies); ok {
			for id, policy := range policies {
				keep(store, authConfig(id, policy.Path))
			}
		}
		return true
	})
	for _, gateway := range store.FilterByGroupKind(machinery.GatewayGroupKind) {
		for _, name := range []string{
			controllers.AuthClusterName(gateway.GetName()), controllers.RateLimitClusterName(gateway.GetName()),
			wasm.ExtensionName(gateway.GetName()),
		} {
			keep(store, envoyFilter(gateway, name))
		}
	}
	if topology, err = topologyOf(store); err != nil {
		return err
	}
	effective()
	run(with(&controllers.IstioExtensionReconciler{}, "client", client).Reconcile)
	state.Delete(controllers.StateIstioExtensionsModified)
	run(with(&controllers.AuthPolicyStatusUpdater{}, "client", client).UpdateStatus)
	run(with(&controllers.RateLimitPolicyStatusUpdater{}, "client", client).UpdateStatus)
	run(with(&controllers.TokenRateLimitPolicyStatusUpdater{}, "client", client).UpdateStatus)

	for _, policy := range topology.Policies().Items() {
		kind, namespace, name := policy.GroupVersionKind().Kind, policy.GetNamespace(), policy.GetName()
		switch each := policy.(type) {
		case *kuadrantv1.AuthPolicy:
			told.Add(kind, namespace, name, each.Status)
		case *kuadrantv1.RateLimitPolicy:
			told.Add(kind, namespace, name, each.Status)
		case *kuadrantv1alpha1.TokenRateLimitPolicy:
			told.Add(kind, namespace, name, each.Status)
		}
	}
	broken := cel.NewIssueCollection()
	if found, ok := state.Load(cel.StateCELValidationErrors); ok {
		broken = found.(*cel.IssueCollection)
	}
	tell := func(kind string, path []machinery.Targetable, policy kuadrantv1.MergeablePolicy) {
		_, err := policymachinery.ParseTopologyPath(path)
		those, _ := broken.GetByPolicyKind(kind)
		if _, dropped := those[kuadrantv1.PathID(path)]; err == nil && !dropped {
			told.Add("Effective"+kind, "", nameOf(path), rulesOf(policy))
		}
	}
	state.Range(func(_, each any) bool {
		switch policies := each.(type) {
		case controllers.EffectiveAuthPolicies:
			for _, policy := range policies {
				tell("AuthPolicy", policy.Path, &policy.Spec)
			}
		case controllers.EffectiveRateLimitPolicies:
			for _, policy := range policies {
				tell("RateLimitPolicy", policy.Path, &policy.Spec)
			}
		case controllers.EffectiveTokenRateLimitPolicies:
			for _, policy := range policies {
				tell("TokenRateLimitPolicy", policy.Path, &policy.Spec)
			}
		}
		return true
	})
	return nil
}

// nameOf names a path by its objects, from the GatewayClass to the rule.
func nameOf(path []machinery.Targetable) string {
	names := []string{}
	for _, each := range path {
		names = append(names, each.GetNamespace()+"/"+each.GetName())
	}
	return strings.Join(names, "|")
}

// rulesOf returns the rules of an effective policy, each with the policy that it comes from.
func rulesOf(policy kuadrantv1.MergeablePolicy) map[string]string {
	sources := map[string]string{}
	for key, rule := range policy.Rules() {
		sources[key] = rule.GetSource()
	}
	return sources
}

func topologyOf(store controller.Store) (*machinery.Topology, error) {
	options := []machinery.GatewayAPITopologyOptionsFunc{
		machinery.WithGatewayClasses(all[*gatewayapi.GatewayClass](store)...),
		machinery.WithGateways(all[*gatewayapi.Gateway](store)...),
		machinery.WithHTTPRoutes(all[*gatewayapi.HTTPRoute](store)...),
		machinery.WithGRPCRoutes(all[*gatewayapi.GRPCRoute](store)...),
		machinery.ExpandGatewayListeners(), machinery.ExpandHTTPRouteRules(), machinery.ExpandGRPCRouteRules(),
		machinery.WithGatewayAPITopologyPolicies(all[machinery.Policy](store)...),
	}
	for _, each := range ordered(store) {
		switch each.(type) {
		case *kuadrantv1beta1.Kuadrant:
			options = append(options, machinery.WithGatewayAPITopologyObjects(each.(machinery.Object)))
		case *authorinooperator.Authorino, *limitador.Limitador, *authorino.AuthConfig, *istio.EnvoyFilter:
			options = append(options, machinery.WithGatewayAPITopologyObjects(&controller.RuntimeObject{Object: each}))
		}
	}
	for _, link := range []controller.LinkFunc{
		kuadrantv1beta1.LinkKuadrantToGatewayClasses, kuadrantv1beta1.LinkKuadrantToLimitador,
		kuadrantv1beta1.LinkKuadrantToAuthorino, kuadrantauthorino.LinkHTTPRouteRuleToAuthConfig,
		kuadrantauthorino.LinkGRPCRouteRuleToAuthConfig, kuadrantistio.LinkGatewayToEnvoyFilter,
	} {
		options = append(options, machinery.WithGatewayAPITopologyLinks(link(store)))
	}
	return machinery.NewGatewayAPITopology(options...)
}

// ready returns what Kuadrant has made for itself, and reports to be ready.
func ready() []controller.Object {
	of := func(group, version, kind, name string) (metav1.TypeMeta, metav1.ObjectMeta) {
		return metav1.TypeMeta{APIVersion: group + "/" + version, Kind: kind},
			metav1.ObjectMeta{Name: name, Namespace: "kuadrant-system"}
	}
	made := &kuadrantv1beta1.Kuadrant{}
	made.TypeMeta, made.ObjectMeta = of("kuadrant.io", "v1beta1", "Kuadrant", "kuadrant")
	logins := &authorinooperator.Authorino{}
	logins.TypeMeta, logins.ObjectMeta = of("operator.authorino.kuadrant.io", "v1beta1", "Authorino", "authorino")
	logins.Status.Conditions = []authorinooperator.Condition{{Type: authorinooperator.ConditionReady, Status: "True"}}
	limits := &limitador.Limitador{}
	limits.TypeMeta, limits.ObjectMeta = of("limitador.kuadrant.io", "v1alpha1", "Limitador", "limitador")
	limits.Status.Conditions = []metav1.Condition{{Type: limitador.StatusConditionReady, Status: metav1.ConditionTrue}}
	return []controller.Object{made, logins, limits}
}

func authConfig(id string, path []machinery.Targetable) controller.Object {
	rule := path[len(path)-1]
	annotation := kuadrantauthorino.AuthConfigHTTPRouteRuleAnnotation
	if _, grpc := rule.(*machinery.GRPCRouteRule); grpc {
		annotation = kuadrantauthorino.AuthConfigGRPCRouteRuleAnnotation
	}
	return &authorino.AuthConfig{
		TypeMeta: metav1.TypeMeta{APIVersion: "authorino.kuadrant.io/v1beta3", Kind: "AuthConfig"},
		ObjectMeta: metav1.ObjectMeta{
			Name: controllers.AuthConfigNameForPath(id), Namespace: "kuadrant-system",
			Annotations: map[string]string{annotation: rule.GetLocator()},
		},
		Status: authorino.AuthConfigStatus{Conditions: []authorino.AuthConfigStatusCondition{
			{Type: authorino.StatusConditionReady, Status: "True"},
		}},
	}
}

func envoyFilter(gateway controller.Object, name string) controller.Object {
	return &istio.EnvoyFilter{
		TypeMeta:   metav1.TypeMeta{APIVersion: "networking.istio.io/v1alpha3", Kind: "EnvoyFilter"},
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: gateway.GetNamespace()},
		Spec: istioapi.EnvoyFilter{TargetRefs: []*istiotype.PolicyTargetReference{
			{Group: machinery.GatewayGroupKind.Group, Kind: machinery.GatewayGroupKind.Kind, Name: gateway.GetName()},
		}},
	}
}

func keep(store controller.Store, objects ...controller.Object) {
	for _, each := range objects {
		kind := each.GetObjectKind().GroupVersionKind().GroupKind().String()
		store[kind+"/"+each.GetNamespace()+"/"+each.GetName()] = each
	}
}

func ordered(store controller.Store) []controller.Object {
	objects := []controller.Object{}
	for _, key := range slices.Sorted(maps.Keys(store)) {
		objects = append(objects, store[key])
	}
	return objects
}

func all[T any](store controller.Store) []T {
	those := []T{}
	for _, each := range ordered(store) {
		if one, ok := any(each).(T); ok {
			those = append(those, one)
		}
	}
	return those
}

// having sets fields that the operator sets when it starts.
func having[T any](reconciler *T, fields ...string) *T {
	for _, field := range fields {
		with(reconciler, field, true)
	}
	return reconciler
}

func with[T any](reconciler *T, field string, value any) *T {
	found := reflect.ValueOf(reconciler).Elem().FieldByName(field)
	reflect.NewAt(found.Type(), unsafe.Pointer(found.UnsafeAddr())).Elem().Set(reflect.ValueOf(value))
	return reconciler
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
