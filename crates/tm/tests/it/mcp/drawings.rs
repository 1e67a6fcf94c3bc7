//! Workflows and runs drawn, as resources.

use serde_json::{Value, json};

use super::stage::Stage;
use testkit::Server;

const OURS: &str = "tramline: 1\nid: ours\ntitle: Ours\ninitial: a\nstates:\n  a: { work: {}, to: b }\n  b: { final: completed }\n";

/// How the id in such a place may go on.
fn completed(server: &mut Server, uri: &str, so_far: &str) -> Vec<Value> {
    let about = json!({
        "ref": { "type": "ref/resource", "uri": uri },
        "argument": { "name": "id", "value": so_far },
    });
    let ids = server.request("completion/complete", &about);
    ids["completion"]["values"].as_array().unwrap().clone()
}

#[test]
fn a_workflow_is_drawn_and_its_id_completes() {
    let stage = Stage::started();
    stage.write(".taskmaster/workflows/ours.yaml", OURS);
    let mut server = stage.session();
    let listed = server.request("resources/templates/list", &json!({}));
    let uri = "tramline://workflows/{id}/graph";
    let mut templates = listed["resourceTemplates"].as_array().unwrap().iter();
    let template = templates.find(|one| one["uriTemplate"] == uri).unwrap();
    assert_eq!(template["mimeType"], "text/vnd.mermaid");
    assert_eq!(completed(&mut server, uri, "ou"), ["ours"]);
    let runs = completed(&mut server, "tramline://runs/{id}/graph", "");
    assert_eq!(runs, [stage.status()["runId"].take()]);

    let mut drawn = |uri: String| {
        let mut read = server.request("resources/read", &json!({ "uri": uri }));
        let content = read["contents"][0].take();
        let about = (&content["uri"], &content["mimeType"]);
        assert_eq!(about, (&json!(uri), &json!("text/vnd.mermaid")));
        content["text"].as_str().unwrap().to_owned()
    };
    for id in ["tdd", "ours"] {
        let text = drawn(format!("tramline://workflows/{id}/graph"));
        assert!(text.starts_with("flowchart TD\n"), "{text}");
        assert!(!text.contains("classDef"), "nothing is marked: {text}");
        assert_eq!(stage.tm(0, &["workflow", "graph", id])["graph"], text);
    }
    let text = drawn(format!(
        "tramline://runs/{}/graph",
        runs[0].as_str().unwrap()
    ));
    assert!(text.contains("classDef present"), "{text}");
    // What is no workflow is not read.
    stage.write("secret.yaml", OURS);
    stage.write(".taskmaster/workflows/broken.yaml", "id: [");
    for id in ["nothing", "secret.yaml", "../project/secret.yaml", "broken"] {
        let uri = format!("tramline://workflows/{id}/graph");
        let error = server.refused("resources/read", &json!({ "uri": uri }));
        let code = error["code"].as_i64().unwrap();
        assert!([-32002, -32602].contains(&code), "{id}: {error}");
    }
}
