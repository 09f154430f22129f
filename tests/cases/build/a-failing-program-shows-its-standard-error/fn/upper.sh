#!/bin/sh
echo 'a name is missing' >&2
cat <<'L'
apiVersion: config.kubernetes.io/v1
kind: ResourceList
items: []
results:
- message: the name is too short
  severity: error
  resourceRef: {apiVersion: v1, kind: ConfigMap, name: a}
  field: {path: metadata.name}
L
exit 3
