// Reads trees as JSON, one a line. Of one with an ApplicationSet it writes the Applications that Argo CD makes of it, or
// why it makes none; of one with Applications what Argo CD applies of them; of templates the texts that they make.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/sirupsen/logrus"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/argoproj/argo-cd/v3/applicationset/controllers/template"
	"github.com/argoproj/argo-cd/v3/applicationset/generators"
	"github.com/argoproj/argo-cd/v3/applicationset/utils"
	"github.com/argoproj/argo-cd/v3/pkg/apis/application/v1alpha1"
	"github.com/argoproj/argo-cd/v3/util/git"
)

type tree struct {
	Files map[string]string       `json:"files"`
	Links map[string]string       `json:"links"`
	Owner v1alpha1.ApplicationSet `json:"owner"`
	// Owners are Applications; without any, the tree is asked for what its ApplicationSet makes.
	Owners        []map[string]any `json:"owners"`
	ClusterScoped [][2]string      `json:"clusterScoped"`
	// Templates are texts in Go's language, each with a name, filled in with Parameters; Options are goTemplateOptions.
	Templates  []string        `json:"templates"`
	Names      []string        `json:"names"`
	Parameters json.RawMessage `json:"parameters"`
	Options    []string        `json:"options"`
}

type answer struct {
	Objects []map[string]any  `json:"objects,omitempty"`
	Failed  map[string]string `json:"failed,omitempty"`
	Error   string            `json:"error,omitempty"`
}

// cluster has every AppProject, without signature keys, and nothing else.
type cluster struct{ client.Client }

func (cluster) Get(context.Context, client.ObjectKey, client.Object, ...client.GetOption) error {
	return nil
}

// repository is a checkout whose files git itself lists.
type repository struct{ root string }

func (held repository) GetFiles(_ context.Context, _, _, _, pattern string, _, _ bool) (map[string][]byte, error) {
	asked, err := git.NewClientExt("https://example.com/fleet.git", held.root, git.NopCreds{}, false, false, "", "")
	if err != nil {
		return nil, err
	}
	paths, err := asked.LsFiles(pattern, false)
	if err != nil {
		return nil, err
	}
	texts := map[string][]byte{}
	for _, path := range paths {
		if texts[path], err = os.ReadFile(filepath.Join(held.root, path)); err != nil {
			return nil, err
		}
	}
	return texts, nil
}

// GetDirectories has those that the repo server lists: all but hidden ones, and what lies in them.
func (held repository) GetDirectories(context.Context, string, string, string, bool, bool) ([]string, error) {
	var found []string
	err := filepath.WalkDir(held.root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil || !entry.IsDir() || path == held.root:
			return err
		case strings.HasPrefix(entry.Name(), "."):
			return filepath.SkipDir
		}
		found = append(found, strings.TrimPrefix(path, held.root+"/"))
		return nil
	})
	return found, err
}

func main() {
	logrus.SetOutput(io.Discard)
	logrus.SetLevel(logrus.PanicLevel)
	lines := bufio.NewReaderSize(os.Stdin, 1<<20)
	written := json.NewEncoder(os.Stdout)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var asked tree
		told := answer{}
		if err := json.Unmarshal(line, &asked); err != nil {
			told.Error = err.Error()
		} else if len(asked.Templates) > 0 {
			told = rendered(asked)
		} else if len(asked.Owners) > 0 {
			told = deployed(asked)
		} else {
			told = made(asked)
		}
		if err := written.Encode(told); err != nil {
			panic(err)
		}
	}
}

// made returns the Applications of a set; none where one of them cannot be made, as the controller then applies none.
func made(asked tree) (told answer) {
	defer func() {
		if cause := recover(); cause != nil {
			told = answer{Error: fmt.Sprint("panic: ", cause)}
		}
	}()
	root, err := checkout(asked.Files)
	defer func() { _ = os.RemoveAll(root) }()
	if err != nil {
		return answer{Error: err.Error()}
	}
	held := repository{root}
	simple := map[string]generators.Generator{
		"List": generators.NewListGenerator(), "Git": generators.NewGitGenerator(held, "argocd"),
	}
	all := map[string]generators.Generator{
		"List": simple["List"], "Git": simple["Git"],
		"Matrix": generators.NewMatrixGenerator(simple), "Merge": generators.NewMergeGenerator(simple),
	}
	log := logrus.NewEntry(logrus.StandardLogger())
	applications, _, err := template.GenerateApplications(log, asked.Owner, all, &utils.Render{}, cluster{})
	if err != nil {
		return answer{Error: err.Error()}
	}
	for _, each := range applications {
		each.APIVersion, each.Kind, each.Finalizers = "argoproj.io/v1alpha1", "Application", nil
		body, err := plain(each)
		if err != nil {
			return answer{Error: err.Error()}
		}
		told.Objects = append(told.Objects, body)
	}
	return told
}

// plain returns an Application without its status, and without what is empty.
func plain(application v1alpha1.Application) (body map[string]any, err error) {
	text, err := json.Marshal(application)
	if err == nil {
		err = json.Unmarshal(text, &body)
	}
	delete(body, "status")
	body, _ = filled(body).(map[string]any)
	return body, err
}

func filled(value any) any {
	switch held := value.(type) {
	case map[string]any:
		for key, inner := range held {
			if held[key] = filled(inner); held[key] == nil {
				delete(held, key)
			}
		}
		if len(held) == 0 {
			return nil
		}
	case []any:
		if len(held) == 0 {
			return nil
		}
	case string:
		if held == "" {
			return nil
		}
	case bool:
		if !held {
			return nil
		}
	}
	return value
}

func checkout(files map[string]string) (string, error) {
	root, err := os.MkdirTemp("", "argo")
	if err != nil {
		return root, err
	}
	if root, err = filepath.EvalSymlinks(root); err != nil {
		return root, err
	}
	if err := write(root, tree{Files: files}); err != nil {
		return root, err
	}
	for _, arguments := range [][]string{{"init", "-q"}, {"add", "-A"}} {
		command := exec.Command("git", arguments...)
		command.Dir = root
		if said, err := command.CombinedOutput(); err != nil {
			return root, fmt.Errorf("%s: %w", said, err)
		}
	}
	return root, nil
}
