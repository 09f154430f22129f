#!/bin/sh
echo started >&2
exec sleep 20
