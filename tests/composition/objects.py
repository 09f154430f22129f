"""Makes up objects of many kinds that name one another, the same for the same seed."""
import random

IMAGES = ["nginx", "nginx:1.27", "registry.example.com:5000/team/web:v1", "postgres@sha256:" + "0" * 64, "busybox:1"]
GROUPS = {"rbac": "rbac.authorization.k8s.io", "hooks": "admissionregistration.k8s.io"}


def package(seed, app=""):
    """Objects of one namespace, or of two that have the same names, and some of none."""
    return Package(random.Random(seed), app).objects


class Package:
    def __init__(self, dice, app):
        self.dice, self.objects = dice, []
        self.app = dice.choice(["web", "shop", "mail"]) + app
        namespaces = dice.choice([[None], [None], ["one"], ["one", "two"]])
        for self.namespace in namespaces:
            self.namespaced()
        self.namespace = None
        self.of_the_cluster(namespaces)
        # References lead forward as well as back.
        dice.shuffle(self.objects)

    def maybe(self, chance=0.7):
        return self.dice.random() < chance

    def some(self, **fields):
        return {key: value for key, value in fields.items() if self.maybe()}

    def name(self, part):
        return f"{self.app}-{part}"

    def add(self, api_version, kind, part, chance=0.8, **fields):
        if not self.maybe(chance):
            return
        metadata = {"name": self.name(part), **self.some(labels={"app": self.app}, annotations={"note": "it is 0644"})}
        if self.namespace:
            metadata["namespace"] = self.namespace
        self.objects.append({"apiVersion": api_version, "kind": kind, "metadata": metadata, **fields})

    def key(self, part):
        return {"name": self.name(part), "key": "A", **self.some(optional=True)}

    def container(self, name):
        env = [
            {"name": "PLAIN", "value": "1"},
            {"name": "MAP", "valueFrom": {"configMapKeyRef": self.key("settings")}},
            {"name": "SECRET", "valueFrom": {"secretKeyRef": self.key("password")}},
            {"name": "NODE", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}},
        ]
        sources = [
            {"configMapRef": {"name": self.name("settings")}},
            {"prefix": "S_", "secretRef": {"name": self.name("password")}},
        ]
        return {
            "name": name,
            "image": self.dice.choice(IMAGES),
            **self.some(
                env=[one for one in env if self.maybe()],
                envFrom=[one for one in sources if self.maybe()],
                ports=[{"name": "http", "containerPort": 8080}, {"containerPort": 53, "protocol": "UDP"}],
                volumeMounts=[{"name": "settings", "mountPath": "/settings"}],
                command=["sh", "-c", "sleep 1"],
            ),
        }

    def pod(self, **fields):
        selector = {"matchLabels": {"app": self.app}}
        projected = [
            {"configMap": {"name": self.name("settings"), "items": [{"key": "A", "path": "a"}]}},
            {"secret": {"name": self.name("password")}},
            {"serviceAccountToken": {"path": "token"}},
        ]
        volumes = [
            {"name": "settings", "configMap": {"name": self.name("settings")}},
            {"name": "password", "secret": {"secretName": self.name("password"), "defaultMode": 256}},
            {"name": "all", "projected": {"sources": projected}},
            {"name": "data", "persistentVolumeClaim": {"claimName": self.name("data")}},
            {"name": "own", "ephemeral": {"volumeClaimTemplate": {"metadata": {"labels": {"a": "b"}}, "spec": {}}}},
            {"name": "made", "configMap": {"name": "made-here"}},
            {"name": "none", "emptyDir": {}},
        ]
        spec = {
            "containers": [self.container("main"), self.container("side")][: self.dice.choice([1, 2])],
            **self.some(
                initContainers=[self.container("init")],
                serviceAccountName=self.name("runner"),
                imagePullSecrets=[{"name": self.name("password")}],
                priorityClassName=self.name("urgent"),
                volumes=[one for one in volumes if self.maybe()],
                topologySpreadConstraints=[{"maxSkew": 1, "topologyKey": "zone", "labelSelector": selector}],
                affinity={"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [
                    {"labelSelector": selector, "topologyKey": "host"}
                ]}},
            ),
            **fields,
        }
        return {"metadata": {"labels": {"app": self.app}}, "spec": spec}

    def workload(self, kind, **fields):
        spec = {"selector": {"matchLabels": {"app": self.app}}, "template": self.pod(), **fields}
        self.add("apps/v1", kind, kind.lower(), 0.9, spec=spec)

    def namespaced(self):
        scaled = self.some(replicas=2)
        self.workload("Deployment", **scaled, **self.some(strategy={"type": "Recreate"}))
        claim = {"metadata": {"name": "data"}, "spec": {"storageClassName": self.name("fast")}}
        self.workload("StatefulSet", **scaled, serviceName=self.name("service"), volumeClaimTemplates=[claim])
        self.workload("DaemonSet")
        job = {"template": self.pod(restartPolicy="Never")}
        self.add("batch/v1", "Job", "job", spec=job)
        self.add("batch/v1", "CronJob", "cronjob", spec={"schedule": "0 1 * * *", "jobTemplate": {"spec": job}})
        self.add("v1", "Pod", "pod", 0.3, spec=self.pod()["spec"])
        self.add("v1", "ConfigMap", "settings", 0.9, data={"A": "1", "text.yaml": "a: 1\nb:\n- c\n"})
        self.add("v1", "Secret", "password", 0.9, type="Opaque", stringData={"A": "x"})
        self.add("v1", "ServiceAccount", "runner", 0.9, **self.some(
            secrets=[{"name": self.name("password")}], imagePullSecrets=[{"name": self.name("password")}]))
        self.add("v1", "ServiceAccount", "other")
        self.add("v1", "PersistentVolumeClaim", "data", spec={
            "accessModes": ["ReadWriteOnce"], **self.some(storageClassName=self.name("fast"), volumeName=self.name("disk"))})
        self.add("v1", "Service", "service", 0.9, spec={
            "ports": [{"port": 80, "targetPort": "http"}], **self.some(selector={"app": self.app}, type="ClusterIP")})
        backend = {"service": {"name": self.name("service"), "port": {"number": 80}}}
        self.add("networking.k8s.io/v1", "Ingress", "ingress", spec={
            "rules": [{"host": "example.com", "http": {"paths": [{"path": "/", "pathType": "Prefix", "backend": backend}]}}],
            **self.some(tls=[{"hosts": ["example.com"], "secretName": self.name("password")}],
                        defaultBackend=backend, ingressClassName=self.name("class")),
        })
        self.add("networking.k8s.io/v1", "NetworkPolicy", "policy", spec={
            "podSelector": {"matchLabels": {"app": self.app}},
            "ingress": [{"from": [{"podSelector": {"matchLabels": {"app": self.app}}}, {"namespaceSelector": {}}]}],
            "egress": [{"to": [{"podSelector": {"matchLabels": {"app": self.app}}}]}],
        })
        self.add("policy/v1", "PodDisruptionBudget", "budget", spec={
            "minAvailable": 1, **self.some(selector={"matchLabels": {"app": self.app}})})
        kind = self.dice.choice(["Deployment", "StatefulSet"])
        self.add("autoscaling/v2", "HorizontalPodAutoscaler", "scaler", spec={
            "maxReplicas": 5,
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": kind, "name": self.name(kind.lower())},
        })
        self.add(f"{GROUPS['rbac']}/v1", "Role", "role", rules=[
            {"apiGroups": [""], "resources": ["secrets"], "verbs": ["get"], "resourceNames": [self.name("password"), "else"]},
            {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["list"]},
        ])
        role = self.dice.choice(["Role", "ClusterRole"])
        self.binding("RoleBinding", role)

    def binding(self, kind, role, namespaces=()):
        namespaces = [one for one in namespaces or [self.namespace] if one] or ["default"]
        subjects = [
            {"kind": "ServiceAccount", "name": name, "namespace": namespace}
            for namespace in namespaces for name in (self.name("runner"), "default", "absent")
        ]
        subjects.append({"kind": "Group", "name": "system:nodes", "apiGroup": GROUPS["rbac"]})
        if kind == "RoleBinding" and self.maybe(0.3):
            del subjects[0]["namespace"]
        role_ref = {"apiGroup": GROUPS["rbac"], "kind": role, "name": self.name(role.lower())}
        self.add(f"{GROUPS['rbac']}/v1", kind, kind.lower(), roleRef=role_ref, subjects=[one for one in subjects if self.maybe()])

    def of_the_cluster(self, namespaces):
        for name in filter(None, namespaces):
            if self.maybe():
                self.objects.append({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
        self.add(f"{GROUPS['rbac']}/v1", "ClusterRole", "clusterrole", rules=[
            {"apiGroups": [""], "resources": ["nodes"], "verbs": ["get"]}])
        self.binding("ClusterRoleBinding", "ClusterRole", namespaces)
        self.add("scheduling.k8s.io/v1", "PriorityClass", "urgent", value=1000)
        self.add("storage.k8s.io/v1", "StorageClass", "fast", provisioner="example.com/fast")
        self.add("networking.k8s.io/v1", "IngressClass", "class", spec={"controller": "example.com/class"})
        self.add("v1", "PersistentVolume", "disk", spec={
            "capacity": {"storage": "1Gi"},
            **self.some(storageClassName=self.name("fast"),
                        claimRef={"name": self.name("data"), "namespace": namespaces[0] or "default"}),
        })
        service = {"name": self.name("service"), "namespace": namespaces[0] or "default"}
        for kind in ("ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"):
            self.add(f"{GROUPS['hooks']}/v1", kind, kind[:5].lower(), webhooks=[
                {"name": "a.example.com", "clientConfig": {"service": {**service, "path": "/a"}}},
                {"name": "b.example.com", "clientConfig": {"url": "https://example.com"}},
            ])
        self.add("apiregistration.k8s.io/v1", "APIService", "v1.things", spec={"service": service, "version": "v1"})
        conversion = {"strategy": "Webhook", "webhook": {"clientConfig": {"service": service}}}
        self.add("apiextensions.k8s.io/v1", "CustomResourceDefinition", "things.example.com", spec={
            "group": "example.com", "names": {"kind": "Thing", "plural": "things"}, "scope": "Namespaced",
            **self.some(conversion=conversion),
        })
        self.add("example.com/v1", "Thing", "thing", spec={
            "image": IMAGES[0], "replicas": 1, "containers": [{"name": "in", "image": IMAGES[1]}],
            "configMapRef": {"name": self.name("settings")},
        })
