"""An Airflow task around the gate. Tasks that follow it run only if the release satisfies the policy."""

from __future__ import annotations

import pendulum
from airflow.exceptions import AirflowFailException
from airflow.sdk import dag, task
from gate import GateClosed, gate  # gate.py lies beside this file


@task
def privacy_gate(release: str, truth: str, holdout: str, schema: str) -> str:
    """Return the path of the report; fail at once if a second try cannot help."""
    try:
        return gate(release, truth, holdout, schema)
    except GateClosed as closed:
        if closed.retry:
            raise
        raise AirflowFailException(str(closed)) from closed


@task
def export(report: str) -> None:
    """Copy the release to its readers: replace this with your own step."""
    print(f"May go out: {report}")


@dag(schedule=None, start_date=pendulum.datetime(2026, 1, 1, tz="UTC"), catchup=False)
def publish_release() -> None:
    export(privacy_gate("release.csv", "patients.csv", "others.csv", "privacy.toml"))


publish_release()
