"""The JSON of an audit against its published JSON Schema, and the same command twice."""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from dalenius.config import Policy
from dalenius.criteria import measured
from dalenius.reports.json_schema import audit_schema
from tests.conftest import Run
from tests.reports.conftest import COMMANDS, Report

SCHEMA: dict[str, Any] = audit_schema()
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA, format_checker=jsonschema.FormatChecker())


def objects(node: Any, path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every part of the schema that declares properties."""
    if isinstance(node, dict):
        if "properties" in node:
            yield path, node
        for key, inner in node.items():
            yield from objects(inner, f"{path}/{key}")
    elif isinstance(node, list):
        for i, inner in enumerate(node):
            yield from objects(inner, f"{path}/{i}")


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert SCHEMA["$schema"] == "https://json-schema.org/draft/2020-12/schema"


def test_every_field_is_described_and_no_other_allowed() -> None:
    found = list(objects(SCHEMA))
    assert len(found) > 20
    for path, node in found:
        assert node["additionalProperties"] is False, path
        assert set(node["required"]) <= set(node["properties"]), path
        for name, field in node["properties"].items():
            sentence = field.get("description", "")
            assert len(sentence.split()) >= 3, f"{path}/{name}"
            assert sentence[0].isupper(), f"{path}/{name}"
            assert sentence.endswith("."), f"{path}/{name}"


@pytest.mark.parametrize("name", COMMANDS)
def test_documents_are_as_the_schema_says(name: str, reports: dict[str, Report]) -> None:
    errors = [
        f"{list(error.absolute_path)}: {error.message}" for error in VALIDATOR.iter_errors(reports[name].document)
    ]
    assert errors == []


def mutations(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Documents that are wrong in one place each."""
    found = {}

    def changed(name: str) -> dict[str, Any]:
        found[name] = copy.deepcopy(document)
        return found[name]

    changed("more at the top")["surprise"] = 1
    changed("no verdict").pop("verdict")
    changed("more in an attack")["attacks"][0]["surprise"] = 1
    changed("a rate above 1")["attacks"][0]["success"]["value"] = 1.5
    changed("infinite as a number")["levels"]["t_closeness"]["equal"] = "infinity"
    changed("a value without its belief")["at_risk"][0]["value"] = "Flu"
    changed("an outcome that is none")["policy"][0]["outcome"] = "maybe"
    changed("a digest that is none")["release"]["sha256"]["truth"] = "abc"
    changed("more in a column's levels")["levels"]["sensitive"]["disease"]["surprise"] = {}
    changed("another version")["schema_version"] = 2
    changed("time that is none")["run"]["seconds"] = -1
    return found


def test_the_schema_refuses_other_documents(full: Report) -> None:
    VALIDATOR.validate(full.document)
    for name, document in mutations(full.document).items():
        assert not VALIDATOR.is_valid(document), name


def test_documents_hold_what_they_are_about(reports: dict[str, Report]) -> None:
    """Each flavour shows that the optional parts are there when they should be."""
    document = {name: found.document for name, found in reports.items()}
    assert [threshold["key"] for threshold in document["full"]["policy"]] == [
        key for key in Policy.model_fields if key in {t["key"] for t in document["full"]["policy"]}
    ]
    assert len(document["full"]["policy"]) == 11
    assert document["full"]["verdict"] == "violated"
    assert (document["truth"]["truth"], document["truth"]["held_out"]) == (True, 0)
    assert document["truth"]["attacks"][0]["control"]["kind"] == "none"
    assert document["blind"]["truth"] is False
    assert document["blind"]["attacks"][0]["success"]["value"] is None
    assert document["blind"]["at_risk"] == []
    assert [(attack["adversary"], attack["sensitive"]) for attack in document["two"]["attacks"]] == [
        (name, column) for name in ("random-worlds", "attacker") for column in ("admission", "disease")
    ]
    assert document["anatomy"]["release"]["kind"] == "anatomized"
    (nearest,) = document["centroids"]["attacks"]
    assert (nearest["adversary"], nearest["right_group"]["n"]) == ("nearest-centroid", 300)
    assert set(document["centroids"]["refused"]) == {"random-worlds"}
    assert all(
        attack["right_group"]["n"] == 0
        for name in document
        for attack in document[name]["attacks"]
        if name != "centroids"
    )
    assert document["silent"]["at_risk"] == []
    assert "release" not in document["method"]["release"]["sha256"]
    assert document["method"]["release"]["sha256"]["truth"] == document["truth"]["release"]["sha256"]["truth"]
    for model, key in (one.place for one in measured()):
        assert key in document["full"]["levels"][model]
    assert "value" in document["revealed"]["at_risk"][0]


@pytest.mark.slow
def test_the_same_command_twice_gives_the_same_json(run: Run, folder: Path, tmp_path: Path) -> None:
    """In two processes that hash strings differently; all but `run` is the same, to the byte."""
    texts = []
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        done = run("audit", *COMMANDS["full"], "--json", tmp_path / "same.json", "-q", cwd=folder, env=environment)
        assert (done.returncode, done.stdout, done.stderr) == (1, "", "")
        texts.append((tmp_path / "same.json").read_text(encoding="utf-8"))
    documents = [json.loads(text) for text in texts]
    runs = [document.pop("run") for document in documents]
    assert json.dumps(documents[0]) == json.dumps(documents[1])  # the order of keys, too
    assert list(json.loads(texts[0]))[-1] == "run"
    assert runs[0]["command"] == runs[1]["command"]
    assert "audit" in runs[0]["command"]


@pytest.mark.slow
def test_another_seed_is_told(folder: Path, full: Report, run: Run) -> None:
    done = run("audit", *COMMANDS["full"], "--seed", "5", "--json", "-", cwd=folder)
    document = json.loads(done.stdout)
    assert (document["parameters"]["seed"], full.document["parameters"]["seed"]) == (5, 0)
    VALIDATOR.validate(document)
