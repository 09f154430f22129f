//! Small changes, and the text that a person would make by hand.

use crate::peers::{Change, Kind, New, Peer};

pub struct Case {
    pub name: &'static str,
    text: &'static str,
    document: usize,
    path: &'static str,
    kind: Kind,
    /// The texts that would do; none where an error is right.
    pub expected: &'static [&'static str],
}

impl Case {
    pub fn run(&self, peer: Peer) -> Result<String, String> {
        let path = self.path.parse().map_err(|error| format!("{error}"))?;
        let (document, kind) = (self.document, self.kind);
        peer.edit(self.text, &[Change { document, path, kind }])
    }

    /// Whether a crate did what the case expects.
    pub fn is_met_by(&self, result: &Result<String, String>) -> bool {
        match result {
            Ok(text) => self.expected.contains(&text.as_str()),
            Err(_) => self.expected.is_empty(),
        }
    }
}

const fn case(
    name: &'static str,
    text: &'static str,
    (path, kind): (&'static str, Kind),
    expected: &'static [&'static str],
) -> Case {
    Case { name, text, document: 0, path, kind, expected }
}

const fn set(path: &'static str, text: &'static str) -> (&'static str, Kind) {
    (path, Kind::Set(New::Text(text)))
}

const fn add(path: &'static str, text: &'static str) -> (&'static str, Kind) {
    (path, Kind::Add(New::Text(text)))
}

const fn remove(path: &'static str) -> (&'static str, Kind) {
    (path, Kind::Remove)
}

const fn push(path: &'static str, text: &'static str) -> (&'static str, Kind) {
    (path, Kind::Push(New::Text(text)))
}

pub const CASES: &[Case] = &[
    case(
        "comments stay",
        "# The shop.\nspec:\n  # For the holidays.\n  replicas: two # soon three\n\n  paused: false\n",
        set("spec.replicas", "three"),
        &[
            "# The shop.\nspec:\n  # For the holidays.\n  replicas: three # soon three\n\n  paused: false\n",
        ],
    ),
    case(
        "single quotes of the changed value stay",
        "image: 'web:1' # pinned\n",
        set("image", "web:2"),
        &["image: 'web:2' # pinned\n"],
    ),
    case(
        "double quotes stay",
        "image: \"web:1\"\n",
        set("image", "web:2"),
        &["image: \"web:2\"\n"],
    ),
    case(
        "a block of text stays one",
        "data:\n  a.conf: |\n    listen 80\n    root /srv\n  b: x\n",
        set("data[a.conf]", "listen 81\nroot /srv\n"),
        &["data:\n  a.conf: |\n    listen 81\n    root /srv\n  b: x\n"],
    ),
    case(
        "spaces before a value and a comment stay",
        "kind:     Pod\nname:     web      # short\n",
        set("name", "shop"),
        &["kind:     Pod\nname:     shop      # short\n"],
    ),
    case(
        "line breaks of Windows stay",
        "spec:\r\n  image: web:1 # pinned\r\n  paused: false\r\n",
        set("spec.image", "web:2"),
        &["spec:\r\n  image: web:2 # pinned\r\n  paused: false\r\n"],
    ),
    case(
        "a new entry has the line breaks of Windows",
        "labels:\r\n  app: web\r\n",
        add("labels.tier", "front"),
        &["labels:\r\n  app: web\r\n  tier: front\r\n"],
    ),
    case(
        "a byte order mark stays",
        "\u{feff}kind: Pod\nname: web\n",
        set("name", "shop"),
        &["\u{feff}kind: Pod\nname: shop\n"],
    ),
    case(
        "a text without a last line break",
        "kind: Pod\nname: web",
        set("name", "shop"),
        &["kind: Pod\nname: shop"],
    ),
    case(
        "braces on one line",
        "requests: {cpu: 250m, memory: 1Gi} # least\n",
        set("requests.cpu", "500m"),
        &["requests: {cpu: 500m, memory: 1Gi} # least\n"],
    ),
    case(
        "a new entry in braces on one line",
        "requests: {cpu: 250m} # least\n",
        add("requests.memory", "1Gi"),
        &["requests: {cpu: 250m, memory: 1Gi} # least\n"],
    ),
    case(
        "a new entry in braces on several lines (JSON)",
        "{\n  \"kind\": \"Pod\",\n  \"metadata\": {\n    \"name\": \"web\"\n  }\n}\n",
        add("metadata.namespace", "shop"),
        &[
            "{\n  \"kind\": \"Pod\",\n  \"metadata\": {\n    \"name\": \"web\",\n    \"namespace\": \"shop\"\n  }\n}\n",
        ],
    ),
    case(
        "a new item in brackets",
        "args: [\"--a\", \"--b\"] # all\n",
        push("args", "--c"),
        &["args: [\"--a\", \"--b\", \"--c\"] # all\n"],
    ),
    case(
        "a new item at the column of its list",
        "args:\n- a # first\n- b\n# The image.\nimage: web\n",
        push("args", "c"),
        &["args:\n- a # first\n- b\n- c\n# The image.\nimage: web\n"],
    ),
    case(
        "a new entry at the column of the others (4)",
        "metadata:\n    name: web\n    labels:\n        app: web\nkind: Pod\n",
        add("metadata.labels.tier", "front"),
        &[
            "metadata:\n    name: web\n    labels:\n        app: web\n        tier: front\nkind: Pod\n",
        ],
    ),
    case(
        "a new entry in `{}`",
        "metadata:\n  labels: {}\n  name: web\n",
        add("metadata.labels.app", "web"),
        &["metadata:\n  labels:\n    app: web\n  name: web\n"],
    ),
    case(
        "an entry is removed with its comments",
        "a: 1\n# Why b.\nb: 2 # two\n\nc: 3\n",
        remove("b"),
        &["a: 1\n\nc: 3\n"],
    ),
    case(
        "the last item is removed",
        "args:\n- a\n# The second.\n- b # two\nimage: web\n",
        remove("args[1]"),
        &["args:\n- a\nimage: web\n"],
    ),
    case(
        "a key with dots and a slash",
        "annotations:\n  example.com/owner: me # now\n",
        set("annotations[example.com/owner]", "you"),
        &["annotations:\n  example.com/owner: you # now\n"],
    ),
    case(
        "text that a reader takes for a bool gets quotes",
        "mode: plain\n",
        set("mode", "on"),
        &["mode: \"on\"\n", "mode: 'on'\n"],
    ),
    case(
        "text that a reader takes for a number gets quotes",
        "mode: plain\n",
        set("mode", "0644"),
        &["mode: \"0644\"\n", "mode: '0644'\n"],
    ),
    case(
        "text that a reader takes for a time gets quotes",
        "at: plain\n",
        set("at", "2026-11-27"),
        &["at: \"2026-11-27\"\n", "at: '2026-11-27'\n"],
    ),
    case(
        "an alias keeps the value that it has",
        "a: &size 1Gi\nb: *size\n",
        set("a", "2Gi"),
        &["a: &size 2Gi\nb: 1Gi\n", "a: 2Gi\nb: 1Gi\n"],
    ),
    case(
        "an anchor elsewhere stays",
        "base: &base\n  cpu: 1 # one\nweb: *base\nname: x\n",
        set("name", "shop"),
        &["base: &base\n  cpu: 1 # one\nweb: *base\nname: shop\n"],
    ),
    case(
        "a merged value is changed where it is used",
        "base: &base\n  cpu: a\nweb:\n  <<: *base\n  name: x\n",
        add("web.cpu", "b"),
        &["base: &base\n  cpu: a\nweb:\n  <<: *base\n  name: x\n  cpu: b\n"],
    ),
    Case {
        document: 1,
        ..case(
            "the second document of a stream",
            "# One.\nname: a\n---\n# Two.\nname: b # last\n",
            set("name", "c"),
            &["# One.\nname: a\n---\n# Two.\nname: c # last\n"],
        )
    },
    case("a duplicate key is an error", "name: a\nkind: Pod\nname: b\n", set("kind", "Job"), &[]),
];
