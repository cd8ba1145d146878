// Reads worlds as JSON, one a line: objects of a cluster and packets; writes for each world a text with one letter a
// packet: `+` for one that gets through, `-` for one that is dropped.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
	"sigs.k8s.io/kube-network-policies/pkg/api"
	"sigs.k8s.io/kube-network-policies/pkg/network"
	"sigs.k8s.io/kube-network-policies/pkg/networkpolicy"
	npav1alpha1 "sigs.k8s.io/kube-network-policies/plugins/npa-v1alpha1"
	npav1alpha2 "sigs.k8s.io/kube-network-policies/plugins/npa-v1alpha2"
	policyv1alpha1 "sigs.k8s.io/network-policy-api/apis/v1alpha1"
	policyv1alpha2 "sigs.k8s.io/network-policy-api/apis/v1alpha2"
	policyinformers "sigs.k8s.io/network-policy-api/pkg/client/informers/externalversions"
)

type packet struct {
	From     string          `json:"from"`
	To       string          `json:"to"`
	Protocol corev1.Protocol `json:"protocol"`
	Port     int             `json:"port"`
}

type world struct {
	Objects []json.RawMessage   `json:"objects"`
	Names   map[string][]string `json:"names"`
	Packets []packet            `json:"packets"`
}

// pods tells whose an address is.
type pods map[string]*api.PodInfo

func (known pods) GetPodInfoByIP(address string) (*api.PodInfo, bool) {
	pod, found := known[address]
	return pod, found
}

// names has the addresses of hosts, as a resolver would say.
type names map[string][]string

func (known names) ContainsIP(name string, address net.IP) bool {
	for _, each := range known[name] {
		if address.Equal(net.ParseIP(each)) {
			return true
		}
	}
	return false
}

func main() {
	klog.SetOutput(io.Discard)
	klog.LogToStderr(false)
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	for {
		line, err := in.ReadBytes('\n')
		if len(line) > 1 {
			var asked world
			must(json.Unmarshal(line, &asked))
			fmt.Println(answers(asked))
		}
		if err != nil {
			return
		}
	}
}

func answers(asked world) string {
	core := informers.NewSharedInformerFactory(nil, 0)
	policies := policyinformers.NewSharedInformerFactory(nil, 0)
	admins := policies.Policy().V1alpha1().AdminNetworkPolicies()
	baselines := policies.Policy().V1alpha1().BaselineAdminNetworkPolicies()
	clusters := policies.Policy().V1alpha2().ClusterNetworkPolicies()
	spaces, nodes := core.Core().V1().Namespaces(), core.Core().V1().Nodes()
	plain := core.Networking().V1().NetworkPolicies()
	resolver := names(asked.Names)
	engine := networkpolicy.NewPolicyEngine(put(asked.Objects, map[string]cache.Indexer{
		"AdminNetworkPolicy":         admins.Informer().GetIndexer(),
		"BaselineAdminNetworkPolicy": baselines.Informer().GetIndexer(),
		"ClusterNetworkPolicy":       clusters.Informer().GetIndexer(),
		"NetworkPolicy":              plain.Informer().GetIndexer(),
		"Node":                       nodes.Informer().GetIndexer(),
	}), []api.PolicyEvaluator{
		npav1alpha1.NewAdminNetworkPolicy(admins, resolver),
		npav1alpha2.NewClusterNetworkPolicy(policyv1alpha2.AdminTier, clusters, resolver, nodes.Lister()),
		networkpolicy.NewStandardNetworkPolicy("", spaces, core.Core().V1().Pods(), plain),
		npav1alpha1.NewBaselineAdminNetworkPolicy(baselines),
		npav1alpha2.NewClusterNetworkPolicy(policyv1alpha2.BaselineTier, clusters, resolver, nodes.Lister()),
	})
	told := make([]byte, 0, len(asked.Packets))
	for _, each := range asked.Packets {
		passes, err := engine.EvaluatePacket(context.Background(), &network.Packet{
			SrcIP: net.ParseIP(each.From), DstIP: net.ParseIP(each.To), Proto: each.Protocol, SrcPort: 40000, DstPort: each.Port,
		})
		must(err)
		if passes {
			told = append(told, '+')
		} else {
			told = append(told, '-')
		}
	}
	return string(told)
}

// put puts objects where their kinds belong, as the API server stores them; it returns the pods by their addresses.
func put(objects []json.RawMessage, stores map[string]cache.Indexer) pods {
	spaces, nodes, found := map[string]map[string]string{}, map[string]map[string]string{}, []*corev1.Pod{}
	for _, text := range objects {
		var kind struct {
			Kind string `json:"kind"`
		}
		must(json.Unmarshal(text, &kind))
		switch kind.Kind {
		case "Namespace":
			made := read[corev1.Namespace](text)
			spaces[made.Name] = map[string]string{corev1.LabelMetadataName: made.Name}
			for name, value := range made.Labels {
				spaces[made.Name][name] = value
			}
		case "Node":
			made := read[corev1.Node](text)
			nodes[made.Name] = made.Labels
			must(stores[kind.Kind].Add(made))
		case "Pod":
			found = append(found, read[corev1.Pod](text))
		case "NetworkPolicy":
			must(stores[kind.Kind].Add(stored(read[networkingv1.NetworkPolicy](text))))
		case "AdminNetworkPolicy":
			must(stores[kind.Kind].Add(read[policyv1alpha1.AdminNetworkPolicy](text)))
		case "BaselineAdminNetworkPolicy":
			must(stores[kind.Kind].Add(read[policyv1alpha1.BaselineAdminNetworkPolicy](text)))
		case "ClusterNetworkPolicy":
			must(stores[kind.Kind].Add(read[policyv1alpha2.ClusterNetworkPolicy](text)))
		default:
			panic("kind " + kind.Kind + " is not read")
		}
	}
	known := pods{}
	for _, pod := range found {
		for i := range pod.Spec.Containers {
			for j := range pod.Spec.Containers[i].Ports {
				withProtocol(&pod.Spec.Containers[i].Ports[j].Protocol)
			}
		}
		info := api.NewPodInfo(pod, spaces[pod.Namespace], nodes[pod.Spec.NodeName], "")
		for _, address := range pod.Status.PodIPs {
			known[address.IP] = info
		}
	}
	return known
}

// stored fills in what the API server does.
func stored(policy *networkingv1.NetworkPolicy) *networkingv1.NetworkPolicy {
	if len(policy.Spec.PolicyTypes) == 0 {
		policy.Spec.PolicyTypes = []networkingv1.PolicyType{networkingv1.PolicyTypeIngress}
		if len(policy.Spec.Egress) > 0 {
			policy.Spec.PolicyTypes = append(policy.Spec.PolicyTypes, networkingv1.PolicyTypeEgress)
		}
	}
	if len(policy.Spec.Ingress) == 0 {
		policy.Spec.Ingress = nil // what is stored of an empty list
	}
	if len(policy.Spec.Egress) == 0 {
		policy.Spec.Egress = nil
	}
	ports := []*networkingv1.NetworkPolicyPort{}
	for i := range policy.Spec.Ingress {
		for j := range policy.Spec.Ingress[i].Ports {
			ports = append(ports, &policy.Spec.Ingress[i].Ports[j])
		}
	}
	for i := range policy.Spec.Egress {
		for j := range policy.Spec.Egress[i].Ports {
			ports = append(ports, &policy.Spec.Egress[i].Ports[j])
		}
	}
	for _, port := range ports {
		if port.Protocol == nil {
			protocol := corev1.ProtocolTCP
			port.Protocol = &protocol
		}
	}
	return policy
}

func withProtocol(protocol *corev1.Protocol) {
	if *protocol == "" {
		*protocol = corev1.ProtocolTCP
	}
}

func read[T any](text json.RawMessage) *T {
	made := new(T)
	must(json.Unmarshal(text, made))
	return made
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
