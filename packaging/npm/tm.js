#!/usr/bin/env node
// Starts the `tm` of this platform, which lies in a package of its own.
"use strict";

const platform = `${process.platform}-${process.arch}`;
let program;
try {
  program = require.resolve(`@tramline/${platform}/bin/tm`);
} catch {
  const { homepage } = require("./package.json");
  console.error(
    `tm: the package @tramline/${platform} is not installed beside this one: ` +
      `install both files of a release, from ${homepage}/releases`,
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
