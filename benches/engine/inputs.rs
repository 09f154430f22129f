//! Inputs of the benchmarks, like those of `generate.py`: commented Deployments.

use std::fmt::Write as _;

use krm_template::template::Dialect;

/// A Deployment as people write it, as a document of a stream.
const DEPLOYMENT: &str = r#"apiVersion: apps/v1
kind: Deployment
metadata:
  name: shop-{i} # as customers know it
  namespace: "{namespace}"
  labels:
    app: shop-{i}
    tier: {tier}
    version: "2.{i}"
  annotations:
    config.kubernetes.io/index: '0'
    config.kubernetes.io/path: 'shops/shop-{i}.yaml'
    description: "Shop number {i}, looked after by its unit"
spec:
  # raised for the holidays; the autoscaler has the same lower bound
  replicas: {replicas}
  selector:
    matchLabels:
      app: shop-{i}
  strategy:
    type: RollingUpdate
    rollingUpdate:
      maxSurge: 50%
      maxUnavailable: 0
  template:
    metadata:
      labels:
        app: shop-{i}
        tier: {tier}
    spec:
      containers:
      - name: shop
        image: images.example.org/shop:{tag} # tested
        args: ["--listen=8443", "--verbosity=2"]
        ports:
        - name: https
          containerPort: 8443
        env:
        - name: NODE_NAME
          valueFrom:
            fieldRef:
              fieldPath: spec.nodeName
        - name: HEAP_OPTIONS
          value: "-Xms256m -XX:+UseZGC"
        resources:
          requests: {cpu: 250m, memory: 256Mi}
          limits:
            cpu: "2"
            memory: 768Mi
        readinessProbe:
          httpGet:
            path: /ready
            port: https
        volumeMounts:
        - name: settings
          mountPath: /etc/shop
          readOnly: true
      volumes:
      - name: settings
        configMap:
          name: shop-{i}-settings
          defaultMode: 0444
"#;

/// Transformers for the documents of `shops.yaml`.
pub(crate) const COMPOSITION: &str = "\
kind: Composition
transformers:
- kind: ResourceAccumulator
  paths: [shops.yaml]
- kind: NamespaceTransformer
  metadata: {namespace: shops}
- kind: PrefixTransformer
  prefix: north-
- kind: LabelTransformer
  labels: {season: winter}
- kind: ImageTagTransformer
  imageTag: {name: images.example.org/shop, newTag: '2'}
- kind: PatchTransformer
  target: {kind: Deployment}
  patch: |
    spec:
      template:
        spec:
          terminationGracePeriodSeconds: 60
";

/// How many parameters the references are spread over.
const PARAMETERS: usize = 200;

fn deployment(i: usize) -> String {
    filled(i, ["unit", "storefront", "3", "2.1"])
}

fn filled(i: usize, [namespace, tier, replicas, tag]: [&str; 4]) -> String {
    DEPLOYMENT
        .replace("{i}", &i.to_string())
        .replace("{namespace}", namespace)
        .replace("{tier}", tier)
        .replace("{replicas}", replicas)
        .replace("{tag}", tag)
}

/// `text` as an item after a dash at `column`.
fn item(text: &str, column: usize) -> String {
    let mut out = String::new();
    for (index, line) in text.lines().enumerate() {
        let dash = if index == 0 { "- " } else { "  " };
        let _ = writeln!(out, "{:column$}{dash}{line}", "");
    }
    out
}

/// A stream of `n` documents.
pub(crate) fn documents(n: usize) -> String {
    let mut out = String::new();
    for i in 0..n {
        out += "---\n";
        out += &deployment(i);
    }
    out
}

/// A stream of `n` documents that only the full path reads: the first has a directive.
pub(crate) fn with_directive(n: usize) -> String {
    format!("%YAML 1.1\n{}", documents(n))
}

/// A List of `n` objects in JSON, a field a line.
pub(crate) fn json(n: usize) -> String {
    let object = |i: usize| {
        format!(
            r#"    {{
      "apiVersion": "apps/v1",
      "kind": "Deployment",
      "metadata": {{"name": "shop-{i}", "labels": {{"app": "shop-{i}", "tier": "storefront"}}}},
      "spec": {{
        "replicas": 3,
        "template": {{
          "metadata": {{"labels": {{"app": "shop-{i}"}}}},
          "spec": {{
            "containers": [
              {{
                "name": "shop",
                "image": "images.example.org/shop:2.{i}",
                "args": ["--listen=8443", "--verbosity=2"],
                "env": [{{"name": "HEAP_OPTIONS", "value": "-Xms256m -XX:+UseZGC"}}],
                "resources": {{"limits": {{"cpu": "2", "memory": "768Mi"}}}}
              }}
            ]
          }}
        }}
      }}
    }}"#
        )
    };
    let objects: Vec<String> = (0..n).map(object).collect();
    format!(
        "{{\n  \"apiVersion\": \"v1\",\n  \"kind\": \"List\",\n  \"items\": [\n{}\n  ]\n}}\n",
        objects.join(",\n")
    )
}

/// A Template of `n` objects with six references each.
pub(crate) fn template(n: usize, dialect: Dialect) -> String {
    let (api_version, string, raw) = match dialect {
        Dialect::OpenShift => ("template.openshift.io/v1", ("${", "}"), ("${{", "}}")),
        Dialect::Proposal => ("template.krm.dev/v1alpha1", ("$(", ")"), ("$((", "))")),
    };
    let mut out = format!(
        "apiVersion: {api_version}\nkind: Template\nmetadata:\n  name: shops\nlabels:\n  division: retail\nobjects:\n"
    );
    for i in 0..n {
        let reference = |k: usize| {
            let name = format!("P{}", (i * 7 + k) % PARAMETERS);
            [string.0, &name, string.1].concat()
        };
        let quoted = format!("\"{}\"", reference(1));
        let count = format!("\"{}COUNT{}\"", raw.0, raw.1);
        let tag = format!("{}.{}", reference(2), reference(3));
        out += &item(&filled(i, [&reference(0), &quoted, &count, &tag]), 0);
    }
    out += "parameters:\n- name: COUNT\n  value: \"3\"\n";
    for k in 0..PARAMETERS {
        let _ = writeln!(out, "- name: P{k}\n  value: value{k}\n  required: true");
    }
    out
}

/// A ResourceList of `n` items, with a Template of one object more.
pub(crate) fn list(n: usize) -> String {
    let config = r#"  parameters:
  - name: NAME
    value: cache
  objects:
  - apiVersion: v1
    kind: Service
    metadata:
      name: $(NAME)
"#;
    resource_list((0..n).map(deployment), config)
}

/// A ResourceList of `n` items, and the Template that made them, now with another label.
pub(crate) fn list_to_update(n: usize) -> String {
    let mut config = "  labels:\n    season: winter\n  objects:\n".to_owned();
    for i in 0..n {
        config += &item(&deployment(i), 2);
    }
    let annotations = "annotations:\n";
    let owned = format!("{annotations}    template.krm.dev/instance: Template//shops\n");
    resource_list((0..n).map(|i| deployment(i).replace(annotations, &owned)), &config)
}

fn resource_list(items: impl Iterator<Item = String>, config: &str) -> String {
    let mut out = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n".to_owned();
    for text in items {
        out += &item(&text, 0);
    }
    out += "functionConfig:\n  apiVersion: template.krm.dev/v1alpha1\n  kind: Template\n  metadata:\n    name: shops\n";
    out + config
}
