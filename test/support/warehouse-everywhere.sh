#!/bin/sh
# Runs the tests of the warehouse on the oldest PostgreSQL that is served, on Debian's, and through a pooler in front of the newest.
set -eu
run() {
  echo "The tests of the warehouse $1."
  shift
  env "$@" vitest run --config test/vitest.config.ts $tests
}
tests="test/contract/warehouse"
run "through a pooler" TEST_WAREHOUSE_POOLER=1
tests="test/process/warehouse-faults-commit"
run "with 200 commits that are cut" COMMIT_CUTS=200
tests="test/contract/warehouse test/scenario/warehouse test/process/warehouse-faults test/security/erase.test"
node test/support/postgres-versions.ts | while read -r bin; do
  run "on the server in $bin" "TEST_POSTGRES_BIN=$bin"
done
