package main

import (
	"encoding/json"
	"fmt"

	"github.com/argoproj/argo-cd/v3/applicationset/utils"
)

// rendered returns what each template makes of the parameters, or that it is refused.
func rendered(asked tree) answer {
	told := answer{}
	for index, text := range asked.Templates {
		object := map[string]any{"kind": "Template", "metadata": map[string]any{"name": asked.Names[index]}}
		if made, err := replaced(text, asked); err != nil {
			object["refused"] = true
		} else {
			object["text"] = made
		}
		told.Objects = append(told.Objects, object)
	}
	return told
}

func replaced(text string, asked tree) (made string, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("panic: %v", cause)
		}
	}()
	parameters := map[string]any{}
	if err := json.Unmarshal(asked.Parameters, &parameters); err != nil {
		return "", err
	}
	return (&utils.Render{}).Replace(text, parameters, true, asked.Options)
}
