import { type Command, InvalidArgumentError } from 'commander';

import { verifyAuditLog, type VerifiedAuditLog } from '#modules/audit/operations/verify_audit_log.ts';
import { getOrganization, withStores } from '#entry/cli/with_stores.ts';
import { print, tableOf } from '#entry/cli/text.ts';
import { AppError } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';

type Verified = { readonly organizationId: Id<'org'> } & VerifiedAuditLog;

export function addAuditCommands(program: Command): void {
  const audit = program.command('audit').description('the audit log');
  audit
    .command('verify')
    .description('check that no row of the audit log was changed, removed or inserted; exits with 1 if one was')
    .option('--org <id>', 'only of this organization')
    .option(
      '--expect <hash>',
      'a last hash that was noted before: the log must still hold its row; with --org',
      auditHashText,
    )
    .option(
      '--json',
      'print JSON: auditLogs, each with organizationId, kind, and rows and head, or number, auditId and why',
    )
    .action(async ({ org, expect, json }: { org?: string; expect?: string; json?: true }) => {
      if (expect !== undefined && org === undefined) {
        throw new AppError('invalid_input', 'say with --org whose log is to hold the row of that hash');
      }
      const auditLogs = await withStores(async ({ stores }) => {
        const all = org === undefined ? (await stores.people.listOrganizations()).map(({ id }) => id) : [];
        const wanted = org === undefined ? all : [await getOrganization(stores, org)];
        const verified: Verified[] = [];
        for (const id of wanted) verified.push({ organizationId: id, ...(await verifyAuditLog(stores, id, expect)) });
        return verified;
      });
      print(json, { auditLogs }, tableOf(['ORGANIZATION', 'ROWS', 'LAST HASH'], auditLogs.map(toRow)));
      if (auditLogs.some(({ kind }) => kind === 'broken')) process.exitCode = 1;
    });
}

function toRow(verified: Verified): string[] {
  if (verified.kind === 'whole') return [verified.organizationId, String(verified.rows), verified.head ?? '-'];
  const { organizationId, number, auditId, why } = verified;
  return [organizationId, 'BROKEN', `at row ${number}${auditId === null ? '' : `, ${auditId}`}: ${why}`];
}

function auditHashText(text: string): string {
  const hash = text.trim().toLowerCase();
  if (!/^[0-9a-f]{64}$/.test(hash)) throw new InvalidArgumentError('It must be 64 hexadecimal digits.');
  return hash;
}
