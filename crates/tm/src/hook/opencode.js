// Asks `tm hook` before the agent uses a tool. Written by `tm init --client opencode --hook`, which leaves it alone once it is changed.
import { spawn } from "node:child_process";

const ask = (payload) =>
  new Promise((resolve) => {
    let answer = "";
    const child = spawn("tm", ["hook", "opencode"], {
      cwd: payload.cwd,
      stdio: ["pipe", "pipe", "ignore"],
      timeout: 5000,
    });
    child.on("error", () => resolve(""));
    child.on("close", () => resolve(answer));
    child.stdout.on("data", (part) => (answer += part));
    child.stdin.on("error", () => {});
    child.stdin.end(JSON.stringify(payload));
  });

export const Tramline = async ({ directory }) => ({
  "tool.execute.before": async (input, output) => {
    const answer = await ask({
      hook_event_name: "PreToolUse",
      session_id: input.sessionID,
      cwd: directory,
      tool_name: input.tool,
      tool_input: output.args,
    });
    let told = {};
    try {
      told = JSON.parse(answer || "{}").hookSpecificOutput ?? {};
    } catch {
      // What cannot be read lets the agent work.
    }
    if (told.permissionDecision === "deny") {
      throw new Error(told.permissionDecisionReason);
    }
  },
});
