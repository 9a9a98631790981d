/** `npm run check:proofs [-- name …]`: what needs minutes, a quiet machine or real programs, one proof after the other. */
import { type Check, close, type Outcome, resultLine, runCheck } from './run_check.ts';

/** A proof, and the folders whose owners run it before a change lands. */
interface Proof extends Check {
  readonly minutesMax: number;
  readonly provesFolders: string;
}

const PROOFS: readonly Proof[] = [
  {
    name: 'faults',
    script: 'check:faults',
    isTests: true,
    minutesMax: 15,
    provesFolders: 'workers, src/modules/incidents, src/storage/queue, src/ingest',
  },
  { name: 'accessibility', script: 'check:accessibility', isTests: true, minutesMax: 30, provesFolders: 'src/console' },
  { name: 'browser', script: 'check:browser', isTests: true, minutesMax: 60, provesFolders: 'src/console' },
  { name: 'flows', script: 'check:flows', isTests: true, minutesMax: 60, provesFolders: 'src/console' },
  {
    name: 'live',
    script: 'check:live',
    isTests: true,
    minutesMax: 15,
    provesFolders: 'src/ingest/protocols, src/auth/oauth',
  },
  {
    name: 'processes',
    script: 'check:processes',
    isTests: true,
    minutesMax: 15,
    provesFolders: 'infra/embedded, src/entry, workers',
  },
  {
    name: 'cluster',
    script: 'check:cluster',
    isTests: true,
    minutesMax: 30,
    provesFolders: 'src/storage/clickhouse, src/storage/queue, infra/migrations',
  },
  {
    name: 'upgrade',
    script: 'check:upgrade',
    isTests: false,
    minutesMax: 20,
    provesFolders: 'infra/migrations, src/storage/queue/jobs.ts',
  },
  {
    name: 'speed',
    script: 'check:speed',
    isTests: false,
    minutesMax: 15,
    provesFolders: 'src/modules/*/decide, src/ingest/protocols',
  },
  {
    name: 'measured',
    script: 'check:measured',
    isTests: true,
    minutesMax: 20,
    provesFolders: 'src/ingest, src/kernel',
  },
  {
    name: 'properties',
    script: 'check:properties',
    isTests: true,
    minutesMax: 60,
    provesFolders:
      'src/modules/*/decide, src/actions, src/entry/http, src/entry/backup, src/ingest/protocols, src/storage/clickhouse',
  },
  {
    name: 'mutants',
    script: 'check:mutants',
    isTests: false,
    minutesMax: 60,
    provesFolders: 'src/modules/*/decide, src/modules/incidents, src/auth and their tests',
  },
  { name: 'deploy', script: 'check:deploy', isTests: false, minutesMax: 20, provesFolders: 'infra/deploy, src/entry' },
];

const USAGE = `npm run check:proofs [-- name …]: runs all proofs, or those that are named, one after the other.

${PROOFS.map(({ name, provesFolders }) => `  ${name.padEnd(14)} ${provesFolders}`).join('\n')}`;

const args = process.argv.slice(2);
const unknown = args.find((arg) => PROOFS.every(({ name }) => name !== arg));
if (unknown === '--help' || unknown === '-h') {
  process.stdout.write(`${USAGE}\n`);
} else if (unknown !== undefined) {
  process.stderr.write(`unknown proof: ${unknown}\n\n${USAGE}\n`);
  process.exitCode = 2;
} else {
  await runProofs(PROOFS.filter(({ name }) => args.length === 0 || args.includes(name)));
}

async function runProofs(proofs: readonly Proof[]): Promise<void> {
  const outcomes: Outcome[] = [];
  for (const proof of proofs) {
    process.stdout.write(`\n== ${proof.name}\n`);
    outcomes.push(await runCheck(proof, { show: true }));
  }
  process.stdout.write('\n');
  for (const [index, outcome] of outcomes.entries()) {
    process.stdout.write(`${resultLine(proofs[index]?.name ?? '', outcome)}\n`);
  }
  close(outcomes);
}
