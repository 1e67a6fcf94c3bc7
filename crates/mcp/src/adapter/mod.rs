//! Between a [`Server`] and the protocol's SDK.
//!
//! Every call runs on a blocking thread, beside the others. What it wants to ask the client comes back as
//! [`Stop::Ask`](crate::Stop::Ask): a stateless client is told to call again with the answers, one with a session is asked here, and
//! the call made again. So a server asks the same way in both eras.

#![expect(
    deprecated,
    reason = "clients of the session era still use what the stateless one has dropped"
)]

mod ask;
mod call;
mod convert;
pub mod folders;
mod follow;
mod tasks;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CancelTaskParams, CompleteRequestParams,
    CompleteResult, CompletionInfo, CustomRequest, CustomResult, ErrorCode, GetPromptRequestParams,
    GetPromptResponse, GetTaskParams, GetTaskResult, Implementation, ListPromptsResult,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, LoggingLevel,
    PaginatedRequestParams, Prompt, ReadResourceRequestParams, ReadResourceResponse, Reference,
    ResourceTemplate, ServerCapabilities, ServerConfig, SetLevelRequestParams,
    SubscribeRequestParams, SubscriptionFilter, Tool, UnsubscribeRequestParams, UpdateTaskParams,
};
use rmcp::service::{RequestContext, RoleServer, SubscriptionContext};
use rmcp::{ErrorData, ServerHandler};
use tokio_util::sync::CancellationToken;

use crate::Completing;
use crate::server::{Hints, Server};
use ask::Seal;
pub(crate) use call::Ticket;
use call::{CallOutcome, Does};

/// How many resources a page of a list has.
const PAGE: usize = 100;
/// The most completions that the protocol allows.
const COMPLETIONS: usize = 100;

/// Methods of both eras that take parameters.
const METHODS: &[&str] = &[
    "completion/complete",
    "prompts/get",
    "prompts/list",
    "resources/list",
    "resources/read",
    "resources/templates/list",
    "tools/call",
    "tools/list",
];
/// Those of the session era only.
const SESSION_METHODS: &[&str] = &[
    "initialize",
    "logging/setLevel",
    "ping",
    "resources/subscribe",
    "resources/unsubscribe",
];
/// Those of the stateless era only.
const STATELESS_METHODS: &[&str] = &[
    "server/discover",
    "subscriptions/listen",
    "tasks/cancel",
    "tasks/get",
    "tasks/update",
];

/// What all connections to a server share.
#[derive(Debug)]
struct Shared<S> {
    server: S,
    config: ServerConfig,
    tools: Vec<Tool>,
    prompts: Vec<Prompt>,
    templates: Vec<ResourceTemplate>,
    seal: Seal,
    under_way: call::CallsInProgress,
    line: call::Line,
    watch: follow::Watch,
    tasks: tasks::Tasks,
    /// Tools that only look.
    looking: BTreeSet<&'static str>,
    /// Set when the server is about to end: whatever waits without having to then waits no longer.
    stopping: CancellationToken,
}

/// What belongs to one connection.
#[derive(Debug, Default)]
struct Session {
    /// From which level on the client wants log messages.
    level: Mutex<Option<LoggingLevel>>,
    /// The resources whose changes it wants to hear of.
    followed: Mutex<follow::Followed>,
}

/// One connection to a server, as the SDK sees it.
#[derive(Debug)]
pub struct Adapter<S> {
    shared: Arc<Shared<S>>,
    session: Arc<Session>,
}

impl<S> Clone for Adapter<S> {
    fn clone(&self) -> Self {
        Self {
            shared: Arc::clone(&self.shared),
            session: Arc::clone(&self.session),
        }
    }
}

impl<S: Server> Adapter<S> {
    /// The first connection to a server.
    pub fn new(server: S) -> Self {
        let about = server.about();
        let mut capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_logging()
            .enable_tasks()
            .build();
        if about.resources {
            let mut resources = rmcp::model::ResourcesCapability::default();
            resources.subscribe = Some(true);
            capabilities.resources = Some(resources);
        }
        if about.prompts {
            capabilities.prompts = Some(rmcp::model::PromptsCapability::default());
        }
        if about.resources || about.prompts {
            capabilities.completions = Some(serde_json::Map::new());
        }
        let mut implementation = Implementation::new(about.name, about.version);
        implementation.title = Some(about.title).filter(|title| !title.is_empty());
        implementation.description = Some(about.description).filter(|text| !text.is_empty());
        let mut config = ServerConfig::new(capabilities).with_server_info(implementation);
        config.instructions = Some(about.instructions).filter(|text| !text.is_empty());
        let tools = server.tools();
        Self {
            shared: Arc::new(Shared {
                looking: tools
                    .iter()
                    .filter(|tool| tool.hints == Hints::ReadOnly)
                    .map(|tool| tool.name)
                    .collect(),
                tools: tools.into_iter().map(convert::tool).collect(),
                prompts: server.prompts().into_iter().map(convert::prompt).collect(),
                templates: server
                    .templates()
                    .into_iter()
                    .map(|template| convert::template(&template))
                    .collect(),
                config,
                seal: Seal::new(),
                stopping: CancellationToken::new(),
                under_way: call::CallsInProgress::default(),
                line: call::Line::default(),
                watch: follow::Watch::default(),
                tasks: tasks::Tasks::default(),
                server,
            }),
            session: Arc::default(),
        }
    }

    /// What to cancel when the server is about to end: listeners are told so, and nobody is asked anything any more.
    pub fn stopping(&self) -> &CancellationToken {
        &self.shared.stopping
    }

    /// Who the server is.
    pub fn about(&self) -> &Implementation {
        &self.shared.config.server_info
    }

    /// A further connection to the same server.
    #[must_use]
    pub fn another(&self) -> Self {
        Self {
            shared: Arc::clone(&self.shared),
            session: Arc::default(),
        }
    }
}

fn no_cursor(cursor: &str) -> ErrorData {
    ErrorData::invalid_params(format!("`{cursor}` is no cursor of this list"), None)
}

/// A list of one page gives out no cursor, so none can come back.
fn only_page(request: Option<PaginatedRequestParams>) -> Result<(), ErrorData> {
    match request.and_then(|request| request.cursor) {
        None => Ok(()),
        Some(cursor) => Err(no_cursor(&cursor)),
    }
}

impl<S: Server> ServerHandler for Adapter<S> {
    fn get_info(&self) -> ServerConfig {
        self.shared.config.clone()
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        only_page(request)?;
        Ok(ListToolsResult::with_all_items(self.shared.tools.clone()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if !self
            .shared
            .tools
            .iter()
            .any(|tool| tool.name == request.name)
        {
            return Err(ErrorData::invalid_params(
                format!("Unknown tool: {}", request.name),
                None,
            ));
        }
        let name = request.name.into_owned();
        let arguments = request.arguments.unwrap_or_default();
        let about = ask::about("tools/call", &name, &arguments);
        let said = ask::RoundReply {
            answers: request.input_responses,
            state: request.request_state,
            about,
        };
        let work = {
            let name = name.clone();
            move |server: &S, client: &crate::Client| server.call(&name, arguments.clone(), client)
        };
        let does = if self.shared.looking.contains(name.as_str()) {
            Does::Look
        } else {
            Does::Change
        };
        if does == Does::Change && call::abilities(&context).tasks {
            let call = tasks::ToolCall {
                name,
                does,
                about: said.about.clone(),
                work,
            };
            return self.call_or_task(call, said, context).await;
        }
        match self.call(&name, does, said, context, work).await? {
            CallOutcome::Answer(answer) => Ok(convert::answer(answer).into()),
            CallOutcome::Ask(required) => Ok(required.into()),
        }
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        let task = self.shared.tasks.0.get_task(&request.task_id)?;
        Ok(GetTaskResult::new(task))
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let UpdateTaskParams {
            task_id,
            input_responses,
            ..
        } = request;
        self.shared.tasks.0.update_task(&task_id, input_responses)
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.shared.tasks.0.cancel_task(&request.task_id)
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let from = match request.and_then(|request| request.cursor) {
            None => 0,
            Some(cursor) => cursor.parse::<usize>().map_err(|_| no_cursor(&cursor))?,
        };
        let all = self
            .just_call("resources/list", context, |server: &S, client| {
                server.resources(client)
            })
            .await?;
        let more = all.len() > from.saturating_add(PAGE);
        let page = all
            .into_iter()
            .skip(from)
            .take(PAGE)
            .map(convert::resource)
            .collect();
        let mut result = ListResourcesResult::with_all_items(page);
        result.next_cursor = more.then(|| (from + PAGE).to_string());
        Ok(result)
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        only_page(request)?;
        Ok(ListResourceTemplatesResult::with_all_items(
            self.shared.templates.clone(),
        ))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let uri = request.uri;
        let said = ask::RoundReply {
            answers: request.input_responses,
            state: request.request_state,
            about: ask::about("resources/read", &uri, &serde_json::Map::new()),
        };
        let work = {
            let uri = uri.clone();
            move |server: &S, client: &crate::Client| server.read(&uri, client)
        };
        match self.call(&uri, Does::Look, said, context, work).await? {
            CallOutcome::Answer(contents) => Ok(convert::contents(contents).into()),
            CallOutcome::Ask(required) => Ok(required.into()),
        }
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        if self.shared.config.capabilities.prompts.is_none() {
            return Err(ErrorData::method_not_found::<
                rmcp::model::ListPromptsRequestMethod,
            >());
        }
        only_page(request)?;
        Ok(ListPromptsResult::with_all_items(
            self.shared.prompts.clone(),
        ))
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let name = request.name;
        let Some(prompt) = self
            .shared
            .prompts
            .iter()
            .find(|prompt| prompt.name == name)
        else {
            return Err(ErrorData::invalid_params(
                format!("Unknown prompt: {name}"),
                None,
            ));
        };
        let arguments = request.arguments.unwrap_or_default();
        let missing = prompt
            .arguments
            .iter()
            .flatten()
            .find(|known| known.required == Some(true) && !arguments.contains_key(&known.name));
        if let Some(missing) = missing {
            return Err(ErrorData::invalid_params(
                format!("The prompt {name} needs the argument {}", missing.name),
                None,
            ));
        }
        let said = ask::RoundReply {
            answers: request.input_responses,
            state: request.request_state,
            about: ask::about("prompts/get", &name, &arguments),
        };
        let work = {
            let name = name.clone();
            move |server: &S, client: &crate::Client| {
                server.prompt(&name, arguments.clone(), client)
            }
        };
        match self.call(&name, Does::Look, said, context, work).await? {
            CallOutcome::Answer(text) => Ok(convert::prompt_text(text).into()),
            CallOutcome::Ask(required) => Ok(required.into()),
        }
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let completing = Completing {
            of: match request.r#ref {
                Reference::Resource(template) => template.uri,
                Reference::Prompt(prompt) => prompt.name,
                _ => {
                    return Err(ErrorData::invalid_params(
                        "nothing of that kind can be completed",
                        None,
                    ));
                }
            },
            argument: request.argument.name,
            so_far: request.argument.value,
        };
        let mut values = self
            .just_call("completion/complete", context, move |server: &S, client| {
                server.complete(&completing, client)
            })
            .await?;
        let total = u32::try_from(values.len()).ok();
        let more = values.len() > COMPLETIONS;
        values.truncate(COMPLETIONS);
        let mut info = CompletionInfo::new(values)
            .map_err(|message| ErrorData::internal_error(message, None))?;
        info.total = total;
        info.has_more = Some(more);
        Ok(CompleteResult::new(info))
    }

    async fn set_level(
        &self,
        request: SetLevelRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        *self
            .session
            .level
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = Some(request.level);
        Ok(())
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.follow_for(&request.uri, context).await
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.session
            .followed
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(&request.uri);
        Ok(())
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        let accepted = requested.supported_by(&self.shared.config.capabilities);
        self.shared.accept(&accepted);
        Some(accepted)
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        tokio::select! {
            result = self.follow_stream(context) => result,
            // The client gets a last answer that says so.
            () = self.shared.stopping.cancelled() => Ok(()),
        }
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.shared
            .tools
            .iter()
            .find(|tool| tool.name == name)
            .cloned()
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        // A known method with parameters that do not fit comes here, too.
        let known = if call::is_stateless(&context) {
            STATELESS_METHODS
        } else {
            SESSION_METHODS
        };
        let method = request.method;
        if METHODS.contains(&method.as_str()) || known.contains(&method.as_str()) {
            return Err(ErrorData::invalid_params(
                format!(
                    "the parameters of {method} do not fit: one is missing, or of another type than it should be"
                ),
                None,
            ));
        }
        Err(ErrorData::new(
            ErrorCode::METHOD_NOT_FOUND,
            format!("there is no method {method}"),
            None,
        ))
    }
}
