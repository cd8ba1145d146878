// Reads worlds as JSON, one a line: objects of a cluster and packets; writes for each world a text with one letter a
// packet, as Cilium's agent decides on it: `+` for one that gets through, `-` for one that is dropped; and before it the
// policies that the agent refuses.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/netip"
	"os"

	corev1 "k8s.io/api/core/v1"

	envoypolicy "github.com/cilium/cilium/pkg/envoy/policy"
	"github.com/cilium/cilium/pkg/identity"
	"github.com/cilium/cilium/pkg/identity/identitymanager"
	"github.com/cilium/cilium/pkg/k8s"
	ciliumv2 "github.com/cilium/cilium/pkg/k8s/apis/cilium.io/v2"
	slimcorev1 "github.com/cilium/cilium/pkg/k8s/slim/k8s/api/core/v1"
	slimnetworkingv1 "github.com/cilium/cilium/pkg/k8s/slim/k8s/api/networking/v1"
	slimmetav1 "github.com/cilium/cilium/pkg/k8s/slim/k8s/apis/meta/v1"
	k8sutils "github.com/cilium/cilium/pkg/k8s/utils"
	"github.com/cilium/cilium/pkg/labels"
	"github.com/cilium/cilium/pkg/option"
	"github.com/cilium/cilium/pkg/policy"
	"github.com/cilium/cilium/pkg/policy/api"
	"github.com/cilium/cilium/pkg/policy/types"
	policyutils "github.com/cilium/cilium/pkg/policy/utils"
	testidentity "github.com/cilium/cilium/pkg/testutils/identity"
	testpolicy "github.com/cilium/cilium/pkg/testutils/policy"
	portmap "github.com/cilium/cilium/pkg/types"
	"github.com/cilium/cilium/pkg/u8proto"
)

const cluster = "default"

type packet struct {
	From     string `json:"from"`
	To       string `json:"to"`
	Protocol string `json:"protocol"`
	Port     uint16 `json:"port"`
}

type world struct {
	Objects []json.RawMessage `json:"objects"`
	Packets []packet          `json:"packets"`
}

// end is what has an address.
type end struct {
	identity *identity.Identity
	isPod    bool
	tcp, udp map[string]uint16
}

// ports tells which ports of whom have a name.
type ports struct {
	all interface {
		portmap.NamedPortMultiMap
		Update(of identity.NumericIdentity, old, new portmap.NamedPortMap) bool
	}
}

func (known ports) GetNamedPorts() portmap.NamedPortMultiMap { return known.all }

type answer struct {
	Refused map[string]string `json:"refused"`
	Packets string            `json:"packets"`
}

var logger = slog.New(slog.DiscardHandler)

func main() {
	option.Config.EnableIPv4, option.Config.EnableIPv6 = true, false
	api.InitEntities(cluster)
	policy.SetPolicyEnabled(option.DefaultEnforcement)
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	out := json.NewEncoder(os.Stdout)
	for {
		line, err := in.ReadBytes('\n')
		if len(line) > 1 {
			var asked world
			must(json.Unmarshal(line, &asked))
			must(out.Encode(answers(asked)))
		}
		if err != nil {
			return
		}
	}
}

func answers(asked world) answer {
	told := answer{Refused: map[string]string{}}
	spaces := map[string]*slimcorev1.Namespace{}
	pods, entries := []*corev1.Pod{}, types.PolicyEntries{}
	for _, text := range asked.Objects {
		var about struct {
			Kind     string                           `json:"kind"`
			Metadata struct{ Name, Namespace string } `json:"metadata"`
		}
		must(json.Unmarshal(text, &about))
		name := fmt.Sprintf("%s %s/%s", about.Kind, about.Metadata.Namespace, about.Metadata.Name)
		switch about.Kind {
		case "Namespace":
			made := read[corev1.Namespace](text)
			own := map[string]string{corev1.LabelMetadataName: made.Name}
			for key, value := range made.Labels {
				own[key] = value
			}
			spaces[made.Name] = &slimcorev1.Namespace{ObjectMeta: slimmetav1.ObjectMeta{Name: made.Name, Labels: own}}
		case "Pod":
			pods = append(pods, read[corev1.Pod](text))
		case "NetworkPolicy":
			made, err := k8s.ParseNetworkPolicy(logger, cluster, read[slimnetworkingv1.NetworkPolicy](text))
			if err != nil {
				told.Refused[name] = err.Error()
			}
			entries = append(entries, made...)
		case "CiliumNetworkPolicy":
			rules, err := read[ciliumv2.CiliumNetworkPolicy](text).Parse(logger, cluster)
			if err != nil {
				told.Refused[name] = err.Error()
				continue
			}
			entries = append(entries, policyutils.RulesToPolicyEntries(rules)...)
		case "CiliumClusterwideNetworkPolicy":
			rules, err := read[ciliumv2.CiliumClusterwideNetworkPolicy](text).Parse(logger, cluster)
			if err != nil {
				told.Refused[name] = err.Error()
				continue
			}
			entries = append(entries, policyutils.RulesToPolicyEntries(rules)...)
		default:
			panic("kind " + about.Kind + " is not read")
		}
	}
	ends, known := map[string]end{}, identity.IdentityMap{}
	number, numbers, named := identity.MinimalNumericIdentity, map[string]identity.NumericIdentity{}, ports{portmap.NewNamedPortMultiMap()}
	for _, pod := range pods {
		own := labels.Map2Labels(
			k8sutils.SanitizePodLabels(pod.Labels, spaces[pod.Namespace], "default", cluster), labels.LabelSourceK8s,
		)
		spelled := string(own.SortedList())
		if _, found := numbers[spelled]; !found {
			number++
			numbers[spelled] = number // pods with the same labels share an identity
		}
		made := end{identity.NewIdentity(numbers[spelled], own), true, map[string]uint16{}, map[string]uint16{}}
		of := portmap.NamedPortMap{}
		for _, container := range pod.Spec.Containers {
			for _, port := range container.Ports {
				switch port.Protocol {
				case "", corev1.ProtocolTCP:
					made.tcp[port.Name] = uint16(port.ContainerPort)
				case corev1.ProtocolUDP:
					made.udp[port.Name] = uint16(port.ContainerPort)
				}
				protocol, err := u8proto.ParseProtocol(string(port.Protocol))
				if err != nil {
					protocol = u8proto.TCP
				}
				of[port.Name] = portmap.PortProto{Port: uint16(port.ContainerPort), Proto: protocol}
			}
		}
		named.all.Update(numbers[spelled], nil, of)
		known[numbers[spelled]] = made.identity.LabelArray
		for _, address := range pod.Status.PodIPs {
			ends[address.IP] = made
		}
	}
	local := identity.IdentityScopeLocal
	for _, each := range asked.Packets {
		for _, address := range []string{each.From, each.To} {
			if _, found := ends[address]; !found {
				local++
				own := labels.GetCIDRLabels(netip.PrefixFrom(netip.MustParseAddr(address), 32))
				ends[address] = end{identity: identity.NewIdentity(local, own)}
				known[local] = ends[address].identity.LabelArray
			}
		}
	}
	manager := identitymanager.NewIDManager(logger)
	repo := policy.NewPolicyRepository(logger, known, nil, envoypolicy.NewEnvoyL7RulesTranslator(logger, nil), manager, testpolicy.NewPolicyMetricsNoop())
	repo.SetNamedPortsGetter(named)
	repo.GetSelectorCache().SetLocalIdentityNotifier(testidentity.NewDummyIdentityNotifier())
	manager.Subscribe(testpolicy.SelectorCacheObserver{Cache: repo.GetSubjectSelectorCache()})
	repo.MustAddPolicyEntries(entries)
	letters := make([]byte, 0, len(asked.Packets))
	for _, each := range asked.Packets {
		from, to := ends[each.From], ends[each.To]
		protocol, err := u8proto.ParseProtocol(each.Protocol)
		must(err)
		verdict, _, _, err := policy.LookupFlow(logger, repo, manager, types.Flow{
			From: from.identity, To: to.identity, Proto: protocol, Dport: each.Port,
			NamedPortsTCP: to.tcp, NamedPortsUDP: to.udp,
		})
		must(err)
		letter := byte('+')
		if (from.isPod && verdict.Egress != types.DecisionAllowed) || (to.isPod && verdict.Ingress != types.DecisionAllowed) {
			letter = '-'
		}
		letters = append(letters, letter)
	}
	told.Packets = string(letters)
	return told
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
