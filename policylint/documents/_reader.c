/* The loops of fast.py over libyaml itself, without an object of Python for each event. What fast.py hands on to the
 * careful loader this hands on as well, by raising the exception that it is given; all else is equal to the last byte
 * (tests/documents/test_reader.py). Built by hatch_build.py, and never needed. */
#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030B0000
#include <Python.h>
#include <string.h>
#include <yaml.h>

#define REMEMBERED 50000 /* as in scalars.py */
#define REMEMBERED_LENGTH 100

typedef struct {
    PyObject *items; /* the reference is its parent's */
    int is_mapping;
    PyObject *name; /* its anchor; NULL where it has none */
    Py_ssize_t nodes, deepest; /* what the reader had counted when it was opened */
} Level;

typedef struct {
    yaml_parser_t parser;
    PyObject *scalars, *keys, *irregular, *array;
    PyObject *anchors; /* what names stand for: a scalar, or (container, nodes, height), () while that is open; NULL
                          where places are kept */
    Level *levels;
    Py_ssize_t depth, deepest, most_levels, nodes, most_nodes, aliased;
    unsigned int *places; /* line, column, line, column, ... */
    size_t used, size;
    unsigned int largest;
} Reader;

static int hand_on(Reader *self) {
    PyErr_SetNone(self->irregular);
    return -1;
}

/* Keep where a node starts: its line and its column, both from 0. */
static int keep_place(Reader *self, yaml_mark_t mark) {
    if (self->used + 2 > self->size) {
        size_t size = self->size ? 2 * self->size : 512;
        unsigned int *places = PyMem_Realloc(self->places, size * sizeof *places);
        if (places == NULL) { PyErr_NoMemory(); return -1; }
        self->places = places;
        self->size = size;
    }
    if (mark.line > self->largest) self->largest = (unsigned int)mark.line;
    if (mark.column > self->largest) self->largest = (unsigned int)mark.column;
    self->places[self->used++] = (unsigned int)mark.line;
    self->places[self->used++] = (unsigned int)mark.column;
    return 0;
}

/* Whether a plain text is a text for certain: a path, or it starts with a letter, so it is no number, and is no word like
 * `false`: these have up to five letters, of which the first is one of f, n, o, t and y. The text ends with a NUL. */
static int is_text(const char *start, size_t length) {
    if (*start == '/' || (*start == '.' && (start[1] == '.' || start[1] == '/'))) return 1;
    const char letter = (char)(*start | 0x20);
    return letter >= 'a' && letter <= 'z' && (length > 5 || !strchr("fnoty", letter));
}

/* Return the value of a scalar as `memo` resolves it, which is asked where the scalar is plain; a new reference. */
static PyObject *scalar_of(yaml_event_t *event, PyObject *memo) {
    PyObject *text = PyUnicode_DecodeUTF8((char *)event->data.scalar.value, event->data.scalar.length, "strict");
    if (text == NULL || !event->data.scalar.plain_implicit) return text;
    PyObject *value = PyDict_GetItemWithError(memo, text); /* borrowed */
    if (value != NULL) {
        Py_INCREF(value);
    } else if (!PyErr_Occurred()) {
        size_t length = event->data.scalar.length;
        if (is_text((const char *)event->data.scalar.value, length) && PyDict_Size(memo) < REMEMBERED) {
            if (length > REMEMBERED_LENGTH || PyDict_SetItem(memo, text, text) == 0) return text;
        } else {
            value = PyObject_GetItem(memo, text); /* by its __missing__ */
        }
    }
    Py_DECREF(text);
    return value;
}

/* Return the anchor (or the tag) of a scalar or of a container that opens; NULL where it has none. */
static const char *property_of(yaml_event_t *event, int is_tag) {
    yaml_char_t *found = NULL;
    if (event->type == YAML_SCALAR_EVENT) found = is_tag ? event->data.scalar.tag : event->data.scalar.anchor;
    else if (event->type == YAML_MAPPING_START_EVENT)
        found = is_tag ? event->data.mapping_start.tag : event->data.mapping_start.anchor;
    else if (event->type == YAML_SEQUENCE_START_EVENT)
        found = is_tag ? event->data.sequence_start.tag : event->data.sequence_start.anchor;
    return (const char *)found;
}

/* Return the container that a name stands for, counted as often as it does; NULL where that is too much. */
static PyObject *again(Reader *self, PyObject *known) {
    PyObject *items;
    Py_ssize_t nodes, height;
    if (PyTuple_Size(known) == 0 || !PyArg_ParseTuple(known, "Onn", &items, &nodes, &height)) {
        hand_on(self); /* it holds itself */
        return NULL;
    }
    self->nodes += nodes - 1;
    self->aliased += nodes;
    if (self->depth + height > self->deepest) self->deepest = self->depth + height;
    if (self->depth + height > self->most_levels || self->nodes > self->most_nodes) {
        hand_on(self);
        return NULL;
    }
    return Py_NewRef(items);
}

/* Return what an event stands for: a scalar, what an alias names, or a new container; NULL after an error. */
static PyObject *value_of(Reader *self, yaml_event_t *event) {
    const char *anchor = NULL;
    PyObject *value = NULL;
    int may_be_named = self->anchors != NULL && self->nodes > 1; /* but for the outermost one */
    if (event->type == YAML_SCALAR_EVENT) {
        value = scalar_of(event, self->scalars);
        anchor = (char *)event->data.scalar.anchor;
    } else if (event->type == YAML_ALIAS_EVENT && self->anchors != NULL) {
        PyObject *name = PyUnicode_FromString((char *)event->data.alias.anchor);
        if (name == NULL) return NULL;
        value = PyDict_GetItemWithError(self->anchors, name);
        Py_DECREF(name);
        if (value == NULL) {
            if (!PyErr_Occurred()) hand_on(self);
            return NULL;
        }
        if (PyTuple_Check(value)) return again(self, value);
        Py_INCREF(value);
        self->aliased++;
    } else if (event->type == YAML_MAPPING_START_EVENT && (may_be_named || property_of(event, 0) == NULL)) {
        value = PyDict_New();
    } else if (event->type == YAML_SEQUENCE_START_EVENT && (may_be_named || property_of(event, 0) == NULL)) {
        value = PyList_New(0);
    } else {
        hand_on(self);
    }
    if (value != NULL && anchor != NULL && self->anchors != NULL && PyDict_SetItemString(self->anchors, anchor, value)) {
        Py_DECREF(value);
        return NULL;
    }
    return value;
}

/* Go into a container that is read next; 0, or -1 after an error. */
static int enter(Reader *self, PyObject *value, yaml_event_t *event) {
    const char *anchor = property_of(event, 0);
    if (self->depth == self->most_levels) return hand_on(self);
    Level *level = &self->levels[++self->depth];
    *level = (Level){value, event->type == YAML_MAPPING_START_EVENT, NULL, self->nodes, self->deepest};
    if (anchor != NULL) {
        PyObject *open = PyTuple_New(0);
        level->name = PyUnicode_FromString(anchor);
        int code = open == NULL || level->name == NULL ? -1 : PyDict_SetItem(self->anchors, level->name, open);
        Py_XDECREF(open);
        if (code) return -1;
        self->deepest = self->depth;
    } else if (self->depth > self->deepest) {
        self->deepest = self->depth;
    }
    return 0;
}

/* Leave a container; if it has a name, that stands for it from now on. 0, or -1 after an error. */
static int leave(Reader *self) {
    Level *level = &self->levels[self->depth--];
    if (level->name == NULL) return 0;
    PyObject *known = Py_BuildValue("(Onn)", level->items, self->nodes - level->nodes + 1, self->deepest - self->depth);
    int code = known == NULL ? -1 : PyDict_SetItem(self->anchors, level->name, known);
    Py_XDECREF(known);
    Py_CLEAR(level->name);
    if (level->deepest > self->deepest) self->deepest = level->deepest;
    return code;
}

/* Take one event within a document: 1 once the document is whole, 0 before that, -1 after an error. */
static int take(Reader *self, yaml_event_t *event, PyObject **key) {
    yaml_event_type_t type = event->type;
    Level *level = &self->levels[self->depth];
    if (type == YAML_MAPPING_END_EVENT || type == YAML_SEQUENCE_END_EVENT) return leave(self);
    if (type == YAML_DOCUMENT_END_EVENT) return 1;
    if (property_of(event, 1) != NULL) return hand_on(self);
    if ((self->anchors == NULL || self->nodes == 0) && keep_place(self, event->start_mark)) return -1;
    if (level->is_mapping && *key == NULL) {
        if (type != YAML_SCALAR_EVENT || event->data.scalar.anchor != NULL) return hand_on(self);
        *key = scalar_of(event, self->keys);
        if (*key == NULL) return -1;
        int known = PyDict_Contains(level->items, *key);
        return known == 0 ? 0 : known > 0 ? hand_on(self) : -1;
    }
    int opens = type == YAML_MAPPING_START_EVENT || type == YAML_SEQUENCE_START_EVENT;
    if (self->anchors != NULL && ((self->nodes == 0 && !opens) || self->nodes == self->most_nodes)) return hand_on(self);
    self->nodes++;
    PyObject *value = value_of(self, event);
    if (value == NULL) return -1;
    int code = *key == NULL ? PyList_Append(level->items, value) : PyDict_SetItem(level->items, *key, value);
    Py_CLEAR(*key);
    Py_DECREF(value); /* its parent has it, unless there was an error */
    return code || !opens ? code : enter(self, value, event);
}

/* Return a document as fast.py has it: with its places, or with the line where it starts and the number of its nodes. */
static PyObject *document_of(Reader *self, PyObject *value) {
    if (self->anchors != NULL) return Py_BuildValue("(OIn)", value, self->places[0], self->nodes);
    const char *size = self->largest > 0xffff ? "I" : "H";
    size_t width = *size == 'I' ? 4 : 2, bytes = self->used / 2 * width;
    PyObject *lines = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)bytes);
    PyObject *columns = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)bytes);
    PyObject *found = NULL;
    if (lines != NULL && columns != NULL) {
        char *outs[] = {PyBytes_AsString(lines), PyBytes_AsString(columns)};
        for (size_t number = 0; number < self->used; number++) {
            unsigned short narrow = (unsigned short)self->places[number];
            const void *from = width == 2 ? (const void *)&narrow : (const void *)&self->places[number];
            memcpy(outs[number % 2] + number / 2 * width, from, width);
        }
        PyObject *line = PyObject_CallFunction(self->array, "sO", size, lines);
        PyObject *column = line == NULL ? NULL : PyObject_CallFunction(self->array, "sO", size, columns);
        if (column != NULL) found = PyTuple_Pack(3, value, line, column);
        Py_XDECREF(line);
        Py_XDECREF(column);
    }
    Py_XDECREF(lines);
    Py_XDECREF(columns);
    return found;
}

/* Read all documents into a list; 0, or -1 after an error. */
static int read_all(Reader *self, PyObject *documents) {
    PyObject *root = NULL, *key = NULL;
    yaml_event_t event;
    int code = 0, is_last = 0;
    while (code == 0 && !is_last) {
        if (!yaml_parser_parse(&self->parser, &event)) {
            code = hand_on(self);
            break;
        }
        is_last = event.type == YAML_STREAM_END_EVENT;
        if (root != NULL) {
            code = take(self, &event, &key);
        } else if (event.type == YAML_DOCUMENT_START_EVENT) {
            root = PyList_New(0);
            code = root == NULL ? -1 : 0;
            self->levels[0] = (Level){root, 0, NULL, 0, 0};
            self->depth = self->deepest = self->nodes = 0;
            self->used = self->largest = 0;
            if (self->anchors != NULL) PyDict_Clear(self->anchors);
        }
        yaml_event_delete(&event);
        if (code == 1) {
            PyObject *value = PyList_GetItem(root, 0);
            PyObject *document = value == NULL ? NULL : document_of(self, value);
            code = document == NULL ? -1 : PyList_Append(documents, document);
            Py_XDECREF(document);
            Py_CLEAR(root);
        }
    }
    for (; self->depth > 0; self->depth--) Py_CLEAR(self->levels[self->depth].name);
    Py_XDECREF(key);
    Py_XDECREF(root);
    return code;
}

static PyObject *read_text(PyObject *Py_UNUSED(module), PyObject *arguments) {
    Reader self;
    memset(&self, 0, sizeof self);
    PyObject *data, *documents = NULL, *found = NULL;
    int is_named;
    if (!PyArg_ParseTuple(arguments, "O!pO!O!OOnn", &PyBytes_Type, &data, &is_named, &PyDict_Type, &self.scalars,
                          &PyDict_Type, &self.keys, &self.array, &self.irregular, &self.most_levels, &self.most_nodes))
        return NULL;
    if (!yaml_parser_initialize(&self.parser)) return PyErr_NoMemory();
    yaml_parser_set_input_string(&self.parser, (unsigned char *)PyBytes_AsString(data), (size_t)PyBytes_Size(data));
    self.levels = PyMem_Calloc((size_t)self.most_levels + 1, sizeof *self.levels);
    documents = PyList_New(0);
    if (is_named) self.anchors = PyDict_New();
    if (self.levels == NULL) PyErr_NoMemory();
    else if (documents != NULL && (self.anchors != NULL || !is_named) && read_all(&self, documents) == 0)
        found = is_named ? Py_BuildValue("(On)", documents, self.aliased) : Py_NewRef(documents);
    yaml_parser_delete(&self.parser);
    PyMem_Free(self.levels);
    PyMem_Free(self.places);
    Py_XDECREF(self.anchors);
    Py_XDECREF(documents);
    return found;
}

static PyMethodDef methods[] = {
    /* Of another name than in what was built before tags were told here, which is not to be used. */
    {"read", read_text, METH_VARARGS, "Return what fast.load returns, or fast.load_named."},
    {NULL, NULL, 0, NULL},
};
static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, "_reader", NULL, 0, methods, NULL, NULL, NULL, NULL};

/* Other releases of libyaml read some texts otherwise than the one that PyYAML carries. */
PyMODINIT_FUNC PyInit__reader(void) {
    if (strcmp(yaml_get_version_string(), "0.2.5") == 0) return PyModuleDef_Init(&definition);
    PyErr_SetString(PyExc_ImportError, "libyaml is not 0.2.5");
    return NULL;
}
