import type { Command } from 'commander';

import { print, secretArgument } from '#entry/cli/text.ts';
import { runAsOperator } from '#entry/cli/with_stores.ts';
import { loadConfig } from '#entry/config.ts';
import { ALERTS_PATH } from '#kernel/api_paths.ts';
import { AppError, messageOf } from '#kernel/errors.ts';
import type { Id } from '#kernel/ids.ts';
import { revokeAlertKey, rotateAlertKey, showAlertKey } from '#modules/alerts/operations/alert_keys.ts';
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

interface WantedAlertMail {
  readonly name?: string;
  readonly url?: string;
}

/** Exit codes that mail servers know (`sysexits.h`): try again, and final ones for the mail and for its address. */
const EXIT = { again: 75, data: 65, address: 67 } as const;

const ANSWER_MS_MAX = 60_000;
/** A longer mail is refused; a mail server must not fill the memory with it before. */
const BYTES_MAX = 1024 * 1024;

export function addAlertMailCommand(program: Command): void {
  program
    .command('alert-mail')
    .description('take a mail with an alert from standard input, as the pipe of a mail server')
    .argument('<key>', 'the alert key, or @FILE with a file that holds it, which ps does not show', secretArgument)
    .option('--name <name>', 'which of several tools of the service wrote it')
    .option('--url <url>', 'address of the API; BASE_URL by default')
    .action(async (key: string, { name, url = loadConfig().baseUrl }: WantedAlertMail) => {
      const parts = [url.replace(/\/+$/, ''), ALERTS_PATH, '/mail/', encodeURIComponent(key)];
      if (name !== undefined) parts.push('/', encodeURIComponent(name));
      const { code, says } = await postMail(parts.join(''), process.stdin);
      if (code !== 0) process.stderr.write(`${says}\n`);
      process.exitCode = code;
    });
}

/** Sends a mail; returns the exit code for the mail server, and a sentence. */
export async function postMail(
  address: string,
  mail: AsyncIterable<Buffer>,
): Promise<{ readonly code: number; readonly says: string }> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of mail) {
    size += chunk.length;
    if (size > BYTES_MAX) return { code: EXIT.data, says: 'the mail is longer than 1 MiB' };
    chunks.push(chunk);
  }
  try {
    const response = await fetch(address, {
      method: 'POST',
      headers: { 'content-type': 'message/rfc822' },
      body: Buffer.concat(chunks),
      redirect: 'error',
      signal: AbortSignal.timeout(ANSWER_MS_MAX),
    });
    const says = `${response.status}: ${(await response.text()).slice(0, 500)}`;
    return { code: exitCodeOf(response.status), says };
  } catch (error) {
    return { code: EXIT.again, says: `the API does not answer: ${messageOf(error)}` };
  }
}

function exitCodeOf(status: number): number {
  if (status < 300) return 0;
  if (status === 400 || status === 413 || status === 422) return EXIT.data;
  if (status === 401 || status === 403 || status === 404) return EXIT.address;
  return EXIT.again;
}
