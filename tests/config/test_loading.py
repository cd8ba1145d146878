"""Configuration files: which one counts, what it says, and what is said about mistakes in it."""

from __future__ import annotations

from pathlib import Path

import pytest

from policylint.config import ConfigError, Settings, discover, load
from policylint.config.globs import matcher


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "repo" / ".git").mkdir(parents=True)
    (tmp_path / "repo" / "clusters" / "prod").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "repo")
    return tmp_path / "repo"


def loaded(text: str, name: str = ".policylint.yaml") -> Settings:
    Path(name).write_text(text)
    return load(name)


def test_nothing_there(repository: Path) -> None:
    assert discover() is None
    (repository.parent / ".policylint.yaml").write_text("fail-on: note\n")
    assert discover() is None, "never past the git root"


def test_the_first_name_of_the_nearest_directory_counts(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (repository / "pyproject.toml").write_text("[project]\nname = 'x'\n")
    assert discover() is None
    (repository / "pyproject.toml").write_text("[tool.policylint]\nfail-on = 'note'\n")
    assert discover() == "pyproject.toml"
    (repository / ".config").mkdir()
    (repository / ".config" / "policylint.yaml").write_text("{}\n")
    assert discover() == ".config/policylint.yaml"
    (repository / ".policylint.yml").write_text("{}\n")
    assert discover() == ".policylint.yml"
    (repository / ".policylint.yaml").write_text("{}\n")
    assert discover() == ".policylint.yaml"
    monkeypatch.chdir("clusters/prod")
    assert discover() == "../../.policylint.yaml"
    (repository / "clusters" / ".policylint.yaml").write_text("{}\n")
    assert discover() == "../.policylint.yaml"


def test_outside_of_git_only_the_directory_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "below").mkdir()
    (tmp_path / ".policylint.yaml").write_text("{}\n")
    monkeypatch.chdir(tmp_path)
    assert discover() == ".policylint.yaml"
    monkeypatch.chdir("below")
    assert discover() is None


@pytest.mark.usefixtures("repository")
def test_paths_start_at_the_directory_of_the_file() -> None:
    text = "paths: [clusters]\nenvironments: [{name: prod, roots: [clusters/prod]}]\nbaseline: b.json\n"
    found = loaded(text)
    assert (found.paths, found.environments[0].roots, found.baseline) == (("clusters",), ("clusters/prod",), "b.json")
    Path(".config").mkdir()
    assert loaded(text, ".config/policylint.yaml").paths == ("clusters",)


@pytest.mark.usefixtures("repository")
def test_yaml_and_toml_say_the_same() -> None:
    yaml = """\
fail-on: warning
severity: {GWP301: error}
ignore:
  - GWP203
  - {rule: GWP201, resource: HTTPRoute/shop/*, reason: "JWT: in the app", expires: 2027-01-31}
assume: [Gateway infra/edge]
"""
    toml = """\
[tool.policylint]
fail-on = "warning"
assume = ["Gateway infra/edge"]
ignore = [
  "GWP203",
  {rule = "GWP201", resource = "HTTPRoute/shop/*", reason = "JWT: in the app", expires = 2027-01-31},
]
[tool.policylint.severity]
GWP301 = "error"
"""
    one, other = loaded(yaml), loaded(toml, "pyproject.toml")
    assert one._replace(file="", places=None) == other._replace(file="", places=None)
    assert one.suppressions[0].number == 1
    assert one.at("severity", "GWP301") == ".policylint.yaml:2:20"
    assert other.at("severity", "GWP301") == "pyproject.toml:9:1"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("paths: []\nsevrity: {}\n", '2:1: unknown key "sevrity" (did you mean "severity"?)'),
        ("severity: {GWP301: eror}\n", '1:20: severity.GWP301 cannot be "eror" (did you mean "error"?); it is one of'),
        ("paths: clusters\n", "1:8: paths must be a list"),
        ("ignore:\n  - {rule: GWP201, reason: x}\n", "2:5: ignore lacks a resource or a path"),
        ("ignore:\n  - {rule: GWP201, resource: A/b}\n", "2:5: ignore lacks reason"),
        ("ignore:\n  - {rule: GWP201, resource: A/b, reason: ' '}\n", '2:43: ignore.reason: " " is not a reason'),
        ("ignore:\n  - {rule: X, path: a, reason: b, expires: soon}\n", '44: ignore.expires: "soon" is not a date'),
        ("paths: [~]\n", "1:9: paths must be a string"),
        ("ignore:\n  - {rule: A, path: b, reason: ~}\n", "2:32: ignore.reason must be a string"),
        ("namespaces: {a: {b: 3}}\n", "1:21: namespaces.a.b must be a string"),
        ("clusters: {eu: {label: {}}}\n", '1:17: unknown key "label" (did you mean "labels"?)'),
        ("clusters: {eu: {labels: {a: true}}}\n", "1:29: clusters.eu.labels.a must be a string"),
        ("clusters: [eu]\n", "1:11: clusters must be a mapping"),
        ("environments: [{name: a, roots: []}]\n", "1:33: environments.roots"),
        ("ignore: [3]\n", "1:10: ignore must be a string or a mapping"),
        ("fail-on: note\nfail-on: error\n", "2:1: key `fail-on` is already on line 1"),
        ("- paths\n", "1:1: the configuration must be a mapping"),
        ("a: [\n", "2:1: did not find"),
        ("{}\n---\n{}\n", ": the configuration must be a single document"),
    ],
)
@pytest.mark.usefixtures("repository")
def test_mistakes_are_named_with_their_place(text: str, message: str) -> None:
    with pytest.raises(ConfigError) as error:
        loaded(text)
    assert str(error.value).startswith(".policylint.yaml:")
    assert message in str(error.value)


@pytest.mark.usefixtures("repository")
def test_mistakes_in_toml() -> None:
    with pytest.raises(ConfigError, match=r'pyproject.toml:3:1: unknown key "sevrity"'):
        loaded("[tool.policylint]\nfail-on = 'note'\nsevrity.GWP1 = 'x'\n", "pyproject.toml")
    with pytest.raises(ConfigError, match=r"^pyproject.toml: "):
        loaded("[tool.policylint\n", "pyproject.toml")
    with pytest.raises(ConfigError, match=r"^pyproject.toml: nested too deep$"):
        loaded(f"[tool.policylint]\nignore = {'[' * 20_000}", "pyproject.toml")


@pytest.mark.usefixtures("repository")
@pytest.mark.parametrize("text", ["", "# nothing\n", "{}\n", "exclude:\n#  - a\nseverity: {GWP1: }\n"])
def test_an_empty_file_is_a_configuration(text: str) -> None:
    assert loaded(text)._replace(file="", places=None) == Settings()


@pytest.mark.parametrize(
    ("patterns", "matched", "others"),
    [
        (["charts/"], ["charts/a.yaml", "x/charts/y/a.yaml"], ["charts", "mycharts/a.yaml"]),
        (["/charts"], ["charts/a.yaml"], ["x/charts/a.yaml"]),
        (["a/b.yaml"], ["a/b.yaml"], ["x/a/b.yaml"]),
        (["*.gen.yaml"], ["a.gen.yaml", "x/y.gen.yaml"], ["a.yaml"]),
        (["**/tests"], ["tests/a.yaml", "x/tests/a.yaml"], ["xtests/a.yaml"]),
        (["a/**/b.yaml"], ["a/b.yaml", "a/x/y/b.yaml"], ["a/xb.yaml"]),
        (["a/**"], ["a/x", "a/b/c"], ["b/a/x"]),
        (["t?st.y[am]l", "!keep/"], ["test.yal", "x/tast.yml"], ["keep/test.yml", "teest.yml"]),
    ],
)
def test_patterns_are_those_of_gitignore(patterns: list[str], matched: list[str], others: list[str]) -> None:
    matches = matcher(patterns)
    assert [each for each in matched if not matches(each)] == []
    assert [each for each in others if matches(each)] == []
