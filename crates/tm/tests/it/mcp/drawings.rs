//! Workflows and runs drawn, as resources.

use serde_json::json;

use super::stage::Stage;

const OURS: &str = "tramline: 1\nid: ours\ntitle: Ours\ninitial: a\nstates:\n  a: { work: {}, to: b }\n  b: { final: completed }\n";

#[test]
fn a_workflow_is_drawn_and_its_id_completes() {
    let stage = Stage::started();
    stage.write(".taskmaster/workflows/ours.yaml", OURS);
    let mut server = stage.session();
    let listed = server.request("resources/templates/list", &json!({}));
    let uri = "tramline://workflows/{id}/graph";
    let template = listed["resourceTemplates"]
        .as_array()
        .unwrap()
        .iter()
        .find(|one| one["uriTemplate"] == uri)
        .unwrap();
    assert_eq!(template["mimeType"], "text/vnd.mermaid");

    let complete = |of: &str, so_far: &str| {
        json!({
            "ref": { "type": "ref/resource", "uri": of },
            "argument": { "name": "id", "value": so_far },
        })
    };
    let ids = server.request("completion/complete", &complete(uri, ""));
    let ids = ids["completion"]["values"].as_array().unwrap();
    for id in ["tdd", "review", "ours"] {
        assert!(ids.contains(&json!(id)), "{ids:?}");
    }
    let one = server.request("completion/complete", &complete(uri, "ou"));
    assert_eq!(one["completion"]["values"], json!(["ours"]));
    let runs = complete("tramline://runs/{id}/graph", "");
    let runs = server.request("completion/complete", &runs);
    let runs = runs["completion"]["values"].as_array().unwrap();
    assert!(runs.len() == 1 && runs[0] != "tdd", "{runs:?}");

    for id in ["tdd", "ours"] {
        let uri = format!("tramline://workflows/{id}/graph");
        let read = server.request("resources/read", &json!({ "uri": uri }));
        let content = &read["contents"][0];
        assert_eq!(content["uri"], uri);
        assert_eq!(content["mimeType"], "text/vnd.mermaid");
        let text = content["text"].as_str().unwrap();
        assert!(text.starts_with("flowchart TD\n"), "{text}");
        assert!(!text.contains("classDef"), "nothing is marked: {text}");
        let printed = stage.tm(0, &["workflow", "graph", id]);
        assert_eq!(printed["graph"], text);
    }
    let uri = format!("tramline://runs/{}/graph", runs[0].as_str().unwrap());
    let read = server.request("resources/read", &json!({ "uri": uri }));
    let text = read["contents"][0]["text"].as_str().unwrap();
    assert!(text.contains("classDef present"), "{text}");
    server.end();
}

#[test]
fn what_is_no_workflow_is_not_read() {
    let stage = Stage::new();
    stage.write("secret.yaml", OURS);
    stage.write(".taskmaster/workflows/broken.yaml", "id: [");
    let mut server = stage.session();
    for id in [
        "nothing",
        "",
        "secret.yaml",
        "./secret.yaml",
        "../project/secret.yaml",
        "broken",
        "tdd/graph/..",
    ] {
        let uri = format!("tramline://workflows/{id}/graph");
        let error = server.refused("resources/read", &json!({ "uri": uri }));
        assert!(
            [-32002, -32602].contains(&error["code"].as_i64().unwrap()),
            "{id}: {error}"
        );
    }
    server.end();
}
