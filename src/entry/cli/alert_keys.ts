import type { Command } from 'commander';

import { revokeAlertKey } from '#modules/alerts/operations/revoke_alert_key.ts';
import { rotateAlertKey } from '#modules/alerts/operations/rotate_alert_key.ts';
import { showAlertKey } from '#modules/alerts/operations/show_alert_key.ts';
import { runAsOperator } from '#entry/cli/with_stores.ts';
import { print } from '#entry/cli/text.ts';
import { AppError } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';
import type { Stores } from '#modules/stores.ts';

interface WantedAlertKey {
  readonly service: string;
  readonly policy?: string;
  readonly json?: true;
}

const POLICY = 'escalation policy by which alerts page that no other route takes';

export function addAlertKeyCommands(program: Command): void {
  const alertKey = program.command('alert-key').description('keys by which other tools send alerts of a service');
  alertKey
    .command('show')
    .description('print the alert key of a service, a new one if it has none')
    .requiredOption('--service <id>', 'the service')
    .option('--policy <id>', POLICY)
    .option('--json', 'print JSON: serviceId, alertKey')
    .action(async ({ service, policy, json }: WantedAlertKey) => {
      const shown = await runAsOperator(showAlertKey, (stores) => ofService(stores, service, policy));
      print(json, shown, shown.alertKey);
    });
  alertKey
    .command('rotate')
    .description('print a new alert key; the one before is refused within a second')
    .requiredOption('--service <id>', 'the service')
    .option('--policy <id>', POLICY)
    .option('--json', 'print JSON: serviceId, alertKey')
    .action(async ({ service, policy, json }: WantedAlertKey) => {
      const rotated = await runAsOperator(rotateAlertKey, (stores) => ofService(stores, service, policy));
      print(json, rotated, rotated.alertKey);
    });
  alertKey
    .command('revoke')
    .description('revoke the alert key of a service; it is refused within a second')
    .requiredOption('--service <id>', 'the service')
    .option('--json', 'print JSON: serviceId, revoked')
    .action(async ({ service, json }: WantedAlertKey) => {
      const revoked = await runAsOperator(revokeAlertKey, (stores) => ofService(stores, service));
      print(json, revoked, `Revoked the alert key of ${service}.`);
    });
}

async function ofService(
  { services }: Stores,
  serviceId: string,
  policyId?: string,
): Promise<{ orgId: Id<'org'>; input: { serviceId: string; policyId?: string } }> {
  const orgId = await services.findOrganization(serviceId);
  if (orgId === null) throw new AppError('not_found', `there is no service ${serviceId}`);
  return { orgId, input: { serviceId, ...(policyId !== undefined && { policyId }) } };
}
