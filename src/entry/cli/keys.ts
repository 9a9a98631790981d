import { type Command, InvalidArgumentError } from 'commander';

import { addApiKey, revokeApiKey, toApiKeyView } from '#modules/api_keys/operations/api_keys.ts';
import { getOrganization, withStores, runAsOperator } from '#entry/cli/with_stores.ts';
import { notBlank, print, tableOf } from '#entry/cli/text.ts';
import { getMember } from '#entry/cli/users.ts';
import { AppError } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';
import { revokeAlertKey, rotateAlertKey, showAlertKey } from '#modules/alerts/operations/alert_keys.ts';
import type { Stores } from '#modules/stores.ts';
import { isPermission, type Permission, PERMISSIONS, ROLE_PERMISSIONS } from '#kernel/permissions.ts';

/** Permissions of a new key. `commander` treats a parsed null as no value, so "all" stays a word until then. */
type WantedPermissions = 'all' | readonly Permission[];

interface WantedKey {
  readonly org: string;
  readonly user?: string;
  readonly permissions: WantedPermissions;
  readonly name: string;
}

export function addKeyCommands(program: Command): void {
  const key = program.command('key').description('API keys');
  key
    .command('create')
    .description('create an API key of an organization, or of a user within it; the key is shown once')
    .requiredOption('--org <id>', 'organization the key acts in')
    .option('--user <email>', 'user (mail address or id) whose role the key has; of the organization when left out')
    .option('--permissions <list>', `all, or some of ${PERMISSIONS.join(',')}`, permissionList, 'all')
    .requiredOption('--name <name>', 'what it is for', notBlank)
    .option('--json', 'print JSON: keyId, key')
    .action(async ({ json, ...wanted }: WantedKey & { readonly json?: true }) => {
      const { apiKeyId: keyId, secret } = await createKey(wanted);
      print(json, { keyId, key: secret }, `Created the key ${keyId}. It is shown this once:\n${secret}`);
    });
  key
    .command('list')
    .description('list the API keys of an organization that are not revoked, newest first; never their secrets')
    .requiredOption('--org <id>', 'the organization')
    .option('--json', 'print JSON: keys, each with keyId, name, user, permissions, createdAt, lastUsedAt, expiresAt')
    .action(async ({ org, json }: { org: string; json?: true }) => {
      const apiKeys = await withStores(async ({ stores }) => {
        const orgId = await getOrganization(stores, org);
        const listed = await stores.apiKeys.list(orgId, { ofUser: null }, { after: null, limit: null });
        return listed.map(toApiKeyView);
      });
      const keys = apiKeys.map(({ apiKeyId, ...rest }) => ({ keyId: apiKeyId, ...rest }));
      const rows = keys.map(({ keyId, name, user, permissions, lastUsedAt }) => {
        return [keyId, name, user?.name ?? 'the organization', permissions?.join(',') ?? 'all', lastUsedAt ?? 'never'];
      });
      print(json, { keys }, tableOf(['KEY', 'NAME', 'ACTS AS', 'PERMISSIONS', 'LAST USED'], rows));
    });
  key
    .command('revoke')
    .description('revoke an API key; it is refused from the next request on')
    .argument('<keyId>', 'as printed when it was created, or by "key list"')
    .option('--json', 'print JSON: keyId, revoked')
    .action(async (keyId: string, { json }: { json?: true }) => {
      await runAsOperator(revokeApiKey, async ({ apiKeys }) => {
        const orgId = await apiKeys.findOrganization(keyId);
        if (orgId === null) throw new AppError('not_found', `no key ${keyId} that is not revoked already`);
        return { orgId, input: { apiKeyId: keyId } };
      });
      print(json, { keyId, revoked: true }, `Revoked the key ${keyId}.`);
    });
}

async function createKey({ org, user, permissions: wanted, name }: WantedKey) {
  return await withStores(async (command) => {
    const { stores, by } = command;
    const orgId = await getOrganization(stores, org);
    const member = user === undefined ? null : await getMember(stores, orgId, user);
    const permissions = wanted === 'all' ? null : wanted;
    const lacking =
      member === null
        ? []
        : (permissions ?? []).filter((permission) => !ROLE_PERMISSIONS[member.role].includes(permission));
    if (member !== null && lacking.length > 0) {
      throw new AppError(
        'invalid_input',
        `${user} is ${member.role}, and lacks ${lacking.join(', ')}: so would the key`,
      );
    }
    return await addApiKey(command, { orgId, userId: member?.id ?? null, name, permissions, expiresAt: null }, by);
  });
}

function permissionList(text: string): WantedPermissions {
  if (text.trim() === 'all') return 'all';
  const names = text.split(',').map((name) => name.trim());
  const unknown = names.filter((name) => !isPermission(name)).map((name) => name || '(nothing)');
  if (unknown.length > 0) {
    throw new InvalidArgumentError(`Unknown: ${unknown.join(', ')}. Known are all, ${PERMISSIONS.join(', ')}.`);
  }
  return names.filter(isPermission);
}

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
