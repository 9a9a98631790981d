import path from 'node:path';

import { programService } from '#infra/embedded/services.ts';
import { supervise, type Supervised } from '#infra/embedded/supervisor.ts';
import { PROGRAMS } from '#infra/embedded/installation.ts';
import { findFreePort } from '#infra/embedded/free_port.ts';
import { alertKeyOf } from '#test/kit/alert_senders.ts';
import { runningClock } from '#test/kit/clock.ts';
import { startRoles } from '#test/kit/roles.ts';
import { type Responder, type StaffedWorld, staffedWorld } from '#test/kit/staffed_world.ts';
import { type Request, startRecorder } from '#test/live/alerts/recorder.ts';

/** A service with a person of its own, to which one tool sends. */
export interface AlertedService {
  readonly serviceId: string;
  readonly key: string;
  /** Address that this tool is given: a gateway that records, before the API. */
  readonly url: string;
  /** The same over TLS. */
  readonly secureUrl: string;
  readonly requests: readonly Request[];
  readonly responder: Responder;
  /** Its alerts, as they are stored, by title. */
  alert(name: string): Promise<StoredAlert | null>;
}

export interface StoredAlert {
  readonly occurrences: number;
  readonly incidentId: string;
  readonly incidentStatus: 'triggered' | 'acknowledged' | 'resolved';
  /** The name of the tool that resolved the incident; null if nobody or a person did. */
  readonly resolvedByTool: string | null;
  /** Incidents of the service whose title contains the name. */
  readonly incidents: number;
  /** Pages of all of them. */
  readonly pages: number;
}

type Program = 'api' | 'worker' | 'pager';

/** The product with an API in a process of its own, which can be killed; where asked for, also a worker and a pager. */
export interface AlertWorld {
  readonly w: StaffedWorld;
  /** Port at which the API takes mail, for addresses of `MAIL_DOMAIN`. */
  readonly mailPort: number;
  service(name: string): Promise<AlertedService>;
  /** Kills a process with SIGKILL; resolves when it is gone. */
  kill(program: Program): Promise<void>;
  /** Resolves once it works again. */
  start(program: Program): Promise<void>;
  /** Spends what the service may send; resolves once more is refused. */
  overload(service: AlertedService): Promise<void>;
  close(): Promise<void>;
}

export const MAIL_DOMAIN = 'alerts.example';

const ALERTS_PER_SECOND = 10;
/** Ten seconds may be saved up. */
const FLOOD = ALERTS_PER_SECOND * 10;

export async function alertWorld(
  certificates: { readonly certFile: string; readonly keyFile: string },
  { programs = ['api'] }: { readonly programs?: readonly Program[] } = {},
): Promise<AlertWorld> {
  const w = await staffedWorld({ jobs: 'real queue', clock: runningClock(), keepOpen: true });
  const roles = programs.length === 1 ? startRoles(w.context) : null;
  const { config } = w.context;
  const port = await findFreePort(0);
  const mailPort = await findFreePort(0);
  const { twilioAccountSid, twilioAuthToken, twilioFrom, twilioApiBase } = config;
  const env = {
    PATH: process.env['PATH'],
    NODE_COMPILE_CACHE: 'node_modules/.cache/node',
    DATA_DIR: config.dataDir,
    BASE_URL: config.baseUrl,
    APP_SECRET: config.appSecret,
    DATABASE_URL: config.databaseUrl,
    CLICKHOUSE_URL: config.clickhouseUrl,
    ...(roles === null && {
      TWILIO_ACCOUNT_SID: twilioAccountSid,
      TWILIO_AUTH_TOKEN: twilioAuthToken,
      TWILIO_FROM: twilioFrom,
      TWILIO_API_BASE: twilioApiBase,
    }),
    LOG_LEVEL: 'error',
  };
  const ofApi = {
    PORT: String(port),
    INGEST_ALERTS_PER_SECOND: String(ALERTS_PER_SECOND),
    MAIL_IN_PORT: String(mailPort),
    MAIL_IN_HOST: '127.0.0.1',
    MAIL_IN_DOMAIN: MAIL_DOMAIN,
  };
  const [worker, ...workerArgs] = PROGRAMS.worker;
  const services = {
    api: programService('API', { entry: PROGRAMS.api, env: { ...env, ...ofApi }, log: logOf('api') }),
    worker: programService('Worker', { entry: worker, args: workerArgs, env, log: logOf('worker') }),
    pager: programService('Pager', { entry: worker, args: ['pager'], env, log: logOf('pager') }),
  };
  function logOf(name: Program): string {
    return path.join(config.dataDir, `${name}.log`);
  }
  const running = new Map<Program, Supervised>();
  const start = async (program: Program): Promise<void> => {
    const never = { firstDelayMs: 600_000, maxDelayMs: 600_000, healthyAfterMs: 0 };
    const supervised = supervise(services[program], () => {}, never);
    running.set(program, supervised);
    await supervised.ready;
  };
  await Promise.all(programs.map(start));
  const target = new URL(`http://127.0.0.1:${port}`);
  const closing: (() => Promise<void>)[] = [];
  const teamId = await w.staff.team();
  return {
    w,
    mailPort,
    async service(name) {
      const responder = await w.staff.responder(teamId, name);
      const step = { afterMinutes: 0, channels: ['sms'], targetUserIds: [responder.userId] };
      const { policyId } = await w.expectOk('create_escalation_policy', { teamId, name, steps: [step] });
      const { serviceId } = await w.given.service({ name });
      const key = await alertKeyOf(w, serviceId, policyId);
      const recorder = await startRecorder(target, certificates);
      closing.push(recorder.close);
      return { serviceId, key, ...recorder, responder, alert: (title) => findAlert(w, serviceId, title) };
    },
    async kill(program) {
      const supervised = running.get(program);
      if (supervised?.pid == null) throw new Error(`${program} is not running`);
      process.kill(supervised.pid, 'SIGKILL');
      await supervised.stop(0);
    },
    start,
    async overload({ key }) {
      const unknown = Array.from({ length: FLOOD }, (_, index) => ({ action: 'resolve', dedupKey: `none ${index}` }));
      const headers = { authorization: `Bearer ${key}` };
      for (let status = 202; status === 202;) {
        const flood = { method: 'POST', headers, body: JSON.stringify(unknown) };
        ({ status } = await fetch(new URL('/api/alerts/events', target), flood));
      }
    },
    async close() {
      await Promise.all(closing.map((close) => close()));
      await Promise.all([...running.values()].map((supervised) => supervised.stop(1_000)));
      await roles?.stop();
      await w.close();
    },
  };
}

async function findAlert({ context }: StaffedWorld, serviceId: string, name: string): Promise<StoredAlert | null> {
  return await context.db.sql.row<StoredAlert>(
    `select a.occurrences, a.incident_id as "incidentId", i.status as "incidentStatus",
       i.resolved_by->>'tool' as "resolvedByTool",
       (select count(*)::int from incidents o where o.service_id = a.service_id and o.title like $2) as incidents,
       (select count(*)::int from notifications n join incidents o on o.id = n.incident_id
          where o.service_id = a.service_id and o.title like $2 and n.kind = 'page') as pages
     from alerts a join incidents i on i.id = a.incident_id
     where a.service_id = $1 and a.title like $2`,
    [serviceId, `%${name}%`],
  );
}
