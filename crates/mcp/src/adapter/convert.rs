//! From this crate's types to those of the SDK.

use std::sync::Arc;

use rmcp::model::{
    CallToolResult, ContentBlock, GetPromptResult, JsonObject, MetaObject, PromptArgument,
    PromptMessage, ReadResourceResult, ResourceContents, Role, ToolAnnotations,
};
use serde_json::Value;

use crate::content::{Body, Content, Contents};
use crate::server::{Hints, Prompt, PromptText, Resource, Speaker, Template, Tool, ToolAnswer};

pub(super) fn tool(tool: Tool) -> rmcp::model::Tool {
    let annotations = match tool.hints {
        Hints::ReadOnly => ToolAnnotations::new().read_only(true),
        Hints::Idempotent => ToolAnnotations::new().destructive(false).idempotent(true),
        Hints::Adds => ToolAnnotations::new().destructive(false),
        Hints::Destructive => ToolAnnotations::new().destructive(true),
    };
    // All of them work on what is on this machine; some clients ask for a person's yes where that is not said. Of what only
    // reads they do not ask, and of what takes away they do in any case.
    let annotations = match tool.hints {
        Hints::ReadOnly | Hints::Destructive => annotations,
        _ => annotations.open_world(false),
    };
    let mut converted = rmcp::model::Tool::new(tool.name, tool.description, object(tool.input))
        .with_title(tool.title)
        .with_annotations(annotations);
    converted.output_schema = tool.output.map(object);
    converted.meta = tool
        .meta
        .and_then(|meta| serde_json::from_value::<MetaObject>(meta).ok());
    converted
}

fn object(schema: Value) -> Arc<JsonObject> {
    match schema {
        Value::Object(object) => Arc::new(object),
        _ => Arc::default(),
    }
}

pub(super) fn answer(answer: ToolAnswer) -> CallToolResult {
    let content = answer.content.into_iter().map(block).collect();
    let mut result = if answer.failed {
        CallToolResult::error(content)
    } else {
        CallToolResult::success(content)
    };
    result.structured_content = answer.structured;
    // Absent means false.
    result.is_error = answer.failed.then_some(true);
    result
}

fn block(content: Content) -> ContentBlock {
    match content {
        Content::Text(text) => ContentBlock::text(text),
        Content::Image { data, mime } => ContentBlock::image(data, mime),
        Content::Audio { data, mime } => ContentBlock::audio(data, mime),
        Content::Resource(contents) => ContentBlock::resource(resource_contents(contents)),
    }
}

fn resource_contents(contents: Contents) -> ResourceContents {
    match contents.body {
        Body::Text(text) => ResourceContents::text(text, contents.uri),
        Body::Blob(blob) => ResourceContents::blob(blob, contents.uri),
    }
    .with_mime_type(contents.mime)
}

pub(super) fn contents(contents: Vec<Contents>) -> ReadResourceResult {
    ReadResourceResult::new(contents.into_iter().map(resource_contents).collect())
}

pub(super) fn resource(resource: Resource) -> rmcp::model::Resource {
    let mut converted =
        rmcp::model::Resource::new(resource.uri, resource.name).with_mime_type(resource.mime);
    converted.title = Some(resource.title).filter(|text| !text.is_empty());
    converted.description = Some(resource.description).filter(|text| !text.is_empty());
    converted
}

pub(super) fn template(template: &Template) -> rmcp::model::ResourceTemplate {
    rmcp::model::ResourceTemplate::new(template.uri, template.name)
        .with_title(template.title)
        .with_description(template.description)
        .with_mime_type(template.mime)
}

pub(super) fn prompt(prompt: Prompt) -> rmcp::model::Prompt {
    let arguments: Vec<PromptArgument> = prompt
        .arguments
        .into_iter()
        .map(|argument| {
            PromptArgument::new(argument.name)
                .with_description(argument.description)
                .with_required(argument.required)
        })
        .collect();
    rmcp::model::Prompt::new(
        prompt.name,
        Some(prompt.description),
        Some(arguments).filter(|arguments| !arguments.is_empty()),
    )
    .with_title(prompt.title)
}

pub(super) fn prompt_text(text: PromptText) -> GetPromptResult {
    let messages = text
        .messages
        .into_iter()
        .map(|(speaker, content)| {
            let role = match speaker {
                Speaker::User => Role::User,
                Speaker::Assistant => Role::Assistant,
            };
            PromptMessage::new(role, block(content))
        })
        .collect();
    let mut result = GetPromptResult::new(messages);
    result.description = Some(text.description).filter(|text| !text.is_empty());
    result
}
