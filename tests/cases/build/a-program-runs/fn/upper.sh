#!/bin/sh
sed "s/name: a/name: A/"
