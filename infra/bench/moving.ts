import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';

import { operatorIn } from '#actions/operator.ts';
import { applyConfiguration } from '#modules/configuration/apply_plan.ts';
import { readPlan } from '#modules/configuration/read_plan.ts';
import { storesOf } from '#modules/stores.ts';

import { type Bench, printInputs, printTable, withFolder, withStores } from './harness.ts';
import { seeded } from './seeded.ts';

const PEOPLE = 3_000;
const RULES_EACH = 10;
const SCHEDULES = 1_200;
const TEAMS = 300;
const SEED = 42;
const ZONES = ['Europe/Amsterdam', 'America/New_York', 'Asia/Kolkata', 'UTC'];

/** Writes the answers of PagerDuty for a large account, in pages of a hundred. */
async function writeAccount(folder: string): Promise<void> {
  const next = seeded(SEED);
  const below = (limit: number): number => Math.floor(next() * limit);
  const person = (number: number): string => `PU${number % PEOPLE}`;
  const users = Array.from({ length: PEOPLE }, (_, number) => ({
    id: person(number),
    type: 'user',
    name: `Person ${number}`,
    email: `person.${number}@example.com`,
    role: 'user',
    time_zone: ZONES[below(ZONES.length)],
    contact_methods: [
      { id: `PM${number}`, type: 'sms_contact_method', address: String(612_000_000 + number), country_code: 31 },
      { id: `PE${number}`, type: 'email_contact_method', address: `person.${number}@example.com` },
    ],
    notification_rules: Array.from({ length: RULES_EACH }, (_rule, index) => ({
      id: `PR${number}-${index}`,
      type: 'assignment_notification_rule',
      start_delay_in_minutes: below(20),
      urgency: index % 2 === 0 ? 'high' : 'low',
      contact_method: { id: `P${index % 2 === 0 ? 'M' : 'E'}${number}`, type: 'contact_method_reference' },
    })),
  }));
  const teams = Array.from({ length: TEAMS }, (_, team) => ({ id: `PT${team}`, type: 'team', name: `Team ${team}` }));
  const schedules = Array.from({ length: SCHEDULES }, (_, number) => ({
    id: `PS${number}`,
    type: 'schedule',
    name: `Schedule ${number}`,
    time_zone: ZONES[below(ZONES.length)],
    teams: [{ id: `PT${number % TEAMS}`, type: 'team_reference' }],
    schedule_layers: Array.from({ length: 1 + below(3) }, (_layer, layer) => ({
      id: `PL${number}-${layer}`,
      name: `Layer ${layer}`,
      start: '2026-01-05T08:00:00Z',
      end: null,
      rotation_virtual_start: '2026-01-05T08:00:00Z',
      rotation_turn_length_seconds: [43_200, 86_400, 604_800][below(3)],
      users: Array.from({ length: 2 + below(6) }, (_turn, turn) => ({ user: { id: person(number * 3 + turn) } })),
      restrictions:
        layer === 0
          ? []
          : [{ type: 'daily_restriction', start_time_of_day: '08:00:00', duration_seconds: 3_600 * (4 + below(12)) }],
    })),
  }));
  const policies = Array.from({ length: TEAMS }, (_, team) => ({
    id: `PP${team}`,
    type: 'escalation_policy',
    name: `Policy ${team}`,
    num_loops: 2,
    teams: [{ id: `PT${team}` }],
    escalation_rules: [
      { escalation_delay_in_minutes: 5, targets: [{ id: `PS${team}`, type: 'schedule_reference' }] },
      { escalation_delay_in_minutes: 10, targets: [{ id: person(team), type: 'user_reference' }] },
    ],
  }));
  const lists = { users, teams, schedules, escalation_policies: policies };
  await mkdir(folder, { recursive: true });
  for (const [name, list] of Object.entries(lists)) {
    for (let at = 0; at < list.length; at += 100) {
      const body = { [name]: list.slice(at, at + 100), limit: 100, offset: at, more: at + 100 < list.length };
      await writeFile(path.join(folder, `${name}-offset-${at}.json`), JSON.stringify(body));
    }
  }
}

/** Runs the command, which says at its end how much memory it took. */
async function moveIn(folder: string): Promise<{ seconds: number; megabytes: number; said: string }> {
  const hook = `data:text/javascript,process.on('exit',()=>console.error('peak',process.resourceUsage().maxRSS))`;
  const files = ['--out', path.join(folder, 'out.yaml'), '--report', path.join(folder, 'report.json')];
  const command = ['src/entry/cli.ts', 'move-in', 'pagerduty', '--from', path.join(folder, 'answers'), ...files];
  const began = performance.now();
  const child = spawn(process.execPath, ['--import', hook, ...command], { stdio: ['ignore', 'pipe', 'pipe'] });
  let text = '';
  child.stdout.on('data', (part: Buffer) => (text += part.toString()));
  child.stderr.on('data', (part: Buffer) => (text += part.toString()));
  await once(child, 'close');
  const peak = Number(/^peak (\d+)$/m.exec(text)?.[1] ?? Number.NaN);
  return { seconds: (performance.now() - began) / 1_000, megabytes: peak / 1_024, said: text.split('\n')[0] ?? '' };
}

export const moving: Bench = {
  name: 'moving',
  about:
    'A large account of PagerDuty is read, proven and planned, and applied. Goal: read and planned within a minute and 500 MB, applied within five minutes; the second plan is empty.',
  async run() {
    printInputs({
      people: PEOPLE,
      schedules: SCHEDULES,
      'contact rules': PEOPLE * RULES_EACH,
      teams: TEAMS,
      seed: SEED,
    });
    await withFolder(async (folder) => {
      await writeAccount(path.join(folder, 'answers'));
      const read = await moveIn(folder);
      console.log(read.said);
      const text = await readFile(path.join(folder, 'out.yaml'), 'utf8');
      await withStores(async ({ context }) => {
        const { people } = storesOf(context.db.session());
        const { id } = await people.insertOrganization('Large', context.clock.now());
        const caller = operatorIn(id);
        const request = { text, fileName: 'large.yaml', prune: false };
        const timed = async <Result>(work: () => Promise<Result>): Promise<{ result: Result; seconds: number }> => {
          const began = performance.now();
          const result = await work();
          return { result, seconds: (performance.now() - began) / 1_000 };
        };
        const planned = await timed(() => readPlan(context.actions, caller, request));
        const applied = await timed(() =>
          applyConfiguration(context.actions, caller, { requestId: 'req_moving', address: null }, request),
        );
        const second = await timed(() => readPlan(context.actions, caller, request));
        const row = (what: string, seconds: number, figure: string) => ({ what, seconds: seconds.toFixed(1), figure });
        printTable([
          row('read and proven', read.seconds, `${Math.round(read.megabytes)} MB at most`),
          row('planned', planned.seconds, `${planned.result.plan.changes.length} changes`),
          row('applied', applied.seconds, `${applied.result.applied} changes`),
          row('planned again', second.seconds, `${second.result.plan.changes.length} changes`),
        ]);
      });
    });
  },
};
