//! A server with tools that do what a test wants to see, over a pipe and over HTTP.

use serde_json::{Map, Value, json};

use super::{
    About, Ask, Client, Completing, Contents, Hints, Input, Problem, Prompt, PromptText, Resource,
    Server, Stop, Template, Tool, ToolAnswer,
};

/// What a test sees of the server, and does to it.
pub trait Stage: Send + Sync + 'static {
    /// Lets a call wait, and tells how that ended.
    fn wait(&self, arguments: &Value, client: &Client) -> String;

    /// The mark of a resource.
    fn mark(&self, _: &str, _: &Client) -> Option<u64> {
        None
    }
}

pub struct Actor<S>(pub S);

fn form() -> Input {
    Input::Form {
        message: "Your name?".to_owned(),
        schema: json!({ "type": "object", "properties": { "name": { "type": "string" } } }),
    }
}

impl<S: Stage> Server for Actor<S> {
    fn about(&self) -> About {
        About {
            name: "actor".to_owned(),
            version: "1.2.3".to_owned(),
            resources: true,
            ..About::default()
        }
    }

    fn tools(&self) -> Vec<Tool> {
        let looks = ["echo", "panic", "where"].map(|name| (name, Hints::ReadOnly));
        let adds = ["wait", "ask", "ask twice", "tasks only"].map(|name| (name, Hints::Adds));
        let tool = |(name, hints)| Tool {
            name,
            title: "",
            description: "",
            hints,
            input: json!({ "type": "object" }),
            output: None,
            meta: None,
        };
        looks.into_iter().chain(adds).map(tool).collect()
    }

    fn call(
        &self,
        tool: &str,
        arguments: Map<String, Value>,
        client: &Client,
    ) -> Result<ToolAnswer, Stop> {
        let text = |text: &str| Ok(ToolAnswer::structured(json!({ "text": text })));
        let arguments = Value::Object(arguments);
        match tool {
            "echo" => Ok(ToolAnswer::structured(arguments)),
            "wait" => text(&self.0.wait(&arguments, client)),
            "ask" => {
                if let Some(answer) = client.answer("name") {
                    return text(answer["content"]["name"].as_str().unwrap_or("nobody"));
                }
                if arguments["name"] == "late" {
                    self.0.wait(&arguments, client);
                }
                Err(Stop::Ask(Ask::one("name", form())))
            }
            "ask twice" => {
                let questions = ["first", "second"];
                if questions.iter().all(|name| client.answer(name).is_some()) {
                    return text("both");
                }
                self.0.wait(&arguments, client);
                let inputs = questions.map(|name| (name.to_owned(), form())).into();
                Err(Stop::Ask(Ask { inputs, keep: None }))
            }
            "tasks only" if !client.can().tasks => Err(Problem::NeedsTasks.into()),
            "where" => match client.roots() {
                Ok(roots) => text(&format!("{roots:?}")),
                Err(untold) => text(&untold.to_string()),
            },
            "panic" => panic!("this tool always does"),
            _ => text("done"),
        }
    }

    fn resources(&self, _: &Client) -> Result<Vec<Resource>, Stop> {
        Ok(Vec::new())
    }

    fn templates(&self) -> Vec<Template> {
        Vec::new()
    }

    fn read(&self, uri: &str, _: &Client) -> Result<Vec<Contents>, Stop> {
        Err(Problem::NoResource(uri.to_owned()).into())
    }

    fn mark(&self, uri: &str, client: &Client) -> Option<u64> {
        self.0.mark(uri, client)
    }

    fn prompts(&self) -> Vec<Prompt> {
        Vec::new()
    }

    fn prompt(&self, name: &str, _: Map<String, Value>, _: &Client) -> Result<PromptText, Stop> {
        Err(Problem::Invalid(name.to_owned()).into())
    }

    fn complete(&self, _: &Completing, _: &Client) -> Result<Vec<String>, Stop> {
        Ok(Vec::new())
    }
}
