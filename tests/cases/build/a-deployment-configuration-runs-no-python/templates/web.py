import ports


def GenerateConfig(context):
    return {
        'resources': [{
            'name': context.env['name'],
            'type': 'Service',
            'properties': {'spec': {'ports': [{'port': ports.WEB}]}},
        }]
    }
