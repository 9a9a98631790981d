import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';

import { atEndOfFile } from '#test/kit/at_end_of_file.ts';
import type { Call, Ended } from '#test/kit/programs/command_line_process.ts';
import type { World } from '#test/kit/world.ts';

let child: ChildProcess | undefined;
let lastId = 0;

/** Runs a call of the command line on the stores of this world; one process runs those of a file in turn. */
export async function tocsin(w: World, ...args: readonly string[]): Promise<Omit<Ended, 'id'>> {
  return await tocsinWith(w, '', args);
}

/** The same with this as its standard input. */
export async function tocsinWith(w: World, input: string, args: readonly string[]): Promise<Omit<Ended, 'id'>> {
  const { databaseUrl, clickhouseUrl, appSecret, dataDir } = w.context.config;
  const env = { DATABASE_URL: databaseUrl, CLICKHOUSE_URL: clickhouseUrl, APP_SECRET: appSecret, DATA_DIR: dataDir };
  return await runCommand({ args, env, input });
}

/** Runs a call of the command line with exactly this environment. */
export async function runCommand(wanted: Omit<Call, 'id'>): Promise<Omit<Ended, 'id'>> {
  const call: Call = { id: (lastId += 1), ...wanted };
  const running = (child ??= start());
  const { promise, resolve, reject } = Promise.withResolvers<Ended>();
  const onMessage = (ended: unknown): void => {
    if ((ended as Ended).id === call.id) resolve(ended as Ended);
  };
  const onExit = (): void => reject(new Error(`the process ended during "${call.args.join(' ')}"`));
  running.on('message', onMessage);
  running.once('exit', onExit);
  running.send(call);
  try {
    const { code, stdout, stderr } = await promise;
    return { code, stdout, stderr };
  } finally {
    running.off('message', onMessage);
    running.off('exit', onExit);
  }
}

function start(): ChildProcess {
  const started = fork(path.join(import.meta.dirname, 'command_line_process.ts'), {
    env: { NODE_COMPILE_CACHE: 'node_modules/.cache/node' },
    execArgv: [],
  });
  started.setMaxListeners(0);
  atEndOfFile(async () => {
    child = undefined;
    if (started.exitCode !== null) return;
    started.disconnect();
    await once(started, 'exit');
  });
  return started;
}
