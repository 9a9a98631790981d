import { once } from 'node:events';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import os from 'node:os';
import path from 'node:path';

import { vi } from 'vitest';

import { MAIL_DOMAIN, type AlertedService } from '#test/live/alerts/alert_world.ts';
import type { Request } from '#test/live/alerts/recorder.ts';
import { type Sender, startProgram, toEnd } from '#test/live/alerts/senders.ts';
import { run } from '#test/live/program.ts';

/** Services of the one host that both tools watch. */
const SERVICES = ['first', 'second', 'third'];

const RETRY_MS = 1_000;

interface Mailing {
  readonly icinga: AlertedService;
  readonly nagios: AlertedService;
}

/** Icinga 2 and Nagios with the notification commands of their packages, whose mail Debian's Exim queues and delivers. */
export async function startMailSenders(services: Mailing, mailPort: number): Promise<Record<keyof Mailing, Sender>> {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'tocsin-mail-senders-'));
  chmodSync(folder, 0o755);
  toEnd(async () => rmSync(folder, { recursive: true, force: true }));
  const icinga = await startMailRecorder(mailPort);
  const nagios = await startMailRecorder(mailPort);
  const mailrc = await startExim(folder, [
    { key: services.icinga.key, port: icinga.port },
    { key: services.nagios.key, port: nagios.port },
  ]);
  const commands = {
    icinga: await startIcinga(folder, `${services.icinga.key}+icinga@${MAIL_DOMAIN}`, mailrc),
    nagios: await startNagios(folder, `${services.nagios.key}+nagios@${MAIL_DOMAIN}`, mailrc),
  };
  const senderOf = (name: keyof Mailing, requests: readonly Request[]): Sender => {
    const report = async (service: string, state: 0 | 2): Promise<boolean> => {
      const seconds = Math.floor(Date.now() / 1_000);
      const result = `PROCESS_SERVICE_CHECK_RESULT;web-1;${service};${state};${service} is ${state === 0 ? 'fine' : 'full'}`;
      await writeFile(commands[name], `[${seconds}] ${result}\n`);
      return true;
    };
    return {
      service: { ...services[name], requests },
      // Nagios tells of what goes on again with the next result of its check.
      isPersistent: name === 'icinga',
      fire: (service) => report(service, 2),
      resolve: (service) => report(service, 0),
    };
  };
  return { icinga: senderOf('icinga', icinga.requests), nagios: senderOf('nagios', nagios.requests) };
}

/** Starts what delivers mail again while it waits; returns the settings with which `mail` hands it over. */
async function startExim(folder: string, routes: readonly { key: string; port: number }[]): Promise<string> {
  const spool = path.join(folder, 'exim');
  const config = path.join(folder, 'exim.conf');
  const { stdout } = await run(['id', '-u', 'Debian-exim'], {});
  for (const name of ['', 'spool', 'log']) {
    mkdirSync(path.join(spool, name), { recursive: true });
    chownSync(path.join(spool, name), Number(stdout), -1);
  }
  writeFileSync(
    config,
    `
primary_hostname = tools.example
qualify_domain = tools.example
spool_directory = ${spool}/spool
log_file_path = ${spool}/log/%slog
keep_environment =
begin routers
${routes.map(({ key, port }) => `to_${port}:\n  driver = manualroute\n  condition = \${if match{$local_part}{^${key}}}\n  transport = by_${port}\n  route_list = * 127.0.0.1\n  self = send\n`).join('')}
begin transports
${routes.map(({ port }) => `by_${port}:\n  driver = smtp\n  port = ${port}\n  hosts_avoid_tls = *\n`).join('')}
begin retry
* * F,1h,1s
`,
  );
  const sendmail = path.join(folder, 'sendmail');
  writeFileSync(sendmail, `#!/bin/sh\nexec /usr/sbin/exim4 -C ${config} "$@"\n`, { mode: 0o755 });
  const mailrc = path.join(folder, 'mailrc');
  writeFileSync(mailrc, `set sendmail=${sendmail}\n`);
  const timer = setInterval(() => void run([sendmail, '-qff'], {}), RETRY_MS);
  toEnd(async () => clearInterval(timer));
  return mailrc;
}

/** Returns the pipe that takes results of checks. */
async function startIcinga(folder: string, address: string, mailrc: string): Promise<string> {
  const home = path.join(folder, 'icinga');
  const config = path.join(folder, 'icinga2.conf');
  const pipe = path.join(home, 'cmd');
  for (const name of ['data', 'log', 'cache', 'spool', 'run']) mkdirSync(path.join(home, name), { recursive: true });
  const watched = SERVICES.map(
    (name) =>
      `object Service "${name}" { host_name = "web-1"; check_command = "dummy"; enable_active_checks = false; max_check_attempts = 1 }`,
  );
  writeFileSync(
    config,
    `
include <itl>
include "/etc/icinga2/conf.d/commands.conf"
object CheckerComponent "checker" { }
object NotificationComponent "notification" { }
object ExternalCommandListener "command" { command_path = "${pipe}" }
object User "tocsin" { email = "${address}" }
object Host "web-1" { address = "192.0.2.10"; check_command = "dummy"; enable_active_checks = false }
${watched.join('\n')}
apply Notification "mail" to Service { command = "mail-service-notification"; users = [ "tocsin" ]; interval = 2s; assign where true }
`,
  );
  const settings = {
    DataDir: 'data',
    LogDir: 'log',
    CacheDir: 'cache',
    SpoolDir: 'spool',
    InitRunDir: 'run',
    PidPath: 'run/pid',
  };
  const set = Object.entries(settings).map(([name, at]) => `-DConfiguration.${name}=${path.join(home, at)}`);
  const asRoot = ['-DConfiguration.RunAsUser=root', '-DConfiguration.RunAsGroup=root'];
  startProgram('icinga2', ['daemon', '-c', config, ...set, ...asRoot], { MAILRC: mailrc });
  await untilPiped(pipe);
  return pipe;
}

/** The same. */
async function startNagios(folder: string, address: string, mailrc: string): Promise<string> {
  const home = path.join(folder, 'nagios');
  const pipe = path.join(home, 'rw/nagios.cmd');
  for (const name of ['rw', 'results', 'archives']) mkdirSync(path.join(home, name), { recursive: true });
  const define = (kind: string, facts: Readonly<Record<string, string | number>>) =>
    `define ${kind} {\n${Object.entries(facts)
      .map(([name, value]) => `  ${name} ${value}\n`)
      .join('')}}\n`;
  const days = ['sunday', 'monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday'];
  const watched = {
    host_name: 'web-1',
    check_command: 'never',
    active_checks_enabled: 0,
    max_check_attempts: 1,
    check_period: 'always',
    notification_period: 'always',
    notification_interval: 1,
    flap_detection_enabled: 0,
    contacts: 'tocsin',
  };
  writeFileSync(
    path.join(home, 'objects.cfg'),
    [
      define('timeperiod', {
        timeperiod_name: 'always',
        alias: 'always',
        ...Object.fromEntries(days.map((day) => [day, '00:00-24:00'])),
      }),
      define('command', { command_name: 'never', command_line: '/bin/true' }),
      define('contact', {
        contact_name: 'tocsin',
        email: address,
        host_notification_period: 'always',
        service_notification_period: 'always',
        host_notification_options: 'd,u,r',
        service_notification_options: 'w,u,c,r',
        host_notification_commands: 'notify-host-by-email',
        service_notification_commands: 'notify-service-by-email',
      }),
      define('host', { ...watched, alias: 'web-1', address: '192.0.2.10' }),
      ...SERVICES.map((name) =>
        define('service', { ...watched, service_description: name, check_interval: 1, retry_interval: 1 }),
      ),
    ].join(''),
  );
  const main = {
    log_file: `${home}/nagios.log`,
    object_cache_file: `${home}/objects.cache`,
    status_file: `${home}/status.dat`,
    state_retention_file: `${home}/retention.dat`,
    command_file: pipe,
    lock_file: `${home}/pid`,
    temp_file: `${home}/temporary`,
    temp_path: home,
    check_result_path: `${home}/results`,
    log_archive_path: `${home}/archives`,
    nagios_user: 'root',
    nagios_group: 'root',
    check_external_commands: 1,
    interval_length: 1,
    use_syslog: 0,
    check_for_updates: 0,
    execute_host_checks: 0,
    illegal_macro_output_chars: '`~$&|\'"<>',
  };
  const files = ['/etc/nagios4/objects/commands.cfg', `${home}/objects.cfg`].map((file) => `cfg_file=${file}\n`);
  const lines = Object.entries(main).map(([name, value]) => `${name}=${value}\n`);
  const [log, ...others] = lines;
  writeFileSync(path.join(home, 'nagios.cfg'), [log, ...files, ...others].join(''));
  startProgram('nagios4', [path.join(home, 'nagios.cfg')], { MAILRC: mailrc });
  await untilPiped(pipe);
  return pipe;
}

async function untilPiped(pipe: string): Promise<void> {
  await vi.waitFor(
    async () => {
      const { code } = await run(['test', '-p', pipe], {});
      if (code !== 0) throw new Error(`${pipe} is not there yet`);
    },
    { timeout: 60_000, interval: 100 },
  );
}

interface MailRecorder {
  readonly port: number;
  readonly requests: readonly Request[];
}

/** A gateway before the port for mail that records what becomes of each mail, and breaks off where nobody listens. */
async function startMailRecorder(mailPort: number): Promise<MailRecorder> {
  const requests: Request[] = [];
  const note = (status: number | null) => void requests.push({ method: 'MAIL', path: '', status });
  const server: Server = createServer((client) => {
    const upstream = connect(mailPort, '127.0.0.1');
    let isOver = false;
    upstream.on('error', () => {
      note(null);
      client.destroy();
    });
    client.on('error', () => upstream.destroy());
    client.on('data', (chunk: Buffer) => {
      if (chunk.toString('latin1').endsWith('\r\n.\r\n')) isOver = true;
    });
    upstream.on('data', (chunk: Buffer) => {
      for (const [, code] of chunk.toString('latin1').matchAll(/^(\d{3}) /gm)) {
        if (isOver || Number(code) >= 400) note(Number(code));
        isOver = false;
      }
    });
    client.pipe(upstream).pipe(client);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  toEnd(async () => void server.close());
  return { port: (server.address() as AddressInfo).port, requests };
}
