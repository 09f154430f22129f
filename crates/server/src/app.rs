//! The handling of a request: limits, authentication, authorization, dispatch, audit.

use std::net::SocketAddr;
use std::sync::Arc;

use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE, HOST, HeaderName, HeaderValue, USER_AGENT};
use http::request::Parts;
use http::uri::{Authority, PathAndQuery};
use http::{Method, Request};
use http_body::Body as HttpBody;
use http_body_util::BodyExt as _;
use jiff::Timestamp;
use tokio::time::Instant;
use tracing::Instrument as _;
use uuid::Uuid;

use crate::api::long_running::{self, Rights};
use crate::api::{AuditFields, Call, Incoming, State, documents, reviews, store_dump};
use crate::codec::decode;
use crate::deployments;
use crate::http::{Answer, JSON, response};
use crate::registry::{delete, list, objects, process, watch};
use crate::request::{
    DeploymentPath, Handler, Path, Query, Resource, Verb, content_type, path, resources,
};
use crate::{instances, ui};
use krm_template_server_core::{
    Attributes, Class, Group, Kind, Peer, Result, Status, User, auth::is_health,
    flow_control::body, panics, telemetry::audit, telemetry::logging::request_span,
};

/// The handler of all requests. Clones share their state.
#[derive(Clone)]
pub struct App(Arc<State>);

/// The status code in the audit log and the metrics if the client disconnects before the response.
///
/// Source: nginx, `NGX_HTTP_CLIENT_CLOSED_REQUEST`.
const CLIENT_LEFT: u16 = 499;

/// The header with the trace of a client.
const TRACE_PARENT: HeaderName = HeaderName::from_static("traceparent");

/// A guard that counts and audits a request when it is dropped, even if the client disconnects.
struct RequestGuard {
    app: App,
    address: SocketAddr,
    incoming: Arc<Incoming>,
    audited: AuditFields,
    id: Uuid,
    began: Instant,
    code: u16,
    bytes_out: u64,
}

impl App {
    /// Creates a handler with the given state.
    #[must_use]
    pub fn new(state: State) -> Self {
        Self(Arc::new(state))
    }

    /// Returns the state for what works beside requests.
    pub fn share(&self) -> Arc<State> {
        Arc::clone(&self.0)
    }

    /// Returns the state that all requests share.
    pub fn state(&self) -> &State {
        &self.0
    }

    /// Handles a request. A panic results in a 500 response.
    pub async fn answer(
        &self,
        request: Request<impl HttpBody<Error: std::error::Error + Send + Sync + 'static>>,
        peer: &Arc<Peer>,
    ) -> Answer {
        let began = Instant::now();
        let (mut parts, body) = request.into_parts();
        complete(&mut parts, body.is_end_stream());
        let target = parts.uri.path_and_query();
        let checked = self
            .0
            .limits
            .check_url(target.map_or("", PathAndQuery::as_str))
            .and_then(|()| Query::parse(parts.uri.query().unwrap_or_default()));
        let (query, wrong) = match checked {
            Ok(query) => (query, None),
            Err(status) => (Query::default(), Some(status)),
        };
        let incoming = Arc::new(Incoming {
            path: path::parse(&parts.method, parts.uri.path(), &query),
            method: parts.method,
            uri: parts.uri,
            headers: parts.headers,
            query,
            at: Timestamp::now(),
        });
        let mut guard = RequestGuard {
            app: self.clone(),
            address: peer.address(),
            incoming,
            audited: AuditFields::default(),
            id: audit::new_id(),
            began,
            code: CLIENT_LEFT,
            bytes_out: 0,
        };
        let id = guard.id.to_string();
        let span = request_span(&id, guard.incoming.header(TRACE_PARENT));
        let handled = match wrong {
            Some(status) => Err(status),
            None => {
                self.guarded(&guard.incoming, body, peer, &mut guard.audited).instrument(span).await
            }
        };
        let mut answer = handled.unwrap_or_else(|status| guard.incoming.refusal(&status));
        if let Ok(id) = HeaderValue::from_str(&id) {
            answer.headers_mut().insert("audit-id", id);
        }
        guard.code = answer.status().as_u16();
        if guard.code == 401 && guard.has_token() {
            self.0.authenticator.slow_down(peer).await;
        }
        if let Some(bytes) = answer.body().size_hint().exact() {
            guard.bytes_out = bytes;
            return answer;
        }
        guard.lasting(answer, peer)
    }

    /// Handles a request within the request timeout, and catches panics.
    async fn guarded(
        &self,
        incoming: &Incoming,
        body: impl HttpBody<Error: std::error::Error + Send + Sync + 'static>,
        peer: &Peer,
        audited: &mut AuditFields,
    ) -> Result<Answer> {
        // Each of the following futures would copy it.
        let handled = Box::pin(self.handle(incoming, body, peer, audited));
        let handled = panics::caught(&self.0.metrics, handled);
        tokio::time::timeout(self.0.limits.request_timeout, handled)
            .await
            .unwrap_or_else(|_| Err(self.0.limits.timed_out()))
    }

    async fn handle(
        &self,
        incoming: &Incoming,
        body: impl HttpBody<Error: std::error::Error + Send + Sync + 'static>,
        peer: &Peer,
        audited: &mut AuditFields,
    ) -> Result<Answer> {
        let state = &*self.0;
        if let Path::Health(health, check) = &incoming.path {
            return documents::health(state, incoming, *health, check.as_deref()).await;
        }
        if let Path::Ui(segments) = &incoming.path {
            // Boxed, like other futures that few requests need: all would be as large as these.
            return Box::pin(ui::answer((state, incoming, peer), segments, body, audited)).await;
        }
        if incoming.path == Path::Root && ui::wants_pages(incoming) {
            return Ok(ui::to_list());
        }
        audited.user = state.authenticator.authenticate(&incoming.headers, peer).await?;
        let Path::Resource(resource) = &incoming.path else {
            if let Path::Deployments(path) = &incoming.path {
                return Box::pin(self.deployments(incoming, path, body, audited)).await;
            }
            return self.document(incoming, &audited.user).await;
        };
        self.requested(incoming, resource, body, audited).await
    }

    /// Handles a request for a resource.
    async fn requested(
        &self,
        incoming: &Incoming,
        resource: &Resource,
        body: impl HttpBody<Error: std::error::Error + Send + Sync + 'static>,
        audited: &mut AuditFields,
    ) -> Result<Answer> {
        let state = &*self.0;
        let is_read = matches!(resource.verb, Some(Verb::Get | Verb::List | Verb::Watch) | None);
        // An open watch holds its own permit, of `Class::Watch`.
        let permit = state.admission.enter(if is_read { Class::Read } else { Class::Write })?;
        // Do not read the body of an unauthorized request.
        if resource.group_from_body {
            self.authorize_any(&audited.user, resource).await?;
        } else {
            self.0.authorize(&audited.user, &resource.attributes()).await?;
        }
        let body = if is_read {
            Bytes::new()
        } else {
            body::read(body, state.limits.max_body_bytes, state.limits.read_timeout).await?
        };
        audited.bytes_in = u64::try_from(body.len()).unwrap_or(u64::MAX);
        let resource = if resource.group_from_body {
            let mut resource = resource.clone();
            if let Ok(format) = content_type::of_template(incoming.header(CONTENT_TYPE)) {
                let group = || decode::group(format, &body);
                if let Some(group) = state.admission.work(body.len(), group).await {
                    resource.take_group(group.api_version());
                }
            }
            let resource = audited.resource.insert(resource);
            self.0.authorize(&audited.user, &resource.attributes()).await?;
            resource
        } else {
            resource
        };
        let handled = self.resource(incoming, resource, &audited.user, body);
        let answer = handled.await?;
        if resource.verb == Some(Verb::Watch) {
            return Ok(answer);
        }
        Ok(response::held(answer, permit))
    }

    /// Authorizes a request whose body names the group, before the body is read: the user needs the
    /// permission in one group at least.
    async fn authorize_any(&self, user: &User, resource: &Resource) -> Result<()> {
        let mut refused = Ok(());
        for group in Group::ALL {
            let mut resource = resource.clone();
            resource.take_group(group.api_version());
            let decision = self.0.authorize(user, &resource.attributes()).await;
            if decision.is_ok() {
                return Ok(());
            }
            refused = refused.and(decision);
        }
        refused
    }

    /// Handles a Deployment Manager request.
    async fn deployments(
        &self,
        incoming: &Incoming,
        path: &DeploymentPath,
        body: impl HttpBody<Error: std::error::Error + Send + Sync + 'static>,
        audited: &mut AuditFields,
    ) -> Result<Answer> {
        let state = &*self.0;
        if let Some(wanted) = deployments::rights::of_request(incoming, path) {
            state.authorize(&audited.user, &wanted).await?;
        }
        let is_read = deployments::is_read(&incoming.method);
        let class = if is_read { Class::Read } else { Class::Write };
        let permit = state.admission.enter(class)?;
        let limits = &state.limits;
        let body = if is_read {
            Bytes::new()
        } else {
            body::read(body, limits.max_body_bytes, limits.read_timeout).await?
        };
        audited.bytes_in = u64::try_from(body.len()).unwrap_or(u64::MAX);
        let call = deployments::Call { state, incoming, user: &audited.user, body };
        let answer = deployments::answer(&call, path).await?;
        Ok(response::held(answer, permit))
    }

    async fn document(&self, incoming: &Incoming, user: &User) -> Result<Answer> {
        let state = &*self.0;
        let verb = incoming.method.as_str().to_ascii_lowercase();
        let wanted = Attributes::on_path(&verb, incoming.uri.path());
        state.authorize(user, &wanted).await?;
        let permit = state.admission.enter(Class::Read)?;
        if incoming.path == Path::Metrics {
            state.measure().await;
        }
        if incoming.path == Path::StoreDump && incoming.method == Method::GET {
            return Ok(response::held(Box::pin(store_dump::answer(state)).await?, permit));
        }
        Ok(response::held(documents::answer(state, incoming)?, permit))
    }

    async fn resource(
        &self,
        incoming: &Incoming,
        resource: &Resource,
        user: &User,
        body: Bytes,
    ) -> Result<Answer> {
        let state = &*self.0;
        let (handler, verb) = resources::of(resource, state.is_standalone)?;
        let name = resource.name.as_deref().unwrap_or_default();
        match handler {
            Handler::Namespace => return Ok(documents::namespace(incoming, name)),
            Handler::Review(review) => {
                let content_type = incoming.header(CONTENT_TYPE);
                return reviews::answer(state, user, review, content_type, &body).await;
            }
            _ => {}
        }
        let group = Group::named(&resource.group).ok_or_else(Status::no_such_path)?;
        let namespace = resource.namespace.as_deref().unwrap_or_default();
        let call = Call {
            kind: Kind::of_resource(&resource.resource).unwrap_or(Kind::Template),
            is_status: handler == Handler::Status,
            body,
            ..Call::new(state, user, incoming, (group, namespace))
        };
        match handler {
            Handler::Process => process::process(&call).await,
            Handler::ProcessStored => {
                let get = Attributes { verb: "get", subresource: "", ..resource.attributes() };
                state.authorize(user, &get).await?;
                process::process_stored(&call, name).await
            }
            Handler::Schema => process::schema(&call, name).await,
            Handler::Revisions => instances::revisions::answer(&call, name).await,
            Handler::Preview => {
                let update = Attributes::on("update", (group, call.kind), namespace, name);
                state.authorize(user, &update).await?;
                instances::preview::answer(&call, name).await
            }
            _ => objects(&call, verb, name).await,
        }
    }
}

impl RequestGuard {
    /// Lets a response of unknown length end with the rights of its user. It is counted at its end,
    /// but a watch at its beginning.
    fn lasting(self, answer: Answer, peer: &Arc<Peer>) -> Answer {
        let is_watch = self.is_watch();
        let rights = Rights {
            state: self.app.share(),
            incoming: Arc::clone(&self.incoming),
            peer: Arc::clone(peer),
            user: self.audited.user.clone(),
            resource: self.resource().cloned(),
        };
        let answer = answer.map(|body| long_running::renewed(body, rights, is_watch));
        if is_watch {
            return answer;
        }
        let mut guard = self;
        answer.map(|body| {
            // The guard as a whole lives as long as the body.
            let counted = body.map_frame(move |frame| {
                let guard: &mut Self = &mut guard;
                guard.bytes_out += frame.data_ref().map_or(0, Bytes::len) as u64;
                frame
            });
            counted.boxed_unsync()
        })
    }

    /// Returns `true` if a request without a valid user has a token: in a header, or to log in.
    fn has_token(&self) -> bool {
        let is_login = matches!(&self.incoming.path, Path::Ui(path) if path == &["login"]);
        self.audited.user.name.is_empty()
            && self.app.0.authenticator.takes_tokens()
            && (self.incoming.headers.contains_key(AUTHORIZATION)
                || (is_login && self.incoming.method == Method::POST))
    }

    fn resource(&self) -> Option<&Resource> {
        let of_path = match &self.incoming.path {
            Path::Resource(resource) => Some(resource),
            _ => None,
        };
        self.audited.resource.as_ref().or(of_path)
    }

    fn is_watch(&self) -> bool {
        let resource = self.resource();
        resource.is_some_and(|resource| resource.verb == Some(Verb::Watch))
    }
}

impl Drop for RequestGuard {
    fn drop(&mut self) {
        let Self { app: App(state), incoming, audited, .. } = &*self;
        let asked = self.resource();
        let method = incoming.method.as_str().to_ascii_lowercase();
        let verb = match asked.and_then(|asked| asked.verb) {
            Some(verb) => verb.name(),
            None => method.as_str(),
        };
        let text = |field: fn(&Resource) -> Option<&str>| asked.and_then(field).unwrap_or_default();
        let elapsed = self.began.elapsed();
        let measured = (verb != "watch").then_some(elapsed);
        state.metrics.observe_request(resources::labels(verb, asked), self.code, measured);
        let path = incoming.uri.path();
        if is_health(path) {
            return;
        }
        state.audit.record(&audit::Entry {
            time: incoming.at,
            id: self.id,
            user: &audited.user.name,
            groups: &audited.user.groups,
            verb,
            path: if asked.is_some() { "" } else { path },
            group: text(|asked| Some(&asked.group)),
            resource: text(|asked| Some(&asked.resource)),
            namespace: text(|asked| asked.namespace.as_deref()),
            name: text(|asked| asked.name.as_deref()),
            subresource: text(|asked| asked.subresource.as_deref()),
            dry_run: incoming.query.first("dryRun").is_some(),
            code: self.code,
            bytes_in: audited.bytes_in,
            bytes_out: self.bytes_out,
            elapsed,
            address: &self.address.to_string(),
            user_agent: incoming.header(USER_AGENT).unwrap_or_default(),
        });
    }
}

/// Handles a request for stored objects.
async fn objects(call: &Call<'_>, verb: Verb, name: &str) -> Result<Answer> {
    match verb {
        Verb::Create => objects::create(call).await,
        Verb::Get => objects::get(call, name).await,
        Verb::Update => objects::update(call, name).await,
        Verb::Patch => objects::patch(call, name).await,
        Verb::Delete => delete::delete(call, name).await,
        Verb::DeleteCollection => delete::delete_collection(call).await,
        Verb::List => list::list(call).await,
        Verb::Watch => watch::watch(call).await,
    }
}

/// Adds the headers that handlers rely on.
///
/// As in Go, the authority of the target replaces `Host`. Without `Content-Type`, a body has an
/// unknown type, as a page of another site can send it. `kubectl create --raw` omits the header,
/// but sends another one that no page can set.
fn complete(parts: &mut Parts, is_empty: bool) {
    let host = parts.uri.authority().map(Authority::as_str);
    if let Some(Ok(host)) = host.map(HeaderValue::from_str) {
        parts.headers.insert(HOST, host);
    }
    let is_json = is_empty || parts.headers.contains_key("kubectl-command");
    if is_json && !parts.headers.contains_key(CONTENT_TYPE) {
        let json = HeaderValue::from_static(JSON);
        parts.headers.insert(CONTENT_TYPE, json);
    }
}
