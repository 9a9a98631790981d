import type { ConfigurationFile, ScheduleInFile } from '#modules/configuration/decide/file.ts';
import { type MovedItem, VERDICTS } from '#modules/moving_in/decide/ledger.ts';
import type { Moved, ScheduleToProve } from './moved.ts';
import { ourShifts, type Proof, proofOf, proofWindows, tile } from '#modules/moving_in/decide/proof.ts';

/** Report of what was read, what became of it, and whether the schedules say the same. */
export interface MoveInReport {
  /** Numbers of what was read, by kind; `items` has as many of each. */
  readonly read: Readonly<Record<string, number>>;
  readonly items: readonly MovedItem[];
  readonly proof: readonly Proof[];
}

/** Share of the 90 days from which on a rendered timeline needs no walk beside it. */
const RENDERED_ENOUGH_MS = 80 * 86_400_000;

/** Proves the schedules, passes the last verdicts, and returns the file with its report. */
export function finish(moved: Moved): { readonly file: ConfigurationFile; readonly report: MoveInReport } {
  const file = moved.file();
  const schedules = new Map((file.schedules ?? []).map((schedule) => [schedule.key, schedule]));
  const proof = moved.proofs.flatMap((toProve) => {
    const schedule = schedules.get(toProve.key);
    return schedule === undefined ? [] : proofsOf(moved, toProve, schedule);
  });
  for (const { scheduleId, minutes, equal, from, to } of proof) {
    if (equal === minutes) continue;
    const reason = `${minutes - equal} of ${minutes} minutes differ between ${from} and ${to}; the proof lists them.`;
    moved.ledger
      .item('schedule', scheduleId)
      .judge('compiled', reason, 'Compare the differences before you rely on it.');
  }
  return { file, report: { read: moved.ledger.counts(), items: moved.ledger.items(), proof } };
}

function proofsOf(moved: Moved, toProve: ScheduleToProve, schedule: ScheduleInFile): Proof[] {
  const clock = moved.clock(schedule.timezone);
  const facts = {
    clock,
    people: moved.people,
    nameOf: (key: string): string => moved.names.get(key) ?? key,
    refused: toProve.refused,
    horizon: toProve.horizon,
  };
  const proofs = toProve.rendered.map((rendered) => {
    const theirs = tile(rendered.stretches, rendered);
    return proofOf(
      toProve,
      'rendered timeline',
      rendered,
      theirs,
      ourShifts(schedule, clock, rendered.from, rendered.to),
      facts,
    );
  });
  if (toProve.rendered.some(({ from, to }) => to - from >= RENDERED_ENOUGH_MS)) return proofs;
  for (const window of proofWindows(clock, moved.time.now, moved.time.proofFrom)) {
    const theirs = tile(toProve.walk(window.from, window.to), window);
    proofs.push(
      proofOf(toProve, 'independent walk', window, theirs, ourShifts(schedule, clock, window.from, window.to), facts),
    );
  }
  return proofs;
}

const MEANINGS: Record<MovedItem['verdict'], string> = {
  exact: 'the same here as there',
  compiled: 'in another form, which means the same unless the reason says otherwise',
  horizon: 'written down until a date',
  frozen: 'as it is today',
  refused: 'not taken over',
};

/** Limit on the differences of one schedule that the document lists. */
const DIFFERENCES_MAX = 50;

/** Writes the report as a document to hand around. */
export function reportMarkdown(title: string, { read, items, proof }: MoveInReport): string {
  const lines = [`# Moving in from ${title}`, '', '## What was read', ''];
  const used = VERDICTS.filter((verdict) => items.some((item) => item.verdict === verdict));
  lines.push(row(['kind', 'read', ...used]), row(['---', '---:', ...used.map(() => '---:')]));
  for (const [kind, count] of Object.entries(read)) {
    const ofKind = items.filter((item) => item.kind === kind);
    lines.push(
      row([
        kind,
        String(count),
        ...used.map((verdict) => String(ofKind.filter((item) => item.verdict === verdict).length)),
      ]),
    );
  }
  lines.push('', ...VERDICTS.map((verdict) => `- *${verdict}*: ${MEANINGS[verdict]}`), '');
  lines.push('## Proof', '', ...proofLines(proof));
  for (const verdict of [...VERDICTS].reverse())
    lines.push(
      ...itemLines(
        verdict,
        items.filter((item) => item.verdict === verdict && (item.reason !== '' || verdict !== 'exact')),
      ),
    );
  return `${lines.join('\n').trimEnd()}\n`;
}

function proofLines(proof: readonly Proof[]): string[] {
  if (proof.length === 0) return ['No schedule was read.', ''];
  const walked = proof.filter(({ against }) => against === 'independent walk').length;
  const lines = [
    'Each schedule was compared minute by minute. Theirs is the timeline that the tool rendered, or, where nothing was rendered, an independent walk by the rules of its documentation.',
    ...(walked > 0 ? [`${walked} of ${proof.length} comparisons are against a walk.`] : []),
    '',
    row(['schedule', 'against', 'from', 'to', 'minutes', 'equal', 'differ']),
    row(['---', '---', '---', '---', '---:', '---:', '---:']),
    ...proof.map(({ schedule, against, from, to, minutes, equal }) =>
      row([
        schedule,
        against,
        from.slice(0, 16),
        to.slice(0, 16),
        String(minutes),
        String(equal),
        String(minutes - equal),
      ]),
    ),
    '',
  ];
  for (const { schedule, differences } of proof.filter((entry) => entry.differences.length > 0)) {
    lines.push(
      `### Differences of ${plain(schedule)}`,
      '',
      row(['from', 'to', 'theirs', 'ours', 'cause']),
      row(['---', '---', '---', '---', '---']),
    );
    for (const { from, to, theirs, ours, cause } of differences.slice(0, DIFFERENCES_MAX))
      lines.push(row([from, to, names(theirs), names(ours), cause]));
    if (differences.length > DIFFERENCES_MAX)
      lines.push('', `${differences.length - DIFFERENCES_MAX} more are in the JSON report.`);
    lines.push('');
  }
  return lines;
}

function itemLines(verdict: string, items: readonly MovedItem[]): string[] {
  if (items.length === 0) return [];
  const heading = `## ${verdict.slice(0, 1).toUpperCase()}${verdict.slice(1)}`;
  return [
    heading,
    '',
    row(['kind', 'name', 'reason', 'what to do']),
    row(['---', '---', '---', '---']),
    ...items.map(({ kind, id, name, reason, todo }) => row([kind, name === '' ? id : name, reason, todo])),
    '',
  ];
}

function names(people: readonly string[]): string {
  return people.length === 0 ? 'nobody' : people.join(', ');
}

function row(cells: readonly string[]): string {
  return `| ${cells.map((cell) => plain(cell)).join(' | ')} |`;
}

/** Keeps a name from being read as markup. */
function plain(text: string): string {
  return text.replaceAll(/[\r\n\t]+/g, ' ').replaceAll(/([\\|<>`*_[\]])/g, String.raw`\$1`);
}
