"""A Service, as replicatedservice.jinja makes it."""


def GenerateConfig(context):
    """Returns the resources for the properties of `context`."""
    name = context.env["name"]
    port = context.properties["port"]
    service = {
        "name": name + "-service",
        "type": "Service",
        "properties": {
            "metadata": {"name": name, "labels": {"app": name}},
            "spec": {
                "ports": [
                    {
                        "port": port,
                        "targetPort": context.properties.get("targetPort", port),
                    }
                ],
                "selector": {"app": name},
            },
        },
    }
    return {"resources": [service]}
