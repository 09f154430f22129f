//! A Deployment Manager request with the state it needs.

use bytes::Bytes;
use http::header::CONTENT_TYPE;

use super::{rights, shown};
use crate::api::{Incoming, State, render};
use crate::http::{Answer, YAML, response};
use crate::request::{Format, content_type};
use krm_template_server_core::{Result, Status, User};
use krm_template_server_deployments::{Input, Operation, Target};

pub(crate) struct Call<'a> {
    pub(crate) state: &'a State,
    pub(crate) incoming: &'a Incoming,
    pub(crate) user: &'a User,
    pub(crate) body: Bytes,
}

impl Call<'_> {
    pub(super) fn namespace(&self) -> &str {
        rights::namespace(self.incoming)
    }

    /// Returns the deployment with a name in the namespace of the request.
    pub(super) fn target(&self, name: &str) -> Target {
        Target { namespace: self.namespace().to_owned(), name: name.to_owned() }
    }

    /// Returns an operation. To a user without the right to get its deployment, it does not exist.
    pub(super) async fn operation(&self, name: &str) -> Result<Operation> {
        let operation = self.state.deployments.operation(name).await?;
        let wanted = rights::to_operations(&operation.namespace, &operation.deployment);
        if self.state.allows(self.user, &wanted).await? {
            Ok(operation)
        } else {
            Err(Status::not_found("", "operations", name))
        }
    }

    /// Creates a response with a JSON document in the requested format. YAML keeps the key order.
    pub(super) async fn shown(&self, code: u16, mut json: Vec<u8>) -> Answer {
        let shown = self.incoming.shown();
        let formatted = self.state.admission.work(json.len(), || {
            if shown.format == Format::Yaml
                && let Some(yaml) = shown::yaml(&json)
            {
                return response::new(code, YAML, yaml);
            }
            json.push(b'\n');
            render::finished(code, shown, json)
        });
        formatted.await
    }

    pub(super) async fn input(&self) -> Result<Input> {
        content_type::of_object(self.incoming.header(CONTENT_TYPE))?;
        let read = || krm_template_server_deployments::read(&self.body);
        self.state.admission.work(self.body.len(), read).await
    }

    /// Rejects a dry run, which deployments do not support.
    pub(super) fn refuse_dry_run(&self) -> Result<()> {
        if self.incoming.query.first("dryRun").is_none() {
            return Ok(());
        }
        let message = "dryRun is not supported for deployments; POST to /expand expands without \
                       storing anything";
        Err(Status::bad_request(message))
    }
}
