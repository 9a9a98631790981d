import type { Command } from 'commander';

import { addAlertKeyCommands } from '#entry/cli/alert_keys.ts';
import { addAlertMailCommand } from '#entry/cli/alert_mail.ts';
import { addAuditCommands } from '#entry/cli/audit.ts';
import { addBackupCommands } from '#entry/cli/backup.ts';
import { addCalendarCommands } from '#entry/cli/calendars.ts';
import { addClickHouseCommands } from '#entry/cli/clickhouse.ts';
import { addConfigurationCommands } from '#entry/cli/configuration.ts';
import { addKeyCommands } from '#entry/cli/keys.ts';
import { addMoveInCommand } from '#entry/cli/move_in.ts';
import { addOrganizationCommands } from '#entry/cli/organizations.ts';
import { addSetAsideCommands } from '#entry/cli/set_aside.ts';
import { addSignInCommands } from '#entry/cli/sign_in.ts';
import { addTransferCommands } from '#entry/cli/transfer.ts';
import { addUserCommands } from '#entry/cli/users.ts';

/**
 * Adds every command except those that run a process. `onEmbeddedStores` makes the same call if the stores are embedded
 * and not running.
 */
export function addCommands(program: Command, onEmbeddedStores: () => void): void {
  addOrganizationCommands(program);
  addUserCommands(program);
  addSignInCommands(program);
  addKeyCommands(program);
  addAlertKeyCommands(program);
  addAlertMailCommand(program);
  addCalendarCommands(program);
  addAuditCommands(program);
  addSetAsideCommands(program);
  addConfigurationCommands(program);
  addClickHouseCommands(program);
  addMoveInCommand(program);
  addTransferCommands(program);
  addBackupCommands(program, onEmbeddedStores);
}
