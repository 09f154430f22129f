//! Paths of files: of new objects, and to compare files with one another.

/// The file of an instance: in the directory of the functionConfig, named like the instance. A
/// function does not see all files, so none has a name that a user would choose.
pub(crate) fn of_instance(config_path: Option<&str>, name: &str) -> String {
    let name: String = name
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_') { c } else { '-' })
        .collect();
    let name = name.trim_start_matches('.');
    let name = if name.is_empty() { "template" } else { name };
    format!("{}{name}-generated.yaml", directory(config_path))
}

/// The file that an object names itself, relative to the directory of the functionConfig; `None`
/// if it lies outside of the package.
pub(crate) fn named(config_path: Option<&str>, path: &str) -> Option<String> {
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
    slash.and_then(|(path, slash)| path.get(..=slash)).unwrap_or_default()
}

/// A path from a directory, without `.` and `..`; none if it leads above the top.
pub(crate) fn joined(from: &str, path: &str) -> Option<String> {
    let is_absolute = from.starts_with('/') || path.starts_with('/');
    let from = if path.starts_with('/') { "" } else { from };
    let mut parts: Vec<&str> = Vec::new();
    for part in from.split('/').chain(path.split('/')) {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    let joined = parts.join("/");
    Some(if is_absolute { format!("/{joined}") } else { joined })
}

/// The directory that a path is in; empty at the top.
pub(crate) fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(parent, _)| parent)
}

/// Whether a path is a directory or below it.
pub(crate) fn is_within(directory: &str, path: &str) -> bool {
    directory.is_empty()
        || path.strip_prefix(directory).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// A path as seen from a directory.
pub(crate) fn relative(directory: &str, path: &str) -> String {
    let from: Vec<&str> = directory.split('/').filter(|part| !part.is_empty()).collect();
    let to: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    let shared = from.iter().zip(&to).take_while(|(one, other)| one == other);
    let shared = shared.count();
    let up = from.iter().skip(shared).map(|_| "..");
    let down = to.iter().skip(shared).copied();
    up.chain(down).collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use super::{is_within, joined, named, of_instance, relative};

    #[test]
    fn new_objects_go_beside_the_function_config() {
        assert_eq!(of_instance(None, "web"), "web-generated.yaml");
        assert_eq!(of_instance(Some("db/prod/t.yaml"), "web"), "db/prod/web-generated.yaml");
        assert_eq!(of_instance(None, "system:a/../b"), "system-a-..-b-generated.yaml");
        assert_eq!(of_instance(None, "../x"), "-x-generated.yaml");
    }

    #[test]
    fn paths_are_joined_and_compared() {
        assert_eq!(joined("/a/b", "../c.yaml").as_deref(), Some("/a/c.yaml"));
        assert_eq!(joined("", "./cfg//c.yaml").as_deref(), Some("cfg/c.yaml"));
        assert_eq!(joined("a", "../../b"), None);
        assert_eq!(joined("/a", "../../b"), None);
        assert_eq!(relative("/a/b", "/a/c/d.yaml"), "../c/d.yaml");
        assert_eq!(relative("", "c/d.yaml"), "c/d.yaml");
        assert!(is_within("/a", "/a/b") && is_within("", "b") && is_within("/a", "/a"));
        assert!(!is_within("/a", "/ab"));
    }

    #[test]
    fn an_object_may_name_its_file_within_the_package() {
        assert_eq!(named(None, "a.yaml").as_deref(), Some("a.yaml"));
        assert_eq!(named(Some("db/t.yaml"), "./s/a.yaml").as_deref(), Some("db/s/a.yaml"));
        assert_eq!(named(Some("db/t.yaml"), "../a.yaml").as_deref(), Some("a.yaml"));
        for path in ["../a.yaml", "/a.yaml", "a/../../b", "", ".", "a/", r"..\a"] {
            assert_eq!(named(None, path), None, "{path}");
        }
        assert_eq!(named(Some("db/t.yaml"), "../../a.yaml"), None);
    }
}
