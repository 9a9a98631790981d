import type { Command } from 'commander';

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
