//! The files that new objects are kept in.

/// The file of an instance: in the directory of the functionConfig, named like the instance, and
/// never one of `taken`.
pub(super) fn of_instance(config_path: Option<&str>, name: &str, taken: &[&str]) -> String {
    let name: String = name
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_') {
                c
            } else {
                '-'
            }
        })
        .collect();
    let name = name.trim_start_matches('.');
    let name = if name.is_empty() { "template" } else { name };
    let directory = directory(config_path);
    let path = format!("{directory}{name}.yaml");
    if taken.contains(&path.as_str()) {
        format!("{directory}{name}-generated.yaml")
    } else {
        path
    }
}

/// The file that an object names itself, relative to the directory of the functionConfig; `None`
/// if it lies outside of the package.
pub(super) fn named(config_path: Option<&str>, path: &str) -> Option<String> {
    if path.starts_with('/') || path.contains(['\\', '\0', '\n']) {
        return None;
    }
    let mut parts: Vec<&str> = Vec::new();
    for part in directory(config_path).split('/').chain(path.split('/')) {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    let is_file = !path.ends_with('/') && !parts.is_empty();
    is_file.then(|| parts.join("/"))
}

/// The directory of a file, with its slash.
fn directory(path: Option<&str>) -> &str {
    let slash = path.and_then(|path| Some((path, path.rfind('/')?)));
    slash
        .and_then(|(path, slash)| path.get(..=slash))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::{named, of_instance};

    #[test]
    fn new_objects_go_beside_the_function_config() {
        assert_eq!(of_instance(None, "web", &[]), "web.yaml");
        assert_eq!(of_instance(Some("t.yaml"), "web", &["t.yaml"]), "web.yaml");
        assert_eq!(
            of_instance(Some("db/prod/t.yaml"), "web", &[]),
            "db/prod/web.yaml"
        );
        assert_eq!(
            of_instance(Some("db/web.yaml"), "web", &["db/web.yaml"]),
            "db/web-generated.yaml"
        );
        assert_eq!(
            of_instance(None, "system:a/../b", &[]),
            "system-a-..-b.yaml"
        );
        assert_eq!(of_instance(None, "../x", &[]), "-x.yaml");
    }

    #[test]
    fn an_object_may_name_its_file_within_the_package() {
        assert_eq!(named(None, "a.yaml").as_deref(), Some("a.yaml"));
        assert_eq!(
            named(Some("db/t.yaml"), "./s/a.yaml").as_deref(),
            Some("db/s/a.yaml")
        );
        assert_eq!(
            named(Some("db/t.yaml"), "../a.yaml").as_deref(),
            Some("a.yaml")
        );
        for path in ["../a.yaml", "/a.yaml", "a/../../b", "", ".", "a/", r"..\a"] {
            assert_eq!(named(None, path), None, "{path}");
        }
        assert_eq!(named(Some("db/t.yaml"), "../../a.yaml"), None);
    }
}
