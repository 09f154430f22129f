//! Reviews of the client's own identity and permissions.

use std::borrow::Cow;

use super::state::State;
use crate::http::{Answer, response};
use crate::request::{Review, ReviewFormat, content_type};
use krm_template_server_core::{Result, User, auth::reviews};

pub(crate) async fn answer(
    state: &State,
    user: &User,
    review: Review,
    content_type: Option<&str>,
    body: &[u8],
) -> Result<Answer> {
    let body = match content_type::of_review(content_type)? {
        // The first bytes distinguish JSON from protobuf.
        ReviewFormat::Json | ReviewFormat::Protobuf => Cow::Borrowed(body),
        ReviewFormat::Yaml => {
            let json = || content_type::json_of_yaml(body);
            let json = state.admission.work(body.len(), json).await?;
            Cow::Owned(json.into_bytes())
        }
    };
    let body = &*body;
    let document = match review {
        Review::Access => {
            reviews::self_subject_access_review(&state.authorizer, user, body).await?
        }
        Review::Rules => reviews::self_subject_rules_review(&state.authorizer, user, body)?,
        Review::Subject => reviews::self_subject_review(user, body)?,
    };
    Ok(response::json(201, &document))
}
