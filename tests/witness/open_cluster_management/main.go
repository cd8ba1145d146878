// Asks Open Cluster Management about worlds: which clusters each Placement selects, and as which copies each Policy ends
// in the namespaces of clusters.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-logr/logr"
	"github.com/stolostron/go-template-utils/v7/pkg/templates"
	watches "github.com/stolostron/kubernetes-dependency-watches/client"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/tools/record"
	"k8s.io/klog/v2"
	"k8s.io/utils/clock"
	clusterfake "open-cluster-management.io/api/client/cluster/clientset/versioned/fake"
	clusterinformers "open-cluster-management.io/api/client/cluster/informers/externalversions"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	clusterv1beta1 "open-cluster-management.io/api/cluster/v1beta1"
	clusterv1beta2 "open-cluster-management.io/api/cluster/v1beta2"
	placementrule "open-cluster-management.io/multicloud-operators-subscription/pkg/apis/apps/placementrule/v1"
	"open-cluster-management.io/sdk-go/pkg/basecontroller/factory"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/event"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"

	policyv1 "open-cluster-management.io/governance-policy-propagator/api/v1"
	policyv1beta1 "open-cluster-management.io/governance-policy-propagator/api/v1beta1"
	"open-cluster-management.io/governance-policy-propagator/controllers/propagator"
	"open-cluster-management.io/ocm/pkg/placement/controllers/metrics"
	"open-cluster-management.io/ocm/pkg/placement/controllers/scheduling"

	"policylint.witness/worlds"
)

var made = known()
var decoder = serializer.NewCodecFactory(made).UniversalDeserializer()

func known() *runtime.Scheme {
	made := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientgoscheme.AddToScheme, clusterv1.Install, clusterv1beta1.Install, clusterv1beta2.Install,
		policyv1.AddToScheme, policyv1beta1.AddToScheme, placementrule.AddToScheme,
	} {
		if err := add(made); err != nil {
			panic(err)
		}
	}
	return made
}

func main() {
	klog.SetOutput(io.Discard)
	klog.LogToStderr(false)
	ctrllog.SetLogger(logr.Discard())
	worlds.Serve(ask)
}

func ask(line []byte, told *worlds.Answer) error {
	var texts []json.RawMessage
	if err := json.Unmarshal(line, &texts); err != nil {
		return err
	}
	var objects []runtime.Object
	for _, text := range texts {
		object, _, err := decoder.Decode(bytes.TrimSpace(text), nil, nil)
		if err != nil {
			return err
		}
		objects = append(objects, object)
	}
	decided, err := schedule(objects, told)
	if err != nil {
		return err
	}
	return propagate(append(objects, decided...), told)
}

// schedule returns the decisions about the Placements, which are asked by name.
func schedule(objects []runtime.Object, told *worlds.Answer) ([]runtime.Object, error) {
	ctx := context.Background()
	var own []runtime.Object
	var placements []*clusterv1beta1.Placement
	for _, object := range objects {
		switch each := object.(type) {
		case *clusterv1beta1.Placement:
			placements = append(placements, each)
		case *clusterv1.ManagedCluster, *clusterv1beta2.ManagedClusterSet, *clusterv1beta2.ManagedClusterSetBinding,
			*clusterv1beta1.PlacementDecision:
		default:
			continue
		}
		own = append(own, object)
	}
	clients := clusterfake.NewSimpleClientset(own...)
	informers := clusterinformers.NewSharedInformerFactory(clients, time.Hour)
	v1, v1beta1, v1beta2 := informers.Cluster().V1(), informers.Cluster().V1beta1(), informers.Cluster().V1beta2()
	scores := informers.Cluster().V1alpha1().AddOnPlacementScores()
	measured := metrics.NewScheduleMetrics(clock.RealClock{})
	recorder := events.NewFakeRecorder(10000)
	scheduler := scheduling.NewPluginScheduler(scheduling.NewSchedulerHandler(
		clients, v1beta1.PlacementDecisions().Lister(), scores.Lister(), v1.ManagedClusters().Lister(), recorder, measured,
	))
	controller := scheduling.NewSchedulingController(
		ctx, clients, v1.ManagedClusters(), v1beta2.ManagedClusterSets(), v1beta2.ManagedClusterSetBindings(),
		v1beta1.Placements(), v1beta1.PlacementDecisions(), scores, scheduler, recorder, measured,
	)
	for _, object := range own {
		var err error
		switch object.(type) {
		case *clusterv1.ManagedCluster:
			err = v1.ManagedClusters().Informer().GetStore().Add(object)
		case *clusterv1beta2.ManagedClusterSet:
			err = v1beta2.ManagedClusterSets().Informer().GetStore().Add(object)
		case *clusterv1beta2.ManagedClusterSetBinding:
			err = v1beta2.ManagedClusterSetBindings().Informer().GetStore().Add(object)
		case *clusterv1beta1.Placement:
			err = v1beta1.Placements().Informer().GetStore().Add(object)
		case *clusterv1beta1.PlacementDecision:
			err = v1beta1.PlacementDecisions().Informer().GetStore().Add(object)
		}
		if err != nil {
			return nil, err
		}
	}
	for _, each := range placements {
		_ = controller.Sync(ctx, factory.NewSyncContext("witness"), each.Namespace+"/"+each.Name)
		stored, err := clients.ClusterV1beta1().Placements(each.Namespace).Get(ctx, each.Name, metav1.GetOptions{})
		if err != nil {
			return nil, err
		}
		said := map[string]string{}
		for _, condition := range stored.Status.Conditions {
			said[condition.Type] = fmt.Sprintf("%s/%s", condition.Status, condition.Reason)
		}
		found, err := clients.ClusterV1beta1().PlacementDecisions(each.Namespace).List(ctx, metav1.ListOptions{
			LabelSelector: clusterv1beta1.PlacementLabel + "=" + each.Name,
		})
		if err != nil {
			return nil, err
		}
		names := []string{}
		for _, decision := range found.Items {
			for _, cluster := range decision.Status.Decisions {
				names = append(names, cluster.ClusterName)
			}
		}
		slices.Sort(names)
		told.Add("Placement", each.Namespace, each.Name, map[string]any{"conditions": said, "clusters": names})
	}
	found, err := clients.ClusterV1beta1().PlacementDecisions("").List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	var decided []runtime.Object
	for _, each := range found.Items {
		if !slices.ContainsFunc(objects, func(known runtime.Object) bool { return same(known, &each) }) {
			decided = append(decided, each.DeepCopy())
		}
	}
	return decided, nil
}

func same(known runtime.Object, decision *clusterv1beta1.PlacementDecision) bool {
	other, is := known.(*clusterv1beta1.PlacementDecision)
	return is && other.Namespace == decision.Namespace && other.Name == decision.Name
}

// unwatched watches nothing: what is looked up is looked up once.
type unwatched struct{ watches.DynamicWatcher }

func (unwatched) AddOrUpdateWatcher(watches.ObjectIdentifier, ...watches.ObjectIdentifier) error {
	return nil
}
func (unwatched) RemoveWatcher(watches.ObjectIdentifier) error   { return nil }
func (unwatched) StartQueryBatch(watches.ObjectIdentifier) error { return nil }
func (unwatched) EndQueryBatch(watches.ObjectIdentifier) error   { return nil }
func (unwatched) GetWatchCount() uint                            { return 0 }
func (unwatched) Get(watches.ObjectIdentifier, schema.GroupVersionKind, string, string) (*unstructured.Unstructured, error) {
	return nil, errors.New("nothing is looked up")
}

// propagate tells the copies of each Policy, which are asked until nothing changes.
func propagate(objects []runtime.Object, told *worlds.Answer) error {
	ctx := context.Background()
	var policies []types.NamespacedName
	for _, each := range objects {
		if policy, is := each.(*policyv1.Policy); is {
			policies = append(policies, client.ObjectKeyFromObject(policy))
		}
	}
	clients := fake.NewClientBuilder().WithScheme(made).WithStatusSubresource(&policyv1.Policy{}).WithRuntimeObjects(objects...).Build()
	updates := make(chan event.GenericEvent, 10000)
	base := propagator.Propagator{
		Client: clients, Scheme: made, Recorder: record.NewFakeRecorder(10000), RootPolicyLocks: &sync.Map{},
		ReplicatedPolicyUpdates: updates,
	}
	resolver, err := templates.NewResolverWithDynamicWatcher(unwatched{}, templates.Config{
		StartDelim: propagator.TemplateStartDelim, StopDelim: propagator.TemplateStopDelim,
	})
	if err != nil {
		return err
	}
	resolvers, _ := propagator.NewTemplateResolvers(ctx, nil, clients, resolver, updates)
	roots := &propagator.RootPolicyReconciler{Propagator: base}
	copies := &propagator.ReplicatedPolicyReconciler{
		Propagator: base, ResourceVersions: &sync.Map{}, DynamicWatcher: unwatched{}, TemplateResolvers: resolvers,
	}
	for _, name := range policies {
		if _, err := roots.Reconcile(ctx, ctrl.Request{NamespacedName: name}); err != nil {
			return err
		}
		for len(updates) > 0 {
			update := <-updates
			request := ctrl.Request{NamespacedName: client.ObjectKeyFromObject(update.Object)}
			if _, err := copies.Reconcile(ctx, request); err != nil {
				return err
			}
		}
	}
	var found policyv1.PolicyList
	if err := clients.List(ctx, &found); err != nil {
		return err
	}
	for _, name := range policies {
		placed := map[string]string{}
		status := "deleted"
		for _, each := range found.Items {
			if each.Name == name.Namespace+"."+name.Name && each.Labels["policy.open-cluster-management.io/root-policy"] == each.Name {
				placed[each.Namespace] = strings.ToLower(string(each.Spec.RemediationAction))
			}
			if client.ObjectKeyFromObject(&each) == name {
				status = "kept"
			}
		}
		told.Add("Policy", name.Namespace, name.Name, map[string]any{"placed": placed, "root": status})
	}
	return nil
}
