#!/bin/sh
echo "kind: ResourceList"
echo "items: []"
