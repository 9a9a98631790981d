import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';

import { vi } from 'vitest';

import { findFreePort } from '#infra/embedded/free_port.ts';
import type { AlertedService } from '#test/live/alerts/alert_world.ts';
import { PROGRAMS, run } from '#test/live/program.ts';

/** A tool that sends alerts; the name of an alert is part of its title. */
export interface Sender {
  readonly service: AlertedService;
  /** Whether it repeats by itself what goes on, and tries again what was refused. */
  readonly isPersistent: boolean;
  /** Returns whether the tool says that it was delivered; one that delivers later says so at once. */
  fire(name: string): Promise<boolean>;
  /** Takes back the alert of this name. */
  resolve(name: string): Promise<boolean>;
}

const folder = mkdtempSync(path.join(os.tmpdir(), 'tocsin-alert-senders-'));
const running: { readonly kill: () => Promise<void> }[] = [];

/** Ends all programs that were started here. */
export async function stopSenders(): Promise<void> {
  await Promise.all(running.map(({ kill }) => kill()));
  rmSync(folder, { recursive: true, force: true });
}

/** Does this when the programs end. */
export function toEnd(kill: () => Promise<void>): void {
  running.push({ kill });
}

/** Starts a program, which is killed at the end; returns a function for the last that it said. */
export function startProgram(command: string, args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  const stdio = ['ignore', 'ignore', 'pipe'] as const;
  const child = spawn(command, args, { cwd: folder, env: { ...process.env, ...env }, stdio: [...stdio] });
  let log = '';
  child.stderr?.on('data', (chunk: Buffer) => (log = `${log}${chunk.toString()}`.slice(-2_000)));
  const ended = once(child, 'exit');
  toEnd(async () => {
    // It ends its own children.
    child.kill('SIGTERM');
    const forced = setTimeout(() => child.kill('SIGKILL'), 3_000);
    await ended;
    clearTimeout(forced);
  });
  return () => log;
}

async function start(command: string, args: readonly string[], ready: string): Promise<void> {
  const log = startProgram(command, args);
  await vi.waitFor(
    async () => {
      const isReady = await fetch(ready).then(
        ({ ok }) => ok,
        () => false,
      );
      if (!isReady) throw new Error(`${command} is not ready; it says ${log()}`);
    },
    { timeout: 60_000, interval: 50 },
  );
}

interface Receivers {
  readonly webhook: AlertedService;
  readonly pagerduty: AlertedService;
  readonly opsgenie: AlertedService;
  readonly victorops: AlertedService;
}

/** Alertmanager with a receiver of each protocol, all of which get every alert. */
export async function startAlertmanager(receivers: Receivers): Promise<Record<keyof Receivers, Sender>> {
  const { webhook, pagerduty, opsgenie, victorops } = receivers;
  const configs = {
    webhook: {
      webhook_configs: [
        { url: `${webhook.url}/api/alerts/alertmanager`, http_config: { authorization: { credentials: webhook.key } } },
      ],
    },
    pagerduty: {
      pagerduty_configs: [{ routing_key: pagerduty.key, url: `${pagerduty.url}/api/alerts/pagerduty/v2/enqueue` }],
    },
    opsgenie: { opsgenie_configs: [{ api_key: opsgenie.key, api_url: `${opsgenie.url}/api/alerts/opsgenie/` }] },
    victorops: {
      victorops_configs: [
        { api_key: victorops.key, api_url: `${victorops.url}/api/alerts/victorops/`, routing_key: 'night' },
      ],
    },
  };
  const names = Object.keys(configs);
  // YAML is a superset of JSON.
  writeFileSync(
    path.join(folder, 'alertmanager.yml'),
    JSON.stringify({
      route: {
        receiver: 'webhook',
        group_by: ['alertname'],
        group_wait: '100ms',
        group_interval: '1s',
        repeat_interval: '2s',
        routes: names.map((receiver) => ({ receiver, continue: true })),
      },
      receivers: Object.entries(configs).map(([name, config]) => ({ name, ...config })),
    }),
  );
  const address = `127.0.0.1:${await findFreePort(0)}`;
  const args = ['--config.file=alertmanager.yml', '--storage.path=alertmanager', '--cluster.listen-address='];
  await start('prometheus-alertmanager', [...args, `--web.listen-address=${address}`], `http://${address}/-/ready`);
  const post = async (name: string, more: object): Promise<boolean> => {
    const alert = { labels: { alertname: name, severity: 'critical' }, annotations: { summary: `${name} is full` } };
    const sent = await fetch(`http://${address}/api/v2/alerts`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify([{ ...alert, ...more }]),
    });
    return sent.ok;
  };
  const senderTo = (service: AlertedService): Sender => ({
    service,
    isPersistent: true,
    fire: (name) => post(name, {}),
    resolve: (name) => post(name, { endsAt: new Date().toISOString() }),
  });
  return {
    webhook: senderTo(webhook),
    pagerduty: senderTo(pagerduty),
    opsgenie: senderTo(opsgenie),
    victorops: senderTo(victorops),
  };
}

/** Prometheus with a rule of its own, and vmalert with the same rule, which asks that Prometheus. */
export async function startRulers(services: {
  readonly prometheus: AlertedService;
  readonly vmalert: AlertedService;
}): Promise<Record<'prometheus' | 'vmalert', Sender>> {
  const full = new Set<string>();
  const target = createServer((_request, response) => {
    response.end([...full].map((name) => `disk_full{disk="${name}"} 1\n`).join(''));
  });
  target.listen(0, '127.0.0.1');
  await once(target, 'listening');
  running.push({ kill: async () => void target.close() });
  const rule = {
    alert: 'DiskFull',
    expr: 'disk_full > 0',
    labels: { severity: 'critical' },
    annotations: { summary: '{{ $labels.disk }} is full' },
  };
  writeFileSync(path.join(folder, 'rules.yml'), JSON.stringify({ groups: [{ name: 'disks', rules: [rule] }] }));
  const { prometheus, vmalert } = services;
  const api = new URL(prometheus.url);
  writeFileSync(
    path.join(folder, 'prometheus.yml'),
    JSON.stringify({
      // A scrape that takes longer than its interval ends every alert.
      global: { scrape_interval: '5s', evaluation_interval: '1s' },
      rule_files: ['rules.yml'],
      scrape_configs: [
        { job_name: 'disks', static_configs: [{ targets: [`127.0.0.1:${(target.address() as AddressInfo).port}`] }] },
      ],
      alerting: {
        alertmanagers: [
          {
            path_prefix: '/api/alerts/prometheus',
            basic_auth: { username: 'any', password: prometheus.key },
            static_configs: [{ targets: [api.host] }],
          },
        ],
      },
    }),
  );
  const address = `127.0.0.1:${await findFreePort(0)}`;
  const url = `http://${address}`;
  await start(
    'prometheus',
    [
      '--config.file=prometheus.yml',
      '--storage.tsdb.path=prometheus',
      `--web.listen-address=${address}`,
      // An alert is over unless it is heard of again within four times as long.
      '--rules.alert.resend-delay=5s',
      '--log.level=error',
    ],
    `${url}/-/ready`,
  );
  const ownAddress = `127.0.0.1:${await findFreePort(0)}`;
  await start(
    'vmalert',
    [
      '-rule=rules.yml',
      `-datasource.url=${url}`,
      '-evaluationInterval=1s',
      '-rule.resendDelay=5s',
      `-notifier.url=${vmalert.url}/api/alerts/prometheus`,
      '-notifier.basicAuth.username=any',
      `-notifier.basicAuth.password=${vmalert.key}`,
      `-httpListenAddr=${ownAddress}`,
    ],
    `http://${ownAddress}/health`,
  );
  const senderTo = (service: AlertedService): Sender => ({
    service,
    isPersistent: true,
    async fire(name) {
      full.add(name);
      return true;
    },
    async resolve(name) {
      full.delete(name);
      return true;
    },
  });
  return { prometheus: senderTo(prometheus), vmalert: senderTo(vmalert) };
}

const NPM_PACKAGES = ['@pagerduty/pdjs@2.2.4', 'opsgenie-sdk@0.5.1'];

/** The libraries of npm, in a folder of their own. */
export function installPackages(): string {
  const args = ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--prefix', folder, ...NPM_PACKAGES];
  const { status, stderr } = spawnSync('npm', args, { cwd: folder, encoding: 'utf8' });
  if (status !== 0) throw new Error(`npm could not install ${NPM_PACKAGES.join(' and ')}: ${stderr}`);
  return folder;
}

export function pdjs(service: AlertedService, packages: string, { caFile }: { readonly caFile: string }): Sender {
  const env = {
    PACKAGES: packages,
    ROUTING_KEY: service.key,
    SERVER: `${new URL(service.secureUrl).host}/api/alerts/pagerduty`,
    NODE_EXTRA_CA_CERTS: caFile,
  };
  const job = async (action: string, name: string) =>
    (await run([process.execPath, `${PROGRAMS}/pdjs.cjs`, action, name], env)).code === 0;
  return {
    service,
    isPersistent: false,
    fire: (name) => job('trigger', name),
    resolve: (name) => job('resolve', name),
  };
}

export function opsgenieSdk(service: AlertedService, packages: string): Sender {
  const env = { PACKAGES: packages, API_KEY: service.key, HOST_URL: `${service.url}/api/alerts/opsgenie` };
  const job = async (action: string, name: string) =>
    (await run([process.execPath, `${PROGRAMS}/opsgenie_sdk.cjs`, action, name], env)).code === 0;
  return { service, isPersistent: false, fire: (name) => job('create', name), resolve: (name) => job('close', name) };
}

const ZABBIX_DATA = '/usr/share/zabbix-server-pgsql/data.sql.gz';

/** The media types of Zabbix, run by its own engine for scripts with the parameters that they have by default. */
export function zabbix(media: 'PagerDuty' | 'Opsgenie' | 'VictorOps', service: AlertedService): Sender {
  const { script, parameters } = readMediaType(media);
  const file = path.join(folder, `${media}.js`);
  // The address stands in this script alone.
  writeFileSync(file, script.replace('https://events.pagerduty.com', `${service.url}/api/alerts/pagerduty`));
  const ids = new Map<string, string>();
  const notify = async (name: string, isProblem: boolean): Promise<boolean> => {
    const id = ids.get(name) ?? String(4_711 + ids.size);
    ids.set(name, id);
    const macros = new Map([
      ['{EVENT.ID}', id],
      ['{TRIGGER.ID}', '99'],
      ['{EVENT.NAME}', name],
      ['{ALERT.SUBJECT}', `Problem: ${name}`],
      ['{ALERT.MESSAGE}', `Problem started: ${name}`],
      ['{EVENT.VALUE}', isProblem ? '1' : '0'],
      ['{EVENT.SOURCE}', '0'],
      ['{EVENT.NSEVERITY}', '5'],
      ['{EVENT.UPDATE.STATUS}', '0'],
      ['{EVENT.ACK.STATUS}', 'No'],
      ['{HOST.NAME}', 'web-1'],
      ['{HOST.IP}', '192.0.2.10'],
      ['{$ZABBIX.URL}', 'http://zabbix.example'],
      ['{EVENT.TAGSJSON}', '[{"tag":"scope","value":"disk"}]'],
      ['{ALERT.SENDTO}', 'night'],
    ]);
    const filled = Object.entries(parameters).map(([parameter, value]) => [
      parameter,
      [...macros].reduce((text, [macro, meant]) => text.replaceAll(macro, meant), value),
    ]);
    const values = {
      token: service.key,
      opsgenie_token: service.key,
      opsgenie_api: `${service.url}/api/alerts/opsgenie/v2/alerts/`,
      opsgenie_web: 'http://tocsin.example/',
      vops_endpoint: `${service.url}/api/alerts/victorops/${service.key}/`,
    };
    const accepted = Object.entries(values).filter(([parameter]) => Object.hasOwn(parameters, parameter));
    const input = JSON.stringify({ ...Object.fromEntries(filled), ...Object.fromEntries(accepted) });
    return (await run(['zabbix_js', '-s', file, '-p', input], {})).code === 0;
  };
  return { service, isPersistent: false, fire: (name) => notify(name, true), resolve: (name) => notify(name, false) };
}

function readMediaType(name: string): { readonly script: string; readonly parameters: Record<string, string> } {
  const sql = gunzipSync(readFileSync(ZABBIX_DATA)).toString('utf8');
  const rows = (table: string): Record<string, string>[] =>
    [
      ...sql.matchAll(new RegExp(`INSERT INTO ${table} \\(([^)]*)\\) values \\(((?:(?:${TEXT.source}),?)+)\\);`, 'g')),
    ].map(([, columns = '', values = '']) => {
      const texts = [...values.matchAll(new RegExp(TEXT, 'g'))].map(([text]) => textOf(text));
      return Object.fromEntries(columns.split(',').map((column, index) => [column, texts[index] ?? '']));
    });
  const type = rows('media_type').find((row) => row['name'] === name);
  if (type === undefined) throw new Error(`Zabbix has no media type ${name}`);
  const parameters = rows('media_type_param').filter((row) => row['mediatypeid'] === type['mediatypeid']);
  return {
    script: type['script'] ?? '',
    parameters: Object.fromEntries(parameters.map((row) => [row['name'] ?? '', row['value'] ?? ''])),
  };
}

/** A text of PostgreSQL, with escapes behind an E. */
const TEXT = /E'(?:[^'\\]|''|\\[^])*'|'(?:[^']|'')*'/;

function textOf(text: string): string {
  const isEscaped = text.startsWith('E');
  const inner = text.slice(isEscaped ? 2 : 1, -1).replaceAll("''", "'");
  return isEscaped ? inner.replaceAll('\\\\', '\\') : inner;
}
