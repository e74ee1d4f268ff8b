#!/usr/bin/env bash
# Stop an export unless the release satisfies the policy.
# Usage: gate.sh RELEASE TRUTH HOLDOUT SCHEMA [REPORT]
set -uo pipefail
release=$1 truth=$2 holdout=$3 schema=$4 report=${5:-report.html}

if ! grep -q '^\[policy\]' "$schema"; then
  echo "gate: $schema has no [policy], so nothing would be tested." >&2
  exit 2
fi

dalenius audit "$release" --truth "$truth" --holdout "$holdout" --schema "$schema" --strict -o "$report"
code=$?
case $code in
  0) echo "gate: the release may go out." ;;
  1) echo "gate: the release violates the policy, or a threshold could not be tested. See $report." >&2 ;;
  2) echo "gate: bad input. Fix the file or the option that the message names." >&2 ;;
  3) echo "gate: the sampling did not converge. Run the audit with a larger --mcse." >&2 ;;
  4) echo "gate: not enough memory or time. Use a larger machine." >&2 ;;
  *) echo "gate: the audit did not finish (exit code $code)." >&2 ;;
esac
exit "$code"
