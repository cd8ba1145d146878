// Asks istiod's controller of Gateway API about worlds.
package main

import (
	"encoding/json"
	"reflect"
	"sync"
	"unsafe"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/gateway-api/pkg/consts"

	"policylint.witness/worlds"

	"istio.io/istio/pilot/pkg/config/kube/gateway"
	"istio.io/istio/pilot/pkg/networking/core"
	"istio.io/istio/pilot/pkg/serviceregistry/kube/controller"
	"istio.io/istio/pilot/pkg/status"
	"istio.io/istio/pkg/config/schema/gvk"
	"istio.io/istio/pkg/config/schema/gvr"
	"istio.io/istio/pkg/kube"
	"istio.io/istio/pkg/kube/kclient/clienttest"
	"istio.io/istio/pkg/kube/krt"
	"istio.io/istio/pkg/log"
	"istio.io/istio/pkg/test"
)

// queue takes the statuses instead of the API server.
type queue struct {
	mutex sync.Mutex
	last  map[status.Resource]any
}

func (q *queue) EnqueueStatusUpdateResource(context any, target status.Resource) {
	q.mutex.Lock()
	defer q.mutex.Unlock()
	q.last[target] = context
}

var served = []schema.GroupVersionResource{
	gvr.KubernetesGateway, gvr.ReferenceGrant, gvr.ListenerSet, gvr.GatewayClass, gvr.HTTPRoute, gvr.GRPCRoute,
	gvr.TCPRoute, gvr.TLSRoute, gvr.ServiceEntry, gvr.XBackendTrafficPolicy, gvr.BackendTLSPolicy,
}

func main() {
	for _, scope := range log.Scopes() {
		scope.SetOutputLevel(log.NoneLevel)
	}
	worlds.Serve(func(line []byte, told *worlds.Answer) error {
		return test.Wrap(func(t test.Failer) { ask(t, line, told) })
	})
}

func ask(t test.Failer, line []byte, told *worlds.Answer) {
	var texts []json.RawMessage
	if err := json.Unmarshal(line, &texts); err != nil {
		t.Fatal(err)
	}
	objects := []runtime.Object{}
	for _, text := range texts {
		object, _, err := kube.IstioCodec.UniversalDeserializer().Decode(text, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		objects = append(objects, object)
	}
	client := kube.NewFakeClient(objects...)
	for _, resource := range served {
		clienttest.MakeCRDWithAnnotations(t, client, resource, map[string]string{
			consts.BundleVersionAnnotation: consts.BundleVersion,
		})
	}
	stop := test.NewStop(t)
	always := func(schema.GroupVersionResource, <-chan struct{}) bool { return true }
	options := controller.Options{DomainSuffix: "cluster.local", KrtDebugger: &krt.DebugHandler{}}
	asked := gateway.NewController(client, always, options, nil)
	go asked.Run(stop)
	client.RunAndWait(stop)
	asked.Reconcile(core.NewConfigGenTest(t, core.TestOptions{}).PushContext())
	kube.WaitForCacheSync("witness", stop, asked.HasSynced)
	taken := &queue{last: map[status.Resource]any{}}
	for _, each := range collections(asked).SetQueue(taken) {
		each.WaitUntilSynced(stop)
	}
	taken.mutex.Lock()
	defer taken.mutex.Unlock()
	for target, made := range taken.last {
		kind, _ := gvk.FromGVR(target.GroupVersionResource)
		told.Add(kind.Kind, target.Namespace, target.Name, made)
	}
}

// collections returns what the controller keeps of statuses; only its own tests may name the field.
func collections(of *gateway.Controller) *status.StatusCollections {
	field := reflect.ValueOf(of).Elem().FieldByName("status")
	return *(**status.StatusCollections)(unsafe.Pointer(field.UnsafeAddr()))
}
