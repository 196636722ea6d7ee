#!/usr/bin/env bash
# Lints .github/workflows. Needs Go, which fetches the linter once.
set -euo pipefail
cd "$(dirname "$0")/.."
go run github.com/rhysd/actionlint/cmd/actionlint@v1.7.12 -color
