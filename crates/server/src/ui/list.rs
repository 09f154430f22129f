//! The page with the list of Templates, and its search.

use minijinja::context;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

use http::header::HOST;
use serde::Deserialize;

use super::form::Stored;
use super::pages::{self, Data};
use super::visit::{Visit, encoded, html};
use crate::api::resource_request;
use crate::http::Answer;
use crate::{codec, templates};
use krm_template_server_core::{Group, Item, Measured, Result, Status};

/// The maximum number of rows on a page.
const ROWS: usize = 100;
/// The maximum number of Templates that a request reads.
const SEARCHED: usize = 2_000;
/// The maximum number of tags to choose from.
const TAGS: usize = 30;

pub(super) async fn page(visit: &Visit<'_>) -> Result<Answer> {
    let query = &visit.incoming.query;
    let namespace = query.text("namespace").trim();
    let (groups, mut notices) = groups(visit, namespace).await?;
    let words = query.text("q").to_lowercase();
    let mut search = Search {
        words: words.split_whitespace().map(str::to_owned).collect(),
        tag: query.text("tag").to_owned(),
        now: visit.incoming.at.as_second(),
        ..Search::default()
    };
    let next = search.run(visit, &groups, namespace).await?;
    notices.extend(resource_request::left_out(&search.damaged));
    let address = |tag: &str, after: Option<&str>| {
        let after = after.unwrap_or_default();
        let pairs =
            [("namespace", namespace), ("q", query.text("q")), ("tag", tag), ("continue", after)];
        let pairs = pairs.iter().filter(|(_, value)| !value.is_empty());
        let pairs: Vec<String> =
            pairs.map(|(key, value)| format!("{key}={}", encoded(value))).collect();
        format!("/ui/?{}", pairs.join("&"))
    };
    let count = search.rows.len();
    let s = if count == 1 { "" } else { "s" };
    let more = if next.is_some() { ", and more on the next page" } else { "" };
    let list = context! {
        q => query.text("q").to_owned(),
        tag => search.tag.clone(),
        count => format!("{count} Template{s}{more}"),
        is_search => !search.words.is_empty() || !search.tag.is_empty(),
        next => next.map(|after| address(&search.tag, Some(&after))),
        tags => search.tags(|tag| address(tag, None)),
        rows => search.rows,
        command => command(&server(visit), namespace),
        notices,
    };
    let mut frame = visit.frame("list", "Templates", namespace);
    frame.namespaces = search.namespaces.into_iter().collect();
    Ok(html(200, pages::render("list.html", &frame, list)?))
}

/// Returns the groups whose Templates the user may list, and notices about the other groups.
///
/// # Errors
/// 403 if the user may list none of them.
async fn groups(visit: &Visit<'_>, namespace: &str) -> Result<(Vec<Group>, Vec<String>)> {
    let (mut groups, mut notices) = (Vec::new(), Vec::new());
    let mut refused = None;
    for group in Group::ALL {
        let object = (group, namespace, "");
        match visit.may("list", ("templates", ""), object).await {
            Ok(()) => groups.push(group),
            Err(status) => {
                let name = group.name();
                notices.push(format!("You are not allowed to list the Templates of {name} here."));
                refused = Some(status);
            }
        }
    }
    match refused {
        Some(status) if groups.is_empty() => Err(status),
        _ => Ok((groups, notices)),
    }
}

/// Returns the address of the server from the point of view of the browser.
pub(super) fn server(visit: &Visit<'_>) -> String {
    let scheme = if visit.peer.is_encrypted() { "https" } else { "http" };
    let authority = visit.incoming.uri.authority().map(http::uri::Authority::as_str);
    let host = authority.or_else(|| visit.incoming.header(HOST));
    format!("{scheme}://{}", host.unwrap_or("localhost"))
}

/// Returns the command that creates a Template from a file.
fn command(server: &str, namespace: &str) -> String {
    let namespace = match namespace {
        "" => String::new(),
        namespace => format!(" --namespace {}", pages::quoted(namespace)),
    };
    let server = pages::quoted(server);
    format!("kubectl --server {server}{namespace} create -f template.yaml")
}

/// A search and its results.
#[derive(Default)]
struct Search {
    /// The words to search for, in lowercase. A Template must have all of them.
    words: Vec<String>,
    tag: String,
    now: i64,
    rows: Vec<Data>,
    tags: BTreeMap<String, usize>,
    namespaces: BTreeSet<String>,
    /// The keys of damaged Templates, which are left out.
    damaged: Vec<String>,
}

impl Search {
    /// Searches until a page is full. Returns the name after which the next page begins.
    async fn run(
        &mut self,
        visit: &Visit<'_>,
        groups: &[Group],
        namespace: &str,
    ) -> Result<Option<String>> {
        let begin = visit.incoming.query.first("continue");
        let mut all = Merged::new(&visit.state.store, groups, namespace, begin);
        let mut last = None;
        let mut searched = 0;
        let mut next = None;
        while let Some((name, item)) = all.next().await? {
            // Keep Templates with the same name on the same page.
            let is_full = self.rows.len() >= ROWS || searched >= SEARCHED;
            if is_full && last.as_ref() != Some(&name) {
                next = last;
                break;
            }
            searched += 1;
            let bytes = item.value.len();
            let search = || self.search(item);
            visit.state.admission.work(bytes, search).await;
            last = Some(name);
        }
        self.damaged.append(&mut all.damaged);
        Ok(next)
    }

    /// Returns the most frequent tags, the selected one first. `address` returns the address of the
    /// list with a tag.
    fn tags(&self, address: impl Fn(&str) -> String) -> Vec<Data> {
        let tags = self.tags.iter().map(|(name, count)| (*name == self.tag, count, name));
        let mut tags: Vec<_> = tags.collect();
        tags.sort_by_key(|(is_chosen, count, _)| Reverse((*is_chosen, *count)));
        let tags = tags.into_iter().take(TAGS).map(|(is_chosen, count, name)| {
            let href = address(if is_chosen { "" } else { name });
            context! { name, href, count, is_chosen }
        });
        tags.collect()
    }

    fn search(&mut self, item: Item) {
        let Ok(stored) = codec::Stored::decode(&item.value) else {
            self.damaged.push(item.key);
            return;
        };
        self.namespaces.insert(stored.namespace().to_owned());
        let mut json = Vec::new();
        codec::encode::object((&stored, item.revision), &mut json);
        let head: Head = serde_json::from_slice(&json).unwrap_or_default();
        let tags = templates::tags(head.annotation("tags"));
        let title = head.annotation("openshift.io/display-name");
        let title = if title.is_empty() { stored.name() } else { title };
        let text = head.annotation("description").trim();
        let line = text.lines().next().unwrap_or_default();
        let all = [stored.name(), title, text, &tags.join(" ")].join(" ").to_lowercase();
        if !self.words.iter().all(|word| all.contains(word.as_str())) {
            return;
        }
        for tag in &tags {
            *self.tags.entry(tag.clone()).or_default() += 1;
        }
        if !self.tag.is_empty() && !tags.contains(&self.tag) {
            return;
        }
        let shown =
            Stored { group: stored.group(), namespace: stored.namespace(), name: stored.name() };
        let required = head.parameters.iter().filter(|one| one.is_needed()).count();
        let created = head.text("creationTimestamp");
        self.rows.push(context! {
            href => shown.address(),
            letter => title
                .chars()
                .find(|one| one.is_alphanumeric())
                .map_or_else(|| "T".to_owned(), |letter| letter.to_uppercase().collect()),
            tone => stored.name().bytes().map(usize::from).sum::<usize>() % pages::TONES,
            icon => head.annotation("iconClass").to_owned(),
            title => title.to_owned(),
            code => format!("{}/{}", stored.namespace(), stored.name()),
            text => line.to_owned(),
            parameters => match (head.parameters.len(), required) {
                (0, _) => "no parameters".to_owned(),
                (1, 0) => "1 parameter".to_owned(),
                (1, _) => "1 parameter, 1 required".to_owned(),
                (count, 0) => format!("{count} parameters"),
                (count, required) => format!("{count} parameters, {required} required"),
            },
            age => ago(created, self.now),
            created => created.to_owned(),
            tags,
        });
    }
}

/// The fields of a Template that the list shows.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Head {
    metadata: serde_json::Map<String, serde_json::Value>,
    #[serde(deserialize_with = "any_list")]
    parameters: Vec<Parameter>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Parameter {
    required: serde_json::Value,
    value: serde_json::Value,
    generate: serde_json::Value,
}

fn any_list<'d, D: serde::Deserializer<'d>>(
    from: D,
) -> std::result::Result<Vec<Parameter>, D::Error> {
    let list: Option<Vec<Option<Parameter>>> = Deserialize::deserialize(from)?;
    Ok(list.unwrap_or_default().into_iter().flatten().collect())
}

impl Parameter {
    fn is_needed(&self) -> bool {
        let is_empty = |value: &serde_json::Value| value.is_null() || value == "";
        self.required == true && is_empty(&self.value) && is_empty(&self.generate)
    }
}

impl Head {
    fn text(&self, key: &str) -> &str {
        let value = self.metadata.get(key);
        value.and_then(serde_json::Value::as_str).unwrap_or_default()
    }

    fn annotation(&self, key: &str) -> &str {
        let value = self.metadata.get("annotations").and_then(|all| all.get(key));
        value.and_then(serde_json::Value::as_str).unwrap_or_default()
    }
}

/// Returns the age of a timestamp in words.
pub(super) fn ago(created: &str, now: i64) -> String {
    let Ok(created) = created.parse::<jiff::Timestamp>() else {
        return String::new();
    };
    let seconds = now - created.as_second();
    let (count, unit) = match seconds {
        ..60 => return "just now".to_owned(),
        60..3_600 => (seconds / 60, "minute"),
        3_600..86_400 => (seconds / 3_600, "hour"),
        86_400..2_592_000 => (seconds / 86_400, "day"),
        2_592_000..31_536_000 => (seconds / 2_592_000, "month"),
        _ => (seconds / 31_536_000, "year"),
    };
    let s = if count == 1 { "" } else { "s" };
    format!("{count} {unit}{s} ago")
}

/// The number of Templates to read at once.
const CHUNK: usize = 200;

/// The stored Templates of several groups as one list.
struct Merged<'m> {
    store: &'m Measured,
    lists: Vec<Listed>,
    /// The keys of damaged Templates, which are left out.
    pub(super) damaged: Vec<String>,
}

/// The Templates of one group.
struct Listed {
    /// The key prefix of the group.
    group: String,
    /// The key prefix of the list.
    prefix: String,
    /// The last key that was read.
    after: Option<String>,
    items: VecDeque<Item>,
    is_read: bool,
}

impl<'m> Merged<'m> {
    /// Lists the Templates after `NAMESPACE/NAME`: in a namespace or, if it is empty, in all.
    pub(super) fn new(
        store: &'m Measured,
        groups: &[Group],
        namespace: &str,
        name: Option<&str>,
    ) -> Self {
        let lists = groups.iter().map(|group| {
            let group = format!("/{}/templates/", group.name());
            let prefix = match namespace {
                "" => group.clone(),
                namespace => format!("{group}{namespace}/"),
            };
            let after = name.map(|name| format!("{group}{name}"));
            Listed {
                after: after.filter(|after| after.starts_with(&prefix)),
                group,
                prefix,
                items: VecDeque::new(),
                is_read: false,
            }
        });
        Self { store, lists: lists.collect(), damaged: Vec::new() }
    }

    /// Returns the next Template and its `NAMESPACE/NAME`. Templates of different groups can
    /// have the same one.
    pub(super) async fn next(&mut self) -> Result<Option<(String, Item)>> {
        for list in &mut self.lists {
            self.damaged.extend(list.read(self.store).await?);
        }
        let lists = self.lists.iter_mut();
        let first = lists
            .filter(|list| !list.items.is_empty())
            .min_by(|one, other| one.name().cmp(&other.name()));
        Ok(first.and_then(|list| {
            let name = list.name()?.to_owned();
            Some((name, list.items.pop_front()?))
        }))
    }
}

impl Listed {
    /// Returns `NAMESPACE/NAME` of the next Template.
    fn name(&self) -> Option<&str> {
        self.items.front()?.key.strip_prefix(&self.group)
    }

    /// Reads more Templates if none are left. Returns the keys of damaged ones.
    async fn read(&mut self, store: &Measured) -> Result<Vec<String>> {
        if self.is_read || !self.items.is_empty() {
            return Ok(Vec::new());
        }
        let listed = store.list(&self.prefix, self.after.as_deref(), CHUNK, None);
        let page = listed.await.map_err(|error| {
            tracing::warn!(%error, "the store cannot be listed");
            Status::unavailable("the store is unavailable, please try again later")
        })?;
        self.is_read = page.remaining == 0;
        self.items.extend(page.items);
        self.after = self.items.back().map(|item| item.key.clone());
        self.is_read |= self.items.is_empty();
        Ok(page.damaged)
    }
}
