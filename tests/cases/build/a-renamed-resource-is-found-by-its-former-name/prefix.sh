#!/bin/sh
exec sed 's/name: settings/name: a-settings/'
