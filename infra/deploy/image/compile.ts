/**
 * Compiles what the processes of the image load, so that they start faster: modules are loaded, nothing is started.
 * `NODE_COMPILE_CACHE` names the folder. Compiled code depends on the flags that a process runs with.
 */
import { spawnSync } from 'node:child_process';

import { type Memory, v8Flags } from '#entry/memory/memory.ts';

const LOADED: Readonly<Record<Memory, readonly string[]>> = {
  ample: [
    '#entry/http/app.ts',
    '#entry/compose.ts',
    '#entry/first_run.ts',
    '#entry/preflight.ts',
    '#entry/migrate.ts',
    '#entry/cli/audit.ts',
    '#entry/cli/keys.ts',
    '#entry/cli/organizations.ts',
    '#entry/cli/quarantine.ts',
    '#entry/cli/users.ts',
    '#workers/main.ts',
    '#workers/worker_role.ts',
    '#workers/probes.ts',
    'commander',
  ],
  frugal: [
    '#entry/program.ts',
    '#entry/preflight.ts',
    '#workers/main.ts',
    '#workers/pager_role.ts',
    '#workers/probes.ts',
  ],
};

for (const memory of ['ample', 'frugal'] as const) {
  const program = LOADED[memory].map((name) => `await import(${JSON.stringify(name)});`).join('\n');
  const { status } = spawnSync(process.execPath, [...v8Flags(memory), '--input-type=module', '-e', program], {
    stdio: 'inherit',
  });
  // What does not load here would not start either.
  if (status !== 0) process.exit(1);
}
