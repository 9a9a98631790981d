import { existsSync } from 'node:fs';
import { flushCompileCache } from 'node:module';
import path from 'node:path';
import { Command, CommanderError } from 'commander';

import { versionText } from '#entry/cli/version.ts';
import { FRUGAL_ALLOCATION, type Memory, v8Flags } from '#entry/memory/memory.ts';
import { exitCodeFor, WRONG_CALL } from '#entry/program.ts';
import { ConfigError, processEnvironment } from '#kernel/config.ts';
import { messageOf } from '#kernel/errors.ts';

/** Adds commands; `onEmbeddedStores` makes the same call if the stores are embedded and not running. */
type Add = (program: Command, onEmbeddedStores: () => void) => void;

/** Commands with the file that adds them. Most load the code of the stores: a second, and a hundred megabytes. */
const COMMANDS: readonly (readonly [names: readonly string[], load: () => Promise<readonly Add[]>])[] = [
  [
    ['org', 'sign-in', 'calendar'],
    async () => {
      const { addOrganizationCommands, addSignInCommands, addCalendarCommands } =
        await import('#entry/cli/organizations.ts');
      return [addOrganizationCommands, addSignInCommands, addCalendarCommands];
    },
  ],
  [['user'], async () => [(await import('#entry/cli/users.ts')).addUserCommands]],
  [
    ['key', 'alert-key'],
    async () => {
      const { addKeyCommands, addAlertKeyCommands } = await import('#entry/cli/keys.ts');
      return [addKeyCommands, addAlertKeyCommands];
    },
  ],
  [['alert-mail'], async () => [(await import('#entry/cli/alert_mail.ts')).addAlertMailCommand]],
  [['audit'], async () => [(await import('#entry/cli/audit.ts')).addAuditCommands]],
  [['quarantine'], async () => [(await import('#entry/cli/quarantine.ts')).addQuarantineCommands]],
  [['config'], async () => [(await import('#entry/cli/configuration.ts')).addConfigurationCommands]],
  [['clickhouse'], async () => [(await import('#entry/cli/clickhouse.ts')).addClickHouseCommands]],
  [['move-in'], async () => [(await import('#entry/cli/move_in.ts')).addMoveInCommand]],
  [
    ['export', 'import', 'backup', 'restore'],
    async () => {
      const { addTransferCommands, addBackupCommands } = await import('#entry/cli/backup.ts');
      return [addTransferCommands, addBackupCommands];
    },
  ],
];

/** Adds the command that is named `name`, or where there is none, every command except those that run a process. */
export async function addCommands(
  program: Command,
  name: string | undefined,
  onEmbeddedStores: () => void,
): Promise<void> {
  const called = COMMANDS.filter(([names]) => name !== undefined && names.includes(name));
  for (const [, load] of called.length > 0 ? called : COMMANDS)
    for (const add of await load()) add(program, onEmbeddedStores);
}

const ROOT = path.join(import.meta.dirname, '../../..');

/** Runs one call of the command line, whose arguments follow its name. Failure sets the exit status of the process. */
export async function runCommandLine(args: readonly string[]): Promise<void> {
  try {
    const program = await commandsOf(args);
    await program.parseAsync(args, { from: 'user' });
  } catch (error) {
    process.exitCode = exitCodeOf(error);
  }
}

async function commandsOf(args: readonly string[]): Promise<Command> {
  const program = new Command('tocsin')
    .description('Monitoring, exception tracking and on-call that a team runs itself.')
    .version(versionText(args), '-V, --version', 'print the version, as JSON with --json')
    .configureOutput({ outputError: (text, write) => write(text.replace(/^error: /, 'tocsin: ')) })
    .showHelpAfterError('(add --help for how to call it)')
    .exitOverride();

  program
    .command('start')
    .description('start everything on this machine: stores that are not configured, API, a worker and a pager')
    .action(() => runInstead('infra/embedded/start.ts', 'frugal'));

  program
    .command('api')
    .description('run one API process on configured stores')
    .action(() => runInstead('src/entry/api.ts', 'ample'));

  program
    .command('worker')
    .description('run one worker process on configured stores')
    .action(() => runInstead('workers/main.ts', 'ample', 'worker'));

  program
    .command('pager')
    .description('run one pager process on configured stores; without one nobody is paged')
    .action(() => runInstead('workers/main.ts', 'frugal', 'pager'));

  program
    .command('migrate')
    .description('bring every store to the newest schema')
    .action(async () => {
      const { migrateStores } = await import('#entry/migrate_stores.ts');
      await migrateStores();
    });

  const [name] = args;
  if (!program.commands.some((command) => command.name() === name))
    await addCommands(program, name, () => runInstead('infra/embedded/on_stores.ts', 'frugal', ...args));
  return program;
}

function exitCodeOf(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : WRONG_CALL;
  process.stderr.write(`tocsin: ${messageOf(error)}\n`);
  return exitCodeFor(error);
}

/** Replaces this process with another program of the product: signals reach it directly, no memory is held twice. */
function runInstead(entry: string, memory: Memory, ...args: readonly string[]): void {
  const program = path.join(ROOT, entry);
  if (!existsSync(program)) {
    throw new ConfigError([
      'this image has no stores of its own: run "migrate", "api", "worker" and "pager" on configured ones',
    ]);
  }
  flushCompileCache();
  if (process.execve === undefined) throw new Error('this operating system cannot replace a process by another');
  const argv = [process.execPath, ...v8Flags(memory), program, ...args];
  process.execve(process.execPath, argv, { ...FRUGAL_ALLOCATION, ...processEnvironment() });
}
