#!/usr/bin/env node
// Starts the `tm` of this platform, which lies in a package of its own.
"use strict";

const platform = `${process.platform}-${process.arch}`;
let program;
try {
  program = require.resolve(`@tramline/${platform}/bin/tm`);
} catch {
  const known = require("./package.json").optionalDependencies;
  const name = `@tramline/${platform}`;
  console.error(
    name in known
      ? `tm: the package ${name} is missing: install again without --omit=optional, ` +
          "and from no lock file that was made on another system"
      : `tm: there is no package for ${platform}; build it from source: cargo install`,
  );
  process.exit(127);
}

const args = process.argv.slice(2);
if (process.execve) {
  // It takes the place of this process: signals, terminal and exit status are its own, and no second process waits.
  process.execve(program, [program, ...args], process.env);
} else {
  const child = require("child_process").spawn(program, args, { stdio: "inherit" });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
    process.on(signal, () => child.kill(signal));
  }
  child.on("error", (error) => {
    console.error(`tm: ${program} does not start: ${error.message}`);
    process.exit(126);
  });
  child.on("exit", (status, signal) => {
    if (signal) {
      process.removeAllListeners(signal);
      process.kill(process.pid, signal);
    } else {
      process.exitCode = status;
    }
  });
}
