/** `npm run bench`, or `npm run bench -- rules …`: prints figures; see README.md. */
import { actions } from './actions.ts';
import { agentJobs } from './agent_jobs.ts';
import { alerts } from './paging/alerts.ts';
import { consolePages } from './console.ts';
import { escalation } from './escalation.ts';
import { exceptions } from './exceptions.ts';
import { fairness } from './fairness.ts';
import { faults } from './faults.ts';
import { footprint } from './footprint.ts';
import { grouping } from './grouping.ts';
import { guard } from './guard.ts';
import { type Bench, machineLine } from './harness.ts';
import { hostile } from './hostile.ts';
import { ingestion } from './ingestion.ts';
import { lists } from './lists.ts';
import { longWindows } from './long_windows.ts';
import { closeHistory } from './metrics/history.ts';
import { moving } from './moving.ts';
import { nightShift } from './night_shift.ts';
import { outage } from './outage.ts';
import { pageLatency } from './page_latency.ts';
import { partition } from './partition.ts';
import { provisioning } from './provisioning.ts';
import { query } from './query.ts';
import { rules } from './rules.ts';
import { scale } from './scale.ts';
import { size } from './size.ts';
import { tracing } from './tracing.ts';

/** Members that share the history are adjacent. */
const BENCHES: readonly Bench[] = [
  actions,
  agentJobs,
  alerts,
  consolePages,
  escalation,
  exceptions,
  fairness,
  faults,
  footprint,
  grouping,
  guard,
  hostile,
  ingestion,
  lists,
  longWindows,
  moving,
  nightShift,
  outage,
  pageLatency,
  partition,
  provisioning,
  query,
  rules,
  scale,
  size,
  tracing,
];

const MINUTES_MAX = 15;

const wanted = process.argv.slice(2);
if (wanted.includes('--help') || wanted.includes('-h')) {
  console.log(`npm run bench [-- NAME …]: prints figures. There are:\n`);
  for (const { name, about } of BENCHES) console.log(`  ${name.padEnd(17)}${about}`);
  process.exit(0);
}
const unknown = wanted.filter((name) => BENCHES.every((bench) => bench.name !== name));
if (unknown.length > 0) {
  console.error(`no such benchmark: ${unknown.join(', ')}. There are: ${BENCHES.map(({ name }) => name).join(', ')}`);
  process.exit(2);
}
for (const bench of BENCHES.filter(({ name }) => wanted.length === 0 || wanted.includes(name))) await show(bench);
await closeHistory();
process.exit(0);

async function show({ name, about, minutesMax = MINUTES_MAX, run }: Bench): Promise<void> {
  const deadline = setTimeout(() => {
    console.error(`${name} was given up after ${minutesMax} minutes`);
    process.exit(1);
  }, minutesMax * 60_000);
  const began = performance.now();
  console.log(`${name}: ${about}\n  before: ${machineLine()}\n`);
  await run();
  console.log(`  after:  ${machineLine()}; took ${Math.round((performance.now() - began) / 1_000)} s\n`);
  clearTimeout(deadline);
}
